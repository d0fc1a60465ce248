"""Data frames as matrices of numbers: numbers as they are, categories as codes.

A data frame is one of pandas or polars, or any object with the methods of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse

from trickless.tables.frames import Column, columns_of, frame_like, is_frame, numbers_of

_NUMBERS = Real, Decimal, np.bool_


class TableEncoder:
    """Codes of the categories in the columns of a data frame.

    A column of numbers, of truth values, or of objects that are all numbers holds numbers; NaN
    stands for a missing one. A column of categories, strings or other objects holds categories.
    Those of the first batch (or all that the type declares) are sorted, and have the codes from 0
    on. The next code stands for a missing value, and the one after it for a category that is new.

    ``codes`` has the code of each category of a column, or None for a column of numbers.
    """

    def __init__(self, owner: str, frame: Any) -> None:
        self.codes: list[dict[Any, int] | None] = (
            [None] * frame.shape[1]
            if numbers_of(frame) is not None
            else [_codes(owner, column) for column in columns_of(frame)]
        )

    @property
    def n_categories(self) -> np.ndarray:
        """How many codes each column has; 0 for a column of numbers."""
        return np.array([0 if codes is None else len(codes) + 2 for codes in self.codes], dtype=int)

    def __call__(self, owner: str, X: Any) -> Any:
        """X as a data frame of float64; an array stays as it is, if there are no categories."""
        if not is_frame(X):
            if self.n_categories.any():
                raise TypeError(
                    f"{owner}: X is a {type(X).__name__}, but the first batch was a data frame "
                    "with categories. Remedy: pass data frames with the same columns."
                )
            return X
        plain = all(codes is None for codes in self.codes) and len(self.codes) == X.shape[1]
        if plain and (numbers := numbers_of(X)) is not None:
            return frame_like(X, numbers)
        matrix = np.empty(X.shape)
        for j, (codes, column) in enumerate(zip(self.codes, columns_of(X), strict=True)):
            if codes is None:
                matrix[:, j] = _numbers(owner, column)
            else:
                _check_categories(owner, column, codes)
                known = column.coded(codes)
                if (others := np.isnan(known)).any():
                    new = np.where(column.missing(), len(codes), len(codes) + 1)
                    known = np.where(others, new, known)
                matrix[:, j] = known
        return frame_like(X, matrix)


def _codes(owner: str, column: Column) -> dict[Any, int] | None:
    """The code of each category of a column; None for a column of numbers."""
    if column.holds in ("numbers", "truth"):
        return None
    if column.holds != "objects":
        raise ValueError(
            f"{owner}: column {column.name!r} of X has the type {column.dtype}, but it must hold "
            "numbers, truth values, text or categories. Remedy: turn it into numbers, such as days "
            "since a date."
        )
    try:
        values = column.distinct()
    except TypeError as error:
        raise ValueError(
            f"{owner}: column {column.name!r} of X holds objects that cannot be categories: "
            f"{error}. Remedy: one number, text or category a cell."
        ) from error
    numbers = all(isinstance(v, _NUMBERS) for v in values)
    if not column.declared and values and numbers:
        return None
    dates = (isinstance(v, date) or type(v).__name__ == "Period" for v in values)  # of pandas
    if not column.declared and any(dates):
        raise ValueError(
            f"{owner}: column {column.name!r} of X holds dates. Remedy: turn it into numbers, such "
            "as days since a date."
        )
    values.sort(key=lambda value: (type(value).__name__, str(value)))
    return {value: code for code, value in enumerate(values)}


def _check_categories(owner: str, column: Column, codes: dict[Any, int]) -> None:
    """Refuse numbers or dates in a column that held text: all of them would be new categories."""
    if column.holds == "objects" or column.missing().all() or not codes:
        return
    if not (column.holds and any(isinstance(value, Real) for value in codes)):
        raise ValueError(
            f"{owner}: column {column.name!r} of X held categories such as {next(iter(codes))!r} "
            f"in the first batch, and now has the type {column.dtype}. Remedy: pass the same types "
            "in every batch."
        )


def _numbers(owner: str, column: Column) -> np.ndarray:
    try:
        return column.numbers()
    except Exception as error:  # polars raises a class of its own
        raise ValueError(
            f"{owner}: column {column.name!r} of X held numbers in the first batch, and now has "
            f"the type {column.dtype}: {error}. Remedy: pass the same types in every batch."
        ) from error


def why_no_table(X: Any) -> str | None:
    """Why X is not a table of numbers, with a remedy; None if it is one."""
    if (why := _why_no_frame(X)) is not None:
        return why
    if is_frame(X):
        for column, why in _refused_of_frame(X, missing=False):
            return (
                f"column {column!r} of X {why}, but the model was fitted to an array, which is a "
                "table of numbers. Remedy: fit it to a data frame with these columns."
            )
    elif getattr(getattr(X, "dtype", None), "kind", "-") in "OUS":
        return (
            "X is an array that holds text, but arrays are tables of numbers. Remedy: pass a data "
            "frame, whose columns have types."
        )
    return None


def why_no_numbers(X: Any, remedy: str, name: str = "X") -> str | None:
    """Which column of X is not one of finite numbers, with a remedy; None if all are."""
    if (found := _why_no_frame(X, name)) is not None:
        return found
    for column, why in (_refused_of_frame if is_frame(X) else _refused_of_array)(X):
        return f"column {column!r} of {name} {why}, but {remedy}"
    return None


def _why_no_frame(X: Any, name: str = "X") -> str | None:
    """How to convert the table of another library; None if X is no such table."""
    if not is_frame(X):
        for method in ("collect", "to_pandas"):  # of lazy frames; of Arrow and others
            if callable(getattr(X, method, None)):
                return (
                    f"{name} is a {type(X).__name__} that cannot be read as it is. Remedy: "
                    f"{name}.{method}()."
                )
    return None


def _refused_of_frame(frame: Any, missing: bool = True) -> Iterator[tuple[Any, str]]:
    """Columns of a data frame that are not of finite numbers, and what they hold."""
    for column in columns_of(frame):
        objects = list(column.column) if column.holds == "objects" else []
        if any(isinstance(value, str) for value in objects):
            yield column.name, "holds text"
        elif missing and column.missing().any():
            yield column.name, "holds missing values"
        elif not (column.holds and all(isinstance(value, _NUMBERS) for value in objects)):
            yield column.name, f"has the type {column.dtype}"


def _refused_of_array(X: Any) -> Iterator[tuple[int, str]]:
    """The same for an array, a list of rows or a sparse matrix; nothing for other objects."""
    columns: Iterable[Any]
    if getattr(X, "ndim", 2) != 2:
        return
    if scipy.sparse.issparse(X):
        X = X.tocsc()
        columns = (X.data[start:stop] for start, stop in pairwise(X.indptr))
    else:
        try:
            rows = np.asarray(X) if isinstance(X, list | tuple | np.ndarray) else np.empty(0)
        except ValueError:  # of rows of several lengths
            return
        columns = rows.T if rows.ndim == 2 else ()
    for j, column in enumerate(columns):
        for value in _suspects(np.asarray(column)):
            if (held := _in_words(value)) is not None:
                yield j, held


def _suspects(column: np.ndarray) -> Iterable[Any]:
    """Values of a column that may not be finite numbers."""
    if column.dtype.kind in "fc":
        return column[~np.isfinite(column)][:1].tolist()
    return column.tolist() if column.dtype.kind in "OSUT" else ()


def _in_words(value: Any) -> str | None:
    """What to say of a column with this value; None if it is a finite number, or unknown."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        if isinstance(value, str | bytes):
            return f"contains text, {value[:40]!r}"
        missing = value is None or type(value).__name__ in ("NAType", "NaTType")
        return f"contains {value}" if missing else None
    if np.isfinite(number):
        return None
    return "contains NaN" if np.isnan(number) else "contains infinity"
