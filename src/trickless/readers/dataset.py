"""Tables in files, batch by batch: CSV, Parquet, Arrow, or folders of them.

Every column has a kind (:mod:`trickless.readers.kinds`). It is read as numbers in double precision,
times or text, whatever its type in a file.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Set
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from trickless.neurons.forms import composed, first_forms
from trickless.readers.cells import CellError, is_spelled_missing, is_text, without_missing
from trickless.readers.csv_file import CSVFile
from trickless.readers.errors import CommandError, location
from trickless.readers.folder import ENDINGS, columns_of_folders, ending_of, files_at
from trickless.readers.kinds import NAMES, TYPES, fits, in_kind, kind_of_type, plain_type
from trickless.readers.schema import LeadingZeros, Schema, schema_of
from trickless.readers.table_file import ArrowFile
from trickless.tables.parse_text import has_zone
from trickless.tables.spellings import PLAIN, Spelling

#: The most numbers and the most rows of a batch.
_BATCH_CELLS, _BATCH_ROWS = 2**21, 2**16
#: Advice for a value that is not of its kind.
_OF_DATES = " If all dates are in another format, fit with --date-format."
_HINTS = {
    "number": " Fit with --category if the column holds names, and with --date if it holds dates.",
    "date": _OF_DATES,
    "zoned date": _OF_DATES,
}


class Reading(NamedTuple):
    """How text is read: in which columns NA and the like are names, and formats of dates.

    Spellings of numbers are found, unless they are known. Names of columns are spelled like those
    that are known, whatever Unicode form a file has.
    """

    names: Mapping[str, Set[str]] = {}
    date_formats: Mapping[str, str] = {}
    spellings: Mapping[str, Spelling] = {}
    columns: Collection[str] = ()


class FileRows(NamedTuple):
    """Some rows of a file, in the types of their kinds. ``row`` is the first row, from 0.

    ``kept`` has unchanged columns of the same rows, if any were requested.
    """

    path: str
    row: int
    data: Any
    kept: Any = None


class Dataset:
    """The tables at a path, read as one.

    A path is a file, or a folder whose files have one format and the same columns. Folders in it
    with names such as ``year=2026`` become a column of text. ``missing`` counts the spellings of
    missing values in columns of categories, except empty cells, in the last pass over the rows.
    """

    def __init__(self, path: Path, reading: Reading | None = None) -> None:
        self.path, self.reading = path, reading or Reading()
        self.files = files_at(path)
        formats = {ending_of(file) for file in self.files}
        if len({ENDINGS[ending] for ending in formats}) > 1:
            raise CommandError(
                f"{path}: there are files of different formats, {', '.join(sorted(formats))}",
                "keep only one format in a folder",
            )
        format_ = ENDINGS[next(iter(formats))]
        self.is_csv = format_ == "csv"
        self._forms = first_forms(self.reading.columns)
        self._folders = {file: self._of_folders(file) for file in self.files}
        self._tables: dict[str, CSVFile | ArrowFile] = {
            file: CSVFile(file, self.known_as)
            if self.is_csv
            else ArrowFile(file, format_, self.known_as)
            for file in self.files
        }
        self._zeros: LeadingZeros | None = None
        self.missing: dict[str, Counter[str]] = {}

    def known_as(self, name: str) -> str:
        """Return a name of a column in the Unicode form that was met first."""
        return self._forms.setdefault(composed(name), name)

    def _of_folders(self, file: str) -> dict[str, str | None]:
        if not self.path.is_dir():
            return {}
        found = columns_of_folders(self.path, file)
        return {self.known_as(name): text for name, text in found.items()}

    @cached_property
    def _schema(self) -> Schema:
        return schema_of(list(self._tables.values()), self._folders)

    @property
    def types(self) -> dict[str, Any]:
        """Types of all columns, decided by their first values; null if a column has none."""
        return self._schema.types

    def spelling(self, name: str) -> Spelling:
        """Return how text in a column spells numbers."""
        found = self.reading.spellings.get(name)
        return found or self._schema.spellings.get(name, PLAIN)

    def padded(self, names: Collection[str]) -> list[str]:
        """Return which of these columns are numbers in text with leading zeros, as in postcodes.

        The beginnings of CSV files decide. The next pass over the rows looks at the other cells,
        and :meth:`padded_later` says what it found.
        """
        tables = list(self._tables.values())
        self._zeros = LeadingZeros(tables, self._folders, self.types, names)
        return [name for name in names if name in self._zeros.early]

    def padded_later(self) -> list[str]:
        """Return the columns in which the last pass found leading zeros, and stop looking."""
        zeros, self._zeros = self._zeros, None
        return [] if zeros is None else sorted(zeros.found)

    def _in_text(self, name: str) -> bool:
        """Return whether the cells of a column are text in the files, whatever they mean."""
        return self.is_csv or any(name in found for found in self._folders.values())

    def expected_rows(self) -> int | None:
        """Return the exact or approximate number of rows; None if that takes a full pass."""
        total = 0
        for table in self._tables.values():
            if (n_rows := table.expected_rows()) is None:
                return None
            total += n_rows
        return total

    def kind(self, name: str) -> str | None:
        """Return the kind of a column, which depends on its type, or None if it has none."""
        type_ = self.types[name]
        not_text = self.is_csv and pa.types.is_binary(type_)  # refused when it is read as text
        return "category" if not_text else kind_of_type(type_)

    def kind_of_dates(self, name: str) -> str:
        """Return the kind of a column of dates, of whatever type: with or without a time zone."""
        if date_format := self._date_format(name):
            return "zoned date" if has_zone(date_format) else "date"
        if (kind := kind_of_type(plain_type(self.types[name]))) in ("date", "zoned date"):
            return kind
        return "zoned date" if name in self._schema.zoned else "date"

    def batches(self, kinds: Mapping[str, str], kept: Collection[str] = ()) -> Iterator[FileRows]:
        """Yield all rows in order. The requested columns have the types of their kinds.

        Columns that are ``kept`` are unchanged, in the types of :meth:`types_kept`.
        """
        self.missing = defaultdict(Counter)
        types = self.types_kept(kept)
        for file in self.files:
            row = 0
            self._check_columns(file, kinds, kept)
            for data in self._read(file, kinds, kept):
                if data.num_rows:
                    columns = self._in_kinds(file, row, data, kinds)
                    yield FileRows(file, row, columns, _kept(file, row, data, types))
                    row += data.num_rows

    def types_kept(self, names: Collection[str]) -> dict[str, Any]:
        """Return the types of columns that are kept unchanged. In CSV files all are text."""
        types = {}
        for name in names:
            if name not in self.types:
                raise CommandError(
                    f"{location(self.path, name)}: there is no such column to keep. The columns "
                    f"are {', '.join(map(repr, list(self.types)[:20]))}",
                    "check the name",
                )
            parts = [file.types[name] for file in self._tables.values() if name in file.types]
            texts = [part for part in parts if is_text(part)]
            plain = texts[0] if texts else plain_type(self.types[name])
            is_plain = self._in_text(name) or pa.types.is_null(plain) or is_text(plain)
            types[name] = pa.string() if is_plain else plain
        return types

    def _read(self, file: str, kinds: Mapping[str, str], kept: Collection[str]) -> Iterator[Any]:
        """Yield the requested columns, a few rows at a time, in the types of the file."""
        names = list(dict.fromkeys([*kinds, *kept]))
        table = self._tables[file]
        inside = [name for name in names if name in table.types] or list(table.types)[:1]
        n_rows = max(1, min(_BATCH_ROWS, _BATCH_CELLS // max(1, len(names))))
        if isinstance(table, CSVFile):
            read = {n: None if n in kept else kinds.get(n) for n in inside}
            blocks = table.batches({n: self._csv_type(table, n, kind) for n, kind in read.items()})
        else:
            blocks = table.batches(inside, n_rows)
        for block in blocks:
            for start in range(0, block.num_rows, n_rows):
                rows = block.slice(start, n_rows)
                columns = [
                    rows.column(name)
                    if name in table.types
                    else pa.repeat(self._folder(file, name), rows.num_rows)
                    for name in names
                ]
                yield pa.RecordBatch.from_arrays(columns, names=names)

    def _folder(self, file: str, name: str) -> Any:
        return pa.scalar(self._folders[file][name], pa.string())

    def _csv_type(self, table: CSVFile, name: str, kind: str | None) -> Any:
        """Return the type to parse a CSV column as: text, if a later step converts it."""
        here = table.types[name]
        is_watched = self._zeros is not None and name in self._zeros.left
        if kind not in ("number", "truth") or is_watched:
            return pa.string()
        if is_text(here) or self.spelling(name) != PLAIN:
            return pa.string()
        type_ = self.types[name] if pa.types.is_null(here) else here
        return TYPES["truth"] if kind == "truth" or pa.types.is_boolean(type_) else TYPES[kind]

    def _check_columns(self, file: str, kinds: Mapping[str, str], kept: Collection[str]) -> None:
        """Refuse a file whose columns differ from the other files, or are not of their kinds."""
        table, first = self._tables[file], self._tables[self.files[0]]
        ours, theirs = (getattr(table, "delimiter", None) for table in (table, first))
        if ours != theirs:
            raise CommandError(
                f"{file}: its columns are separated by {ours!r}, but the columns of {first.path} "
                f"by {theirs!r}",
                "use one separator in all files of a folder",
            )
        there = table.types | dict.fromkeys(self._folders[file], pa.string())
        for name in (*kinds, *kept):
            if name not in there:
                raise CommandError(
                    f"{location(file, name)}: there is no such column. The file has "
                    f"{', '.join(map(repr, list(there)[:10]))}",
                    "pass tables with the same "
                    f"columns, or leave the column out with --drop {name!r} in fit",
                )
        for name, kind in kinds.items():
            if not self._in_text(name) and not fits(
                there[name], kind, bool(self._date_format(name))
            ):
                raise CommandError(
                    f"{location(file, name)}: its values have the type {there[name]}, but a "
                    f"{NAMES[kind]} is needed",
                    "give the column a suitable type in all "
                    f"files, or leave it out with --drop {name!r} in fit",
                )

    def _in_kinds(self, file: str, row: int, data: Any, kinds: Mapping[str, str]) -> Any:
        """Return rows in the types of their kinds, or raise an error for values that do not fit."""
        columns = []
        for name, kind in kinds.items():
            column = data.column(name)
            in_file = name in self._tables[file].types
            spelling = PLAIN
            if kind == "number" and is_text(column.type):
                spelling = self._spelling_in(file if in_file else "", name)
            with _naming_the_cell(file, name, row, NAMES[kind], _HINTS.get(kind, "")):
                if in_file and self._zeros and name in self._zeros.left and is_text(column.type):
                    self._zeros.look(name, without_missing(column))
                read = in_kind(column, kind, self._date_format(name), spelling)
                if kind.endswith("category") and is_text(read.type):
                    read = self._without_missing(name, read)
                columns.append(read)
                if in_file and name in self._folders[file]:
                    self._check_folder(file, name, kind, read)
        return pa.RecordBatch.from_arrays(columns, names=list(kinds))

    def _spelling_in(self, file: str, name: str) -> Spelling:
        """Return how text spells numbers in a file. Its own decimal sign may be a comma."""
        spelling, table = self.spelling(name), self._tables.get(file)
        has_comma = isinstance(table, CSVFile) and table.decimal_point == ","
        return spelling._replace(decimal=",") if has_comma and not spelling.thousands else spelling

    def _date_format(self, name: str) -> str:
        return self.reading.date_formats.get(name, "")

    def _names(self, name: str) -> Set[str]:
        """Return spellings of missing values that are names. An empty CSV cell is not a name."""
        return self.reading.names.get(name, frozenset()) - ({""} if self.is_csv else set())

    def _without_missing(self, name: str, text: Any) -> Any:
        """Return categories whose spellings of missing values are missing, and count these."""
        names = self._names(name)
        spelled = pc.filter(text, is_spelled_missing(text, names)).value_counts()
        for count in spelled.to_pylist():
            if count["values"]:
                self.missing[name][count["values"]] += count["counts"]
        return without_missing(text, names)

    def _check_folder(self, file: str, name: str, kind: str, read: Any) -> None:
        """Refuse a column of a file that contradicts the name of its folder."""
        text = pa.repeat(self._folder(file, name), 1)
        if kind.endswith("category"):  # a known number is not spelled yet
            said, read = without_missing(text, self._names(name))[0], in_kind(read, "category")
        else:
            said = in_kind(text, kind, self._date_format(name), self.spelling(name))[0]
        same = pc.is_null(read) if not said.is_valid else pc.equal(read, said).fill_null(False)
        if not pc.all(same).as_py():
            index = pc.index(same, False).as_py()
            raise CellError(index, f"the file has {read[index]}, but the name of its folder {said}")


def _kept(file: str, row: int, data: Any, types: Mapping[str, Any]) -> Any:
    """Return the columns that are kept, in these types, or None if there are none."""
    columns = []
    for name, type_ in types.items():
        with _naming_the_cell(file, name, row, f"value of the type {type_}"):
            columns.append(pc.cast(data.column(name), type_))
    return pa.RecordBatch.from_arrays(columns, names=list(types)) if types else None


@contextmanager
def _naming_the_cell(file: str, name: str, row: int, what: str, hint: str = "") -> Iterator[None]:
    """Name the place of a value that cannot be read, in the rows from this one on."""
    try:
        yield
    except (pa.ArrowException, ValueError, OverflowError, LookupError) as error:
        where = f"{location(file, name)}, from row {row + 1:,}"
        if (index := _index_of(error)) is not None:
            where = location(file, name, row + index)
        raise CommandError(
            f"{where}: {_cause(error)}",
            f"correct or empty such cells, store a {what} in a "
            f"type that can hold it, or leave the column out with --drop {name!r} in fit.{hint}",
        ) from error


def _index_of(error: BaseException) -> int | None:
    if isinstance(error, CellError):
        return error.index
    named = re.fullmatch(r"Invalid UTF8 sequence at string index (\d+)", str(error))
    return int(named[1]) if named else None


def _cause(error: BaseException) -> str:
    text = re.sub(r"\s+", " ", str(error)).rstrip(". ")
    if "Invalid UTF8" in text:
        return "the text is not valid UTF-8"
    if isinstance(error, OverflowError):
        return f"a value is outside the range of dates and times ({text})"
    return text[:200]
