"""Series with gaps, as random kernels see them.

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
#: The farthest that the mean of a series is from the usual level, in standard deviations.
MOST_LEVEL = 2.0
#: Positions are padded to a multiple of this number, which are summed together.
STEPS_TOGETHER = 8


class View(NamedTuple):
    """Series, or their first differences.

    Attributes
    ----------
    values : array of shape (n_channels, n_positions, n_rows)
        Centred and scaled values, and zeros where there are none. At least the last position holds
        no values.
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
    """Put the rows last, and make up a multiple of positions."""
    n_rows, n_channels, length = values.shape
    n_positions = (length // STEPS_TOGETHER + 1) * STEPS_TOGETHER
    series = np.zeros((n_channels, n_positions, n_rows), dtype)
    series[:, :length] = values.transpose(1, 2, 0)
    there = np.zeros((n_positions, n_rows), dtype)
    there[:length] = 1
    there[:length] -= missing.all(axis=1).T
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
