"""Columns of data frames of pandas and polars, as numbers or as objects.

Neither library is imported: a data frame is recognised by its methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_frame(X: Any) -> bool:
    """Whether X is a data frame."""
    return hasattr(X, "get_column") or (hasattr(X, "iloc") and hasattr(X, "columns"))


def columns_of(frame: Any) -> list[Column]:
    """The columns of a data frame."""
    if hasattr(frame, "iloc"):
        return [PandasColumn(name, column) for name, column in frame.items()]
    return [PolarsColumn(*pair) for pair in zip(frame.columns, frame.get_columns(), strict=True)]


def numbers_of(frame: Any) -> np.ndarray | None:
    """A data frame as float64, if its types say that it holds numbers and truth values only.

    None for other data frames, and for those that have to be read column by column anyway.
    """
    if not hasattr(frame, "iloc"):
        return None
    kinds = {getattr(dtype, "kind", "O") for dtype in frame.dtypes}
    if not kinds <= set("biuf"):
        return None
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def frame_like(frame: Any, matrix: np.ndarray) -> Any:
    """A data frame of these numbers, with the names of columns of another data frame."""
    if hasattr(frame, "iloc"):
        return type(frame)(matrix, columns=frame.columns, index=frame.index)
    return type(frame)(matrix, schema=list(frame.columns))


class PandasColumn:
    """A column of a data frame of pandas.

    It ``holds`` "numbers", "truth", "objects" such as text and categories, or "" for anything else.
    It is ``declared`` if its type declares categories.
    """

    def __init__(self, name: Any, column: Any) -> None:
        self.name, self.column, self.dtype = name, column, column.dtype
        kind = getattr(column.dtype, "kind", "O")
        self.declared = hasattr(column, "cat")
        self.holds = "truth" if kind == "b" else "numbers" if kind in "iuf" else ""
        if kind in "OUST":
            self.holds = "objects"

    def missing(self) -> np.ndarray:
        """Where values are missing."""
        return self.column.isna().to_numpy()

    def distinct(self) -> list[Any]:
        """The values that occur, each once, or those that the type declares."""
        return list(self.column.cat.categories if self.declared else self.column.dropna().unique())

    def coded(self, codes: dict[Any, int]) -> np.ndarray:
        """The code of each value; NaN where it has none."""
        column = self.column
        if not self.declared:
            return np.array([codes.get(value, np.nan) for value in column.tolist()], dtype=float)
        of_category = [codes.get(value, np.nan) for value in column.cat.categories.tolist()]
        return np.array([*of_category, np.nan])[column.cat.codes.to_numpy()]  # -1 if missing

    def numbers(self) -> np.ndarray:
        """The values as float64; NaN where they are missing."""
        return self.column.to_numpy(dtype=float, na_value=np.nan)


class PolarsColumn:
    """A column of a data frame of polars, with the attributes and methods of the other."""

    def __init__(self, name: Any, column: Any) -> None:
        self.name, self.column, self.dtype = name, column, column.dtype
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


Column = PandasColumn | PolarsColumn
