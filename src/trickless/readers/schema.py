"""The types of the columns of a table, which the first values in all its files decide."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from trickless.readers.cells import (
    all_digits,
    are_zoned,
    has_padding,
    is_text,
    refined,
    type_of,
    without_missing,
)
from trickless.readers.csv_file import CSVFile
from trickless.readers.errors import reading
from trickless.readers.kinds import kind_of_type
from trickless.readers.table_file import ArrowFile
from trickless.tables.parse_text import number_of
from trickless.tables.spellings import Spelling, spelling_of

#: Rows of text that are read at a time.
_ROWS = 2**16

Files = Sequence[CSVFile | ArrowFile]
#: Text of a column in the name of a folder, by column, for each file.
Folders = Mapping[str, Mapping[str, str | None]]


class Schema(NamedTuple):
    """The types of all columns, which are null if a column has no values.

    ``spellings`` says how text spells the numbers of a column. The first text of ``zoned`` columns
    is a time with a time zone.
    """

    types: dict[str, Any]
    spellings: dict[str, Spelling]
    zoned: set[str]


def schema_of(files: Files, folders: Folders) -> Schema:
    """Decide the types of all columns, whatever the order of files.

    Text is numbers or dates if all first values are, in all files. Otherwise it is text.
    """
    types = _first_types(files, folders)
    spellings, zoned = dict[str, Spelling](), set[str]()
    for name, texts in _first_texts(files, folders, types).items():
        there = [file.types[name] for file in files if name in file.types]
        kinds = {kind_of_type(t) for t in there if not is_text(t) and not pa.types.is_null(t)}
        cells = pa.array(texts, pa.string())
        if are_zoned(cells):
            zoned.add(name)
        found = refined(pa.string(), cells)
        spelling = spelling_of(texts) if is_text(found) else None
        if spelling is not None:
            is_truth = isinstance(number_of(texts[0]), bool)
            found, spellings[name] = pa.bool_() if is_truth else pa.float64(), spelling
        types[name] = found if kinds <= {kind_of_type(found)} else pa.string()
    for name in types:
        encoded = [file.types[name] for file in files if name in file.types]
        encoded = [type_ for type_ in encoded if pa.types.is_dictionary(type_)]
        if encoded and kind_of_type(types[name]) != "category":
            types[name] = encoded[0]
    return Schema(types, spellings, zoned)


def texts_of_folders(folders: Folders, name: str) -> Any:
    """Return the different values of a column in the names of folders."""
    return pa.array(list(dict.fromkeys(found.get(name) for found in folders.values())), pa.string())


def _first_types(files: Files, folders: Folders) -> dict[str, Any]:
    """Return the types of all columns, decided by the first file with values in them."""
    types: dict[str, Any] = {}
    for file in files:
        for name, type_ in file.types.items():
            if name not in types or pa.types.is_null(types[name]):
                types[name] = type_
    for file in files:
        names = [name for name in file.types if pa.types.is_null(types[name])]
        if isinstance(file, CSVFile) and not file.is_whole:
            for name, cells in _first_cells(file, names):
                types[name] = type_of(cells, file.decimal_point)
    for name in {name for found in folders.values() for name in found} - types.keys():
        types[name] = type_of(texts_of_folders(folders, name))
    return types


def _first_texts(files: Files, folders: Folders, types: dict[str, Any]) -> dict[str, list[str]]:
    """Return the different first strings of each column that is text in a file."""
    found: dict[str, dict[str, None]] = {}
    for name in {name for names in folders.values() for name in names}:
        if is_text(types[name]):
            cells = texts_of_folders(folders, name).drop_null()
            found[name] = dict.fromkeys(cells.to_pylist())
    for file in files:
        if isinstance(file, CSVFile):
            for name, texts in file.first_texts.items():
                found.setdefault(name, {}).update(dict.fromkeys(texts))
            file.first_texts = {}
        wanted = []
        for name, type_ in file.types.items():
            is_late = isinstance(file, CSVFile) and not file.is_whole and pa.types.is_null(type_)
            if (isinstance(file, ArrowFile) and is_text(type_)) or (
                is_late and is_text(types[name]) and not found.get(name)
            ):
                wanted.append(name)
        with reading(file.path):
            for name, cells in _first_cells(file, wanted):
                texts = pc.unique(cells).drop_null().to_pylist()
                found.setdefault(name, {}).update(dict.fromkeys(texts))
    return {name: list(texts) for name, texts in found.items() if texts}


def _first_cells(file: CSVFile | ArrowFile, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield the first cells of columns of text, up to the first batch with a value."""
    names = list(names)
    if not names:
        return
    if isinstance(file, CSVFile):
        batches = file.batches(dict.fromkeys(names, pa.string()))
    else:
        batches = file.batches(names, _ROWS)
    for batch in batches:
        for name in list(names):
            cells = without_missing(batch.column(name))
            if cells.null_count < len(cells):
                names.remove(name)
                yield name, cells
        if not names:
            return


class LeadingZeros:
    """Which columns of numbers in text have leading zeros, as in postcodes, in all files.

    All their cells are integers, or all have only digits. ``left`` has the columns whose cells
    beyond the beginning of a file must be looked at, and ``found`` the columns found so far.
    """

    def __init__(
        self, files: Files, folders: Folders, types: dict[str, Any], names: Collection[str]
    ) -> None:
        self._types = types
        self.left = {name for name in names if kind_of_type(types[name]) == "number"}
        self.found = set[str]()
        of_folders = {name for found in folders.values() for name in found}
        for name in self.left & of_folders:
            self.look(name, texts_of_folders(folders, name))
        done, self.left = self.found, self.left - of_folders
        self.found = set()
        later = set[str]()
        for file in files:
            for name in self.left & file.types.keys():
                if isinstance(file, CSVFile):
                    self._add(name, *file.digits.get(name, (False, True)))
                if (isinstance(file, CSVFile) and not file.is_whole) or is_text(file.types[name]):
                    later.add(name)
        early = {n for n in self.found if n not in later or pa.types.is_integer(types[n])}
        self.left &= later - early
        self.early = done | early
        self.found -= early

    def look(self, name: str, cells: Any) -> None:
        """Look at more cells of a column that is left."""
        self._add(name, has_padding(cells), all_digits(cells))

    def _add(self, name: str, is_padded: bool, is_digits: bool) -> None:
        if not pa.types.is_integer(self._types[name]) and not is_digits:
            self.left.discard(name)
            self.found.discard(name)
        elif is_padded:
            self.found.add(name)
