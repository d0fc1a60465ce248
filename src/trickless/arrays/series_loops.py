"""Loops along series: compiled loops if available, and otherwise NumPy loops.

As in ``loops``, the only way to compiled loops leads through an object that checks each argument.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import NamedTuple

import numpy as np

from trickless.arrays import series
from trickless.arrays.loops import loops
from trickless.arrays.series import STEPS_TOGETHER, TAPS, View
from trickless.arrays.stated import check_array

#: The number of leaves that NumPy finds in the time of one step of a kernel along a series.
_LEAVES_OF_A_STEP = 4


def series_loops(n_steps: float = 0) -> SeriesLoops:
    """Choose loops by the number of steps of kernels along series."""
    if loops(_LEAVES_OF_A_STEP * n_steps).is_compiled:
        return SeriesLoops(importlib.import_module("trickless.arrays.compiled_series"))
    return SeriesLoops(series)


class SeriesLoops(NamedTuple):
    """Loops of a module, ``series`` or ``compiled_series``, behind checks of their arguments.

    They raise a ValueError that names an argument with another type, shape or range.
    """

    module: ModuleType

    def respond(
        self,
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
        return self.module.respond(*both, of_differences, dilation, mix, heavy, sign, thresholds)
