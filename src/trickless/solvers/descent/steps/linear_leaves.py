r"""Newton steps on linear leaves: the constant and the slopes of each leaf.

With z the inputs of a leaf and :math:`\bar z` their mean, weighted by the curvatures h of its rows,
the leaf adds :math:`c + s \cdot (z - \bar z)`. Its constant is the value of a constant leaf, since
the centred inputs sum to 0, and its slopes are a ridge regression of the slopes g of the loss,

.. math:: s = \Big( \sum_i h_i (z_i - \bar z)(z_i - \bar z)^\top + \mu I \Big)^{-1}
    \sum_i g_i (z_i - \bar z),

where μ is three times the mean of the diagonal over all leaves and inputs. That is more than λ
takes from the constants, because m slopes fit more noise than one constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays import loops
from trickless.solvers.descent.slopes import Units, by_rows, largest
from trickless.solvers.descent.steps.leaves import LeafSums, Leaves

#: μ, relative to the mean of the diagonal.
_RIDGE = 3.0


@dataclass(frozen=True)
class LinearSums:
    """Sums by leaf for a step on linear leaves, in units of slopes and curvatures.

    ``constants`` are the sums of constant leaves. For each input, ``gz`` and ``hz`` have the sums
    of its products with slopes and curvatures, (n_inputs, width, n_trees, n_outputs), and ``hzz``
    has those of the products of each pair of inputs, (n_inputs, n_inputs, width, ...).
    """

    constants: LeafSums
    gz: np.ndarray
    hz: np.ndarray
    hzz: np.ndarray

    def coefficients(self, units: Units, damping: float) -> np.ndarray:
        """Return the coefficients after a whole Newton step, in the order of columns."""
        h = self.constants.h * units.h
        constants = self.constants.coefficients(units, damping).reshape(h.shape)
        gz, hz, hzz = self.gz * units.g, self.hz * units.h, self.hzz * units.h
        mean = np.divide(hz, h, out=np.zeros_like(hz), where=h > 0)
        matrix = hzz - mean[:, None] * hz[None]
        vector = gz - mean * (self.constants.g * units.g)
        diagonal = np.einsum("iiwto->iwto", matrix).sum(axis=1)
        ridge = _RIDGE * diagonal.mean(axis=0) / np.maximum(self.constants.n_leaves, 1)[:, None]
        if not (n := len(gz)):
            return constants.reshape(-1, h.shape[-1])
        eye = np.eye(n)[:, :, None, None, None]
        matrix = np.moveaxis(matrix + eye * np.where(ridge > 0, ridge, 1.0), (0, 1), (-2, -1))
        slopes = np.linalg.solve(matrix, np.moveaxis(vector, 0, -1)[..., None])[..., 0]
        slopes = np.moveaxis(slopes, -1, 0)
        whole = np.concatenate([(constants - (slopes * mean).sum(axis=0))[None], slopes])
        return whole.reshape(-1, h.shape[-1])

    def moves(self, coef: np.ndarray) -> np.ndarray:
        """Return how far each leaf may move f at a row, for each of its coefficients."""
        parts = np.abs(coef).reshape(1 + len(self.gz), -1, coef.shape[-1])
        return np.broadcast_to(parts.sum(axis=0), parts.shape).reshape(coef.shape)


class LeavesWithInputs(NamedTuple):
    """The leaves of rows in a few trees, and (1, z) of each tree, (1 + n_in_use, n_rows)."""

    leaves: Leaves
    inputs: list[np.ndarray]
    n_inputs: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns that the activations would have."""
        n_rows, n_columns = self.leaves.shape
        return n_rows, (1 + self.n_inputs) * n_columns

    def sums(self, values: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return sums of ``values`` (n_values, n_rows), integers, over rows, times (1, z).

        The shape is ((1 + n_inputs) * width, n_trees, n_values). Products are rounded.
        """
        trees = [self._scaled(t, values, own, n_jobs) for t, own in enumerate(self.inputs)]
        sums = np.zeros((1 + self.n_inputs, self.leaves.width, len(trees), len(values)))
        for t, found in enumerate(trees):
            sums[: len(found), :, t] = found
        return sums.reshape(-1, len(trees), len(values))

    def newton(self, slopes: np.ndarray, n_jobs: int | None) -> LinearSums:
        """Return the sums that decide a step, from slopes and curvatures of rows."""
        n, m, width = len(slopes) // 2, self.n_inputs, self.leaves.width
        both = self.sums(slopes, n_jobs).reshape(1 + m, width, len(self.inputs), -1)
        hzz = np.zeros((m, m, width, len(self.inputs), n))
        for t, own in enumerate(self.inputs):
            if len(own) > 1:
                i, j = np.triu_indices(len(own) - 1)
                pairs = self._scaled(t, slopes[n:], own[1 + i] * own[1 + j], n_jobs)
                hzz[i, j, :, t] = hzz[j, i, :, t] = pairs
        top, counts = largest(slopes[n:]), self.leaves.n_leaves
        constants = LeafSums(both[0, ..., :n], both[0, ..., n:], top, counts)
        return LinearSums(constants, both[1:, ..., :n], both[1:, ..., n:], hzz)

    def _scaled(
        self, tree: int, values: np.ndarray, scales: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Return sums of values times scales over the leaves of a tree."""
        leaf, width = self.leaves.numbers[tree], self.leaves.width

        def of_block(rows: slice) -> np.ndarray:
            return loops.scaled_leaf_sums(leaf[rows], values[:, rows], scales[:, rows], width)

        none = np.zeros((len(scales), width, len(values)))  # the sums, if there are no rows
        return sum(by_rows(of_block, len(leaf), n_jobs), none)

    def add(self, f: np.ndarray, coef: np.ndarray, n_jobs: int | None) -> None:
        """Add the linear functions of their leaves to rows of f."""
        n_trees, width = len(self.inputs), self.leaves.width
        each = coef.reshape(1 + self.n_inputs, width, n_trees, -1)
        for t, own in enumerate(self.inputs):
            leaf, values = self.leaves.numbers[t], np.ascontiguousarray(each[:, :, t])

            def to_block(
                rows: slice, leaf: Any = leaf, values: Any = values, own: Any = own
            ) -> None:
                loops.add_scaled_leaf_values(f[rows], leaf[rows], values, own[:, rows])

            by_rows(to_block, len(leaf), n_jobs)
