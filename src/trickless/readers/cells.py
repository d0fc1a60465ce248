"""Cells of text: missing values, types of columns, numbers and dates."""

from __future__ import annotations

import io
from collections.abc import Callable, Set
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from trickless.tables.parse_text import MISSING, time_of
from trickless.tables.spellings import PLAIN, Spelling, read_number

_TIMES = pa.timestamp("us"), pa.timestamp("us", "UTC")
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
    """Whether an Arrow type is text."""
    types = pa.types
    return types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)


def is_spelled_missing(text: Any, names: Set[str] = frozenset()) -> Any:
    """Where cells have a spelling of a missing value, such as NA, that is not among the names.

    Returns an array of truth values without missing ones.
    """
    return pc.is_in(text, value_set=pa.array(sorted(MISSING - names), text.type))


def without_missing(text: Any, names: Set[str] = frozenset()) -> Any:
    """Text in which spellings of a missing value are missing, except the names."""
    missing = is_spelled_missing(text, names)
    return pc.replace_with_mask(text, missing, pa.scalar(None, text.type))


def type_of(text: Any, decimal_point: str = ".") -> Any:
    """The type that Arrow infers for a CSV column with these cells."""
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
    """The type of a column of text: a type of times, if all texts are times.

    Arrow does not recognise times far from 1970 with fractions of seconds.
    """
    text = without_missing(text).drop_null()
    if not is_text(type_) or not len(text):
        return type_
    time = _TIMES[are_zoned(text)]
    try:
        for part in (text[:_FEW], text):  # most texts are not dates
            dates_of(part, time)
    except CellError:
        return type_
    return time


def has_padding(text: Any) -> bool:
    """Whether a cell is a leading zero and more digits, as in postcodes."""
    return bool(pc.any(pc.match_substring_regex(text, _PADDED)).as_py())


def all_digits(text: Any) -> bool:
    """Whether all cells that are not missing have only digits."""
    return pc.all(pc.match_substring_regex(text, _DIGITS)).as_py() is not False


def numbers_of(text: Any, spelling: Spelling = PLAIN) -> Any:
    """Text as numbers in double precision. Truth values are 0 and 1."""
    text = _trimmed(text)
    for type_ in (pa.float64(), pa.bool_()) if not spelling.thousands else ():
        try:
            return pc.cast(pc.cast(text, type_), pa.float64())
        except pa.ArrowInvalid:
            continue
    encoded = text.dictionary_encode()
    numbers = []
    for cell in encoded.dictionary.to_pylist():
        number = read_number(cell, spelling)
        if number is None or isinstance(number, bool):
            raise CellError(pc.index(text, cell).as_py(), f"{cell!r} is not a number")
        numbers.append(float(number))
    return pa.array(numbers, pa.float64()).take(encoded.indices)


def truths_of(text: Any) -> Any:
    """Text as truth values."""
    text, read = _trimmed(text), partial(pc.cast, target_type=pa.bool_())
    try:
        return read(text)
    except pa.ArrowInvalid:
        index = _first_bad(text, read)
    raise CellError(index, f"{text[index].as_py()!r} is not a truth value")


def dates_of(text: Any, type_: Any, date_format: str = "") -> Any:
    """Text as times of a type. The type decides whether they must have a time zone.

    They are written as 2026-01-31, with or without a time of day, or in the ``date_format``, which
    has the codes of ``datetime.strptime``.
    """
    text = _trimmed(text)
    if date_format:
        return _formatted(text, type_, date_format)
    try:
        return _times(text, type_)
    except pa.ArrowInvalid:  # of patterns that it does not know
        plain = text
        for pattern, known in _UNKNOWN.items():
            plain = pc.replace_substring_regex(plain, pattern, known)
    try:
        return _times(plain, type_)
    except pa.ArrowInvalid:
        index = _first_bad(plain, partial(_times, type_=type_))
    wanted = "without a time zone, such as 2026-01-31 or 2026-01-31 10:30"
    if has_zone(type_):
        wanted = "with a time zone, such as 2026-01-31 10:30Z"
    raise CellError(index, f"{text[index].as_py()!r} is not a date {wanted}")


def has_zone(type_: Any) -> bool:
    """Whether an Arrow type is for times with a time zone."""
    return getattr(type_, "tz", None) is not None


def are_zoned(text: Any) -> bool:
    """Whether the first of some times in text has a time zone. None of them is missing."""
    return bool(pc.match_substring_regex(text[:1], _ZONE)[0].as_py())


def _trimmed(text: Any) -> Any:
    return without_missing(pc.utf8_trim_whitespace(pc.cast(text, pa.string())))


def _times(text: Any, type_: Any) -> Any:
    if pc.any(pc.starts_with(text, "0000-")).as_py():
        raise pa.ArrowInvalid("there is no year 0")
    return pc.cast(text, type_)


def _first_bad(text: Any, read: Callable[[Any], Any]) -> int:
    """The place of the first cell that cannot be read. There must be one."""
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            read(text.slice(low, middle - low))
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _formatted(text: Any, type_: Any, date_format: str) -> Any:
    encoded, times = text.dictionary_encode(), []
    for value in encoded.dictionary.to_pylist():
        times.append(time := time_of(value, date_format))
        if time is None:
            raise CellError(
                pc.index(text, value).as_py(),
                f"{value!r} is not a date in the format {date_format!r}",
            )
    return pa.array(times, type_).take(encoded.indices)
