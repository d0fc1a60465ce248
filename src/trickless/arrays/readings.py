"""The same rows in the forms of several families."""

from __future__ import annotations

from typing import Any

import numpy as np


class Readings:
    """The same rows in the forms that the families of a mixture read, on the host.

    ``parts`` has one form for each family. Rows are selected from all parts together. ``dtype`` is
    the precision of the original rows.
    """

    def __init__(self, parts: list[Any], dtype: Any) -> None:
        self.parts = parts
        self.dtype = np.dtype(dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns."""
        n_rows, n_columns = self.parts[0].shape
        return n_rows, n_columns

    def __getitem__(self, where: Any) -> Readings:
        taken = {id(part): part for part in self.parts}  # families may share a part
        taken = {key: _some(part, where) for key, part in taken.items()}
        return Readings([taken[id(part)] for part in self.parts], self.dtype)


def _some(rows: Any, where: Any) -> Any:
    """Select some of the rows. Contiguous columns stay contiguous."""
    by_column = isinstance(rows, np.ndarray) and rows.flags.f_contiguous
    if by_column and isinstance(where, np.ndarray) and where.dtype != bool:
        return np.take(rows.T, where, axis=1).T
    return rows[where]
