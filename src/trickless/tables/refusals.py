"""Why an object is not a table, or not a table of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.missing import is_masked, is_missing
from trickless.rules import shown
from trickless.tables.columns import columns_of
from trickless.tables.frames import is_frame
from trickless.tables.kinds import NUMBER_TYPES, NUMBERS, OBJECTS, TRUTH, kind_of_time

_INFINITY, _NAN = "contains infinity", "contains NaN"
_OTHER = "contains a value of the type"
#: What is wrong with an object, and what to do about it.
Refusal = tuple[str, str]
#: What has nothing to do with types.
_WITHOUT_TYPE = _INFINITY, _NAN, "contains None", "contains <NA>", "contains NaT"


def why_no_table(X: Any) -> Refusal | None:
    """Return why X is not a table of numbers, and a remedy; None if it is one."""
    if (why := why_no_frame(X)) is not None:
        return why
    if is_frame(X):
        for column, held in _refused_of_frame(X, missing=False):
            return (
                f"column {column!r} of X {held}, but the model was fitted to an array, which is a "
                "table of numbers",
                "fit it to a data frame with these columns",
            )
        return None
    for j, held in _refused_of_array(X):
        if held not in _WITHOUT_TYPE:
            return (
                f"column {j} of X {held}, but an array must hold numbers",
                "pass a data frame, whose columns can have different types, or encode it in a "
                "pipeline",
            )
    return None


def why_no_numbers(X: Any, needed: Refusal, name: str = "X") -> Refusal | None:
    """Return which column of X does not hold finite numbers, and a remedy; None if all do.

    ``needed`` is what must hold instead, and the remedy where none fits better.
    """
    if (found := why_no_frame(X, name)) is not None:
        return found
    for column, why in (_refused_of_frame if is_frame(X) else _refused_of_array)(X):
        if why.startswith(f"{_OTHER} dict"):  # which scikit-learn refuses with a TypeError
            return None
        if why.startswith(_OTHER):
            needed = "a cell must hold one number", "a column for each number"
        if why == _INFINITY:  # which no family takes
            needed = "rows must be finite", "replace it by a finite number, or leave it out"
        return f"column {column!r} of {name} {why}, but {needed[0]}", needed[1]
    return None


def why_no_frame(X: Any, name: str = "X") -> Refusal | None:
    """Return how to convert a table of another library, or of records; None if X is not one."""
    if is_frame(X):
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


def _refused_of_frame(frame: Any, missing: bool = True) -> Iterator[tuple[Any, str]]:
    """Return columns of a data frame that do not hold finite numbers, and what they hold."""
    plain = NUMBERS, TRUTH, OBJECTS
    for column in columns_of(frame):
        objects = list(column.column) if column.holds == OBJECTS else []
        if any(isinstance(value, str) for value in objects):
            yield column.name, "holds text"
        elif missing and column.missing().any():
            yield column.name, "holds missing values"
        elif column.holds not in plain or not all(isinstance(v, NUMBER_TYPES) for v in objects):
            yield column.name, f"has the type {column.dtype}"


def _refused_of_array(X: Any) -> Iterator[tuple[int, str]]:
    """Return the same for an array, a list of rows or a sparse matrix; nothing for others."""
    columns: Iterable[Any]
    if getattr(X, "ndim", 2) != 2:
        return
    if scipy.sparse.issparse(X):
        X = X.tocsc()
        columns = (X.data[start:stop] for start, stop in pairwise(X.indptr))
    else:
        masked = np.ma.getmaskarray(X).any(axis=0) if is_masked(X) else ()
        yield from ((j, "holds masked values") for j in np.flatnonzero(masked).tolist())
        try:
            rows = np.asarray(X) if isinstance(X, list | tuple | np.ndarray) else np.empty(0)
        except ValueError:  # rows of several lengths
            return
        columns = rows.T if rows.ndim == 2 else ()
    for j, column in enumerate(columns):
        for value in _suspects(np.asarray(column)):
            if (held := why_no_number(value)) is not None:
                yield j, held


def _suspects(column: np.ndarray) -> Iterable[Any]:
    """Return values of a column that may not be finite numbers."""
    if column.dtype.kind in "fc":
        return column[~np.isfinite(column)][:1].tolist()
    return column.tolist() if column.dtype.kind in "OSUT" else ()


def why_no_number(value: Any) -> str | None:
    """Return what a message says of a value; None for a finite number, or one too large."""
    if is_missing(value):
        is_nan = isinstance(value, Number) and not isinstance(value, np.timedelta64)
        return _NAN if is_nan else f"contains {value}"
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
    return _NAN if np.isnan(number) else _INFINITY
