r"""Linear leaves: in each leaf of a tree a linear function of the columns that the tree cuts first.

The activations of a row are the indicators of constant leaves times :math:`(1, z_1, \dots, z_m)`,
where :math:`z_i` is the value of a column of numbers, centred and scaled to [-1, 1]. All rows of a
bin have one value, and numbers beyond the training rows count as the outermost bin. Predictions are
therefore bounded, since a leaf with the constant c and the slopes s is at most :math:`|c| + \sum_i
|s_i|`.

A missing value has the value 0 if training rows have gaps in that column, so that the leaves learn
what such rows are like. If they have none, a leaf would be extrapolated to a value that its rows
lack. A gap in a new row then counts as the median of the column, for cuts and slopes alike.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from trickless._arrays.loops import FIRST
from trickless._arrays.places import to_host
from trickless._arrays.stated import Array, Stated
from trickless._arrays.weighted import median
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins
from trickless.neurons.levels import MISSING

#: Standard deviations at which values end, and the number of steps from 0 to there.
_END, _STEPS = 3.0, 127


class LinearLeaves(Stated):
    """The inputs of linear leaves.

    Attributes
    ----------
    steps : int8 array of shape (n_columns, 256)
        The value of each bin, in units of 1/127. It is 0 for missing values and for categories.
    of_gaps : uint8 array of shape (n_columns,)
        The bin of missing values: that of the median if training rows have no gaps, else 0.
    """

    steps: Annotated[np.ndarray, Array("i1", "n_columns", 256, least=-_STEPS, below=_STEPS + 1)]
    of_gaps: Annotated[np.ndarray, Array("u1", "n_columns")]

    def __init__(self, rows: np.ndarray, bins: Bins, weight: np.ndarray) -> None:
        rows, weight = rows[weight > 0], weight[weight > 0]
        self.steps = np.zeros((len(bins.counts), 256), dtype=np.int8)
        self.of_gaps = np.full(len(bins.counts), MISSING, dtype=np.uint8)
        found = bins(rows)
        for j, codes in enumerate(bins.of_code):
            if codes is None and bins.counts[j] > 2:
                centres = _centres(rows[:, j], found[:, j], weight, int(bins.counts[j]))
                spread = centres.std() or 1.0
                ends = np.clip((centres - centres.mean()) / (_END * spread), -1, 1)
                self.steps[j, 1 : len(centres) + 1] = np.rint(_STEPS * ends)
                if (found[:, j] != MISSING).all():
                    self.of_gaps[j] = int(median(found[:, j], weight))

    def n_inputs(self, n_cuts: int) -> int:
        """Return the most columns that the leaves of trees of so many cuts are linear in."""
        return min(FIRST, n_cuts, int(self.steps.any(axis=1).sum()))

    def check_state(self) -> None:
        if self.steps[:, MISSING].any():
            raise ValueError("steps: missing values have a value")

    def filled(self, xp: Any, bins: Any) -> Any:
        """Return bins (n_rows, n_columns) whose gaps have the bins of gaps, on any device."""
        of_gaps = xp.asarray(self.of_gaps, device=bins.device)
        return xp.where(bins == MISSING, of_gaps[None, :], bins)

    def columns(self, weights: Weights) -> np.ndarray:
        """Return the columns of numbers in the first cuts of trees, (n, n_inputs); -1 for none.

        Each column is there once. Cuts that send all rows to the left do not count.
        """
        cut, sets = weights[0][:, :FIRST], np.ascontiguousarray(weights[-1][:, :FIRST])
        has_values = np.asarray(self.steps.view(np.int64).any(axis=1))
        parts = np.moveaxis(sets.view(np.int64), 2, 0)  # one after the other: few are quick so
        columns = np.where((reduce(np.bitwise_or, parts) != 0) & has_values[cut], cut, -1)
        for i, j in combinations(range(columns.shape[1]), 2):
            columns[columns[:, i] == columns[:, j], j] = -1
        n_inputs = min(FIRST, columns.shape[1], int(has_values.sum()))
        if (columns[:, :n_inputs] >= 0).all():
            return columns[:, :n_inputs]
        order = np.argsort(columns < 0, axis=1, kind="stable")[:, :n_inputs]
        return np.take_along_axis(columns, order, axis=1)

    def of_bins(self) -> np.ndarray:
        """Return the value of each bin in each column, (n_columns, 256)."""
        return self.steps / _STEPS

    def everywhere(self, xp: Any, bins: Any, weights: Weights, dtype: Any) -> Any:
        """Return (1, z) of several trees on any device: (n_rows, 1 + n_inputs, n)."""
        columns = xp.asarray(self.columns(tuple(map(to_host, weights))), device=bins.device)
        steps = np.concatenate([self.of_bins(), np.zeros((1, 256))])  # of no column, the last
        flat = xp.asarray(steps.ravel(), dtype=dtype, device=bins.device)
        inputs = [xp.ones((bins.shape[0], columns.shape[0]), dtype=dtype, device=bins.device)]
        for i in range(columns.shape[1]):
            column = columns[:, i]
            known = xp.where(column < 0, xp.zeros_like(column), column)
            row = xp.where(column < 0, xp.full_like(column, len(steps) - 1), column)
            b = xp.astype(xp.take(bins, known, axis=1), xp.int64) + row * 256
            inputs.append(xp.reshape(xp.take(flat, xp.reshape(b, (-1,))), b.shape))
        return xp.stack(inputs, axis=1)


def _centres(column: np.ndarray, bins: np.ndarray, weight: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the mean of each bin; of bins without rows, a value between their neighbours."""
    known = bins != MISSING
    values = column[known].astype(float)
    unit = float(np.abs(values).max(initial=0.0)) or 1.0  # sums could overflow
    weight = weight[known] / weight.max()
    total = np.bincount(bins[known], weight, n_bins + 1)[1:]
    sums = np.bincount(bins[known], weight * (values / unit), n_bins + 1)[1:]
    there = np.flatnonzero(total)
    return np.interp(np.arange(n_bins), there, sums[there] / total[there])


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
