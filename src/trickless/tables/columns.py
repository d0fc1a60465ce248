"""Columns of a data frame, as a model with a description of its table reads them.

Files and data frames give the same values. Text in a column of numbers or dates is read like the
cells of a CSV file.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.rules import shown
from trickless.tables.categories import as_text, coded
from trickless.tables.frames import NUMBERS, OBJECTS, PandasColumn, kind_of, with_names_as_text
from trickless.tables.parse_text import MISSING, time_of
from trickless.tables.spellings import PLAIN, Spelling, read_number
from trickless.tables.times import DATES, ZONED, as_number

#: The largest number that is accepted. Its square does not overflow.
LARGEST = 1e150
#: What columns of each kind hold.
_HOLDS = {"number": NUMBERS, "date": DATES, "zoned date": ZONED}


def frame_of(X: Any, known: Iterable[str] = ()) -> Any:
    """A pandas data frame whose column names are text. Integers keep all their digits.

    Names are spelled like ``known`` ones that have another Unicode form.
    """
    if hasattr(X, "get_columns") and "Object" not in map(str, X.dtypes):
        X = X.to_arrow()
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "schema"):
        import pandas
        import pyarrow

        def exact(type_: Any) -> Any:
            return pandas.ArrowDtype(type_) if pyarrow.types.is_integer(type_) else None

        for i, field in enumerate(X.schema):
            kind = field.type
            if pyarrow.types.is_dictionary(kind) and str(kind.index_type).startswith("u"):
                texts = X.column(i).cast(kind.value_type)  # pandas takes signed indices only
                X = X.set_column(i, field.name, texts)
        try:
            X = X.to_pandas(types_mapper=exact, ignore_metadata=True)
        except pyarrow.ArrowInvalid as error:
            raise InvalidValueError(
                f"TableModel: pandas cannot convert X: {error}",
                "store times of day in microseconds, or as text",
            ) from error
    elif hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        raise InvalidTypeError(
            f"TableModel: X is a {type(X).__name__}, but the model finds columns by name",
            "pass a pandas data frame, or an object with a method to_pandas",
        )
    return with_names_as_text(X, known)


def column_of(frame: Any, name: str) -> Any:
    """The one column with a name."""
    if name not in frame.columns:
        remedy = (
            "call X.reset_index(), which makes columns of its index"
            if name in frame.index.names
            else "pass the columns of the table that the model was fitted to. X has "
            f"{list(frame.columns)[:10]}"
        )
        raise InvalidValueError(
            f"TableModel: X has no column {name!r}",
            remedy,
        )
    column = frame[name]
    if column.ndim > 1:
        raise InvalidValueError(
            f"TableModel: X has {column.shape[1]} columns {name!r}",
            "keep one of them",
        )
    return column


def codes_of(column: Any, known: list[str]) -> tuple[np.ndarray, dict[str, int]]:
    """Codes of categories, and how often each occurs; errors name the column."""
    try:
        about = PandasColumn(column.name, column)
        return coded(about, {text: code for code, text in enumerate(known)})
    except ValueError as error:
        raise ValueError(f"TableModel: column {column.name!r}: {error}.") from error
    except (TypeError, NotImplementedError) as error:  # the latter of Arrow
        raise InvalidValueError(
            f"TableModel: column {column.name!r} holds objects that cannot be categories: {error}",
            "put one text, number, truth value or time in each cell",
        ) from error


def new_texts(counts: dict[str, int], known: list[str]) -> list[str]:
    """The new categories, in the order of their codes."""
    there = set(known)
    return [text for text in counts if text not in there]


def values_of(
    column: Any, kind: str, date_format: str = "", spelling: Spelling = PLAIN
) -> np.ndarray:
    """Numbers, with NaN where they are missing; dates as days since 1970."""
    about, wanted = PandasColumn(column.name, column), _HOLDS[kind]
    if about.missing().all():
        return np.full(len(column), np.nan)
    try:
        if about.holds == OBJECTS or (date_format and about.holds == NUMBERS):
            numbers = _of_objects(about, kind, date_format, spelling)
        elif about.kinds() != {wanted}:
            raise _refused(about, kind, column.dropna().iloc[0], about.holds)
        else:
            numbers = about.numbers()
    except (TypeError, OverflowError, NotImplementedError) as error:
        raise _refused(about, kind, error, "") from error
    if len(wrong := np.flatnonzero(np.abs(numbers) > LARGEST)):
        row = int(wrong[0])
        raise InvalidValueError(
            f"TableModel: column {column.name!r} holds {numbers[row]} in row {row} of its "
            f"batch, from 0, but numbers must be finite, with a size up to {LARGEST:g}",
            "correct the number, or pass NaN if it is missing",
        )
    return numbers


def _of_objects(
    column: PandasColumn, kind: str, date_format: str, spelling: Spelling
) -> np.ndarray:
    """Objects as numbers. Text among them is read like the cells of a CSV file.

    If dates have a format, numbers are read as the digits of dates.
    """
    places, values, _ = column.occurring()
    numbers, has_truth = [], False
    for value in values:
        if date_format and kind_of(value) == NUMBERS:
            with suppress(ValueError):  # a float that may be several numbers
                value = as_text(value)
        found = value
        if isinstance(value, str):
            if value.strip() in MISSING:
                numbers.append(np.nan)
                continue
            is_number = kind == "number"
            found = read_number(value, spelling) if is_number else time_of(value, date_format)
            has_truth |= type(found) is bool
        if found is None or kind_of(found) != _HOLDS[kind]:
            what = OBJECTS if found is None else kind_of(found)
            raise _refused(column, kind, value, what, date_format)
        numbers.append(as_number(found))
    if has_truth and (others := [n for n in numbers if n not in (0, 1) and n == n]):
        raise _refused(column, kind, f"it holds truth values and {others[0]}", "")
    return np.array([*numbers, np.nan])[places]


def _refused(
    column: PandasColumn, kind: str, such: Any, found: str, date_format: str = ""
) -> ValueError:
    """An error for a column that holds something else, with code that converts it to dates."""
    x = f"X[{column.name!r}]"
    if kind == "number":
        remedy = "pass numbers"
    elif found == OBJECTS:
        remedy = (
            f"write them as {date_format or '2026-01-31'}, or {x} = pandas.to_datetime({x}, "
            "format='%d/%m/%Y'), with the codes of your format"
        )
    elif kind == "date" and found == ZONED:
        remedy = (
            f"{x} = pandas.to_datetime({x}, utc=True).dt.tz_localize(None), if the model was "
            "fitted to times in UTC"
        )
    elif kind == "zoned date" and found == DATES:
        remedy = (
            f"{x} = pandas.to_datetime({x}).dt.tz_localize('UTC'), or with the zone of the times"
        )
    else:
        remedy = "pass dates, which pandas.to_datetime makes"
    return ValueError(
        f"TableModel: column {column.name!r} has the type {column.dtype}, but the model was fitted "
        f"to {_HOLDS[kind]}: {f'found {shown(such)}' if found else such}. Remedy: {remedy}."
    )
