"""Series with gaps, and sums of the responses of random kernels along them, in NumPy.

Arrays have the rows, that is, one series each, along their last axis, so that all rows take the
same step at a time.
"""

from __future__ import annotations

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
#: Rows are padded to a multiple of this number, since NumPy adds up single columns in another order
#: than several columns. Positions are padded to a multiple of the other, which are summed together.
ROWS_TOGETHER, STEPS_TOGETHER = 8, 8


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
    X: np.ndarray, n_channels: int, scale: np.ndarray | None = None
) -> tuple[tuple[View, View], np.ndarray]:
    """Make series and their first differences from flat rows, and compute their mean squares.

    Each channel of a row is centred, and divided by its ``scale``. Gaps are interpolated, so that
    kernels can reach across them.

    Parameters
    ----------
    X : array of shape (n_rows, n_channels * length)
        Rows, one channel after the other. NaN is no value.
    n_channels : int
        Number of channels.
    scale : float array of shape (2, n_channels), optional
        Scales of the series and of the differences. Default: 1.

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
        values -= (values.sum(axis=2) / count)[:, :, None]
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
        both = _view(values, missing, X.dtype), _view(change, gone, X.dtype)
        squares = np.stack([_mean_square(values, missing), _mean_square(change, gone)])
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


def taps(position: np.ndarray, dilation: int, length: int) -> np.ndarray:
    """Find the positions of the taps of a kernel at some positions, (TAPS, ...).

    Those beyond the ends of a series become its last position, which holds no value.
    """
    steps = dilation * (np.arange(TAPS) - TAPS // 2)
    reached = position + steps.reshape(-1, *([1] * position.ndim))
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
    n, n_kernels = sign.shape
    n_rows, dtype = series.values.shape[2], series.values.dtype
    sums = np.zeros((n, n_kernels, 2 + thresholds.shape[2], n_rows), dtype)
    for j, d in enumerate(dilation.tolist()):
        values, there = differences if of_differences[j] else series
        length = len(there)
        mixed = np.zeros((length + (TAPS - 1) * d, n_rows), dtype)
        inside = mixed[TAPS // 2 * d :][:length]
        for c in np.flatnonzero(mix[j]):
            inside += mix[j, c].astype(dtype) * values[c]
        reached = [mixed[i * d :][:length] for i in range(TAPS)]
        total = reached[0] + reached[1]
        for tap in reached[2:]:
            total += tap
        responses = np.empty((n_kernels, length, n_rows), dtype)
        for k, (a, b, c) in enumerate(heavy[j].tolist()):
            z = dtype.type(3) * (reached[a] + reached[b] + reached[c]) - total
            responses[k] = dtype.type(sign[j, k]) * z * there
        high, low = limits(responses.max(axis=0)), -limits(-responses.min(axis=0))
        for k, z in enumerate(responses):
            sums[j, k, 0] = summed(np.where(z > high, z, 0))
            sums[j, k, 1] = summed(np.where(z < low, -z, 0))
            for b, threshold in enumerate(thresholds[j, k]):
                sums[j, k, 2 + b] = summed(np.where(z > threshold, there, 0))
    return sums


def limits(highest: np.ndarray) -> np.ndarray:
    """Return what a response must exceed to be the highest, up to rounding errors, and not zero."""
    least = highest.dtype.type(LEAST)
    return np.maximum(highest - (least * highest + least), least)


def summed(along: np.ndarray) -> np.ndarray:
    """Sum over positions, (length, n_rows), in the order of the compiled loop."""
    steps = along.reshape(-1, STEPS_TOGETHER, along.shape[1])
    return steps.sum(axis=0).sum(axis=0)
