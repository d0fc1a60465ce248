"""Warnings of rows that the precision of a learner cannot tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.places import HOST, place_of, to_host
from trickless._arrays.sparse import dense_if_small
from trickless._rules import DOUBLE, warn

#: Rows that are checked.
_ROWS = 1000
#: The least share of a column's distinct values that must stay distinct.
_DISTINCT = 0.9
#: Differences below this share of the spread of a column, or of a value, are rounding noise of
#: earlier computations: of sines of large angles, and of sums.
_NOISE_OF_SPREAD, _NOISE_OF_VALUE = 2**-33, 2**-43
#: Float64 is exact for integers up to the first number, and has none from the second on.
_WHOLE, _LARGEST = 2**53, 2**1023


def warn_of_resolution(
    owner: str, X: Any, dtype: Any, apart: bool, by_order: bool, names: Any = None
) -> bool:
    """Warn if a large offset leaves inputs few digits; returns whether there was a warning.

    Columns have ``names``, or else numbers. With ``apart``, each column matters by itself, and not
    only the distances between rows. With ``by_order``, the order of a column's values matters,
    however close they are.
    """
    rows = _some(X)
    if scipy.sparse.issparse(rows) and scipy.sparse.issparse(rows := dense_if_small(rows)):
        return False
    if np.finfo(rows.dtype).eps >= 1e-3:
        return False
    rows = np.asarray(rows, dtype=np.float64)
    if by_order and _warned_of_ties(owner, rows, dtype, names):
        return True
    known = rows if np.isfinite(rows).all() else np.ma.masked_invalid(rows)
    largest = np.ma.filled(np.abs(known).max(axis=0), 0)
    unit = largest.max() or 1
    shifted = known / unit - (known / unit).min(axis=0)
    spread = np.sqrt(np.ma.filled(shifted.var(axis=0), 0))  # in units of the largest value
    if not apart:
        spread = np.full_like(spread, np.linalg.norm(spread))
    limits = np.finfo(dtype)
    rounding = np.maximum(limits.eps * largest, limits.smallest_subnormal) / unit
    column = int((rounding / np.where(spread > 0, spread, np.inf)).argmax())
    poor = bool(rounding[column] > 1e-3 * spread[column] > 0)
    if poor:
        warn(
            f"{owner}: column {_name(column, names)} of X reaches {largest[column]:g}, which "
            f"dtype={np.dtype(dtype).name!r} rounds to within {unit * rounding[column]:.1g}, while "
            f"the {'values' if apart else 'rows'} differ by about {unit * spread[column]:.1g} in "
            "all: predictions will be inaccurate. Remedy: standardise X (StandardScaler); or "
            f"{DOUBLE}."
        )
    return poor


def warn_of_rounded_integers(owner: str, name: str, values: Any) -> None:
    """Warn of integers beyond 2^53 that lose too much as float64, before they are converted."""
    columns = _columns(values)
    for j, column in enumerate(columns):
        if not _beyond_float64(column):
            continue
        some = column[:: max(1, len(column) // _ROWS)].tolist()
        spread = np.std([float(value - some[0]) for value in some])
        rounding = max(abs(int(float(value)) - value) for value in some)
        if rounding > 1e-3 * spread > 0:
            where = f"column {j} of " if len(columns) > 1 else ""
            warn(
                f"{owner}: {where}{name} holds integers such as {some[0]}, which float64 rounds by "
                f"up to {rounding}, while they differ by about {spread:.1g} in all: predictions "
                "will be inaccurate. Remedy: subtract an offset from the integers, such as the "
                "least of them."
            )
            return


def _columns(values: Any) -> Any:
    """Return columns of rows or targets that may be integers."""
    if scipy.sparse.issparse(values):
        values = values.tocsr().data if values.dtype.kind in "iu" else ()
    place = place_of(values)
    if place is not HOST and not place.xp.isdtype(values.dtype, "integral"):
        return []
    try:
        array = np.asarray(to_host(values))
    except ValueError:  # of lists of several lengths, which are refused later
        return []
    if array.ndim not in (1, 2) or array.dtype.kind not in "iuO" or not array.size:
        return []
    return array.reshape(len(array), -1).T


def _beyond_float64(column: np.ndarray) -> bool:
    """Return whether a column holds integers some of which float64 rounds."""
    if column.dtype.kind == "O" and not all(type(value) is int for value in column):
        return False
    whole = column.dtype.kind in "iuO" and len(column) > 0
    return whole and _WHOLE < max(int(column.max()), -int(column.min())) < _LARGEST


def merged(X: np.ndarray, dtype: Any) -> np.ndarray:
    """Mask of the columns of float64 rows in which a precision makes many values equal."""
    before, after = _told_apart(_some(X), dtype)
    return after <= _DISTINCT * before


def _some(X: Any) -> Any:
    """Rows that are checked, on the host."""
    return to_host(X[:: max(1, X.shape[0] // _ROWS), ...])


def _told_apart(rows: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return how many values of each column are different, before and after rounding.

    Values that differ by rounding noise are equal, unless rounding keeps them apart or they vanish.
    """
    rows = np.sort(rows, axis=0)  # missing values last
    last = np.maximum((~np.isnan(rows)).sum(axis=0) - 1, 0)
    ends = np.round(np.outer((0.02, 0.98), last)).astype(int)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rounded = rows.astype(dtype)
        low, high = np.take_along_axis(rows, ends, axis=0)
        noise = np.fmax(_NOISE_OF_SPREAD * (high - low), _NOISE_OF_VALUE * np.abs(rows[1:]))
        vanish = np.abs(rounded[1:]) < np.finfo(dtype).tiny
        after = rounded[1:] > rounded[:-1]
        before = after | (rows[1:] > rows[:-1] + np.where(vanish, 0, noise))
    return 1 + before.sum(axis=0), 1 + after.sum(axis=0)


def _name(column: int, names: Any) -> str:
    return str(column) if names is None else repr(str(names[column]))


def _warned_of_ties(owner: str, rows: np.ndarray, dtype: Any, names: Any) -> bool:
    """Warn of a column whose distinct values become equal; returns whether there is one."""
    before, after = _told_apart(rows, dtype)
    column = int((after / before).argmin())
    if after[column] > _DISTINCT * before[column]:
        return False
    warn(
        f"{owner}: of {before[column]} different values of column {_name(column, names)} of X, "
        f"dtype={np.dtype(dtype).name!r} tells {after[column]} apart: predictions will be "
        f"inaccurate. Remedy: {DOUBLE}; or subtract an offset, or take logarithms."
    )
    return True
