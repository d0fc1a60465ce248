"""Files that are written whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from trickless._errors import InvalidValueError
from trickless._files.whole import check_writable, written_whole

_WRITERS: dict[str, Any] = {
    ".csv": pyarrow.csv.CSVWriter,
    ".parquet": pyarrow.parquet.ParquetWriter,
    ".arrow": pa.ipc.new_file,
    ".feather": pa.ipc.new_file,
}


def check_out(out: Path, read: Iterable[Path]) -> None:
    """Refuse an output that cannot be written, or is an input, before any work."""
    if is_stdout(out):
        return
    check_writable("--out", out)
    if any(path.exists() and out.exists() and path.samefile(out) for path in read):
        raise InvalidValueError(
            f"--out {out}: this file is also an input", "choose another file for the output"
        )


def is_stdout(out: Path) -> bool:
    """Return whether this path means the standard output."""
    return str(out) == "-"


def check_format(out: Path) -> None:
    """Refuse a file whose ending does not name a format of tables."""
    if not is_stdout(out) and out.suffix.lower() not in _WRITERS:
        raise InvalidValueError(
            f"--out {out}: this ending does not name a format of tables",
            f"use one of {', '.join(_WRITERS)}",
        )


@contextmanager
def table_writer(out: Path, schema: Any) -> Iterator[Any]:
    """Write a table to a temporary file, batch by batch. Move it into place once it is complete.

    On the standard output, a table is written as CSV, batch by batch.
    """
    try:
        if is_stdout(out):
            with pyarrow.csv.CSVWriter(sys.stdout.buffer, schema) as rows:
                yield rows
            return
        with (
            written_whole("--out", out) as file,
            _WRITERS[out.suffix.lower()](file, schema) as rows,
        ):
            yield rows
    except pa.ArrowException as error:
        raise InvalidValueError(
            f"--out {out}: a column cannot be written in this format: {error}",
            "choose another format, or --keep fewer columns",
        ) from error
