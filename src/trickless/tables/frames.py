"""Columns of data frames of pandas and polars, as numbers or as objects.

Neither library is imported: a frame is known by its interface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


def is_frame(X: Any) -> bool:
    """Whether X is a data frame."""
    return hasattr(X, "get_column") or (hasattr(X, "iloc") and hasattr(X, "columns"))


def columns_of(frame: Any) -> list[Column]:
    """The columns of a data frame."""
    if hasattr(frame, "iloc"):
        return [_Pandas(name, frame.iloc[:, j]) for j, name in enumerate(frame.columns)]
    return [_Polars(name, frame.get_column(name)) for name in frame.columns]


def frame_like(frame: Any, matrix: np.ndarray) -> Any:
    """A frame of these numbers with the same names of columns."""
    if hasattr(frame, "iloc"):
        return type(frame)(matrix, columns=frame.columns, index=frame.index)
    return type(frame)(matrix, schema=list(frame.columns))


class Column(ABC):
    """A column of a data frame.

    Parameters
    ----------
    name : object
        Its name.
    column : pandas or polars series

    Attributes
    ----------
    holds : {"numbers", "truth", "objects", ""}
        Numbers, truth values, or text and other objects, among them categories; nothing of these.
    declared : bool
        Whether the type of the column declares categories.
    """

    holds: str
    declared: bool

    def __init__(self, name: Any, column: Any) -> None:
        self.name = name
        self.column = column

    @property
    def dtype(self) -> Any:
        """Its type, for messages."""
        return self.column.dtype

    @abstractmethod
    def missing(self) -> np.ndarray:
        """Where values are missing."""

    @abstractmethod
    def distinct(self) -> list[Any]:
        """The values that there are, each once, or that are declared."""

    @abstractmethod
    def coded(self, codes: dict[Any, int]) -> np.ndarray:
        """The code of each value; NaN where it has none."""

    @abstractmethod
    def numbers(self) -> np.ndarray:
        """The values as float64; NaN where they are missing."""


class _Pandas(Column):
    def __init__(self, name: Any, column: Any) -> None:
        super().__init__(name, column)
        kind = getattr(column.dtype, "kind", "O")
        self.declared = hasattr(column, "cat")
        self.holds = "truth" if kind == "b" else "numbers" if kind in "iuf" else ""
        if kind in "OUST":
            self.holds = "objects"

    def missing(self) -> np.ndarray:
        return self.column.isna().to_numpy()

    def distinct(self) -> list[Any]:
        return list(self.column.cat.categories if self.declared else self.column.dropna().unique())

    def coded(self, codes: dict[Any, int]) -> np.ndarray:
        return self.column.astype(object).map(codes).to_numpy(dtype=float, na_value=np.nan)

    def numbers(self) -> np.ndarray:
        return self.column.to_numpy(dtype=float, na_value=np.nan)


class _Polars(Column):
    def __init__(self, name: Any, column: Any) -> None:
        super().__init__(name, column)
        kind = str(column.dtype).split("(")[0]
        self.declared = kind == "Enum"
        self.holds = "truth" if kind == "Boolean" else ""
        if column.dtype.is_numeric():
            self.holds = "numbers"
        elif kind in ("String", "Categorical", "Enum", "Object", "Null"):
            self.holds = "objects"

    def missing(self) -> np.ndarray:
        return self.column.is_null().to_numpy()

    def distinct(self) -> list[Any]:
        if self.declared:
            return self.column.dtype.categories.to_list()
        return list({value: None for value in self.column.to_list() if value is not None})

    def coded(self, codes: dict[Any, int]) -> np.ndarray:
        return np.array([codes.get(value, np.nan) for value in self.column.to_list()], dtype=float)

    def numbers(self) -> np.ndarray:
        return self.column.cast(float).to_numpy()
