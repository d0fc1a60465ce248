"""Binary trees at one row, for models that are compiled. Sums have the bits of ``combine``."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from trickless.arrays.branch_loops import branch_loops
from trickless.neurons.levels import MISSING
from trickless.neurons.one_row import Piece
from trickless.neurons.one_row_trees import BinsOfRow, Cuts, gaps_of


class CompiledBranchesRow:
    """Sums by the compiled loop, which makes a few cuts of each tree."""

    repeats = False

    def __init__(self, family: Any, pieces: list[Piece]) -> None:
        for weights, _ in pieces:
            family.check_weights(weights)  # the loop does not check positions
        self.crosses = family.crosses_
        self.pieces = [(*map(np.array, weights), coef.copy()) for weights, coef in pieces]
        used = np.concatenate([np.unique(columns) for columns, *_ in self.pieces])
        none = np.full(len(family.bins_.counts), MISSING, dtype=np.uint8)
        self.bins = BinsOfRow(family.bins_, used, none, pieces[0][1].dtype)
        self.combine = branch_loops().module.combine_few

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "combine"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.combine = branch_loops(np.inf).module.combine_few

    def add(self, x: np.ndarray, total: np.ndarray) -> None:
        """Add the values at a row (n_features,) to sums (n_outputs,), in place."""
        if self.crosses is not None:
            x = self.crosses.extended(x[None])[0]
        bins = self.bins(x, gaps_of(x))[:, None]
        for piece in self.pieces:
            total += self.combine(bins, *piece)[0]


class BranchesRow:
    """Sums in NumPy: all different cuts are made at once, and all trees go down together.

    Nodes that rows can reach come first, and then the leaves, which follow themselves. Each has two
    places, so that the place of the next one is at this place, or 1 further if the row goes right.
    """

    repeats = False

    def __init__(self, family: Any, pieces: list[Piece]) -> None:
        (columns, children, sets), coef = (
            map(np.concatenate, zip(*(weights for weights, _ in pieces), strict=True)),
            np.concatenate([coef for _, coef in pieces]),
        )
        self.crosses = family.crosses_
        n, n_nodes = columns.shape
        columns, sets, children = columns.ravel(), sets.reshape(-1, 32), children.reshape(-1, 2)
        levels, below = [], np.arange(n) * n_nodes
        while len(below):
            levels.append(below)
            under = children[below] + (below - below % n_nodes)[:, None]
            below = under[children[below] > 0]
        nodes = np.concatenate(levels)
        self.n_levels, n_inner = len(levels), len(nodes)
        tree, child = nodes // n_nodes, children[nodes]
        place = np.empty(n * n_nodes, dtype=np.intp)
        place[nodes] = np.arange(n_inner)
        is_leaf = child <= 0
        inner = place[np.where(is_leaf, 0, child + (tree * n_nodes)[:, None])]
        n_leaves = int(is_leaf.sum())
        leaves = n_inner + np.cumsum(is_leaf).reshape(-1, 2) - 1
        after = np.where(is_leaf, leaves, inner).ravel()
        ends = np.repeat(np.arange(n_inner, n_inner + n_leaves), 2)
        self.next, self.at = 2 * np.append(after, ends), 2 * np.arange(n)
        self.coef = coef[np.repeat(tree, 2)[is_leaf.ravel()], -child[is_leaf]]
        self.n_inner = n_inner
        keys = np.append(columns[nodes, None].astype("<i4").view(np.uint8), sets[nodes], axis=1)
        known: dict[bytes, int] = {}
        numbers = [known.setdefault(key.tobytes(), len(known)) for key in keys]
        self.numbers = np.repeat(numbers + [0] * n_leaves, 2)
        cuts = np.frombuffer(b"".join(known), dtype=np.uint8).reshape(-1, keys.shape[1])
        columns = np.ascontiguousarray(cuts[:, :4]).view("<i4")
        none = np.full(len(family.bins_.counts), MISSING, dtype=np.uint8)
        self.cuts = Cuts(family.bins_, columns, cuts[:, None, 4:], none, coef.dtype)
        self.bins = BinsOfRow(family.bins_, self.cuts.columns_of_bins, none, coef.dtype)
        ends = np.cumsum([0, *(len(coef) for _, coef in pieces)]).tolist()
        self.parts = [slice(*pair) for pair in pairwise(ends)]

    def add(self, x: np.ndarray, total: np.ndarray) -> None:
        """Add the values at a row (n_features,) to sums (n_outputs,), in place."""
        if self.crosses is not None:
            x = self.crosses.extended(x[None])[0]
        gaps = gaps_of(x)
        right = self.cuts.right(x, gaps, self.bins(x, gaps))
        at = self.at
        for _ in range(self.n_levels):
            at = self.next.take(at + right.take(self.numbers.take(at)))
        values = self.coef.take(at // 2 - self.n_inner, axis=0)
        for part in self.parts:
            total += values[part].cumsum(axis=0, dtype=np.float64)[-1]
