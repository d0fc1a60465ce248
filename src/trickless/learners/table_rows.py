"""The rows of a table as a learner takes them: a matrix of numbers, or a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from trickless.neurons import Neurons
from trickless.tables.categories import warn_of_names, warn_of_new, without_rare
from trickless.tables.table_column import TableColumn, new_categories, read_codes, read_numbers

#: Rows are sparse if at most this share of their numbers is not 0, as in scikit-learn.
_SPARSE = 0.3
#: The largest number of single precision.
LARGEST_SINGLE = float(np.finfo(np.float32).max)


class TableRows(NamedTuple):
    """The columns that rows are read from, and the family that decides what becomes of them.

    Families that take tables get categories and differences from the median. Others get a matrix of
    standardised numbers, with a column of zeros and ones for each category.
    """

    columns: list[TableColumn]
    neurons: Neurons

    @property
    def width(self) -> int:
        """The approximate number of values that the learner gets for a row."""
        if self.neurons.accepts_tables or self.is_sparse:
            return len(self.columns)
        return self._n_columns

    @property
    def _n_columns(self) -> int:
        """The number of columns of the matrix."""
        return sum(
            (len(about.categories) if about.kind == "category" else 1) + about.has_missing
            for about in self.columns
        )

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is sparse."""
        return self.neurons.accepts_sparse and len(self.columns) <= _SPARSE * self._n_columns

    def of_frame(self, frame: Any, declare: bool = False) -> Any:
        """Return the rows of a frame. The first batch must declare all categories."""
        if self.neurons.accepts_tables:
            return self._table(frame, declare)
        return self._matrix(frame, declare)

    def of_cells(self, cells: list[Any]) -> Any:
        """Return one row as the learner takes it.

        ``cells`` are known categories, finite numbers, or None and NaN for missing values.
        """
        read = zip(self.columns, cells, strict=True)
        if self.neurons.accepts_tables:
            return {about.name: _table_cell(about, cell) for about, cell in read}
        values: list[float] = []
        for about, cell in read:
            if about.kind == "category":
                values += [float(text == cell) for text in about.categories]
                missing = cell is None
            else:
                missing = cell != cell
                values.append(0.0 if missing else (cell - about.mean) / about.scale)
            if about.has_missing:
                values.append(float(missing))
        return values

    def _matrix(self, frame: Any, declare: bool) -> Any:
        """Return standardised numbers, and a column of zeros and ones for each category."""
        parts: list[Any] = []
        for about in self.columns:
            if about.kind == "category":
                codes, counts = read_codes(about, frame)
                warn_of_new("TableModel", about.name, counts, about.categories)
                if declare:
                    warn_of_names("TableModel", about.name, without_rare(counts)[1], len(frame))
                missing = codes < 0
                n_categories = len(about.categories)
                rows = np.flatnonzero(~missing & (codes < n_categories))
                ones, shape = np.ones(len(rows)), (len(codes), n_categories)
                parts.append(scipy.sparse.coo_matrix((ones, (rows, codes[rows])), shape))
            else:
                values = read_numbers(about, frame)
                missing = np.isnan(values)
                values = (np.where(missing, about.mean, values) - about.mean) / about.scale
                parts.append(values[:, None])
            if about.has_missing:
                parts.append(missing[:, None])
        if self.is_sparse:
            return scipy.sparse.hstack(list(map(scipy.sparse.coo_matrix, parts)), "csr", np.float64)
        dense = [part.toarray() if scipy.sparse.issparse(part) else part for part in parts]
        return np.concatenate(dense, axis=1, dtype=np.float64)

    def _table(self, frame: Any, declare: bool) -> Any:
        """Return categories, and numbers minus their median, within single precision."""
        import pandas

        columns = {}
        for about in self.columns:
            if about.kind == "category":
                codes, counts = read_codes(about, frame)
                known = about.categories
                if declare:
                    codes[codes >= len(known)] = -1
                else:
                    known = [*known, *new_categories(about, counts)]
                texts = pandas.Index(known, dtype=object)
                values: Any = pandas.Categorical.from_codes(codes, texts)
            else:
                values = _table_cell(about, read_numbers(about, frame))
            columns[about.name] = values
        return pandas.DataFrame(columns, index=frame.index)


def _table_cell(about: TableColumn, values: Any) -> Any:
    """Return numbers minus their median, within single precision, and categories unchanged."""
    if about.kind == "category":
        return values
    return np.clip(values - about.median, -LARGEST_SINGLE, LARGEST_SINGLE)
