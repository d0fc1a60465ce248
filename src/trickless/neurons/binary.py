"""Binary trees, whose nodes are cut on their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trickless._arrays import branch_loops
from trickless._arrays.branch_loops import check_branches
from trickless._arrays.functions import looked_up
from trickless._arrays.loops import MOST_LEVELS
from trickless._arrays.places import to_host
from trickless._arrays.stated import check_count, check_same
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins
from trickless.neurons.geometry import Geometry, drawn_sets, in_sets

#: With max_leaves="auto", the rows for each leaf, and the least and largest number of leaves.
_ROWS_PER_LEAF, _FEWEST, _MOST = 16, 4, 4096


class Binary(Geometry):
    """Weights are columns (n, width - 1), children (n, width - 1, 2) and sets (n, width - 1, 32).

    A child is the number of a node, or -v for leaf v. Nodes that a tree does not need send all
    rows to leaf 0, and nodes come before their children. Trees that are drawn are complete: each of
    their leaves is at the same level.
    """

    deepest = 20

    @classmethod
    def sized(
        cls, depth: int | str, max_leaves: int | str, n_rows: int, deepest: int | None
    ) -> Binary:
        """Make the geometry for a number of training rows. ``deepest`` limits "auto"."""
        most = cls.deepest if deepest is None else deepest
        levels = most if depth == "auto" else int(depth)
        automatic = 2 ** int(np.log2(max(n_rows // _ROWS_PER_LEAF, 1)))
        n_leaves = min(max(automatic, _FEWEST), _MOST) if max_leaves == "auto" else int(max_leaves)
        return cls(levels, min(n_leaves, 2**levels))

    @property
    def n_levels(self) -> int:
        return min(self.depth, self.width.bit_length() - 1)

    def check_size(self) -> None:
        check_count("width", self.width, 2, min(2**MOST_LEVELS, 2**self.depth))

    def draw(self, rng: np.random.Generator, n: int, variables: np.ndarray, bins: Bins) -> Weights:
        n_used = 2**self.n_levels - 1
        columns = np.zeros((n, self.width - 1), dtype=np.int32)
        sets = np.zeros((n, self.width - 1, 32), dtype=np.uint8)
        columns[:, :n_used] = bins.columns(rng.choice(variables, (n, n_used)), rng)
        sets[:, :n_used] = drawn_sets(rng, columns[:, :n_used], bins)
        children = np.zeros((self.width - 1, 2), dtype=np.int32)
        below = 2 * np.arange(n_used)[:, None] + [1, 2]  # as in a heap
        children[:n_used] = np.where(below < n_used, below, n_used - below)
        return columns, np.tile(children, (n, 1, 1)), sets

    def nothing(self, n: int) -> Weights:
        columns = np.zeros((n, self.width - 1), dtype=np.int32)
        children = np.zeros((n, self.width - 1, 2), dtype=np.int32)
        return columns, children, np.zeros((n, self.width - 1, 32), dtype=np.uint8)

    def check(self, weights: Weights, n_features: int) -> None:
        columns, children, sets = weights
        check_branches(columns, children, sets, n_features)
        check_same("nodes of stored trees", columns.shape[1], self.width - 1)

    def leaves(self, bins: np.ndarray, weights: Weights) -> Iterator[np.ndarray]:
        columns, children, sets = weights
        return branch_loops.leaves(bins, columns, children, sets)

    def combine(self, bins: np.ndarray, weights: Weights, coef: np.ndarray) -> np.ndarray:
        columns, children, sets = weights
        return branch_loops.combine(bins, columns, children, sets, coef)

    def leaves_on_device(self, xp: Any, bins: Any, weights: Weights) -> Any:
        columns, children, sets = (xp.reshape(array, (-1,)) for array in weights)
        n, n_nodes = weights[0].shape
        first = xp.arange(n, device=columns.device)[None, :] * n_nodes

        def child(at: Any, b: Any) -> Any:
            right = in_sets(xp, sets, at, b)
            return xp.astype(looked_up(children, at * 2 + right), xp.int64)

        node = child(first, xp.take(bins, weights[0][:, 0], axis=1))
        for _ in range(_n_levels(to_host(weights[1])) - 1):
            at = first + xp.where(node > 0, node, 0 * node)
            column = xp.astype(looked_up(columns, at), xp.int64)
            below = child(at, xp.take_along_axis(bins, column, axis=1))
            node = xp.where(node > 0, below, node)
        return -node

    def leaves_of_pairs(self, bins: np.ndarray, weights: Weights) -> np.ndarray:
        return branch_loops.leaves_of_pairs(np.ascontiguousarray(bins.T), *weights)


def _n_levels(children: np.ndarray) -> int:
    """Return the most cuts from the root of a tree to a leaf; children come after their parents."""
    level = np.zeros(children.shape[:2], dtype=int)
    trees = np.arange(len(children))[:, None]
    for i in range(children.shape[1]):
        below = children[:, i]
        deeper = np.where(below > 0, level[:, i, None] + 1, level[trees, np.maximum(below, 0)])
        level[trees, np.maximum(below, 0)] = deeper
    return int(level.max(initial=0)) + 1
