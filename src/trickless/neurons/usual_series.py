"""Scales and levels of the channels of most series, which a few wild series do not change."""

from __future__ import annotations

import numpy as np

from trickless._arrays.series import LEAST, views
from trickless._arrays.weighted import median, quantile
from trickless._rules import warn

#: The share of series that may vary too little to be seen, without a warning.
_UNSEEN = 0.1
#: Amplitudes, and distances of levels, above this multiple of their third quartile are wild.
_WILD = 1000.0
#: Mean squares up to this are of rounding errors, in series whose largest value is about 1.
_ROUNDING = 1e-26
#: The largest scale.
_LARGEST = 1e308


def usual(rows: np.ndarray, n_channels: int, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the scales and levels of the channels of series.

    Series with wild values do not count, so that one in another unit does not make all others look
    constant.

    Parameters
    ----------
    rows : float array of shape (n_rows, n_channels * length)
        Series, one channel after the other. NaN is no value.
    n_channels : int
        Number of channels.
    weight : array of shape (n_rows,)
        Weights of the series.

    Returns
    -------
    array of shape (2, n_channels)
        Standard deviations of the channels within series, and of their differences. A channel that
        is constant in each series has the standard deviation of its levels, or else 1. Those of a
        channel without any value are so large that its values count as 0 later.
    array of shape (2, n_channels)
        Means of the channels over the series, and their standard deviations within and between
        series together.
    """
    series = rows.reshape(len(rows), n_channels, -1)
    known = ~np.isnan(series)
    largest = np.abs(np.where(known, series, 0)).max(axis=2)
    unit = np.ldexp(1.0, np.frexp(largest)[1] - 1)  # powers of two, which round nothing
    values = series / unit[:, :, None]
    _, squares = views(values.reshape(rows.shape), n_channels)
    squares[squares <= _ROUNDING] = 0
    means = np.where(known, values, 0).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    scale, level = np.full((2, n_channels), _LARGEST), np.zeros((2, n_channels))
    level[1] = _LARGEST
    has_values = known.any(axis=2) & (weight[:, None] > 0)
    if len(unknown := np.flatnonzero(~has_values.any(axis=0))):
        warn(
            f"channel {unknown[0]} of the series in X has no value in the rows from which "
            "scales are taken, so neurons will not see it later either. Remedy: leave it out, or "
            "begin with series that have it."
        )
    unseen = 0.0
    for c in np.flatnonzero(has_values.any(axis=0)):
        seen = has_values[:, c]
        units, of_rows = unit[seen, c], weight[seen]
        (within, some), (change, others) = (_root(z[seen, c], units, of_rows) for z in squares)
        unseen = max(unseen, some, others)
        middle = median(means[seen, c] * units, of_rows)
        with np.errstate(over="ignore"):
            away = means[seen, c] * units - middle
        near = np.isfinite(away) & ~_wild(np.abs(away), of_rows, within)
        away, of_rows = away[near], of_rows[near]
        far = max(float(np.abs(away).max()), within) or 1.0
        mean = np.average(away / far, weights=of_rows)
        between = np.average((away / far - mean) ** 2, weights=of_rows)
        spread = far * float(np.sqrt(between + (within / far) ** 2))
        spread = min(spread, _LARGEST) or 1.0
        level[:, c] = middle + far * mean, spread
        scale[:, c] = within or spread, change or within or spread
    if unseen > _UNSEEN:
        warn(
            f"X has a channel of series in which {unseen:.0%} vary by less than {LEAST:g} of the "
            "standard deviation of all, so that they seem constant: predictions will be "
            "inaccurate. Remedy: divide each series by its standard deviation, or bring all to "
            "one unit."
        )
    return scale, level


def _root(squares: np.ndarray, unit: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return the root of the mean of squares, in squared units, of series that are not wild.

    The second number is the share of those that vary too little to be seen at this scale.
    """
    roots = np.sqrt(squares) / 4 * unit  # which cannot overflow
    some = ~_wild(roots, weight)
    roots, weight = roots[some], weight[some]
    common = np.ldexp(1.0, np.frexp(roots.max())[1] - 1)
    root = np.sqrt(np.average((roots / common) ** 2, weights=weight)) * common
    unseen = np.average((roots > 0) & (roots < LEAST * root), weights=weight)
    return min(4 * float(root), _LARGEST), float(unseen)


def _wild(sizes: np.ndarray, weight: np.ndarray, least: float = 0.0) -> np.ndarray:
    """Return which sizes are far above most of those that are not 0, and above some ``least``."""
    if not (some := sizes > 0).any():
        return some
    return sizes / _WILD > max(quantile(sizes[some], 0.75, weight[some]), least)
