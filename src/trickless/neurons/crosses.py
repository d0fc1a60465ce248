"""Crossed columns: differences and products of the columns of numbers that matter most.

A cut of one column at a time needs many levels to follow a boundary that is oblique or curved. A
difference of two columns, or their product, makes such a boundary a single cut. Columns are centred
and scaled by their standard deviation first, so that their units do not matter.
"""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, Any

import numpy as np
from array_api_compat import device

from trickless.arrays.places import namespace
from trickless.arrays.stated import Array, Stated

#: The most columns that are crossed, each with each other.
MOST = 4


class Crosses(Stated):
    """Columns that are appended to rows: differences z_i − z_j and products z_i z_j.

    Attributes
    ----------
    columns : int array of shape (n_crossed,)
        The columns that are crossed.
    centre, spread : arrays of shape (n_crossed,)
        Their mean and standard deviation, by which z = (x − centre) / spread.
    """

    columns: Annotated[np.ndarray, Array("i8", "n_columns", least=0)]
    centre: Annotated[np.ndarray, Array("f8", "n_columns")]
    spread: Annotated[np.ndarray, Array("f8", "n_columns", least=0)]

    def __init__(self, columns: np.ndarray, X: np.ndarray, weight: np.ndarray | None) -> None:
        self.columns = np.asarray(columns, dtype=np.int64)
        weight = np.ones(len(X)) if weight is None else weight
        values = X[:, self.columns].astype(np.float64)
        unit = np.nanmax(np.abs(values), axis=0)  # squares could overflow
        unit = np.where(unit > 0, unit, 1.0)
        known = np.where(np.isnan(values), 0.0, values / unit)
        share = weight[:, None] * ~np.isnan(values)
        share = share / share.sum(axis=0)
        mean = (share * known).sum(axis=0)
        spread = np.sqrt((share * (known - mean) ** 2).sum(axis=0))
        self.centre, self.spread = mean * unit, np.where(spread > 0, spread, 1.0) * unit

    def __len__(self) -> int:
        """Number of columns that are appended."""
        return len(self.columns) * (len(self.columns) - 1)

    def extended(self, X: Any) -> Any:
        """Append the crossed columns to rows, on any device, in the precision of the rows."""
        xp = namespace(X)
        exact = X.dtype if str(device(X)).startswith("mps") else xp.float64
        z = [
            (xp.astype(X[:, int(j)], exact) - float(centre)) / float(spread)
            for j, centre, spread in zip(self.columns, self.centre, self.spread, strict=True)
        ]
        pairs = list(combinations(range(len(z)), 2))
        new = [z[i] - z[j] for i, j in pairs] + [z[i] * z[j] for i, j in pairs]
        return xp.concat([X, xp.astype(xp.stack(new, axis=1), X.dtype)], axis=1)

    def of_columns(self, wins: np.ndarray) -> np.ndarray:
        """Give half of what each crossed column has to either of its columns."""
        n = len(wins) - len(self)
        total = wins[:n].astype(float)
        pairs = list(combinations(self.columns.tolist(), 2))
        for (i, j), won in zip(pairs + pairs, wins[n:].tolist(), strict=True):
            total[i] += won / 2
            total[j] += won / 2
        return total
