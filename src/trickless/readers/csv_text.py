"""CSV files: how their text is parsed."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow
import pyarrow.csv

from trickless.readers.cells import is_text, refined
from trickless.readers.csv_quotes import check_quotes
from trickless.readers.opening import check_format, opened, source
from trickless.tables.parse_text import MISSING

#: Bytes that are parsed at a time. The first block decides the types of columns.
_BLOCK = 2**22
_LONGEST_LINE = 2**20
#: Bytes at the beginning of a file that are searched for decimal commas and points.
_LINES = 2**18
_WITH_COMMA, _WITH_POINT = (
    re.compile(rf"\s*[+-]?\d*{sign}\d+([eE][+-]?\d+)?\s*") for sign in (",", r"\.")
)
#: A number whose commas may separate thousands.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*")


def check_text(file: str) -> None:
    """Refuse a file that is not text, or in which a quote would hide rows."""
    check_format(file)
    with opened(file) as text:
        line = text.readline(_LONGEST_LINE)
    if b"\0" not in line:  # these are reported below
        codecs.getincrementaldecoder("utf-8")().decode(line)
    with opened(file) as text:
        check_quotes(file, text, delimiter_of(file), _BLOCK)


def csv_batches(file: str, types: Mapping[str, Any]) -> Iterator[Any]:
    """Some columns of a file in given types, a few rows at a time. Text has no missing values.

    From the first block with a cell that is not of its type, all columns are text.
    At most one block is read ahead. An Arrow dataset would read on without waiting.
    """
    n_read = 0
    try:
        with source(file) as stream:
            for batch in pyarrow.csv.open_csv(stream, **_options(file, types)):
                yield batch
                n_read += batch.num_rows
        return
    except pyarrow.ArrowInvalid:  # of a cell that Arrow cannot read, or of a damaged line
        options = _options(file, dict.fromkeys(types, pyarrow.string()))
        options["read_options"].use_threads = False  # then an error names the row
    with source(file) as stream:
        for batch in pyarrow.csv.open_csv(stream, **options):
            if n_read < batch.num_rows:
                yield batch.slice(n_read)
            n_read = max(0, n_read - batch.num_rows)


def csv_schema(file: str) -> Any:
    """Names of the columns of a file, and their types, which the first block decides."""
    with source(file) as stream:
        options = _options(file, {}, strings_can_be_null=True)
        schema = pyarrow.csv.open_csv(stream, **options).schema
    texts = [field.name for field in schema if is_text(field.type)]
    first = next(csv_batches(file, dict.fromkeys(texts, pyarrow.string())), None) if texts else None
    types = [
        refined(field.type, first.column(field.name))
        if first and field.name in texts
        else field.type
        for field in schema
    ]
    return pyarrow.schema(list(zip(schema.names, types, strict=True)))


def _options(file: str, types: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "parse_options": pyarrow.csv.ParseOptions(
            delimiter=delimiter_of(file),
            newlines_in_values=True,
            ignore_empty_lines=len(names_of(file)) > 1,  # a single column may miss values
        ),
        "read_options": pyarrow.csv.ReadOptions(block_size=_BLOCK),
        "convert_options": pyarrow.csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            decimal_point=decimal_point(file),
            null_values=sorted(MISSING),
            **more,
        ),
    }


def names_of(file: str) -> list[str]:
    """The names of the columns, from the first line."""
    line = _first_line(file)
    try:
        return next(csv.reader([line], delimiter=_delimiter(line)), [])
    except csv.Error:  # the line is not text
        return []


def delimiter_of(file: str) -> str:
    """The separator between the columns of a file."""
    return _delimiter(_first_line(file))


def _first_line(file: str) -> str:
    with opened(file) as lines:
        return lines.readline(_LONGEST_LINE).decode("utf-8-sig", errors="replace")


def decimal_point(file: str) -> str:
    """The decimal sign of a file, a comma or a point.

    It is a comma if columns have another separator, and if the numbers at the beginning have commas
    but no points. If all commas may separate thousands, it is a point, so the numbers are refused.
    """
    delimiter = delimiter_of(file)
    if delimiter == ",":
        return "."
    with opened(file) as lines:
        lines.readline(_LONGEST_LINE)
        text = [line.decode(errors="replace") for line in lines.readlines(_LINES)]
    cells = [cell.strip('"') for line in text for cell in line.rstrip("\r\n").split(delimiter)]
    commas = [cell for cell in cells if _WITH_COMMA.fullmatch(cell)]
    thousands = all(map(_THOUSANDS.fullmatch, commas))
    return "." if thousands or any(map(_WITH_POINT.fullmatch, cells)) else ","


def _delimiter(line: str) -> str:
    """The separator of the names in a line: the most frequent of four signs."""
    outside = re.sub(r'"[^"]*"', "", line)
    return max(",\t;|", key=outside.count)
