"""The leaves of rows in trees, sums over the rows of each leaf, and the coefficients from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trickless.arrays import loops
from trickless.solvers.descent.slopes import Units, by_rows, excess, largest


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

    def coefficients(self, units: Units, damping: float) -> np.ndarray:
        """Return the coefficients after a whole Newton step, in the order of columns."""
        return leaf_coefficients(self.g, self.h, units, damping, excess(self.top), self.n_leaves)

    def moves(self, coef: np.ndarray) -> np.ndarray:
        """Return how far each of the coefficients may move f at a row: the shape of ``coef``."""
        return coef


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
                return loops.leaf_sums(leaf[rows], values[:, rows], self.width)

            none = np.zeros((self.width, len(values)))  # the sums, if there are no rows
            parts.append(sum(by_rows(of_block, len(leaf), n_jobs), none))
        return np.stack(parts, axis=1)

    def newton(self, slopes: np.ndarray, n_jobs: int | None) -> LeafSums:
        """Return the sums that decide a step, from slopes and curvatures of rows."""
        n, both = len(slopes) // 2, self.sums(slopes, n_jobs)
        return LeafSums(both[..., :n], both[..., n:], largest(slopes[n:]), self.n_leaves)

    def add(self, f: np.ndarray, coef: np.ndarray, n_jobs: int | None) -> None:
        """Add the coefficients (width * n_trees, n_outputs) of their leaves to rows of f."""
        each = coef.reshape(self.width, len(self.numbers), -1).swapaxes(0, 1)
        for leaf, values in zip(self.numbers, np.ascontiguousarray(each), strict=True):

            def to_block(rows: slice, leaf: np.ndarray = leaf, values: np.ndarray = values) -> None:
                loops.add_leaf_values(f[rows], leaf[rows], values)

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
