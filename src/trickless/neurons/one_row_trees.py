"""Oblivious trees at one row, for models that are compiled.

A cut of a number compares it with one threshold, so a row needs no bins, and all cuts of all trees
are made at once. Sums have the bits of ``combine``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from trickless.neurons.levels import MISSING
from trickless.neurons.one_row import Piece

if TYPE_CHECKING:
    from trickless.neurons.bins import Bins


class Cuts:
    """The cuts of oblivious trees of one depth, with columns (n, depth) and sets (n, depth, 32).

    ``of_gaps`` has the bin of a missing value in each column. Rows have the precision ``dtype``.
    """

    def __init__(
        self,
        bins: Bins,
        columns: np.ndarray,
        sets: np.ndarray,
        of_gaps: np.ndarray,
        dtype: np.dtype,
    ) -> None:
        self.n, depth = columns.shape
        columns, sets = columns.T.ravel(), sets.swapaxes(0, 1).reshape(-1, 32)  # level by level
        tables = np.unpackbits(sets, axis=1).astype(bool)
        n_right = tables[:, 1:].sum(axis=1)
        above = np.arange(1, 256) > 255 - n_right[:, None]
        is_number = np.array([codes is None for codes in bins.of_code])[columns]
        self.of_bins = np.flatnonzero(~is_number | (tables[:, 1:] != above).any(axis=1))
        self.tables, self.columns_of_bins = tables[self.of_bins], columns[self.of_bins]
        self.places = np.arange(len(self.of_bins))
        # Bin 1 + i holds the numbers above threshold i - 1, up to threshold i.
        ends = [np.concatenate([[-np.inf], cuts, [np.inf]]) for cuts in bins.thresholds]
        highest_left = 255 - n_right
        self.thresholds = np.array(
            [ends[j][min(b, len(ends[j]) - 1)] for j, b in zip(columns, highest_left, strict=True)]
        ).astype(dtype)
        self.features = bins.features[columns]
        self.if_missing = tables[np.arange(len(columns)), of_gaps[columns]]
        self.powers = 2.0 ** np.arange(depth, dtype=np.float32)

    def leaves(self, x: np.ndarray, bins: np.ndarray) -> np.ndarray:
        """Return the leaf of a row in each tree, (n,). Few cuts look at its ``bins``."""
        right = x.take(self.features) > self.thresholds
        if (gaps := np.isnan(x)).any():
            right |= gaps.take(self.features) & self.if_missing
        if len(self.of_bins):
            right[self.of_bins] = self.tables[self.places, bins.take(self.columns_of_bins)]
        leaf = self.powers @ right.reshape(-1, self.n).astype(np.float32)
        return leaf.astype(np.intp)


class BinsOfRow:
    """The bins of some columns at one row, one column after the other."""

    def __init__(
        self, bins: Bins, columns: np.ndarray, of_gaps: np.ndarray, dtype: np.dtype
    ) -> None:
        self.columns = [
            (
                int(j),
                int(bins.features[j]),
                bins.thresholds[j].astype(dtype).tolist(),
                None if (codes := bins.of_code[j]) is None else codes.tolist(),
                int(of_gaps[j]),
            )
            for j in np.unique(columns)
        ]
        self.n_columns = len(bins.counts)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the bins of all columns; those that are not asked for are 0."""
        found = np.zeros(self.n_columns, dtype=np.intp)
        values = x.tolist() if self.columns else []
        for j, feature, thresholds, codes, of_gap in self.columns:
            value = values[feature]
            if math.isnan(value):
                found[j] = of_gap
            else:
                found[j] = (
                    bisect_left(thresholds, value) + 1 if codes is None else codes[int(value)]
                )
        return found


class TreesRow:
    """Sums of what the leaves of one row predict, constants or linear functions."""

    def __init__(self, family: Any, pieces: list[Piece]) -> None:
        columns, sets = map(np.concatenate, zip(*(weights for weights, _ in pieces), strict=True))
        coef = np.concatenate([coef for _, coef in pieces])
        bins, linear, dtype = family.bins_, family.linear_, coef.dtype
        self.crosses = family.crosses_
        none = np.full(len(bins.counts), MISSING, dtype=np.uint8)
        of_gaps = none if linear is None else linear.of_gaps
        self.cuts = Cuts(bins, columns, sets, of_gaps, dtype)
        #: Columns that leaves are linear in, (n, n_inputs), and their values in each bin.
        self.inputs, self.values = np.zeros((len(columns), 0), dtype=int), np.zeros((1, 256))
        if linear is not None:
            self.inputs, self.values = linear.columns((columns, sets)), linear.of_bins()
        asked = np.append(self.cuts.columns_of_bins, self.inputs[self.inputs >= 0])
        self.bins = BinsOfRow(bins, asked, of_gaps, dtype)
        # The coefficients of a leaf lie side by side: (n, width, n_inputs, n_outputs).
        n, _, n_outputs = coef.shape
        coef = coef.reshape(n, 1 + family.n_inputs, -1, n_outputs).swapaxes(1, 2)
        self.starts = np.arange(n) * coef.shape[1]
        self.coef = coef.reshape(-1, 1 + family.n_inputs, n_outputs)
        sizes = [len(coef) * (1 + family.n_inputs) for _, coef in pieces]
        ends = np.cumsum([0, *sizes]).tolist()
        self.parts = [slice(*pair) for pair in pairwise(ends)]

    def add(self, x: np.ndarray, total: np.ndarray) -> None:
        """Add the values at a row (n_features,) to sums (n_outputs,), in place."""
        if self.crosses is not None:
            x = self.crosses.extended(x[None])[0]
        bins = self.bins(x)
        values = self.coef.take(self.starts + self.cuts.leaves(x, bins), axis=0)
        if self.inputs.shape[1]:
            values = values.astype(np.float64)
            values[:, 1:] *= self.values[self.inputs, bins.take(self.inputs)][..., None]
        values = values.reshape(-1, len(total))
        for part in self.parts:
            total += np.cumsum(values[part], axis=0, dtype=np.float64)[-1]
