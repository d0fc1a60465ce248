"""Loops along series, behind checks of their arguments, as in ``loops``."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np

from trickless._arrays.series import STEPS_TOGETHER, TAPS, View
from trickless._arrays.stated import check_array, check_count


@cache
def _compiled() -> ModuleType:
    from trickless._arrays import responses

    return responses


def respond(
    both: tuple[View, View],
    of_differences: np.ndarray,
    dilation: np.ndarray,
    mix: np.ndarray,
    heavy: np.ndarray,
    sign: np.ndarray,
    thresholds: np.ndarray,
) -> np.ndarray:
    """Sum the responses of the kernels of n neurons along series.

    Parameters
    ----------
    both : tuple of View
        Series, and their differences.
    of_differences : int8 array of shape (n,)
        1 for neurons that see differences.
    dilation : int64 array of shape (n,)
        Positions from one tap of a kernel to the next.
    mix : int8 array of shape (n, n_channels)
        Factors with which channels are summed.
    heavy : int64 array of shape (n, n_kernels, 3)
        The taps that weigh 2. The others weigh -1.
    sign : int8 array of shape (n, n_kernels)
        Factors of kernels.
    thresholds : array of shape (n, n_kernels, n_thresholds)
        Thresholds of responses, in the precision of the series.

    Returns
    -------
    array of shape (n, n_kernels, 2 + n_thresholds, n_rows)
        For each kernel, the sum of its responses where they are positive and the largest of all
        kernels, and minus the sum where they are negative and the smallest. Then the numbers of
        positions at which the response exceeds each threshold.
    """
    _check(both, of_differences, dilation, mix, heavy, sign, thresholds)
    return _compiled().respond(*both, of_differences, dilation, mix, heavy, sign, thresholds)


def respond_pairs(
    both: tuple[View, View],
    of_differences: np.ndarray,
    dilation: np.ndarray,
    mix: np.ndarray,
    heavy: np.ndarray,
    sign: np.ndarray,
    thresholds: np.ndarray,
) -> np.ndarray:
    """Sum the responses of the kernels of neuron i along series i: (n, n_kernels, n_sums, 1)."""
    _check(both, of_differences, dilation, mix, heavy, sign, thresholds)
    check_count("series of pairs", both[0].values.shape[2], len(sign), len(sign))
    return _compiled().respond_pairs(*both, of_differences, dilation, mix, heavy, sign, thresholds)


def _check(
    both: tuple[View, View],
    of_differences: np.ndarray,
    dilation: np.ndarray,
    mix: np.ndarray,
    heavy: np.ndarray,
    sign: np.ndarray,
    thresholds: np.ndarray,
) -> None:
    (values, there), (change, there_too) = both
    n_channels, n_positions, n_rows = values.shape
    floats = values.dtype.str[1:]
    check_array("series", values, "f4 f8", (None, None, None))
    check_array("positions of series", there, floats, (n_positions, n_rows))
    check_array("differences", change, floats, (n_channels, None, n_rows))
    check_array("positions of differences", there_too, floats, change.shape[1:])
    for array in (values, change):
        if not array.flags.c_contiguous or array.shape[1] % STEPS_TOGETHER:
            raise ValueError("series: the positions do not lie side by side, or are too few")
    n, n_kernels = len(sign), sign.shape[1]
    check_array("kinds of series", of_differences, "i1", (n,), 0, 2)
    check_array("dilations", dilation, "i8", (n,), 1, max(2, n_positions))
    check_array("channels", mix, "i1", (n, n_channels), -1, 2)
    check_array("taps", heavy, "i8", (n, n_kernels, 3), 0, TAPS)
    check_array("signs", sign, "i1", (n, n_kernels), -1, 2)
    check_array("thresholds", thresholds, floats, (n, n_kernels, None))
