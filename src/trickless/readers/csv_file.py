"""A CSV file: sniffed once, then read in passes.

pyarrow parses the text. It gets bytes of UTF-8 whose quotes match, whatever the encoding and the
compression of the file.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from trickless.readers.cells import all_digits, has_padding, is_text, refined, without_missing
from trickless.readers.csv_quotes import checked
from trickless.readers.errors import CommandError, reading
from trickless.readers.kinds import kind_of_type
from trickless.readers.table_file import TableFile
from trickless.tables.parse_text import MISSING

#: How compressed files are opened, by file ending.
OPENERS = {".gz": gzip.open, ".bz2": bz2.open}
#: Other formats by the first bytes of a file, and what to do about it.
_SIGNATURES = {
    b"\x1f\x8b": ("gzip", "rename it to end in .csv.gz"),
    b"BZh": ("bzip2", "rename it to end in .csv.bz2"),
    b"PAR1": ("Parquet", "rename it to end in .parquet"),
    b"ARROW1": ("Arrow", "rename it to end in .arrow"),
    b"PK\x03\x04": ("ZIP, like a spreadsheet", "write the table as CSV"),
}
#: Bytes that are decoded at a time, and bytes that are parsed at a time.
_CHUNK, _BLOCK = 2**20, 2**22
#: Bytes at the beginning that are searched for the first line, the decimal sign and ends of lines.
_LONGEST_LINE, _LINES, _COUNTED = 2**20, 2**18, 2**20
_WITH_COMMA, _WITH_POINT = (
    re.compile(rf"\s*[+-]?\d*{sign}\d+([eE][+-]?\d+)?\s*") for sign in (",", r"\.")
)
#: A number whose commas may separate thousands.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*")


class CSVFile(TableFile):
    """A CSV file, whose first block decides its separator, decimal sign, names and types.

    The type of a column without values in the first block is null. ``is_whole`` says whether this
    block has all rows. ``first_texts`` has the different strings in it, by column.
    ``digits`` says of each column whether a cell begins with a needless zero, and whether all cells
    have only digits.
    """

    def __init__(self, path: str, known_as: Callable[[str], str]) -> None:
        self.path = path
        with reading(path):
            text = self._sniff()
        with reading(path, self._header):
            schema = pyarrow.csv.open_csv(
                io.BytesIO(text), **self._options({}, strings_can_be_null=True)
            ).schema
            self._find_types(text, schema, known_as)

    def _sniff(self) -> bytes:
        """Find the dialect, and return the checked text of the first blocks."""
        head = bytearray()
        with self._opened() as raw:
            for chunk in _utf8(raw):
                head += chunk
                if is_longer := len(head) > 2 * _BLOCK:
                    break
            else:
                is_longer = False
        text = bytes(head)
        self.is_whole = not is_longer and len(text) <= _BLOCK
        counted = text[:_COUNTED]
        self._lines_per_byte = counted.count(b"\n") / max(1, len(counted))
        for begin, (name, remedy) in _SIGNATURES.items():
            if text.startswith(begin) and not _is_text(text[:_CHUNK]):
                raise CommandError(
                    f"{self.path}: its name is that of a CSV file, but its content is {name}",
                    remedy,
                )
        first = text[: text.find(b"\n") + 1 or None][:_LONGEST_LINE]
        if b"\0" not in first:  # the check of quotes reports these
            codecs.getincrementaldecoder("utf-8")().decode(first)
        line = first.decode(errors="replace")
        self.delimiter = max(",\t;|", key=re.sub(r'"[^"]*"', "", line).count)
        try:
            self._header = next(csv.reader([line], delimiter=self.delimiter), [])
        except csv.Error:  # the line is not text
            self._header = []
        rest = text[len(first) :]
        self.decimal_point = self._decimal_point(rest[: rest.find(b"\n", _LINES - 1) + 1 or None])
        good = checked(self.path, [text], self.delimiter, _BLOCK)
        return next(good, b"") if is_longer else b"".join(good)

    def _decimal_point(self, text: bytes) -> str:
        """Return the decimal sign, a comma or a point.

        It is a comma if columns have another separator, and if the numbers have commas but no
        points. If all commas may separate thousands, it is a point, so the numbers are refused.
        """
        if self.delimiter == ",":
            return "."
        lines = text.decode(errors="replace").split("\n")
        cells = [
            cell.strip('"') for line in lines for cell in line.rstrip("\r").split(self.delimiter)
        ]
        commas = [cell for cell in cells if _WITH_COMMA.fullmatch(cell)]
        thousands = all(map(_THOUSANDS.fullmatch, commas))
        return "." if thousands or any(map(_WITH_POINT.fullmatch, cells)) else ","

    def _find_types(self, text: bytes, schema: Any, known_as: Callable[[str], str]) -> None:
        """Look at the first block as text, for times, strings and leading zeros."""
        self._set_types(schema.names, schema.types, known_as)
        wanted = {
            name: own
            for name, own in self._own.items()
            if is_text(self.types[name]) or kind_of_type(self.types[name]) == "number"
        }
        types = dict.fromkeys(wanted.values(), pa.string())
        block = next(self._parsed(partial(io.BytesIO, text), types), None) if types else None
        self.first_texts, self.digits = dict[str, list[str]](), dict[str, tuple[bool, bool]]()
        for name, column in zip(wanted, block.columns if block else (), strict=False):
            cells = without_missing(column)
            self.digits[name] = has_padding(cells), all_digits(cells)
            if is_text(self.types[name]):
                self.first_texts[name] = pc.unique(cells).drop_null().to_pylist()
                self.types[name] = refined(self.types[name], cells)

    def expected_rows(self) -> int | None:
        """Return the approximate number of rows, or None if the file is compressed."""
        if Path(self.path).suffix.lower() in OPENERS:
            return None
        return round(self._lines_per_byte * Path(self.path).stat().st_size)

    def batches(self, types: Mapping[str, Any]) -> Iterator[Any]:
        """Yield some columns in given types, a few rows at a time. Text has no missing values.

        From the first block with a cell that is not of its type, all columns are text.
        """
        with reading(self.path, self._header):
            own = {self._own[name]: type_ for name, type_ in types.items()}
            for batch in self._parsed(self._text, own):
                yield batch.rename_columns(list(types))

    def _parsed(self, opened: Callable[[], Any], types: Mapping[str, Any]) -> Iterator[Any]:
        """At most one block is read ahead. An Arrow dataset would read on without waiting."""
        n_read = 0
        try:
            with opened() as stream:
                for batch in pyarrow.csv.open_csv(stream, **self._options(types)):
                    yield batch
                    n_read += batch.num_rows
            return
        except pa.ArrowInvalid:  # of a cell that Arrow cannot read, or of a damaged line
            options = self._options(dict.fromkeys(types, pa.string()))
            options["read_options"].use_threads = False  # then an error names the row
        with opened() as stream:
            for batch in pyarrow.csv.open_csv(stream, **options):
                if n_read < batch.num_rows:
                    yield batch.slice(n_read)
                n_read = max(0, n_read - batch.num_rows)

    def _options(self, types: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "parse_options": pyarrow.csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(self._header) > 1,  # a single column may miss values
            ),
            "read_options": pyarrow.csv.ReadOptions(block_size=_BLOCK),
            "convert_options": pyarrow.csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                decimal_point=self.decimal_point,
                null_values=sorted(MISSING),
                **more,
            ),
        }

    def _opened(self) -> BinaryIO:
        opener: Any = OPENERS.get(Path(self.path).suffix.lower(), open)
        return opener(self.path, "rb")

    @contextmanager
    def _text(self) -> Iterator[Any]:
        with self._opened() as raw:
            good = checked(self.path, _utf8(raw), self.delimiter, _BLOCK)
            yield io.BufferedReader(_Stream(good), _CHUNK)


def _is_text(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return b"\0" not in head


def _utf8(raw: BinaryIO) -> Iterator[bytes]:
    """Yield text as UTF-8, without the mark at its beginning. It is UTF-16 if it begins so."""
    start = raw.read(len(codecs.BOM_UTF8))
    rest = iter(partial(raw.read, _CHUNK), b"")
    if not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield start.removeprefix(codecs.BOM_UTF8)
        yield from rest
        return
    decoder = codecs.getincrementaldecoder("utf-16")()
    yield decoder.decode(start).encode()
    for chunk in rest:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


class _Stream(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n
