"""Tables as text: how their lines are parsed."""

from __future__ import annotations

import bz2
import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.csv
import pyarrow.dataset as ds

#: How files are opened that are compressed, by the ends of their names.
OPENED = {".gz": gzip.open, ".bz2": bz2.open}
#: Bytes that are parsed at a time; types are taken from the first of them.
_BLOCK = 2**22
_LONGEST_LINE = 2**20
#: Bytes of lines that tell a decimal comma from a point.
_LINES = 2**18
_WITH_COMMA, _WITH_POINT = (
    re.compile(rf"\s*[+-]?\d*{sign}\d+([eE][+-]?\d+)?\s*") for sign in (",", r"\.")
)
#: Commas that may part thousands.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*")


def csv_format(file: str, types: dict[str, Any]) -> Any:
    """The format of a file, with the types of some columns."""
    return ds.CsvFileFormat(**_options(file, types, []))


def csv_batches(file: str, types: dict[str, Any], columns: list[str]) -> Iterator[Any]:
    """Some columns of a file, a few rows at a time.

    Nothing is read before it is asked for, but one block; a dataset would read on without waiting.
    """
    options = _options(file, types, columns)
    try:
        yield from pyarrow.csv.open_csv(file, **options)
    except pyarrow.ArrowInvalid:
        options["read_options"].use_threads = False  # which knows the row of what cannot be read
        for _ in pyarrow.csv.open_csv(file, **options):
            pass
        raise


def csv_schema(file: str, types: dict[str, Any]) -> Any:
    """Names and types of the columns of a file; it may have another decimal sign than others."""
    return pyarrow.csv.open_csv(file, **_options(file, types, [])).schema


def _options(file: str, types: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    return {
        "parse_options": pyarrow.csv.ParseOptions(
            delimiter=delimiter_of(file),
            newlines_in_values=True,
            ignore_empty_lines=len(names_of(file)) > 1,  # else they are missing values
        ),
        "read_options": pyarrow.csv.ReadOptions(block_size=_BLOCK),
        "convert_options": pyarrow.csv.ConvertOptions(
            column_types=types,
            strings_can_be_null=True,
            include_columns=columns,
            decimal_point=_decimal_point(file),
        ),
    }


def names_of(file: str) -> list[str]:
    """The names in the first line."""
    line = _first_line(file)
    try:
        return next(csv.reader([line], delimiter=_delimiter(line)), [])
    except csv.Error:  # no text
        return []


def delimiter_of(file: str) -> str:
    """What parts the names of a file."""
    return _delimiter(_first_line(file))


def _first_line(file: str) -> str:
    with _opened(file) as lines:
        return lines.readline(_LONGEST_LINE).decode("utf-8-sig", errors="replace")


def _decimal_point(file: str) -> str:
    """A comma, if commas do not part columns and the first numbers have some and no points.

    Not where all of them may be those of thousands: these are left as text, which is refused.
    """
    delimiter = delimiter_of(file)
    if delimiter == ",":
        return "."
    with _opened(file) as lines:
        lines.readline(_LONGEST_LINE)
        text = [line.decode(errors="replace") for line in lines.readlines(_LINES)]
    cells = [cell.strip('"') for line in text for cell in line.rstrip("\r\n").split(delimiter)]
    commas = [cell for cell in cells if _WITH_COMMA.fullmatch(cell)]
    thousands = all(map(_THOUSANDS.fullmatch, commas))
    return "." if thousands or any(map(_WITH_POINT.fullmatch, cells)) else ","


def _opened(file: str) -> Any:
    opened: Any = OPENED.get(Path(file).suffix.lower(), open)
    return opened(file, "rb")


def _delimiter(line: str) -> str:
    """What parts the names: the most frequent of four signs."""
    outside = re.sub(r'"[^"]*"', "", line)
    return max(",\t;|", key=outside.count)
