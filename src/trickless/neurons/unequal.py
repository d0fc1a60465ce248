"""Series in lists, whose lengths may be unequal, as flat rows that end with missing values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.missing import missing, unmasked
from trickless._arrays.places import namespace, place_of, to_host
from trickless._errors import InvalidTypeError, InvalidValueError

_REMEDY = "a list of arrays of the shape (length,) or (channels, length)"


class Lengths(NamedTuple):
    """What is known of series before they are copied.

    Attributes
    ----------
    n_channels : int
    longest : int
        Length of the longest series.
    series : list of arrays of shape (n_channels, length), or None
        The series of a list. None for an array of three dimensions.
    """

    n_channels: int
    longest: int
    series: list[np.ndarray] | None = None


def read_lengths(owner: str, X: Any, n_channels: int | None) -> Lengths | None:
    """Read channels and lengths of series; None for rows of a table.

    Lists of rows of one dimension are series of one channel, unless ``n_channels`` says that there
    are more. Then they are flat rows.
    """
    if isinstance(X, list | tuple) or is_of_objects(X):
        return _of_list(owner, X, n_channels)
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) < 3:
        return None
    if len(shape) > 3:
        raise InvalidValueError(
            f"{owner}: X has the shape {tuple(shape)}, but series have one dimension, or two with "
            "channels",
            "an array of the shape (n_rows, channels, length); Patches() reads images",
        )
    if 0 in shape[1:]:
        raise _empty(owner, 0)
    return Lengths(shape[1], shape[2])


def padded(owner: str, X: Any, lengths: Lengths, n_channels: int, length: int) -> Any:
    """Return flat rows of series, each channel of which ends with NaN if it is too short."""
    if lengths.series is None and lengths.longest == length:
        return namespace(X).reshape(X, (X.shape[0], n_channels * length))
    series = to_host(unmasked(X)) if lengths.series is None else lengths.series
    single = all(each.dtype == np.float32 for each in series)
    rows = np.full((len(series), n_channels, length), np.nan, np.float32 if single else np.float64)
    for i, each in enumerate(series):
        rows[i, :, : each.shape[1]] = _as_numbers(owner, i, each)
    return place_of(X).put(rows.reshape(len(series), n_channels * length))


def is_of_objects(X: Any) -> bool:
    """Return whether X is an array of objects of one dimension, which may be arrays."""
    return isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 1


def is_unequal(X: Any) -> bool:
    """Return whether rows in a list, or in an array of objects, have unequal shapes."""
    if not isinstance(X, list | tuple) and not is_of_objects(X):
        return False
    try:
        np.shape(list(X))
    except ValueError:
        return True
    return False


def _of_list(owner: str, X: Any, n_channels: int | None) -> Lengths | None:
    series = [_as_array(owner, i, each) for i, each in enumerate(X)]
    depths = {each.ndim for each in series}
    if not series or depths == {0}:
        return None  # refused as any other array of one dimension
    if not depths <= {1, 2}:
        i = next(i for i, each in enumerate(series) if each.ndim not in (1, 2))
        raise InvalidValueError(
            f"{owner}: series {i} of X has the shape {series[i].shape}, but a series has one "
            "dimension, or two with channels",
            _REMEDY,
        )
    widths = {each.shape for each in series}
    if depths == {1} and len(widths) == 1 and n_channels not in (None, 1):
        return None
    series = [each.reshape(-1, each.shape[-1]) if each.size else each for each in series]
    for i, each in enumerate(series):
        if not each.size:
            raise _empty(owner, i)
    counts = [len(each) for each in series]
    if len(set(counts)) > 1:
        _refuse_channels(owner, series, counts)
    longest = max(each.shape[1] for each in series)
    return Lengths(counts[0], longest, series)


def _refuse_channels(owner: str, series: list[np.ndarray], counts: list[int]) -> None:
    i = next(i for i, n in enumerate(counts) if n != counts[0])
    remedy = "the same channels in all series; a channel without values is NaN"
    if len({each.shape[1] for each in series}) == 1:
        remedy = "series of the shape (channels, length): [series.T for series in X]"
    raise InvalidValueError(
        f"{owner}: series {i} of X has {counts[i]} channel(s), but series 0 has {counts[0]}", remedy
    )


def _empty(owner: str, i: int) -> InvalidValueError:
    return InvalidValueError(
        f"{owner}: series {i} of X has no values", "leave empty series out, with their targets"
    )


def _as_array(owner: str, i: int, series: Any) -> np.ndarray:
    try:
        return np.asarray(to_host(unmasked(series)))
    except ValueError as error:
        raise InvalidValueError(
            f"{owner}: the channels of series {i} of X have unequal lengths",
            "channels of one length, which end with NaN where they have no more values",
        ) from error


def _as_numbers(owner: str, i: int, series: np.ndarray) -> np.ndarray:
    """Return a series of objects as numbers, with NaN for missing values."""
    if series.dtype.kind in "biuf":
        return series
    try:
        if series.dtype.kind == "O":
            return np.where(missing(series), np.nan, series).astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InvalidTypeError(
        f"{owner}: series {i} of X has the type {series.dtype}, but series must hold numbers",
        "arrays of numbers; missing values may be NaN",
    )
