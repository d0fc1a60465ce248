"""Rules and waves at one row, for models that are compiled.

All neurons of a kind are evaluated at once, by the operations of ``neurons.tabular`` in the same
order and precision, so sums have the bits of ``combine``.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from trickless.neurons.one_row import Piece


class RanksOfRow:
    """The ranks of the numbers of one row, among the ``cuts`` of each column of numbers.

    ``top`` is the largest rank.
    """

    def __init__(self, cuts: list[np.ndarray | None], top: float, dtype: np.dtype) -> None:
        self.places = np.array([j for j, each in enumerate(cuts) if each is not None], dtype=int)
        self.cuts = [each.astype(dtype) for each in cuts if each is not None]
        self.counts = np.array([max(1, len(each)) for each in self.cuts], dtype)
        self.top = top

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the ranks of numbers, missing numbers, and codes of categories, (n_features,)."""
        ranks, numbers = x.copy(), x[self.places]
        pairs = zip(self.cuts, numbers, strict=True)
        below = np.array([cuts.searchsorted(number) for cuts, number in pairs], x.dtype)
        ranks[self.places] = np.where(np.isnan(numbers), numbers, below / self.counts * self.top)
        return ranks


class TabularRow:
    """Sums of tabular neurons at one row.

    ``pieces`` are weights of n neurons of a ``mixture`` and their coefficients (n, 1, n_outputs).
    Products take ``n_rows`` copies of the row.
    """

    def __init__(
        self,
        cuts: list[np.ndarray | None],
        top: float,
        mixture: Any,
        pieces: list[Piece],
        n_rows: int,
    ) -> None:
        self.ranks, self.n_rows = RanksOfRow(cuts, top, pieces[0][1].dtype), n_rows
        weights = tuple(map(np.concatenate, zip(*(weights for weights, _ in pieces), strict=True)))
        self.n, self.parts = len(weights[0]), list(mixture.in_parts(weights))
        self.columns: list[tuple[slice, np.ndarray]] = []
        start = 0
        for shape, group in groupby([coef for _, coef in pieces], np.shape):
            columns = np.concatenate(list(group)).reshape(-1, shape[0], shape[2])
            stop = start + len(columns) * shape[0]
            self.columns.append((slice(start, stop), columns))
            start = stop

    def add(self, x: np.ndarray, total: np.ndarray) -> None:
        """Add the values at a row (n_features,) to sums (n_outputs,), in place."""
        ranks = self.ranks(x)[:, None]
        Z = np.empty(self.n, ranks.dtype)
        for part, chosen, weights, scale in self.parts:
            values = part.respond(ranks.__getitem__, weights)[:, 0]
            Z[chosen] = values if scale == 1 else values * scale
        for where, columns in self.columns:
            # Activations of a block have contiguous columns, on which rounding depends.
            rows = np.empty((*columns.shape[:2], self.n_rows), Z.dtype)
            rows[...] = Z[where].reshape(len(columns), -1, 1)
            for value in np.matmul(rows.swapaxes(1, 2), columns)[:, 0]:
                total += value
