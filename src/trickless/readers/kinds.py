"""Kinds of columns: numbers, dates and categories, whatever types they have in a file.

Dates with a time zone are a separate kind, and so are the "known categories" of a fitted model:
values that are not text are read unchanged, and the model spells them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trickless.readers.cells import CellError, is_text, read_cells
from trickless.tables.format_text import as_text
from trickless.tables.spellings import PLAIN, Spelling
from trickless.tables.table_column import LARGEST

#: The Arrow type of columns of each kind. Only a target has the kind "truth".
TYPES = {
    "number": pa.float64(),
    "date": pa.timestamp("us"),
    "zoned date": pa.timestamp("us", "UTC"),
    "category": pa.string(),
    "known category": pa.string(),
    "truth": pa.bool_(),
}
#: What a value of each kind is called.
NAMES = {
    "number": "number",
    "date": "date without a time zone",
    "zoned date": "date with a time zone",
    "category": "category",
    "known category": "category",
    "truth": "Boolean",
}
#: Microseconds in the units of times, and in a day. A nanosecond is less than one.
_MICROSECONDS = {"s": 10**6, "ms": 1000, "us": 1}
_DAY = 86_400 * 10**6
_EPOCH, _STEP = datetime(1970, 1, 1), timedelta(microseconds=1)
#: The range of times that may be categories, and of times that may be numbers, in microseconds
#: since 1970. The lowest number of 64 bits is a missing time.
_YEARS = (datetime.min - _EPOCH) // _STEP, (datetime.max - _EPOCH) // _STEP
_BITS = 1 - 2**63, 2**63 - 1


def kind_of_type(type_: Any) -> str | None:
    """Return the kind of an Arrow type; None for times of day, lists and the like."""
    types = pa.types
    if types.is_dictionary(type_):
        return "category" if kind_of_type(type_.value_type) else None
    if types.is_date(type_) or types.is_timestamp(type_):
        return "date" if getattr(type_, "tz", None) is None else "zoned date"
    if is_text(type_):
        return "category"
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return "number" if types.is_null(type_) or any(is_(type_) for is_ in numbers) else None


def may_be_category(type_: Any) -> bool:
    """Return whether values of a type may be names. Only lists and the like may not."""
    types, plain = pa.types, plain_type(type_)
    others = (
        types.is_time,
        types.is_duration,
        types.is_binary,
        types.is_large_binary,
        types.is_fixed_size_binary,
        types.is_binary_view,
    )
    return bool(kind_of_type(plain)) or any(is_(plain) for is_ in others)


def fits(type_: Any, wanted: str, has_format: bool = False) -> bool:
    """Return whether a type may be read as a kind, although cells of text may still fail.

    Numbers may be the digits of dates, if the dates have a format.
    """
    if pa.types.is_null(type_):
        return True
    plain = plain_type(type_)
    if wanted == "truth":
        return pa.types.is_boolean(plain) or is_text(plain)
    if wanted.endswith("category"):
        return may_be_category(type_)
    in_digits = wanted.endswith("date") and has_format and kind_of_type(plain) == "number"
    return in_digits or is_text(plain) or kind_of_type(plain) == wanted


def in_kind(column: Any, kind: str, date_format: str = "", spelling: Spelling = PLAIN) -> Any:
    """Return a column with the type of its kind. Times may lose digits below a microsecond.

    Raises a CellError for a value that the kind cannot hold.
    """
    column.validate(full=True)
    is_encoded = pa.types.is_dictionary(column.type)
    if is_encoded and not (kind.endswith("category") and is_text(column.type.value_type)):
        column = column.dictionary_decode()  # only values that occur
    if kind.endswith("category"):
        return _categories(column, kind)
    if kind.endswith("date"):
        _check_times(column, *_BITS)
        if kind_of_type(column.type) == "number":
            column = _texts(column)
        if is_text(column.type):
            return read_cells(column, TYPES[kind], date_format=date_format)
        return pc.cast(column, options=pc.CastOptions(TYPES[kind], allow_time_truncate=True))
    if is_text(column.type):
        column = read_cells(column, TYPES[kind], spelling)
    column = pc.cast(column, TYPES[kind], safe=False)
    if kind == "number" and pc.any(large := pc.greater(pc.abs(column), LARGEST)).as_py():
        index = pc.index(large, True).as_py()
        raise CellError(
            index, f"the number {column[index]} is too large, since the limit is {LARGEST:g}"
        )
    return column


def plain_type(type_: Any) -> Any:
    """Return the type of the values of a column."""
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _categories(column: Any, kind: str) -> Any:
    """Return categories as text; a model that knows them gets other values unchanged."""
    _check_times(column, *_YEARS)
    if column.type == pa.time64("ns"):  # Python has microseconds
        column = pc.cast(column, pa.time64("us"))
    is_text_or_null = kind_of_type(column.type) == "category" or pa.types.is_null(column.type)
    if column.type == TYPES[kind] or (kind == "known category" and not is_text_or_null):
        return column
    return _texts(column)


def _check_times(column: Any, low: int, high: int) -> None:
    """Refuse dates and times outside a range, in microseconds since 1970."""
    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
        return
    if pa.types.is_date32(column.type):
        times, unit, size = column.view(pa.int32()), "days", _DAY
    else:
        unit = "ms" if pa.types.is_date64(column.type) else column.type.unit
        times, size = column.view(pa.int64()), _MICROSECONDS.get(unit, 0)
    if size:
        ends = -(-low // size), high // size
    else:
        ends = max(low * 1000, -(2**63)), min(high * 1000 + 999, 2**63 - 1)
    values = times.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    outside = (values < ends[0]) | (values > ends[1])
    if outside.any():
        index = int(outside.argmax())
        first, last = (str(np.datetime64(end, "us").astype("M8[Y]")) for end in (low, high))
        raise CellError(
            index,
            f"the date {values[index]:,} {unit} from 1970-01-01 is out of range, which is from the "
            f"year {int(first):,} to {int(last):,}",
        )


def _texts(column: Any) -> Any:
    """Return categories as text, spelled like categories of data frames."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    if pa.types.is_floating(encoded.dictionary.type):  # short floats keep their type
        values = list(encoded.dictionary.to_numpy(zero_copy_only=False))
    texts = [None if value is None or value != value else as_text(value) for value in values]
    return pa.array(texts, pa.string()).take(encoded.indices)
