"""Why an object is not a table, or not a table of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.missing import is_missing, unmasked
from trickless._rows.frames import Column, ColumnOfArray, columns_of, is_frame, names_of
from trickless._rows.values import NUMBERS, OBJECTS, TIMES, TRUTH, kind_of_time
from trickless._rules import shown

_INFINITY, _MISSING = "contains infinity", "contains missing values, such as NaN"
_OTHER = "contains a value of the type"
#: What is wrong with an object, and what to do about it.
Refusal = tuple[str, str]


def why_no_table(X: Any) -> Refusal | None:
    """Return why X is not a table of numbers, and a remedy; None if it is one."""
    if (why := why_no_frame(X)) is not None:
        return why
    needed = (
        "an array must hold numbers",
        "pass a data frame, whose columns can have different types, or encode it in a pipeline",
    )
    if is_frame(X):
        needed = (
            "the model was fitted to an array, which is a table of numbers",
            "fit it to a data frame with these columns",
        )
    for column, held in _refused(X, missing=False, times=False):
        return _told(column, held, needed, "X")
    return None


def why_no_numbers(X: Any, needed: Refusal, name: str = "X", times: bool = False) -> Refusal | None:
    """Return which column of X does not hold finite numbers, and a remedy; None if all do.

    ``needed`` is what must hold instead, and the remedy where none fits better. Data frames may
    hold ``times``.
    """
    if (found := why_no_frame(X, name)) is not None:
        return found
    for column, why in _refused(X, times=times):
        if why.startswith(f"{_OTHER} dict"):  # which scikit-learn refuses with a TypeError
            return None
        return _told(column, why, needed, name)
    return None


def _told(column: Any, held: str, needed: Refusal, name: str) -> Refusal:
    """Return what a column holds, and what must hold instead, if nothing fits better."""
    if held.startswith(_OTHER):
        needed = "a cell must hold one number", "a column for each number"
    if held == _INFINITY:  # which no family takes
        needed = "rows must be finite", "replace it by a finite number, or leave it out"
    return f"column {column!r} of {name} {held}, but {needed[0]}", needed[1]


def why_no_frame(X: Any, name: str = "X") -> Refusal | None:
    """Return how to convert what cannot be read as columns with names; None if it can be."""
    if is_frame(X):
        counts = Counter(names_of(X))
        name_of_most, most = counts.most_common(1)[0] if counts else ("", 0)
        if most > 1:
            why = f"{name} has {most} columns {name_of_most!r}"
            return why, "pass each column once, each under its own name"
        return None
    is_sparse = scipy.sparse.issparse(X)  # of which one kind is a dictionary
    if not is_sparse and isinstance(X, Mapping | Set | Iterator | str | bytes | None):
        what = shown(X) if isinstance(X, str | bytes | None) else f"a {type(X).__name__}"
        remedy = f"pandas.DataFrame({name})" if isinstance(X, Mapping) else "an array or data frame"
        return f"{name} is {what}, but it must be a table of rows and columns", remedy
    for method in ("collect", "to_frame", "to_pandas"):  # lazy frames; series; Arrow and others
        if callable(getattr(X, method, None)):
            of_arrays = method == "to_frame" and np.ndim(next(iter(X), 0)) > 0
            return (
                f"{name} is a {type(X).__name__}, which cannot be read directly",
                f"list({name})" if of_arrays else f"{name}.{method}()",
            )
    if (fields := getattr(getattr(X, "dtype", None), "names", None)) is not None:
        return (
            f"{name} is an array of records with the fields {', '.join(map(repr, fields))}, but "
            "columns are needed",
            f"pandas.DataFrame({name})",
        )
    return None


def _refused(X: Any, missing: bool = True, times: bool = False) -> Iterator[tuple[Any, str]]:
    """Return columns that do not hold finite numbers, and what they hold.

    Missing values and times may be allowed. Nothing is returned for rows that are no table.
    """
    in_frame = is_frame(X)
    for column in _columns(X):
        for value in column.values[1] if column.holds == OBJECTS else ():
            is_text = in_frame and isinstance(value, str)
            held = f"contains text, {value[:40]!r}" if is_text else why_no_number(value)
            if held is not None and not (times and in_frame and kind_of_time(value)):
                yield column.name, held
        if missing and column.missing().any():
            yield column.name, _MISSING
        if column.holds in (NUMBERS, TRUTH) and np.isinf(column.numbers).any():
            yield column.name, _INFINITY
        if column.holds in TIMES and in_frame and not times:
            yield column.name, f"has the type {column.dtype}"


def _columns(X: Any) -> list[Column]:
    """Return the columns of a data frame, array, list of rows or sparse matrix; none of others."""
    if is_frame(X):
        return columns_of(X)
    if scipy.sparse.issparse(X) and X.ndim == 2:
        X = X.tocsc()
        ends = enumerate(pairwise(X.indptr))
        return [ColumnOfArray(j, X.data[start:stop]) for j, (start, stop) in ends]
    if not isinstance(X, list | tuple | np.ndarray):
        return []
    try:
        rows = np.asarray(unmasked(X))
    except ValueError:  # rows of several lengths
        return []
    return columns_of(rows) if rows.ndim == 2 and rows.dtype.kind != "c" else []


def why_no_number(value: Any) -> str | None:
    """Return what a message says of a value; None for a finite number, or one too large."""
    if is_missing(value):
        is_nan = isinstance(value, Number) and not isinstance(value, np.timedelta64)
        return "contains NaN" if is_nan else f"contains {value}"
    if kind := kind_of_time(value):
        return f"contains {kind}, {shown(value)}"
    try:
        number = float(value)
    except OverflowError:
        return None
    except (TypeError, ValueError):
        if isinstance(value, str | bytes):
            return f"contains text, {value[:40]!r}"
        return f"{_OTHER} {type(value).__name__}, {shown(value)}"
    if np.isfinite(number):
        return None
    return "contains NaN" if np.isnan(number) else _INFINITY
