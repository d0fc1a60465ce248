"""A file of a table. Parquet and Arrow files know their types and their number of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow.dataset as ds

from trickless.neurons.forms import why_ambiguous
from trickless.readers.errors import CommandError, location, reading

#: Bytes of a column that are read at a time.
_BUFFER = 2**16


class TableFile:
    """A file of a table, whose ``types`` have the names by which columns are known.

    ``known_as`` returns the known form of a name in the file, which may have another Unicode form.
    """

    path: str
    types: dict[str, Any]

    def _set_types(
        self, names: Sequence[str], types: Sequence[Any], known_as: Callable[[str], str]
    ) -> None:
        if len(set(names)) < len(names):
            name = min(name for name, count in Counter(names).items() if count > 1)
            raise CommandError(
                f"{location(self.path, name)}: there are two columns of this name",
                "give each column its own name",
            )
        if (why := why_ambiguous(names)) is not None:
            raise CommandError(f"{self.path}: there are {why}", "rename one of them")
        known = list(map(known_as, names))
        self._own = dict(zip(known, names, strict=True))
        self.types = dict(zip(known, types, strict=True))


class ArrowFile(TableFile):
    """A Parquet, Arrow or Feather file."""

    def __init__(self, path: str, format_: str, known_as: Callable[[str], str]) -> None:
        self.path, self._options = path, dict[str, Any]()
        reader: Any = format_
        if format_ == "parquet":  # older timestamps have nanoseconds, which cover few years
            reader = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
            self._options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
                pre_buffer=False, use_buffered_stream=True, buffer_size=_BUFFER
            )
        with reading(path):
            (self._fragment,) = ds.dataset([path], format=reader).get_fragments()
            self.n_rows = self._fragment.count_rows()
            schema = self._fragment.physical_schema
            names = schema.names  # this decodes them
        self._set_types(names, schema.types, known_as)

    def expected_rows(self) -> int:
        """Return the number of rows."""
        return self.n_rows

    def batches(self, names: list[str], n_rows: int) -> Iterator[Any]:
        """Yield columns in the types of the file, at most ``n_rows`` rows at a time."""
        with reading(self.path):
            for batch in self._fragment.to_batches(
                schema=self._fragment.physical_schema,
                columns=[self._own[name] for name in names],
                batch_size=n_rows,
                batch_readahead=2,
                fragment_readahead=1,
                **self._options,
            ):
                yield batch.rename_columns(names)
