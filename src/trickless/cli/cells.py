"""Cells of text: which are missing, what a column of them holds, and their numbers and dates."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

#: Spellings of a missing value.
MISSING = tuple(pyarrow.csv.ConvertOptions().null_values)
_TIME = pa.timestamp("us")
#: Cells that are looked at first.
_FEW = 64
_ZONE = r":.*(Z|[+-]\d\d:?(\d\d)?)\s*$"
_DIGITS, _PADDED = r"^\s*\d+\s*$", r"^\s*0\d+\s*$"


class CellError(ValueError):
    """A value that cannot be read as it should; ``index`` is its place in the column, from 0."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def is_text(type_: Any) -> bool:
    """Whether a type of Arrow is one of text."""
    types = pa.types
    return types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)


def is_spelled_missing(text: Any) -> Any:
    """Where cells have a spelling of a missing value, such as NA; nothing need be in an empty one.

    An array of truth values, in which nothing is missing.
    """
    return pc.is_in(text, value_set=pa.array(MISSING, text.type))


def without_missing(text: Any, names: bool = False) -> Any:
    """Text with missing values for the spellings of one: for empty cells alone, if it has names."""
    missing = pc.equal(text, "") if names else is_spelled_missing(text)
    return pc.replace_with_mask(text, missing, pa.scalar(None, text.type))


def type_of(text: Any, decimal_point: str = ".", missing: tuple[str, ...] = MISSING) -> Any:
    """The type that Arrow takes a column of a CSV file for, by its cells."""
    file, text = io.BytesIO(), pc.cast(text, pa.string()).drop_null()
    pyarrow.csv.write_csv(pa.table({"x": text}), file)
    file.seek(0)
    type_ = pyarrow.csv.read_csv(
        file,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pyarrow.csv.ConvertOptions(
            decimal_point=decimal_point, null_values=list(missing), strings_can_be_null=True
        ),
    ).schema.types[0]
    return refined(type_, text)


def refined(type_: Any, text: Any) -> Any:
    """The type of a column of text: that of times, if they are all that Arrow did not recognise.

    It does not if they have fractions of seconds and are far from 1970.
    """
    text = without_missing(text).drop_null()
    if not is_text(type_) or not len(text):
        return type_
    try:
        for part in (text[:_FEW], text):  # most texts are no dates
            dates_of(part)
    except CellError:
        return type_
    return _TIME


def has_padding(text: Any) -> bool:
    """Whether a cell has digits after a leading zero, and nothing else, as postcodes have."""
    return bool(pc.any(pc.match_substring_regex(text, _PADDED)).as_py())


def all_digits(text: Any) -> bool:
    """Whether all cells that are not missing have digits only."""
    return pc.all(pc.match_substring_regex(text, _DIGITS)).as_py() is not False


def numbers_of(text: Any) -> Any:
    """Text as numbers in double precision; truth values are 0 and 1."""
    text = _trimmed(text)
    for type_ in (pa.float64(), pa.bool_()):
        try:
            return pc.cast(pc.cast(text, type_), pa.float64())
        except pa.ArrowInvalid:
            continue
    index = _first_bad(text, partial(pc.cast, target_type=pa.float64()))
    raise CellError(index, f"invalid value {text[index].as_py()!r}, where a number is expected")


def dates_of(text: Any, date_format: str = "") -> Any:
    """Text as times in microseconds, those with a time zone in UTC.

    They are written as 2026-01-31, with a time or without one, or as ``date_format`` says, in the
    codes of ``datetime.strptime``.
    """
    text = _trimmed(text)
    if date_format:
        return _formatted(text, date_format)
    try:
        return pc.cast(text, _TIME)
    except pa.ArrowInvalid:
        text = pc.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")
    try:
        return _zoned(text)
    except pa.ArrowInvalid:
        index = _first_bad(text, _one_kind_of_times(text))
    raise CellError(
        index,
        f"invalid value {text[index].as_py()!r}, where a date as 2026-01-31 is expected, with a "
        "time or without one, and with a time zone in all rows or in none",
    )


def has_zone(times: Any) -> bool:
    """Whether times or text of times have a time zone; none of them is missing."""
    if not is_text(times.type):
        return getattr(times.type, "tz", None) is not None
    return bool(pc.match_substring_regex(times[:1], _ZONE)[0].as_py())


def check_date_format(date_format: str) -> str | None:
    """Why no dates can be read by a format; None if they can."""
    if "%" not in date_format:
        return "it has no code such as %d, %m or %Y"
    try:
        pd.to_datetime(["x"], format=date_format, errors="coerce", utc=True)
        datetime.now(UTC).strftime(date_format).encode()
    except ValueError as error:
        return str(error)
    return None


def _trimmed(text: Any) -> Any:
    return without_missing(pc.utf8_trim_whitespace(pc.cast(text, pa.string())))


def _zoned(text: Any) -> Any:
    """Times without a time zone, or those with one in UTC."""
    try:
        return pc.cast(text, _TIME)
    except pa.ArrowInvalid:
        return pc.cast(pc.cast(text, pa.timestamp("us", "UTC")), _TIME)


def _one_kind_of_times(text: Any) -> Callable[[Any], Any]:
    """How the first of these times is read, so that another kind is the one that does not fit."""
    try:
        pc.cast(text.drop_null()[:1], _TIME)
    except pa.ArrowInvalid:
        return partial(pc.cast, target_type=pa.timestamp("us", "UTC"))
    return partial(pc.cast, target_type=_TIME)


def _first_bad(text: Any, read: Callable[[Any], Any]) -> int:
    """The place of the first cell that cannot be read, of which there is one."""
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            read(text.slice(low, middle - low))
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _formatted(text: Any, date_format: str) -> Any:
    encoded = text.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    read = pd.to_datetime(
        pd.Series(values, dtype=object), format=date_format, errors="coerce", utc=True
    )
    times = read.dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    for place in np.flatnonzero(np.isnat(times)):
        try:  # pandas may hold nanoseconds only, and with them no years after 2262
            time = datetime.strptime(values[place], date_format)
        except ValueError as error:
            index = pc.index(text, values[place]).as_py()
            raise CellError(
                index,
                f"invalid value {values[place]!r}, where a date as {date_format!r} is expected",
            ) from error
        times[place] = time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    return pa.array(times, _TIME).take(encoded.indices)
