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
from typing import Any, ClassVar, NamedTuple

import numpy as np

from trickless.arrays.loops import loops
from trickless.arrays.memory import physical_memory
from trickless.arrays.places import to_host
from trickless.errors import InvalidValueError
from trickless.neurons import Neurons, Weights
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.slopes import Units, by_rows, excess, largest, safe_share
from trickless.solvers.descent.steps.step import Step

#: The largest size, the least, and a constant over the root of the number of trees.
_LARGEST, _LEAST, _SIZE = 0.5, 0.02, 3.0
#: The most rows of a step that are evaluated for the history.
_RECORDED = 4096
#: Rows of a stream for each tree.
_ROWS_PER_TREE = 1024
#: Work on a row and a tree of a fit, in units of finding its leaf.
_WORK = 32
#: The most trees between two scores of the held-out rows.
_MOST_BETWEEN = 50


@dataclass(frozen=True)
class LeafSums:
    """Sums of slopes and curvatures by leaf, (width, n_trees, n_outputs), in their units.

    ``top`` has the largest curvatures of rows, which show outliers, and ``n_leaves`` the number of
    leaves of each tree. The leaves beyond it have no rows.
    """

    g: np.ndarray
    h: np.ndarray
    top: np.ndarray
    n_leaves: np.ndarray

    def __add__(self, other: LeafSums) -> LeafSums:
        top = largest(np.concatenate([self.top, other.top], axis=1))
        return LeafSums(self.g + other.g, self.h + other.h, top, self.n_leaves)


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

    def activations(self, family: Any, X: Any, weights: Weights, dtype: Any) -> Leaves:
        """Return the leaves of rows in a few trees."""
        numbers = np.empty((weights[0].shape[0], X.shape[0]), dtype=np.intp)

        def fill(rows: slice) -> None:
            numbers[:, rows] = family.leaves(X[rows], weights).T

        by_rows(fill, X.shape[0], self.n_jobs)
        return Leaves(numbers, family.width, family.geometry.n_leaves(weights))

    def sums(
        self, network: GrowingNetwork, batch: MiniBatch, Z: Leaves, slopes: np.ndarray
    ) -> LeafSums:
        n, both = len(slopes) // 2, Z.sums(slopes, self.n_jobs)
        return LeafSums(both[..., :n], both[..., n:], largest(slopes[n:]), Z.n_leaves)

    def direction(
        self, network: GrowingNetwork, sums: LeafSums, k: int, gamma: np.ndarray, n_rows: int
    ) -> np.ndarray:
        whole = leaf_coefficients(
            sums.g, sums.h, network.units, self.damping, excess(sums.top), sums.n_leaves
        )
        whole *= safe_share(whole, gamma, self.loss)
        return -(whole / k).astype(network.coef.rows.dtype)

    def add(self, Z: Leaves, coef: np.ndarray, f: np.ndarray) -> None:
        Z.add(f, coef, self.n_jobs)

    def n_recorded(self, n_rows: int) -> int:
        return min(n_rows, _RECORDED)

    @property
    def usual_rows(self) -> int:
        return _ROWS_PER_TREE

    def wait(self, n_batches: int) -> int:
        return super().wait(_MOST_BETWEEN)

    def check(self, neurons: Neurons, schedule: str, n_outputs: int, itemsize: int) -> None:
        """Check that there are leaves, suitable steps, and memory for the coefficients."""
        if not neurons.has_trees:
            raise InvalidValueError(
                f"{self.owner}: preconditioner='newton' takes Newton steps on the leaves of trees, "
                f"but neurons={type(neurons).__name__}() have none",
                "neurons='trees', or preconditioner='auto'",
            )
        if schedule == "theorem":
            raise InvalidValueError(
                f"{self.owner}: preconditioner='newton' with schedule='theorem': the theorem is "
                "about the plain steps of the paper, and steps of 1 / alpha would be many times a "
                "Newton step",
                "preconditioner='auto', or another schedule",
            )
        needed = self.n_neurons * neurons.width * n_outputs * itemsize
        if needed > (most := physical_memory()):
            raise InvalidValueError(
                f"{self.owner}: {self.n_neurons:,} trees of {neurons.width:,} leaves with "
                f"{n_outputs} outputs have {needed / 2**30:.1f} GiB of "
                f"coefficients, but this machine has {most / 2**30:.1f} GiB of memory",
                "a smaller depth of the trees, or a smaller n_neurons",
            )

    def prepare(self, n_rows: int) -> None:
        loops(_WORK * n_rows * self.n_neurons)  # loads compiled loops if they are worth it


class Leaves(NamedTuple):
    """The leaves of rows in a few trees, (n_trees, n_rows), and the numbers of leaves of the trees.

    They have at most ``width`` leaves.
    """

    numbers: np.ndarray
    width: int
    n_leaves: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns that the activations would have."""
        return self.numbers.shape[1], self.width * len(self.numbers)

    def sums(self, values: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return sums of ``values`` (n_values, n_rows) by leaf: (width, n_trees, n_values)."""
        parts = []
        for leaf in self.numbers:

            def of_block(rows: slice, leaf: np.ndarray = leaf) -> np.ndarray:
                return loops().leaf_sums(leaf[rows], values[:, rows], self.width)

            none = np.zeros((self.width, len(values)))  # the sums, if there are no rows
            parts.append(sum(by_rows(of_block, len(leaf), n_jobs), none))
        return np.stack(parts, axis=1)

    def add(self, f: np.ndarray, coef: np.ndarray, n_jobs: int | None) -> None:
        """Add the coefficients (width * n_trees, n_outputs) of their leaves to rows of f."""
        each = coef.reshape(self.width, len(self.numbers), -1).swapaxes(0, 1)
        for leaf, values in zip(self.numbers, np.ascontiguousarray(each), strict=True):

            def to_block(rows: slice, leaf: np.ndarray = leaf, values: np.ndarray = values) -> None:
                loops().add_leaf_values(f[rows], leaf[rows], values)

            by_rows(to_block, len(leaf), n_jobs)


def leaf_coefficients(
    g: np.ndarray,
    h: np.ndarray,
    units: Units,
    damping: float,
    outlying: np.ndarray | float = 0.0,
    n_leaves: np.ndarray | None = None,
) -> np.ndarray:
    """Return the coefficients of leaves after a whole Newton step, in the order of columns.

    ``g`` and ``h`` are sums by leaf, (width, n_trees, n_outputs), in their units. λ is ``damping``
    times the mean of ``h`` over leaves, which is the mean of the covariance's diagonal. The mean
    leaves out what is ``outlying``, the :func:`excess` of outliers. A tree has ``n_leaves`` leaves,
    by default all.
    """
    n = len(h) if n_leaves is None else n_leaves[:, None]
    g, h = g * units.g, h * units.h
    ridge = damping * (h.sum(axis=0) / n - outlying * units.h / n)
    coef = np.divide(g, h + ridge, out=np.zeros_like(g), where=h + ridge > 0)
    return coef.reshape(-1, g.shape[2])
