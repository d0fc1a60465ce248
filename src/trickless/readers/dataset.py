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
import pyarrow.dataset as ds

from trickless.neurons.forms import composed, first_forms, why_ambiguous
from trickless.readers.cells import (
    CellError,
    all_digits,
    are_zoned,
    has_padding,
    is_spelled_missing,
    is_text,
    refined,
    type_of,
    without_missing,
)
from trickless.readers.csv_text import (
    check_text,
    csv_batches,
    csv_schema,
    decimal_point,
    delimiter_of,
)
from trickless.readers.errors import CommandError, place
from trickless.readers.folder import ENDINGS, ending_of, files_at
from trickless.readers.kinds import NAMES, TYPES, fits, in_kind, kind_of, plain_type
from trickless.readers.opening import OPENED, opened
from trickless.readers.partitions import columns_of_folders
from trickless.readers.reading import told
from trickless.tables.parse_text import has_zone, number_of
from trickless.tables.spellings import PLAIN, Spelling, spelling_of

#: The most numbers and the most rows of a batch.
_BATCH_CELLS, _BATCH_ROWS = 2**21, 2**16
#: Bytes at the beginning of a file whose lines give an estimate of its rows.
_HEAD = 2**20
#: Bytes of a column that are read at a time.
_BUFFER = 2**16
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


class Batch(NamedTuple):
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
    with names such as ``year=2026`` become a column of text. ``n_rows`` is None unless the files
    contain it. ``missing`` counts the spellings of missing values in columns of categories, except
    empty cells, in the last pass over the rows.
    """

    def __init__(self, path: Path, reading: Reading | None = None) -> None:
        self.path, self.reading = path, reading or Reading()
        self.files = files_at(path)
        formats = {ending_of(file) for file in self.files}
        if len({ENDINGS[ending] for ending in formats}) > 1:
            raise CommandError(
                f"{path}: there are files of different formats, {', '.join(sorted(formats))}. "
                "Remedy: keep only one format in a folder."
            )
        self.format = ENDINGS[next(iter(formats))]
        self.is_csv = self.format == "csv"
        if self.is_csv:
            for file in self.files:
                with told(file):
                    check_text(file)
        base = path if path.is_dir() else None
        self._forms = first_forms(self.reading.columns)
        self._own_names: dict[str, dict[str, str]] = {}
        self._folders = {f: self._of_folders(base, f) if base else {} for f in self.files}
        self._fragments = {} if self.is_csv else dict(map(self._fragment, self.files))
        self.n_rows = None if self.is_csv else self._count()
        self.missing: dict[str, Counter[str]] = {}

    def _fragment(self, file: str) -> tuple[str, Any]:
        """A file that is not CSV, opened."""
        format_ = self.format
        if format_ == "parquet":  # older timestamps have nanoseconds, which cover few years
            format_ = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
        with told(file):
            (fragment,) = ds.dataset([file], format=format_).get_fragments()
        return file, fragment

    def known_as(self, name: str) -> str:
        """A name of a column in the Unicode form that was met first."""
        return self._forms.setdefault(composed(name), name)

    def _of_folders(self, base: Path, file: str) -> dict[str, str | None]:
        return {self.known_as(name): text for name, text in columns_of_folders(base, file).items()}

    def _count(self) -> int:
        n_rows = 0
        for file, fragment in self._fragments.items():
            with told(file):
                n_rows += fragment.count_rows()
        return n_rows

    @cached_property
    def _types_in(self) -> dict[str, dict[str, Any]]:
        """Types of the columns in each file. The beginning of a CSV file decides its types."""
        return {file: self._types_of(file) for file in self.files}

    def _types_of(self, file: str) -> dict[str, Any]:
        with told(file):
            schema = csv_schema(file) if self.is_csv else self._fragments[file].physical_schema
            names = schema.names  # this decodes them
        if len(set(names)) < len(names):
            name = min(name for name, count in Counter(names).items() if count > 1)
            raise CommandError(
                f"{place(file, name)}: there are two columns of this name. Remedy: give each "
                "column its own name."
            )
        if (why := why_ambiguous(names)) is not None:
            raise CommandError(f"{file}: there are {why}. Remedy: rename one of them.")
        known = list(map(self.known_as, names))
        self._own_names[file] = dict(zip(known, names, strict=True))
        return dict(zip(known, schema.types, strict=True))

    @property
    def types(self) -> dict[str, Any]:
        """Types of all columns, decided by their first values; null if a column has none."""
        return self._decided[0]

    def spelling(self, name: str) -> Spelling:
        """How text in a column spells numbers."""
        found = self.reading.spellings.get(name)
        return found or self._decided[1].get(name, PLAIN)

    @cached_property
    def _decided(self) -> tuple[dict[str, Any], dict[str, Spelling]]:
        """Types of all columns, and how text in them spells numbers, whatever the order of files.

        Text is numbers or dates if all first values are, in all files. Otherwise it is text.
        """
        types, spellings = self._first_types(), dict[str, Spelling]()
        for name, texts in self._first_texts(types).items():
            kinds = {
                kind_of(there[name])
                for there in self._types_in.values()
                if name in there and not is_text(there[name]) and not pa.types.is_null(there[name])
            }
            found = refined(pa.string(), pa.array(texts, pa.string()))
            spelling = spelling_of(texts) if is_text(found) else None
            if spelling is not None:
                is_truth = isinstance(number_of(texts[0]), bool)
                found, spellings[name] = pa.bool_() if is_truth else pa.float64(), spelling
            types[name] = found if kinds <= {kind_of(found)} else pa.string()
        for name in types:
            encoded = [there[name] for there in self._types_in.values() if name in there]
            encoded = [type_ for type_ in encoded if pa.types.is_dictionary(type_)]
            if encoded and kind_of(types[name]) != "category":
                types[name] = encoded[0]
        return types, spellings

    def _first_texts(self, types: dict[str, Any]) -> dict[str, list[str]]:
        """The different first texts of each column that is text in a file."""
        found: dict[str, dict[str, None]] = {}
        for name in set(self.of_folders):
            if is_text(types[name]):
                found[name] = dict.fromkeys(self._texts_of_folders(name).drop_null().to_pylist())
        for file, there in self._types_in.items():
            names = [
                name
                for name, type_ in there.items()
                if is_text(type_)
                or (self.is_csv and pa.types.is_null(type_) and is_text(types[name]))
            ]
            with told(file):
                for batch in self._text_batches(file, names):
                    for name in names:
                        text = without_missing(pc.unique(batch.column(name))).drop_null()
                        found.setdefault(name, {}).update(dict.fromkeys(text.to_pylist()))
                    names = [name for name in names if not found[name]]
                    if not names:
                        break
        return {name: list(texts) for name, texts in found.items() if texts}

    def _text_batches(self, file: str, names: list[str]) -> Iterator[Any]:
        """Columns of text, a few rows at a time."""
        if not names:
            return iter(())
        if self.is_csv:
            return self._csv(file, dict.fromkeys(names, pa.string()))
        return self._read_fragment(file, {}, (), names, _BATCH_ROWS)

    def _first_types(self) -> dict[str, Any]:
        """Types of all columns, decided by the first file with values in them."""
        types: dict[str, Any] = {}
        for there in self._types_in.values():
            for name, type_ in there.items():
                if name not in types or pa.types.is_null(types[name]):
                    types[name] = type_
        if self.is_csv:
            self._look_further(types)
        for name in set(self.of_folders) - set(types):
            types[name] = type_of(self._texts_of_folders(name))
        return types

    @cached_property
    def of_folders(self) -> list[str]:
        """The columns that come from names of folders."""
        return list(dict.fromkeys(name for found in self._folders.values() for name in found))

    def _texts_of_folders(self, name: str) -> Any:
        texts = dict.fromkeys(found.get(name) for found in self._folders.values())
        return pa.array(list(texts), pa.string())

    def _look_further(self, types: dict[str, Any]) -> None:
        """Find the types of CSV columns that are empty at the beginning of all files."""
        for file, there in self._types_in.items():
            names = [name for name in there if pa.types.is_null(types[name])]
            if not names:
                continue
            with told(file):
                for batch in self._csv(file, dict.fromkeys(names, pa.string())):
                    for name in names:
                        text = without_missing(batch.column(name))
                        if pa.types.is_null(types[name]) and text.null_count < len(text):
                            types[name] = type_of(text, decimal_point(file))
                    if not any(pa.types.is_null(types[name]) for name in names):
                        break

    def padded(self, names: Collection[str]) -> list[str]:
        """Which of these columns are numbers in text with leading zeros, as in postcodes.

        All their cells are whole numbers, or all have only digits.
        """
        found, left = set[str](), {n for n in names if kind_of(self.types[n]) == "number"}
        for name in left.intersection(self.of_folders):
            self._look_at_digits(name, self._texts_of_folders(name), found, left)
        left.difference_update(self.of_folders)
        for file, there in self._types_in.items():
            texts = {name for name, type_ in there.items() if self.is_csv or is_text(type_)}
            if not (wanted := sorted(left.intersection(texts) - found)):
                continue
            with told(file):
                for batch in self._text_batches(file, wanted):
                    for name in wanted:
                        text = without_missing(batch.column(name))
                        self._look_at_digits(name, text, found, left)
                    wanted = [name for name in wanted if name in left]
                    if not wanted:
                        break
        return [name for name in names if name in found]

    def _look_at_digits(self, name: str, text: Any, found: set[str], left: set[str]) -> None:
        """Look for leading zeros in more cells of a column that is left."""
        if not pa.types.is_integer(self.types[name]) and not all_digits(text):
            left.discard(name)
            found.discard(name)
        elif has_padding(text):
            found.add(name)

    def has_text(self, name: str) -> bool:
        """Whether the cells of a column are text in the files, whatever they mean."""
        return self.is_csv or name in self.of_folders

    def expected_rows(self) -> int | None:
        """The exact or approximate number of rows; None if counting would read all of them."""
        if self.n_rows is not None:
            return self.n_rows
        total = 0.0
        for file in self.files:
            if ending_of(file).endswith(tuple(OPENED)):
                return None
            with told(file), opened(file) as text:
                size, head = Path(file).stat().st_size, text.read(_HEAD)
            total += head.count(b"\n") * size / max(1, len(head))
        return round(total)

    def kind(self, name: str) -> str | None:
        """The kind of a column, which depends on its type; None if it has none."""
        type_ = self.types[name]
        not_text = self.is_csv and pa.types.is_binary(type_)  # refused when it is read as text
        return "category" if not_text else kind_of(type_)

    def kind_of_dates(self, name: str) -> str:
        """The kind of a column of dates, of whatever type: with or without a time zone."""
        if date_format := self._date_format(name):
            return "zoned date" if has_zone(date_format) else "date"
        if (kind := kind_of(plain_type(self.types[name]))) in ("date", "zoned date"):
            return kind
        for batch in self.batches({name: "category"}):
            if len(text := batch.data.column(name).drop_null()):
                return "zoned date" if are_zoned(text) else "date"
        return "date"

    def batches(self, kinds: Mapping[str, str], kept: Collection[str] = ()) -> Iterator[Batch]:
        """All rows in order. The requested columns have the types of their kinds.

        Columns that are ``kept`` are unchanged, in the types of :meth:`types_kept`.
        """
        self.missing = defaultdict(Counter)
        types = self.types_kept(kept)
        for file in self.files:
            row = 0
            with told(file):
                self._check_columns(file, kinds, kept)
                for data in self._read(file, kinds, kept):
                    if data.num_rows:
                        columns = self._in_kinds(file, row, data, kinds)
                        beside = self._kept(file, row, data, types)
                        yield Batch(file, row, columns, beside)
                        row += data.num_rows

    def types_kept(self, names: Collection[str]) -> dict[str, Any]:
        """The types of columns that are kept unchanged. In CSV files all are text."""
        types = {}
        for name in names:
            if name not in self.types:
                raise CommandError(
                    f"{place(self.path, name)}: there is no such column to keep. The columns are "
                    f"{', '.join(map(repr, list(self.types)[:20]))}. Remedy: check the name."
                )
            type_ = self.types[name]
            parts = [there[name] for there in self._types_in.values() if name in there]
            texts = [part for part in parts if is_text(part)]
            plain = texts[0] if texts else plain_type(type_)
            is_plain = self.has_text(name) or pa.types.is_null(plain) or is_text(plain)
            types[name] = pa.string() if is_plain else plain
        return types

    def _read(self, file: str, kinds: Mapping[str, str], kept: Collection[str]) -> Iterator[Any]:
        """The requested columns, a few rows at a time, in the types of the file."""
        names = list(dict.fromkeys([*kinds, *kept]))
        there = self._types_in[file]
        inside = [name for name in names if name in there] or list(there)[:1]
        n_rows = max(1, min(_BATCH_ROWS, _BATCH_CELLS // max(1, len(names))))
        read = self._read_csv if self.is_csv else self._read_fragment
        for block in read(file, kinds, kept, inside, n_rows):
            for start in range(0, block.num_rows, n_rows):
                rows = block.slice(start, n_rows)
                columns = [
                    rows.column(name) if name in there else self._of_folder(file, name, rows)
                    for name in names
                ]
                yield pa.RecordBatch.from_arrays(columns, names=names)

    def _of_folder(self, file: str, name: str, rows: Any) -> Any:
        return pa.repeat(pa.scalar(self._folders[file][name], pa.string()), rows.num_rows)

    def _read_fragment(
        self, file: str, kinds: Any, kept: Any, inside: list[str], n_rows: int
    ) -> Iterator[Any]:
        options = {}
        if self.format == "parquet":
            options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
                pre_buffer=False, use_buffered_stream=True, buffer_size=_BUFFER
            )
        fragment, own = self._fragments[file], self._own_names[file]
        for batch in fragment.to_batches(
            schema=fragment.physical_schema,
            columns=[own[name] for name in inside],
            batch_size=n_rows,
            batch_readahead=2,
            fragment_readahead=1,
            **options,
        ):
            yield batch.rename_columns(inside)

    def _read_csv(
        self,
        file: str,
        kinds: Mapping[str, str],
        kept: Collection[str],
        inside: list[str],
        n_rows: int,
    ) -> Iterator[Any]:
        types = {
            name: self._csv_type(file, name, None if name in kept else kinds.get(name))
            for name in inside
        }
        return self._csv(file, types)

    def _csv(self, file: str, types: Mapping[str, Any]) -> Iterator[Any]:
        """Columns of a CSV file in these types, with the names by which they are known."""
        own = self._own_names[file]
        for batch in csv_batches(file, {own[name]: type_ for name, type_ in types.items()}):
            yield batch.rename_columns(list(types))

    def _csv_type(self, file: str, name: str, kind: str | None) -> Any:
        """The type to parse a CSV column as: text, if a later step converts it."""
        if kind not in ("number", "truth"):
            return pa.string()
        here = self._types_in[file][name]
        if is_text(here) or self.spelling(name) != PLAIN:
            return pa.string()
        type_ = self.types[name] if pa.types.is_null(here) else here
        return TYPES["truth"] if kind == "truth" or pa.types.is_boolean(type_) else TYPES[kind]

    def _check_columns(self, file: str, kinds: Mapping[str, str], kept: Collection[str]) -> None:
        """Refuse a file whose columns differ from the other files, or are not of their kinds."""
        if self.is_csv and delimiter_of(file) != delimiter_of(self.files[0]):
            raise CommandError(
                f"{file}: its columns are separated by {delimiter_of(file)!r}, but the columns of "
                f"{self.files[0]} by {delimiter_of(self.files[0])!r}. Remedy: use one separator in "
                "all files of a folder."
            )
        there = self._types_in[file] | dict.fromkeys(self._folders[file], pa.string())
        for name in (*kinds, *kept):
            if name not in there:
                raise CommandError(
                    f"{place(file, name)}: there is no such column. The file has "
                    f"{', '.join(map(repr, list(there)[:10]))}. Remedy: pass tables with the same "
                    f"columns, or leave the column out with --drop {name!r} in fit."
                )
        for name, kind in kinds.items():
            if not self.has_text(name) and not fits(
                there[name], kind, bool(self._date_format(name))
            ):
                raise CommandError(
                    f"{place(file, name)}: its values have the type {there[name]}, but a "
                    f"{NAMES[kind]} is needed. Remedy: give the column a suitable type in all "
                    f"files, or leave it out with --drop {name!r} in fit."
                )

    def _in_kinds(self, file: str, row: int, data: Any, kinds: Mapping[str, str]) -> Any:
        """Rows with the types of their kinds. Raises an error for values that these cannot hold."""
        columns = []
        for name, kind in kinds.items():
            column = data.column(name)
            in_file = name in self._types_in[file]
            spelling = PLAIN
            if kind == "number" and is_text(column.type):
                spelling = self._spelling_in(file if in_file else "", name)
            with _explained(file, name, row, NAMES[kind], _HINTS.get(kind, "")):
                read = in_kind(column, kind, self._date_format(name), spelling)
                if kind.endswith("category") and is_text(read.type):
                    read = self._without_missing(name, read)
                columns.append(read)
                if in_file and name in self._folders[file]:
                    self._check_folder(file, name, kind, read)
        return pa.RecordBatch.from_arrays(columns, names=list(kinds))

    def _spelling_in(self, file: str, name: str) -> Spelling:
        """How text spells numbers in a file. Its own decimal sign may be a comma."""
        spelling = self.spelling(name)
        if not self.is_csv or not file or spelling.thousands or decimal_point(file) == ".":
            return spelling
        return spelling._replace(decimal=",")

    def _date_format(self, name: str) -> str:
        return self.reading.date_formats.get(name, "")

    def _names(self, name: str) -> Set[str]:
        """The spellings of missing values that are names. An empty CSV cell is not a name."""
        return self.reading.names.get(name, frozenset()) - ({""} if self.is_csv else set())

    def _without_missing(self, name: str, text: Any) -> Any:
        """Categories in which spellings of missing values are missing, and counted."""
        names = self._names(name)
        spelled = pc.filter(text, is_spelled_missing(text, names)).value_counts()
        for count in spelled.to_pylist():
            if count["values"]:
                self.missing[name][count["values"]] += count["counts"]
        return without_missing(text, names)

    def _check_folder(self, file: str, name: str, kind: str, read: Any) -> None:
        """Refuse a column of a file that contradicts the name of its folder."""
        text = pa.repeat(pa.scalar(self._folders[file][name], pa.string()), 1)
        if kind.endswith("category"):  # a known number is not spelled yet
            said, read = without_missing(text, self._names(name))[0], in_kind(read, "category")
        else:
            said = in_kind(text, kind, self._date_format(name), self.spelling(name))[0]
        same = pc.is_null(read) if not said.is_valid else pc.equal(read, said).fill_null(False)
        if not pc.all(same).as_py():
            index = pc.index(same, False).as_py()
            raise CellError(index, f"the file has {read[index]}, but the name of its folder {said}")

    def _kept(self, file: str, row: int, data: Any, types: Mapping[str, Any]) -> Any:
        columns = []
        for name, type_ in types.items():
            with _explained(file, name, row, f"value of the type {type_}"):
                columns.append(pc.cast(data.column(name), type_))
        return pa.RecordBatch.from_arrays(columns, names=list(types)) if types else None


@contextmanager
def _explained(file: str, name: str, row: int, what: str, hint: str = "") -> Iterator[None]:
    """Name the place of a value that cannot be read, in the rows from this one on."""
    try:
        yield
    except (pa.ArrowException, ValueError, OverflowError, LookupError) as error:
        where = f"{place(file, name)}, from row {row + 1:,}"
        if (index := _index_of(error)) is not None:
            where = place(file, name, row + index)
        raise CommandError(
            f"{where}: {_cause(error)}. Remedy: correct or empty such cells, store a {what} in a "
            f"type that can hold it, or leave the column out with --drop {name!r} in fit.{hint}"
        ) from error


def _index_of(error: BaseException) -> int | None:
    """The place of the value that an error names."""
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
