r"""Linear leaves: in each leaf of a tree a linear function of the columns that the tree cuts first.

The activations of a row are those of constant leaves, times :math:`(1, z_1, \dots, z_m)`, where
:math:`z_i` is the value of a column of numbers, centred and scaled to [-1, 1]. A value is that of
its bin, so it takes one byte, and numbers beyond the training rows count as the outermost bin.
The function of a leaf therefore never leaves the values that it takes at training rows by more than
its slopes times 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.places import to_host
from trickless.arrays.stated import Stated, check_array
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins
from trickless.neurons.levels import MISSING

#: The first cuts of a tree, whose columns are inputs of its leaves.
FIRST = 4
#: Standard deviations at which values end, and the number of steps from 0 to there.
_END, _STEPS = 3.0, 127


class LinearLeaves(Stated):
    """The inputs of linear leaves.

    Attributes
    ----------
    steps : int8 array of shape (n_columns, 256)
        The value of each bin, in units of 1/127. It is 0 for missing values and for categories.
    gaps : bool array of shape (n_columns,)
        Whether training rows have missing values, whose value is 0. Elsewhere, a missing value is
        new, and its value is the one nearest to 0 among those of its leaf. The function of the leaf
        is not known outside of them.
    """

    def __init__(self, rows: np.ndarray, bins: Bins) -> None:
        self.steps = np.zeros((len(bins.counts), 256), dtype=np.int8)
        found = bins(rows)
        self.gaps = (found == MISSING).any(axis=0)
        for j, codes in enumerate(bins.of_code):
            if codes is None and bins.counts[j] > 2:
                centres = _centres(rows[:, j], found[:, j], int(bins.counts[j]))
                spread = centres.std() or 1.0
                ends = np.clip((centres - centres.mean()) / (_END * spread), -1, 1)
                self.steps[j, 1 : len(centres) + 1] = np.rint(_STEPS * ends)

    def n_inputs(self, n_cuts: int) -> int:
        """Return the most columns that the leaves of trees of so many cuts are linear in."""
        return min(FIRST, n_cuts, int(self.steps.any(axis=1).sum()))

    def check_state(self) -> None:
        check_array("steps", self.steps, "i1", (None, 256), -_STEPS, _STEPS + 1)
        check_array("gaps", self.gaps, "b1", (len(self.steps),))
        if self.steps[:, MISSING].any():
            raise ValueError("steps: missing values have a value")

    def columns(self, weights: Weights) -> np.ndarray:
        """Return the columns of numbers in the first cuts of trees, (n, n_inputs); -1 for none.

        Each column is there once. Cuts that send all rows to the left do not count.
        """
        cut, sets = weights[0][:, :FIRST], weights[-1][:, :FIRST]
        has_values = np.asarray(self.steps.any(axis=1))
        columns = np.where(sets.any(axis=2) & has_values[cut], cut, -1)
        for i in range(1, columns.shape[1]):
            again = (columns[:, :i] == columns[:, i, None]).any(axis=1)
            columns[again, i] = -1
        n_inputs = self.n_inputs(columns.shape[1])
        order = np.argsort(columns < 0, axis=1, kind="stable")[:, :n_inputs]
        return np.take_along_axis(columns, order, axis=1)

    def of_new_gaps(self, weights: Weights, columns: np.ndarray) -> np.ndarray:
        """Return the steps of new gaps in the inputs of trees: (n, n_inputs)."""
        cuts, sets = weights[0], weights[-1]
        low = np.full(columns.shape, -_STEPS)
        high = np.full(columns.shape, _STEPS)
        for i in range(cuts.shape[1]):
            of_cut = np.unpackbits(sets[:, i], axis=1)[:, 1:]  # of bins that are not missing
            is_cut = (columns == cuts[:, i, None]) & (of_cut.sum(axis=1) > 0)[:, None]
            right = sets[:, i, 0, None] >= 128
            steps = self.steps[cuts[:, i], 1:]
            n_left = 255 - of_cut.sum(axis=1)
            rows = np.arange(len(cuts))
            first = steps[rows, np.minimum(n_left, 254)][:, None]
            last = steps[rows, np.maximum(n_left - 1, 0)][:, None]
            low = np.where(is_cut & right, np.maximum(low, first), low)
            high = np.where(is_cut & ~right, np.minimum(high, last), high)
        return np.where(
            self.gaps[columns] | (columns < 0), 0, np.clip(0, low, np.maximum(low, high))
        )

    def values(self, bins: np.ndarray, columns: np.ndarray, weights: Weights) -> np.ndarray:
        """Return (1, z) of one tree at rows (n_features, n_rows): (1 + n_in_use, n_rows)."""
        known = columns[columns >= 0].tolist()
        values = np.ones((1 + len(known), bins.shape[1]))
        for i, j in enumerate(known):
            np.divide(self.steps[j].take(bins[j]), _STEPS, out=values[1 + i])
            if not self.gaps[j] and (new := bins[j] == MISSING).any():
                values[1 + i, new] = self.of_new_gaps(weights, columns[None])[0, i] / _STEPS
        return values

    def everywhere(self, xp: Any, bins: Any, weights: Weights, dtype: Any) -> Any:
        """Return (1, z) of several trees on any device: (n_rows, 1 + n_inputs, n)."""
        here = tuple(map(to_host, weights))
        inputs_here = self.columns(here)
        columns = xp.asarray(inputs_here, device=bins.device)
        of_gaps = self.of_new_gaps(here, inputs_here) / _STEPS
        gaps = xp.asarray(of_gaps, dtype=dtype, device=bins.device)
        steps = np.vstack([self.steps, np.zeros((1, 256), dtype=np.int8)]) / _STEPS
        flat = xp.asarray(steps.ravel(), dtype=dtype, device=bins.device)
        inputs = [xp.ones((bins.shape[0], columns.shape[0]), dtype=dtype, device=bins.device)]
        for i in range(columns.shape[1]):
            column = columns[:, i]
            known = xp.where(column < 0, xp.zeros_like(column), column)
            row = xp.where(column < 0, xp.full_like(column, len(steps) - 1), column)
            b = xp.astype(xp.take(bins, known, axis=1), xp.int64)
            value = xp.reshape(xp.take(flat, xp.reshape(b + row * 256, (-1,))), b.shape)
            inputs.append(xp.where(b == MISSING, gaps[None, :, i], value))
        return xp.stack(inputs, axis=1)


def _centres(column: np.ndarray, bins: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the mean of each bin; of bins without rows, a value between their neighbours."""
    known = bins != MISSING
    values = column[known].astype(float)
    unit = float(np.abs(values).max(initial=0.0)) or 1.0  # sums could overflow
    counts = np.bincount(bins[known], minlength=n_bins + 1)[1:]
    sums = np.bincount(bins[known], values / unit, n_bins + 1)[1:]
    there = np.flatnonzero(counts)
    return np.interp(np.arange(n_bins), there, sums[there] / counts[there])


def covariance_of_inputs(
    linear: LinearLeaves, B: np.ndarray, C: np.ndarray, same: np.ndarray, n_levels: int
) -> np.ndarray:
    r"""Return what slopes add to the kernel of trees, for rows that are bins.

    ``same`` has the probabilities :math:`s_j / d` that a cut of column j is drawn and does not
    separate two rows, (n_features, n, m). With :math:`\bar s` their sum, and q the number of first
    cuts, the sum over columns is :math:`\sum_j z_j z_j' \, (\bar s^q - (\bar s - s_j / d)^q)
    \, \bar s^{D - q}`, since a column is an input if one of q cuts has it.
    """
    total = same.sum(axis=0)
    q = min(FIRST, n_levels)
    result = np.zeros_like(total)
    for j, share in enumerate(same):
        z, z_ = linear.steps[j][B[:, j]] / _STEPS, linear.steps[j][C[:, j]] / _STEPS
        result += z[:, None] * z_[None, :] * (total**q - (total - share) ** q)
    return result * total ** (n_levels - q)
