"""Series with gaps, and sums of the responses of random kernels along them, in NumPy.

Arrays have the rows, that is, one series each, along their last axis, so that all rows take the
same step at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

#: Number of taps of a kernel.
TAPS = 9
#: The three taps that weigh 2, of each of the 84 kernels. The other six weigh -1.
HEAVY = np.array(list(combinations(range(TAPS), 3)))
#: Responses up to this are zero but for rounding, in standard deviations of the series.
LEAST = 1e-5
#: The largest scaled values: the sums of squares of even larger ones would overflow.
_LARGEST, _LARGEST_OF_SUMS = 1e9, 1e15
#: The farthest that the mean of a series is from the usual level, in standard deviations.
MOST_LEVEL = 2.0
#: Rows are padded to a multiple of this number, since NumPy adds up single columns in another order
#: than several columns. Positions are padded to a multiple of the other, which are summed together.
ROWS_TOGETHER, STEPS_TOGETHER = 8, 8
#: Responses that are computed together, within the processor's cache.
_NUMBERS = 2**17


class View(NamedTuple):
    """Series, or their first differences.

    Attributes
    ----------
    values : array of shape (n_channels, n_positions, n_rows)
        Centred and scaled values, and zeros where there are none. At least the last position, and
        rows to make up a multiple, hold no values.
    there : array of shape (n_positions, n_rows)
        1 where some channel has a value, and 0 elsewhere.
    """

    values: np.ndarray
    there: np.ndarray


def views(
    X: np.ndarray,
    n_channels: int,
    scale: np.ndarray | None = None,
    level: np.ndarray | None = None,
) -> tuple[tuple[View, View], np.ndarray]:
    """Make series and their first differences from flat rows, and compute their mean squares.

    Each channel of a row is centred, and divided by its ``scale``. Gaps are interpolated, so that
    kernels can reach across them. With a ``level``, as many channels more hold how far the mean of
    a channel is from it, at most ``MOST_LEVEL`` standard deviations, at all times of the series.

    Parameters
    ----------
    X : array of shape (n_rows, n_channels * length)
        Rows, one channel after the other. NaN is no value.
    n_channels : int
        Number of channels.
    scale : float array of shape (2, n_channels), optional
        Scales of the series and of the differences. Default: 1.
    level : float array of shape (2, n_channels), optional
        Usual mean and standard deviation of each channel.

    Returns
    -------
    tuple of View
        The series, and their differences, in the precision of X.
    array of shape (2, n_rows, n_channels)
        Mean squares of both over the positions with values.
    """
    n_rows, length = X.shape[0], X.shape[1] // n_channels
    scale = np.ones((2, n_channels)) if scale is None else scale
    with np.errstate(over="ignore", under="ignore"):
        values = X.reshape(n_rows, n_channels, length).astype(np.float64) / scale[0][:, None]
        values = np.clip(values, -_LARGEST_OF_SUMS, _LARGEST_OF_SUMS)
        missing = np.isnan(values)
        if some_missing := bool(missing.any()):
            values[missing] = 0
        count = np.maximum(length - missing.sum(axis=2), 1)
        mean = values.sum(axis=2) / count
        values -= mean[:, :, None]
        values = np.clip(values, -_LARGEST, _LARGEST)
        if some_missing:
            values[missing] = 0
            for i, c in np.argwhere(missing.any(axis=2) & ~missing.all(axis=2)):
                _fill_gaps(values[i, c], np.flatnonzero(~missing[i, c]))
        change = np.diff(values, axis=2) * (scale[0] / scale[1])[:, None]
        change = np.clip(change, -_LARGEST, _LARGEST)
        gone = missing[:, :, 1:] | missing[:, :, :-1]
        if some_missing:
            inside = _inside(missing)
            change[~(inside[:, :, 1:] & inside[:, :, :-1])] = 0
        squares = np.stack([_mean_square(values, missing), _mean_square(change, gone)])
        if level is not None:
            away = (mean - level[0] / scale[0]) * (scale[0] / level[1])
            away = np.clip(away, -MOST_LEVEL, MOST_LEVEL)[:, :, None]
            away = np.where(inside, away, 0) if some_missing else np.repeat(away, length, axis=2)
            values = np.concatenate([values, away], axis=1)
            change = np.concatenate([change, np.zeros_like(change)], axis=1)
        both = _view(values, missing, X.dtype), _view(change, gone, X.dtype)
    return both, squares


def _fill_gaps(values: np.ndarray, known: np.ndarray) -> None:
    """Interpolate between the known values of a series, in place."""
    inside = np.arange(known[0], known[-1] + 1)
    values[inside] = np.interp(inside, known, values[known])


def _inside(missing: np.ndarray) -> np.ndarray:
    """Return where there is a value at or before a position, and at or after it."""
    there = ~missing
    after = np.maximum.accumulate(there[:, :, ::-1], axis=2)[:, :, ::-1]
    return np.maximum.accumulate(there, axis=2) & after


def _view(values: np.ndarray, missing: np.ndarray, dtype: np.dtype) -> View:
    """Put the rows last, and make up multiples of rows and positions."""
    n_rows, n_channels, length = values.shape
    n_columns = -(-n_rows // ROWS_TOGETHER) * ROWS_TOGETHER
    n_positions = (length // STEPS_TOGETHER + 1) * STEPS_TOGETHER
    series = np.zeros((n_channels, n_positions, n_columns), dtype)
    series[:, :length, :n_rows] = values.transpose(1, 2, 0)
    there = np.zeros((n_positions, n_columns), dtype)
    there[:length] = 1
    there[:length, :n_rows] -= missing.all(axis=1).T
    return View(series, there)


def _mean_square(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    count = np.maximum((~missing).sum(axis=2), 1)
    return np.where(missing, 0, values**2).sum(axis=2) / count


def taps(position: np.ndarray, dilation: np.ndarray, length: int) -> np.ndarray:
    """Find the positions of the taps of kernels at some positions, (TAPS, n, n_kernels).

    Those beyond the ends of a series become its last position, which holds no value.
    """
    reached = position + dilation * (np.arange(TAPS) - TAPS // 2)[:, None, None]
    return np.where((reached < 0) | (reached >= length), length - 1, reached)


def respond(
    series: View,
    differences: View,
    of_differences: np.ndarray,
    dilation: np.ndarray,
    mix: np.ndarray,
    heavy: np.ndarray,
    sign: np.ndarray,
    thresholds: np.ndarray,
) -> np.ndarray:
    """Sum the responses of the kernels of n neurons along series.

    ``SeriesLoops.respond`` explains the arguments and results.
    """
    n_rows, dtype = series.values.shape[2], series.values.dtype
    sums = np.empty((*sign.shape, 2 + thresholds.shape[2], n_rows), dtype)
    size = sign.shape[1] * series.there.size
    for some, kind, d in _alike(of_differences, dilation, size):
        values, there = (series, differences)[kind]
        mixed, inside = _between_zeros(len(some), there, d)
        for c in np.flatnonzero(mix[some].any(axis=0)):
            seen = np.flatnonzero(mix[some, c])
            inside[seen] += mix[some[seen], c, None, None].astype(dtype) * values[c]
        sums[some] = _sums(mixed, there, d, heavy[some], sign[some], thresholds[some])
    return sums


def respond_pairs(
    series: View,
    differences: View,
    of_differences: np.ndarray,
    dilation: np.ndarray,
    mix: np.ndarray,
    heavy: np.ndarray,
    sign: np.ndarray,
    thresholds: np.ndarray,
) -> np.ndarray:
    """Sum the responses of the kernels of neuron i along series i, (n, n_kernels, n_sums, 1)."""
    dtype = series.values.dtype
    sums = np.empty((*sign.shape, 2 + thresholds.shape[2], 1), dtype)
    size = sign.shape[1] * len(series.there)
    for some, kind, d in _alike(of_differences, dilation, size):
        values, there = (series, differences)[kind]
        there = there.T[some, None, :, None]
        mixed, inside = _between_zeros(len(some), there[0, 0], d)
        for c in np.flatnonzero(mix[some].any(axis=0)):
            seen = np.flatnonzero(mix[some, c])
            along = values[c].T[some[seen], :, None]
            inside[seen] += mix[some[seen], c, None, None].astype(dtype) * along
        sums[some] = _sums(mixed, there, d, heavy[some], sign[some], thresholds[some])
    return sums


def _alike(
    of_differences: np.ndarray, dilation: np.ndarray, size: int
) -> Iterator[tuple[np.ndarray, int, int]]:
    """Yield a few neurons that see the same series with the same dilation, and both of these.

    The responses of a neuron have ``size`` numbers.
    """
    order = np.lexsort((dilation, of_differences))
    kinds = np.column_stack([of_differences, dilation])[order]
    most = max(1, _NUMBERS // size)
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < min(start + most, len(order)) and (kinds[stop] == kinds[start]).all():
            stop += 1
        yield order[start:stop], *kinds[start].tolist()
        start = stop


def _between_zeros(n: int, there: np.ndarray, dilation: int) -> tuple[np.ndarray, np.ndarray]:
    """Make zeros for n neurons, with room for the taps beyond both ends, and the part within."""
    length, n_rows = there.shape
    mixed = np.zeros((n, length + (TAPS - 1) * dilation, n_rows), there.dtype)
    return mixed, mixed[:, TAPS // 2 * dilation :][:, :length]


def _sums(
    mixed: np.ndarray,
    there: np.ndarray,
    dilation: int,
    heavy: np.ndarray,
    sign: np.ndarray,
    thresholds: np.ndarray,
) -> np.ndarray:
    """Sum the responses of the kernels of a few neurons, (n, n_kernels, n_sums, n_rows)."""
    length, dtype = there.shape[-2], mixed.dtype.type
    each = np.arange(len(mixed))[:, None]
    reached = np.stack([mixed[:, i * dilation :][:, :length] for i in range(TAPS)], axis=1)
    total = reached[:, 0] + reached[:, 1]
    for i in range(2, TAPS):
        total += reached[:, i]
    a, b, c = (reached[each, heavy[:, :, i]] for i in range(3))
    z = sign[:, :, None, None].astype(dtype) * (dtype(3) * (a + b + c) - total[:, None]) * there
    high, low = limits(z.max(axis=1, keepdims=True)), -limits(-z.min(axis=1, keepdims=True))
    parts = [np.where(z > high, z, 0), np.where(z < low, -z, 0)]
    parts += [
        np.where(z > limit[:, :, None, None], there, 0) for limit in thresholds.T.swapaxes(1, 2)
    ]
    return np.stack([_along(part) for part in parts], axis=2)


def limits(highest: np.ndarray) -> np.ndarray:
    """Return what a response must exceed to be the highest, up to rounding errors, and not zero."""
    least = highest.dtype.type(LEAST)
    return np.maximum(highest - (least * highest + least), least)


def _along(parts: np.ndarray) -> np.ndarray:
    """Sum over positions, (n, n_kernels, length, n_rows), in the order of the compiled loop."""
    n, n_kernels, length, n_rows = parts.shape
    steps = parts.reshape(n, n_kernels, length // STEPS_TOGETHER, STEPS_TOGETHER * n_rows)
    steps = steps.sum(axis=2).reshape(n, n_kernels, STEPS_TOGETHER, n_rows)
    return steps.sum(axis=2)
