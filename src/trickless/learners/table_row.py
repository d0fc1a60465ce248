"""One row of a table, for a model of a table that is compiled."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from trickless.arrays.missing import is_missing
from trickless.errors import InvalidTypeError
from trickless.intake.one_row import NUMBERS
from trickless.learners.one_row import OneRow
from trickless.rules import shown
from trickless.tables.table_column import LARGEST, TableColumn

#: What a cell is if it needs a closer look, as a data frame.
_UNUSUAL = object()


class OneRowOfTable:
    """What a model of a table answers for one row, a dictionary by the names of its columns.

    Parameters
    ----------
    model : TableModel
    one_row : OneRow
        The same of its learner.
    """

    def __init__(self, model: Any, one_row: OneRow) -> None:
        self.model, self.one_row = copy(model), one_row
        self.model.learner = one_row.read.learner  # which has no function
        self.cells = [(about.name, _reader(about)) for about in model.columns]

    def __call__(self, row: dict[str, Any]) -> Any:
        """Return the answer for a row.

        Parameters
        ----------
        row : dict
            Values by the names of the columns. There may be more columns than the model needs.

        Returns
        -------
        number, label or array
        """
        if not isinstance(row, dict):
            raise InvalidTypeError(
                f"TableModel: compiled: the row is {shown(row)}, but the model finds columns by "
                "name",
                "a dictionary of values by the names of the columns, or predict for a data frame",
            )
        cells = [read(row.get(name, _UNUSUAL)) for name, read in self.cells]
        if any(cell is _UNUSUAL for cell in cells):
            return self.one_row.of_rows(self.model.prepared(frame_of_row(row)))
        return self.one_row(self.model.prepared_row(cells))


def frame_of_row(row: dict[str, Any]) -> Any:
    """Return a data frame of one row."""
    import pandas

    return pandas.DataFrame([row])


def by_frame(answer: Callable[[Any], Any], row: dict[str, Any]) -> Any:
    """Return the answer of a method for a data frame of one row."""
    return answer(frame_of_row(row))[0]


def _reader(about: TableColumn) -> _Categories | _Numbers:
    return _Categories(about) if about.kind == "category" else _Numbers(about)


class _Categories:
    """Reads a cell of a column of categories: its text, or None if it is missing."""

    def __init__(self, about: TableColumn) -> None:
        self.known = set(about.categories)

    def __call__(self, value: Any) -> Any:
        if type(value) is str and value in self.known:
            return value
        return None if is_missing(value) else _UNUSUAL


class _Numbers:
    """Reads a cell of a column of numbers: a number, or NaN if it is missing."""

    def __init__(self, about: TableColumn) -> None:
        self.is_date = about.kind != "number"  # whose cells are read with their units

    def __call__(self, value: Any) -> Any:
        if value is None:
            return np.nan
        if self.is_date or type(value) not in NUMBERS:
            return _UNUSUAL
        return _UNUSUAL if abs(value) > LARGEST else float(value)
