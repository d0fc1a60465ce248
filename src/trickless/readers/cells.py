"""Cells of text in Arrow columns: missing values, types of columns, numbers and dates."""

from __future__ import annotations

import io
from collections.abc import Set
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from trickless.tables.columns import OtherKindError, read_value
from trickless.tables.kinds import DATES, NUMBERS, ZONED
from trickless.tables.parse_text import MISSING
from trickless.tables.spellings import PLAIN, Spelling

#: The types of numbers, dates, and dates with a time zone.
_KINDS = {pa.float64(): NUMBERS, pa.timestamp("us"): DATES, pa.timestamp("us", "UTC"): ZONED}
#: What a cell of each type is called.
_WANTED = {
    pa.bool_(): "Boolean",
    pa.float64(): "number",
    pa.timestamp("us"): "date without a time zone, such as 2026-01-31 or 2026-01-31 10:30",
    pa.timestamp("us", "UTC"): "date with a time zone, such as 2026-01-31 10:30Z",
}
#: Cells that are tried first.
_FEW = 64
_ZONE = r"\d[T ]\d\d.*(Z|UTC|[+-]\d\d(:?\d\d)?)\s*$"
#: Patterns in times that Arrow does not know, and their replacements.
_UNKNOWN = {
    r"(\.\d{6})\d+": r"\1",
    r"(\d) ?UTC$": r"\1Z",
    r"(:\d\d|:\d\d\.\d+|[T ]\d\d) (Z|[+-]\d\d(:?\d\d)?)$": r"\1\2",
    r"^((1[89]|2[01])\d\d-\d\d)$": r"\1-01",
}
_DIGITS, _PADDED = r"^\s*\d+\s*$", r"^\s*0\d+\s*$"


class CellError(ValueError):
    """A value that cannot be read. ``index`` is its place in the column, from 0."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def is_text(type_: Any) -> bool:
    """Return whether an Arrow type is text."""
    types = pa.types
    return types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)


def is_spelled_missing(text: Any, names: Set[str] = frozenset()) -> Any:
    """Return where cells spell a missing value, such as NA, that is not among the names."""
    return pc.is_in(text, value_set=pa.array(sorted(MISSING - names), text.type))


def without_missing(text: Any, names: Set[str] = frozenset()) -> Any:
    """Return text in which spellings of a missing value are missing, except the names."""
    return pc.replace_with_mask(text, is_spelled_missing(text, names), pa.scalar(None, text.type))


def type_of(text: Any, decimal_point: str = ".") -> Any:
    """Return the type that Arrow infers for a CSV column with these cells."""
    file, text = io.BytesIO(), pc.cast(text, pa.string()).drop_null()
    pyarrow.csv.write_csv(pa.table({"x": text}), file)
    file.seek(0)
    type_ = pyarrow.csv.read_csv(
        file,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pyarrow.csv.ConvertOptions(
            decimal_point=decimal_point, null_values=sorted(MISSING), strings_can_be_null=True
        ),
    ).schema.types[0]
    return refined(type_, text)


def refined(type_: Any, text: Any) -> Any:
    """Return the type of a column of text: a type of times if all strings are times.

    Arrow does not recognise times far from 1970 with fractions of seconds.
    """
    text = without_missing(text).drop_null()
    if not is_text(type_) or not len(text):
        return type_
    time = pa.timestamp("us", "UTC" if are_zoned(text) else None)
    try:
        for part in (text[:_FEW], text):  # most texts are not dates
            read_cells(part, time)
    except CellError:
        return type_
    return time


def has_padding(text: Any) -> bool:
    """Return whether a cell is a leading zero and more digits, as in postcodes."""
    return bool(pc.any(pc.match_substring_regex(text, _PADDED)).as_py())


def all_digits(text: Any) -> bool:
    """Return whether all cells that are not missing have only digits."""
    return pc.all(pc.match_substring_regex(text, _DIGITS)).as_py() is not False


def are_zoned(text: Any) -> bool:
    """Return whether the first of some times in text has a time zone. None is missing."""
    return bool(pc.match_substring_regex(text[:1], _ZONE)[0].as_py())


def read_cells(text: Any, type_: Any, spelling: Spelling = PLAIN, date_format: str = "") -> Any:
    """Return text as numbers, Booleans, or times with or without a time zone, as the type says.

    Arrow reads most cells. Where it cannot, all are read like values of a data frame. Raises a
    CellError for a cell that has no value of the type.
    """
    text = without_missing(pc.utf8_trim_whitespace(pc.cast(text, pa.string())))
    if not (date_format or spelling.thousands):
        with suppress(pa.ArrowInvalid):
            return _read_by_arrow(text, type_)
    encoded, values = text.dictionary_encode(), []
    for cell in encoded.dictionary.to_pylist():
        try:
            values.append(_value_of(cell, type_, spelling, date_format))
        except ValueError as error:
            wanted = _WANTED[type_]
            if date_format:
                wanted = f"date in the format {date_format!r}"
            raise CellError(pc.index(text, cell).as_py(), f"{cell!r} is not a {wanted}") from error
    return pa.array(values, type_).take(encoded.indices)


def _read_by_arrow(text: Any, type_: Any) -> Any:
    """Return cells as a type if Arrow knows how they are written; otherwise, raise an error."""
    if pa.types.is_timestamp(type_) and pc.any(pc.starts_with(text, "0000-")).as_py():
        raise pa.ArrowInvalid("there is no year 0")
    with suppress(pa.ArrowInvalid):
        return pc.cast(text, type_)
    if type_ == pa.float64():
        return pc.cast(pc.cast(text, pa.bool_()), type_)
    for pattern, known in _UNKNOWN.items():
        text = pc.replace_substring_regex(text, pattern, known)
    return pc.cast(text, type_)


def _value_of(cell: str, type_: Any, spelling: Spelling, date_format: str) -> Any:
    if pa.types.is_boolean(type_):
        return pc.cast(pa.scalar(cell), type_).as_py()
    value, is_truth = read_value(cell, _KINDS[type_], spelling, date_format)
    if is_truth:
        raise OtherKindError("", cell)
    return float(value) if _KINDS[type_] == NUMBERS else value
