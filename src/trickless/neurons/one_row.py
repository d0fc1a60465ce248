"""Sums of neurons at one row, for models that are compiled.

They round like ``combine`` on a block of rows, so predictions have the same bits.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from trickless.arrays.threads import linear_algebra

#: Weights of n neurons, and their coefficients (n, width, n_outputs).
Piece = tuple[tuple[Any, ...], np.ndarray]

#: Methods that decide the values of neurons. A subclass with another one may have other values.
_DECIDING = {"__call__", "activate", "combine", "draw", "inputs", "last_layer", "read"}
#: Products of more numbers than these would wait for other threads of BLAS.
_ONE_THREAD = 2**17


def one_row_of(family: Any, pieces: list[Piece], n_rows: int) -> Any:
    """Return the family's ``one_row``, or copies of the row if a subclass may have other values."""
    for cls in type(family).__mro__ if pieces else ():
        if "one_row" in vars(cls):
            return family.one_row(pieces, n_rows)
        if not _DECIDING.isdisjoint(vars(cls)):
            break
    return CombinedRow(family, pieces, n_rows)


class CombinedRow:
    """Sums by the family's ``combine`` on copies of the row, as many as a block has rows."""

    def __init__(self, family: Any, pieces: list[Piece], n_rows: int) -> None:
        self.family, self.pieces, self.n_rows = family, pieces, n_rows

    def add(self, x: np.ndarray, total: np.ndarray) -> None:
        """Add the values at a row (n_features,) to sums (n_outputs,), in place."""
        X = self.family.read(_copies(x[None], self.n_rows))
        with linear_algebra(1):
            for weights, coef in self.pieces:
                total += self.family.combine(X, weights, coef)[0]


class ProjectedRow:
    """Sums of neurons that respond to one projection each, and have no other weights.

    Pieces of one size are multiplied together. BLAS computes each by itself, as in a block.
    """

    def __init__(self, family: Any, pieces: list[Piece], n_rows: int) -> None:
        self.family, self.n_rows = family, n_rows
        self.parts: list[tuple[np.ndarray, np.ndarray]] = []
        for shape, group in groupby(pieces, lambda piece: piece[1].shape):
            directions, columns = [], []
            for (direction,), coef in group:
                directions.append(direction)
                columns.append(coef.swapaxes(0, 1).reshape(-1, shape[2]))
            # The rows of a direction are contiguous, as in the products of a block.
            self.parts.append((np.stack(directions).swapaxes(1, 2), np.stack(columns)))
        sizes = [directions[0].size * n_rows for directions, _ in self.parts]
        self.is_large = max(sizes, default=0) > _ONE_THREAD

    def add(self, x: np.ndarray, total: np.ndarray) -> None:
        """Add the values at a row (n_features,) to sums (n_outputs,), in place."""
        if self.is_large:
            with linear_algebra(1):
                self._add(x, total)
        else:
            self._add(x, total)

    def _add(self, x: np.ndarray, total: np.ndarray) -> None:
        X = self.family.prepare(_copies(x[None], self.n_rows))
        values = [total[None]]
        for directions, columns in self.parts:
            Z = self.family.respond(np.matmul(X, directions)[:, 0])
            values.append(np.matmul(_copies(Z[:, None], self.n_rows), columns)[:, 0])
        # One after the other, unlike sum.
        total[:] = np.add.accumulate(np.concatenate(values))[-1]


def _copies(rows: np.ndarray, n: int) -> np.ndarray:
    """Return n copies of each row, shape (..., n, n_columns)."""
    copies = np.empty((*rows.shape[:-2], n, rows.shape[-1]), rows.dtype)
    copies[...] = rows
    return copies
