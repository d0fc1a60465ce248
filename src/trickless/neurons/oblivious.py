"""Oblivious trees, which make the same cut in all branches of a level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trickless._arrays import loops
from trickless._arrays.loops import MOST_LEVELS, check_cuts
from trickless._arrays.stated import check_same
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins
from trickless.neurons.geometry import Geometry, drawn_sets, in_sets

#: With depth="auto", the mean number of rows in a leaf, and the least and largest depth.
_ROWS_PER_LEAF, _SHALLOWEST, _DEEPEST = 16, 2, 12


class Oblivious(Geometry):
    """The leaf of a row is the sum of 2^i over the levels i at which the row goes to the right.

    Weights are columns (n, depth) and sets (n, depth, 32).
    """

    deepest = MOST_LEVELS

    @classmethod
    def sized(
        cls, depth: int | str, max_leaves: int | str, n_rows: int, deepest: int | None
    ) -> Oblivious:
        """Make the geometry for a number of training rows. ``deepest`` limits "auto"."""
        automatic = max(int(np.log2(max(n_rows / _ROWS_PER_LEAF, 1))), _SHALLOWEST)
        deepest = _DEEPEST if deepest is None else min(deepest, _DEEPEST)
        chosen = min(automatic, deepest) if depth == "auto" else int(depth)
        return cls(chosen, 2**chosen)

    @property
    def n_levels(self) -> int:
        return self.depth

    def check_size(self) -> None:
        check_same("width", self.width, 2**self.depth)

    def draw(self, rng: np.random.Generator, n: int, variables: np.ndarray, bins: Bins) -> Weights:
        columns = bins.columns(rng.choice(variables, (n, self.depth)), rng)
        return columns, drawn_sets(rng, columns, bins)

    def nothing(self, n: int) -> Weights:
        sets = np.zeros((n, self.depth, 32), dtype=np.uint8)
        return np.zeros((n, self.depth), dtype=np.int64), sets

    def check(self, weights: Weights, n_features: int) -> None:
        columns, sets = weights
        check_cuts(columns, sets, n_features)
        check_same("levels of stored trees", columns.shape[1], self.depth)

    def leaves(self, bins: np.ndarray, weights: Weights) -> Iterator[np.ndarray]:
        return loops.leaves(bins, *weights)

    def combine(self, bins: np.ndarray, weights: Weights, coef: np.ndarray) -> np.ndarray:
        columns, sets = weights
        return loops.combine(bins, columns, sets, coef)

    def leaves_on_device(self, xp: Any, bins: Any, weights: Weights) -> Any:
        columns, sets = weights
        n = columns.shape[0]
        flat = xp.reshape(sets, (-1,))
        start = xp.arange(n, device=flat.device) * self.depth
        leaf = xp.zeros((bins.shape[0], n), dtype=xp.int64, device=flat.device)
        for i in range(self.depth):
            b = xp.take(bins, columns[:, i], axis=1)
            leaf = leaf + in_sets(xp, flat, start + i, b) * 2**i
        return leaf

    def leaves_of_pairs(self, bins: np.ndarray, weights: Weights) -> np.ndarray:
        return loops.leaves_of_pairs(np.ascontiguousarray(bins.T), *weights)
