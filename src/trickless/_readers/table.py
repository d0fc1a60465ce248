"""A table in files, some of whose columns pyarrow reads batch by batch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset as ds

from trickless._errors import InvalidValueError
from trickless._readers.errors import location, not_utf8, reading, sign_options, types_option
from trickless._readers.files import files_at
from trickless._rows.signs import WAYS, Signs, signs_of
from trickless.neurons.forms import composed, why_ambiguous

#: The types of what a column may hold.
TYPES = {"number": pa.float64(), "category": pa.string(), "date": pa.timestamp("us")}
#: Bytes of a CSV file that decide its types, and that are parsed at a time.
_BLOCK = 2**22
#: The first rows of a file, in which all cells of a column that has signs between thousands are
#: numbers.
_HEAD = 10_000
#: The most values and the most rows of a batch.
_BATCH_CELLS, _BATCH_ROWS = 2**21, 2**16
#: Readers of Parquet files hold little at a time.
_SCAN = ds.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)


class CSV(NamedTuple):
    """How CSV files are written. By default, the first line says what separates columns."""

    delimiter: str | None = None
    decimal: str = "."
    thousands: str | None = None

    @property
    def signs(self) -> Signs:
        """How numbers are written."""
        return Signs(self.decimal, self.thousands)

    def check(self) -> None:
        """Refuse signs that are not signs, or have two meanings in a cell.

        A cell in quotes may hold the sign that separates columns.
        """
        signs = {name: sign for name, sign in self._asdict().items() if sign is not None}
        for name, sign in signs.items():
            if len(sign) != 1 or not sign.isascii():
                raise InvalidValueError(f"--{name} {sign!r}: it must be one character", "such as ,")
        if self.decimal == self.thousands:
            raise InvalidValueError(
                f"--decimal {self.decimal!r}, --thousands {self.thousands!r}: one sign has two "
                "meanings",
                "leave one of them out",
            )


class Piece(NamedTuple):
    """Some rows of a file. ``row`` is the number of the first one, from 0."""

    file: str
    row: int
    data: Any


class Table:
    """The rows of a file, or of all files in a folder, as one table.

    Folders with names such as ``year=2026`` are a column. CSV files have the types that pyarrow
    infers from their first blocks, except that integers are floats, since later cells may be
    fractions, and that text is a number if all cells are numbers with the signs of ``csv``.

    Parameters
    ----------
    path : Path
        A file or a folder.
    kinds : dict of {str: {"number", "category", "date"}}
        What some columns hold, whatever type they have in the files.
    csv : CSV
        How CSV files are written.
    of_model : bool
        Whether a model says what the columns hold, and not the option --types.

    Attributes
    ----------
    types : dict of {str: DataType}
        The types of all columns.
    told : dict of {str: str}
        What some columns hold, by the names that they have in the files.
    signs : Signs
        How numbers are written.
    """

    def __init__(
        self, path: Path, kinds: Mapping[str, str], csv: CSV, of_model: bool = False
    ) -> None:
        files, format_ = files_at(path)
        self.path, self.files, self.is_csv = path, list(map(Path, files)), format_ == "csv"
        self._csv = csv._replace(delimiter=csv.delimiter or _delimiter(files[0]))
        self._csv.check()
        self.of_model, self.signs = of_model, self._csv.signs
        found = self._opened(files, format_, None, {})
        self._schemas = dict[str, dict[str, Any]]()
        for fragment in found.get_fragments():
            with reading(fragment.path):
                schema = fragment.physical_schema
                self._schemas[fragment.path] = dict(zip(schema.names, schema.types, strict=True))
        self._folders = [n for n in found.schema.names if n not in self._schemas[files[0]]]
        names: list[str] = found.schema.names
        if len(set(names)) < len(names) or (why := why_ambiguous(names)) is not None:
            twice = [n for n in names if names.count(n) > 1]
            why = f"two columns {twice[0]!r}" if twice else why
            raise InvalidValueError(f"{path}: there are {why}", "give each column its own name")
        self._own = {composed(name): name for name in names}
        self.told = {self.column(name): kind for name, kind in kinds.items()}
        if self.is_csv and csv.thousands:
            self.told |= dict.fromkeys(self._with_signs(found), "number")
        parsed = {name: self._type(name, found.schema.field(name).type) for name in names}
        schema = pa.schema(list(parsed.items()))
        as_parsed = {name: type_ for name, type_ in parsed.items() if name not in self._folders}
        self.types = dict(parsed)
        for name, kind in self.told.items():
            if kind == "number" and parsed[name] == TYPES["category"]:  # _cast makes them numbers
                self.types[name] = TYPES["number"]
        self._dataset = self._opened(files, format_, schema, as_parsed)

    def _opened(self, files: list[str], format_: Any, schema: Any, types: dict[str, Any]) -> Any:
        """Return the files as a pyarrow dataset. CSV files are parsed as these types."""
        if self.is_csv:
            format_ = ds.CsvFileFormat(
                pyarrow.csv.ParseOptions(delimiter=self._csv.delimiter, newlines_in_values=True),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=types, decimal_point=self._csv.decimal, strings_can_be_null=True
                ),
                read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK),
            )
        elif format_ == "parquet":
            format_ = ds.ParquetFileFormat(default_fragment_scan_options=_SCAN)
        folder = self.path if self.path.is_dir() else self.path.parent
        with reading(self.path):
            return ds.dataset(
                files,
                schema,
                format_,
                partitioning=ds.partitioning(flavor="hive"),
                partition_base_dir=str(folder),
            )

    def _with_signs(self, found: Any) -> list[str]:
        """Return columns of text whose first cells are all numbers with the signs of ``csv``."""
        fit = dict[str, bool]()
        for fragment in found.get_fragments():
            types = self._schemas[fragment.path].items()
            names = [n for n, t in types if t == TYPES["category"] and n not in self.told]
            with reading(fragment.path, [n for n, _ in types], self._remedy):
                head = fragment.head(_HEAD, columns=names)
            for name in names:
                cells = pc.utf8_trim_whitespace(head[name].drop_null())
                are_numbers = pc.all(pc.match_substring_regex(cells, self.signs.pattern))
                fit[name] = fit.get(name, True) and bool(are_numbers.as_py())
        return [name for name, all_fit in fit.items() if all_fit]

    def _remedy(self, name: str, why: str) -> str:
        """Return what to do about a cell that does not fit its column."""
        cell, given = (re.findall("'(.*)'", why) or [""])[0], self.signs
        ways = [w for w in WAYS if w.decimal == given.decimal == "," and w.read(cell)]
        signs = ways[0] if ways else signs_of([cell])
        how = "correct or empty the cell"
        if re.search("date|timestamp", why):
            how = "write dates as 2026-01-31"
        elif signs not in (None, given) and (options := sign_options(signs, given)):
            how = f"pass {options}" + " as in the fit" * self.of_model
        if not self.of_model:
            return f"{how} or, if the column holds names, {types_option(name, 'category')}"
        kind = self.told.get(name)
        return how if kind is None else f"{how}; the model was fitted to {kind}s in this column"

    def _type(self, name: str, first: Any) -> Any:
        """Return the type of a column as it is parsed: the one of all files."""
        kind = self.told.get(name)
        if name in self._folders:
            return first
        types = [schema[name] for schema in self._schemas.values() if name in schema]
        if self.is_csv and kind is not None:
            if kind == "number" and set(types) == {pa.bool_()}:
                return pa.bool_()
            return TYPES["category" if kind == "number" and self._csv.thousands else kind]
        if self.is_csv:
            if pa.binary() in types:
                raise not_utf8(location(self.path, name))
            whole = (pa.types.is_integer, pa.types.is_null)
            types = [pa.float64() if any(is_(t) for is_ in whole) else t for t in types]
        fields = [pa.schema([(name, type_)]) for type_ in types]
        try:
            return pa.unify_schemas(fields, promote_options="permissive").types[0]
        except pa.ArrowException as error:
            raise InvalidValueError(
                f"{location(self.path, name)}: the files have the types "
                f"{', '.join(sorted(set(map(str, types))))}",
                "correct the files"
                if self.of_model
                else f"{types_option(name, 'category')} if it holds names, or correct the files",
            ) from error

    def column(self, name: str) -> str:
        """Return a name, whose Unicode form may be another, as the files have it."""
        if (own := self._own.get(composed(name))) is None:
            raise InvalidValueError(
                f"{location(self.path, name)}: there is no such column. The columns are "
                f"{', '.join(map(repr, list(self._own)[:20]))}",
                "check the name that an option has; a model needs the columns that it was fitted "
                "to",
            )
        return own

    def expected_rows(self) -> int | None:
        """Return the number of rows, or None if that takes a full pass."""
        return None if self.is_csv else self._dataset.count_rows()

    def batches(self, columns: Collection[str]) -> Iterator[Piece]:
        """Yield some columns, a few rows at a time, file by file."""
        columns = list(columns)
        n_rows = max(1, min(_BATCH_ROWS, _BATCH_CELLS // len(columns)))
        for fragment in self._dataset.get_fragments():
            file, row = fragment.path, 0
            names = list(self._schemas[file])
            for name in columns:
                if name not in names and name not in self._folders:
                    raise InvalidValueError(
                        f"{location(file, name)}: there is no such column, but other files have it",
                        "pass files with the same columns",
                    )
            with reading(file, names, self._remedy):
                for batch in fragment.to_batches(
                    self._dataset.schema,
                    columns,
                    batch_size=n_rows,
                    batch_readahead=2,
                    fragment_readahead=1,
                ):
                    yield Piece(file, row, self._read(file, row, batch))
                    row += batch.num_rows

    def _read(self, file: str, row: int, batch: Any) -> Any:
        """Return rows whose columns hold what ``kinds`` says."""
        columns = list[Any]()
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            kind = self.told.get(name)
            if self.is_csv and pa.types.is_string(column.type):
                _check_lines(file, name, row, column)
            is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
            if kind == "category" or (kind is not None and is_text):
                column = self._cast(file, name, row, column, kind)
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _cast(self, file: str, name: str, row: int, column: Any, kind: str) -> Any:
        if kind == "number":
            column, signs = pc.utf8_trim_whitespace(column), self.signs
            if sign := signs.thousands:
                marked = pc.match_substring(column, sign)
                wrong = pc.and_not(marked, pc.match_substring_regex(column, signs.pattern))
                if (index := pc.index(wrong, True).as_py()) >= 0:
                    why = f"invalid value '{column[index].as_py()}'"
                    where = location(file, name, row + index)
                    raise InvalidValueError(
                        f"{where}: {why}, in which {sign!r} is not between thousands",
                        self._remedy(name, why),
                    )
                column = pc.replace_substring(column, sign, "")
            column = pc.replace_substring(column, signs.decimal, ".")
        try:
            return pc.cast(column, TYPES[kind])
        except pa.ArrowException as error:
            raise InvalidValueError(
                f"{location(file, name)}, from row {row + 1:,}: {error}",
                self._remedy(name, str(error)),
            ) from error


def number_options(table: Table, name: str, signs: Signs) -> str:
    """Return the options that read a column of text as numbers with these signs."""
    options = sign_options(signs, table.signs)
    if table.is_csv and signs != table.signs:
        return options
    return f"{options} {types_option(name, 'number')}".strip()


def _delimiter(file: str) -> str:
    """Return what separates the columns of a CSV file: the most frequent sign in its first line."""
    with reading(file), pa.input_stream(file) as stream:
        line = stream.read(2**16).split(b"\n")[0]
    return max(",\t;|", key=lambda sign: line.count(sign.encode()))


def _check_lines(file: str, name: str, row: int, column: Any) -> None:
    """Refuse a cell of several lines, which a quote that is not closed makes of all rows after."""
    if (index := pc.index(pc.match_substring(column, "\n"), True).as_py()) >= 0:
        raise InvalidValueError(
            f"{location(file, name, row + index)}: a cell has several lines",
            "close all quotes, double the quotes inside a cell, or leave the column out",
        )
