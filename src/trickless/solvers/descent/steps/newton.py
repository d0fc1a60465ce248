r"""Newton steps on trees: the coefficients of leaves from sums of slopes and curvatures.

The activations Z of a tree are the indicators of its leaves, so ZᵀZ is diagonal, and so is ZᵀHZ
with H the curvatures of the rows. The preconditioned step of Dai et al. divides by ZᵀZ, and a
Newton step by ZᵀHZ. It is, leaf by leaf,

.. math:: c_v = \gamma \frac{\sum_{i \in v} g_i}{\sum_{i \in v} h_i + \lambda}

with slopes g = −l′ and curvatures h.

λ is relative to the mean of Σ h over the leaves. A few rows that far outweigh all others count less
in this mean. Otherwise one row of weight 10⁹ would damp the steps of all leaves without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trickless.arrays.memory import physical_memory
from trickless.arrays.places import to_host
from trickless.errors import InvalidValueError
from trickless.neurons import Neurons, Weights
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.slopes import by_rows, safe_share
from trickless.solvers.descent.steps.leaves import LeafSums, Leaves
from trickless.solvers.descent.steps.linear_leaves import LeavesWithInputs, LinearSums
from trickless.solvers.descent.steps.step import Step

#: The largest size, the least, and a constant over the root of the number of trees.
_LARGEST, _LEAST, _SIZE = 0.5, 0.02, 3.0
#: The most rows of a step that are evaluated for the history.
_RECORDED = 4096
#: Rows of a stream for each tree.
_ROWS_PER_TREE = 1024
#: The most trees between two scores of the held-out rows.
_MOST_BETWEEN = 50


@dataclass(frozen=True)
class Newton(Step):
    """Newton steps on the leaves of trees, with λ relative to the mean curvature of a leaf.

    They take place on the host, wherever the rows are, and are many and cheap. The best number of
    trees is therefore found by the held-out rows.
    """

    damping: float = 0.15

    keeps_best: ClassVar[bool] = True
    second_order: ClassVar[bool] = True
    needs_eigenvalue: ClassVar[bool] = False
    _n_scores: ClassVar[int] = 100

    def first_size(self, alpha: Any, spread: np.ndarray, eigenvalue: float, bound: float) -> float:
        return float(min(_LARGEST, max(_LEAST, _SIZE / np.sqrt(self.n_neurons))))

    def read(self, neurons: Neurons, X: Any) -> Any:
        return neurons.read(to_host(X), self.n_jobs)

    def slopes(self, network: GrowingNetwork, batch: MiniBatch) -> np.ndarray:
        return network.newton_slopes(batch, self.loss, self.n_jobs)

    def activations(
        self, family: Any, X: Any, weights: Weights, dtype: Any
    ) -> Leaves | LeavesWithInputs:
        """Return the leaves of rows in a few trees, and the inputs of linear leaves."""
        numbers = np.empty((weights[0].shape[0], X.shape[0]), dtype=np.intp)

        def fill(rows: slice) -> None:
            numbers[:, rows] = family.leaf_numbers(X[rows], weights).T

        by_rows(fill, X.shape[0], self.n_jobs)
        geometry = family.geometry
        leaves = Leaves(numbers, geometry.width, geometry.n_leaves(weights))
        if family.linear_ is None:
            return leaves
        return LeavesWithInputs(
            leaves, list(family.inputs(np.asarray(X).T, weights)), family.n_inputs
        )

    def sums(
        self,
        network: GrowingNetwork,
        batch: MiniBatch,
        Z: Leaves | LeavesWithInputs,
        slopes: np.ndarray,
    ) -> LeafSums | LinearSums:
        return Z.newton(slopes, self.n_jobs)

    def direction(
        self,
        network: GrowingNetwork,
        sums: LeafSums | LinearSums,
        k: int,
        gamma: np.ndarray,
        n_rows: int,
    ) -> np.ndarray:
        whole = sums.coefficients(network.units, self.damping)
        whole *= safe_share(sums.moves(whole), gamma, self.loss)
        return -(whole / k).astype(network.coef.rows.dtype)

    def add(self, Z: Leaves | LeavesWithInputs, coef: np.ndarray, f: np.ndarray) -> None:
        Z.add(f, coef, self.n_jobs)

    def n_recorded(self, n_rows: int) -> int:
        return min(n_rows, _RECORDED)

    @property
    def usual_rows(self) -> int:
        return _ROWS_PER_TREE

    def wait(self, n_batches: int) -> int:
        return super().wait(_MOST_BETWEEN)

    def check(self, neurons: Neurons, n_outputs: int, itemsize: int) -> None:
        """Check that there are leaves, suitable steps, and memory for the coefficients."""
        if not neurons.has_trees:
            raise InvalidValueError(
                f"{self.owner}: preconditioner='newton' takes Newton steps on the leaves of trees, "
                f"but neurons={type(neurons).__name__}() have none",
                "neurons='trees', or preconditioner='auto'",
            )
        needed = self.n_neurons * neurons.width * n_outputs * itemsize
        if needed > (most := physical_memory()):
            raise InvalidValueError(
                f"{self.owner}: {self.n_neurons:,} trees of {neurons.width:,} leaves with "
                f"{n_outputs} outputs have {needed / 2**30:.1f} GiB of "
                f"coefficients, but this machine has {most / 2**30:.1f} GiB of memory",
                "a smaller depth of the trees, or a smaller n_neurons",
            )
