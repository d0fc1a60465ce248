"""Tables in files, batch by batch: CSV, Parquet, Arrow, or folders of them.

A column is of one of three kinds: numbers, dates or categories. They are read as numbers in double
precision, times and text, whatever type they have in a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from trickless.cli.csv import (
    OPENED,
    check_text,
    csv_batches,
    csv_format,
    csv_schema,
    delimiter_of,
)
from trickless.cli.errors import CommandError, place
from trickless.cli.folder import ENDINGS, ending_of, files_at
from trickless.cli.reading import told
from trickless.tables.categories import as_text

#: The Arrow type that columns of each kind are read as; only a target is of the kind "truth".
TYPES = {
    "number": pa.float64(),
    "date": pa.timestamp("us"),
    "category": pa.string(),
    "truth": pa.bool_(),
}
#: The most numbers, and the most rows, of a batch.
_BATCH_CELLS, _BATCH_ROWS = 2**21, 2**16
#: Bytes at the beginning of a file, from whose lines its rows are estimated.
_HEAD = 2**20
#: Bytes of a column that are read at a time.
_BUFFER = 2**16
#: The largest number that is accepted. Its square does not overflow.
_LARGEST = 1e150


class Batch(NamedTuple):
    """Some rows of a file, in the types of ``TYPES``; ``row`` is the place of the first, from 0."""

    path: str
    row: int
    data: Any


class Dataset:
    """The tables at a path, read as one.

    A path is a file, or a folder whose files are of one format and have the same columns. Folders
    in it with names such as ``year=2026`` stand for a column. ``types`` are those of the columns in
    the first file; ``n_rows`` is None unless the files say it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = files_at(path)
        formats = {ending_of(file) for file in self.files}
        if len({ENDINGS[ending] for ending in formats}) > 1:
            raise CommandError(
                f"{path}: there are files of different formats, {', '.join(sorted(formats))}. "
                "Remedy: keep tables of one format in a folder."
            )
        self.is_csv = ENDINGS[next(iter(formats))] == "csv"
        self._options: dict[str, Any] = {}
        if not self.is_csv:
            self._format: Any = ENDINGS[next(iter(formats))]
        else:
            for file in self.files:
                with told(file):
                    check_text(file)
            with told(self.files[0]):
                self._format = csv_format(self.files[0], {})
        self.types = self._types()
        self.n_rows = None if self.is_csv else self._count()

    def _open(self) -> Any:
        base = str(self.path) if self.path.is_dir() else None
        with told(self.files[0]):
            return ds.dataset(
                self.files,
                format=self._format,
                partitioning=ds.partitioning(flavor="hive") if base else None,
                partition_base_dir=base,
            )

    def _types(self) -> dict[str, Any]:
        schema = self._open().schema
        with told(self.files[0]):  # names are decoded
            names = schema.names
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise CommandError(
                f"{place(self.files[0], min(twice))}: there are two columns of this name. Remedy: "
                "give each column a name of its own."
            )
        return dict(zip(names, schema.types, strict=True))

    def _count(self) -> int:
        n_rows = 0
        for fragment in self._open().get_fragments():
            with told(fragment.path):
                n_rows += fragment.count_rows()
        return n_rows

    def expected_rows(self) -> int | None:
        """How many rows there are, or about how many; None if all would have to be read."""
        if self.n_rows is not None:
            return self.n_rows
        total = 0.0
        for file in self.files:
            if ending_of(file).endswith(tuple(OPENED)):
                return None
            with told(file), Path(file).open("rb") as opened:
                size, head = Path(file).stat().st_size, opened.read(_HEAD)
            total += head.count(b"\n") * size / max(1, len(head))
        return round(total)

    def kind(self, name: str) -> str | None:
        """The kind of a column: "number", "date" or "category"; None if it has another type."""
        type_ = self.types[name]
        not_text = self.is_csv and pa.types.is_binary(type_)  # refused when it is read as text
        return "category" if not_text else kind_of(type_)

    def batches(self, kinds: Mapping[str, str]) -> Iterator[Batch]:
        """All rows in order. The columns asked for have the types of their kinds."""
        if self.is_csv:
            self._format = csv_format(self.files[0], self._csv_types(kinds))
        dataset = self._open()
        for fragment in dataset.get_fragments():
            schema = self._schema(dataset, fragment, kinds)
            read = self._read_csv if self.is_csv else self._read
            row = 0
            with told(fragment.path):
                for data in read(fragment, schema, kinds):
                    if data.num_rows:
                        yield _in_kinds(Batch(fragment.path, row, data), kinds)
                        row += data.num_rows

    def _read(self, fragment: Any, schema: Any, kinds: Mapping[str, str]) -> Iterator[Any]:
        """The columns asked for, a few rows at a time."""
        options = {}
        if self._format == "parquet":
            options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
                pre_buffer=False, use_buffered_stream=True, buffer_size=_BUFFER
            )
        yield from fragment.to_batches(
            schema=schema,
            columns=list(kinds),
            batch_size=_rows_of_a_batch(kinds),
            batch_readahead=2,
            fragment_readahead=1,
            **options,
        )

    def _read_csv(self, fragment: Any, schema: Any, kinds: Mapping[str, str]) -> Iterator[Any]:
        """The same for a CSV file, with the columns that its folders stand for."""
        folders = ds.get_partition_keys(fragment.partition_expression)
        inside = [name for name in kinds if name not in folders]
        n_rows = _rows_of_a_batch(kinds)
        for block in csv_batches(fragment.path, self._csv_types(kinds), inside or schema.names[:1]):
            for start in range(0, block.num_rows, n_rows):
                rows = block.slice(start, n_rows)
                columns = [
                    rows.column(name)
                    if name not in folders
                    else pa.repeat(pa.scalar(folders[name], schema.field(name).type), rows.num_rows)
                    for name in kinds
                ]
                yield pa.RecordBatch.from_arrays(columns, names=list(kinds))

    def _csv_types(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        """The types to parse columns of CSV files as; Arrow recognises dates and truth values."""
        return {
            name: TYPES[kind]
            for name, kind in kinds.items()
            if kind == "category" or (kind == "number" and self.types.get(name) != pa.bool_())
        }

    def _schema(self, dataset: Any, fragment: Any, kinds: Mapping[str, str]) -> Any:
        """The columns of a file, and those that its folders stand for."""
        with told(fragment.path):
            if self.is_csv and delimiter_of(fragment.path) != delimiter_of(self.files[0]):
                raise CommandError(
                    f"{fragment.path}: its columns are parted by {delimiter_of(fragment.path)!r}, "
                    f"and those of {self.files[0]} by {delimiter_of(self.files[0])!r}. Remedy: "
                    "keep tables of one format in a folder."
                )
            schema = (
                csv_schema(fragment.path, self._csv_types(kinds))
                if self.is_csv
                else fragment.physical_schema
            )
            fields = {field.name: field for field in schema}
        for name in ds.get_partition_keys(fragment.partition_expression):
            fields[name] = dataset.schema.field(name)
        for name, kind in kinds.items():
            if name not in fields:
                raise CommandError(
                    f"{place(fragment.path, name)}: there is no such column; the file has "
                    f"{', '.join(map(repr, list(fields)[:10]))}. Remedy: pass tables with the "
                    "same columns."
                )
            found = fields[name].type
            if not _fits(kind_of(found), kind, found):
                raise CommandError(
                    f"{place(fragment.path, name)}: it holds values of the type {found}, where a "
                    f"{kind} is needed. Remedy: give the column one such type in all files, or "
                    f"leave it out with --drop {name!r} in fit."
                )
        return pa.schema(list(fields.values()))


def _rows_of_a_batch(kinds: Mapping[str, str]) -> int:
    return max(1, min(_BATCH_ROWS, _BATCH_CELLS // max(1, len(kinds))))


def kind_of(type_: Any) -> str | None:
    """The kind of an Arrow type; None for times of day, lists and the like."""
    types = pa.types
    if types.is_dictionary(type_):
        return "category" if kind_of(type_.value_type) else None
    if types.is_date(type_) or types.is_timestamp(type_):
        return "date"
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return "category"
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return "number" if types.is_null(type_) or any(is_(type_) for is_ in numbers) else None


def _fits(found: str | None, wanted: str, type_: Any) -> bool:
    """Whether a column of one kind may be read as another."""
    if wanted == "truth":
        return pa.types.is_boolean(type_) or pa.types.is_null(type_)
    return found == wanted or pa.types.is_null(type_) or (wanted == "category" and bool(found))


def _in_kinds(batch: Batch, kinds: Mapping[str, str]) -> Batch:
    """A batch with the types of its kinds; numbers that are too large are refused."""
    columns = []
    for name, kind in kinds.items():
        column = batch.data.column(name)
        try:
            column.validate(full=True)
            column = _in_kind(column, kind)
        except (pa.ArrowException, ValueError, OverflowError, LookupError) as error:
            raise CommandError(
                f"{place(batch.path, name)}, {_from_row(batch, error)}: {_cause(error)}. Remedy: "
                f"mend these cells, give the column the type of a {kind} that can hold them, or "
                f"leave it out with --drop {name!r} in fit."
            ) from error
        if kind == "number" and pc.any(large := pc.greater(pc.abs(column), _LARGEST)).as_py():
            row = pc.index(large, True).as_py()
            raise CommandError(
                f"{place(batch.path, name, batch.row + row)}: the number {column[row]} is too "
                f"large, and none may be beyond {_LARGEST:g}. Remedy: leave the cell empty, which "
                "stands for a missing value."
            )
        columns.append(column)
    return batch._replace(data=pa.RecordBatch.from_arrays(columns, names=list(kinds)))


def _in_kind(column: Any, kind: str) -> Any:
    """A column with the type of its kind. Times may lose what is below a microsecond."""
    if kind == "category" and column.type != TYPES[kind]:
        return _texts(column)
    if kind != "date":
        return pc.cast(column, TYPES[kind], safe=False)
    return pc.cast(column, options=pc.CastOptions(TYPES[kind], allow_time_truncate=True))


def _from_row(batch: Batch, error: BaseException) -> str:
    """The row that an error of Arrow names, or where the batch begins."""
    named = re.fullmatch(r"Invalid UTF8 sequence at string index (\d+)", str(error))
    return f"row {batch.row + int(named[1]) + 1:,}" if named else f"from row {batch.row + 1:,}"


def _cause(error: BaseException) -> str:
    text = re.sub(r"\s+", " ", str(error)).rstrip(". ")
    if "Invalid UTF8" in text:
        return "here are bytes that are no text in UTF-8"
    if isinstance(error, OverflowError):
        return f"a value is out of the range of dates and times ({text})"
    return text[:200]


def _texts(column: Any) -> Any:
    """Categories as text, spelled as those of data frames are."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    texts = [None if value is None or value != value else as_text(value) for value in values]
    return pa.array(texts, pa.string()).take(encoded.indices)
