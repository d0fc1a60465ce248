"""Binary trees at one row, for models that are compiled. Sums have the bits of ``combine``."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.packed_branches import PackedBranches
from trickless.neurons.levels import MISSING
from trickless.neurons.one_row import Piece
from trickless.neurons.one_row_trees import BinsOfRow, Cuts, gaps_of


class BranchesRow:
    """Sums of the leaves of one row. All different cuts of all trees are made at once."""

    def __init__(self, family: Any, pieces: list[Piece]) -> None:
        parts = zip(*(weights for weights, _ in pieces), strict=True)
        columns, children, sets = map(np.concatenate, parts)
        coef = np.concatenate([coef for _, coef in pieces])
        bins, self.crosses = family.bins_, family.crosses_
        ends = np.cumsum([len(coef) for _, coef in pieces]).tolist()
        self.trees = PackedBranches(columns, children, sets, coef, ends, len(bins.counts))
        columns, sets = self.trees.cuts
        none = np.full(len(bins.counts), MISSING, dtype=np.uint8)
        self.cuts = Cuts(bins, columns, sets[:, None], none, coef.dtype)
        self.bins = BinsOfRow(bins, self.cuts.columns_of_bins, none, coef.dtype)

    def add(self, x: np.ndarray, total: np.ndarray) -> None:
        """Add the values at a row (n_features,) to sums (n_outputs,), in place."""
        if self.crosses is not None:
            x = self.crosses.extended(x[None])[0]
        gaps = gaps_of(x)
        self.trees.add(self.cuts.right(x, gaps, self.bins(x, gaps)), total)
