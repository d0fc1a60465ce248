"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from trickless.cli.errors import CommandError
from trickless.files.whole import check_writable, written_whole

_WRITERS: dict[str, Any] = {
    ".csv": pyarrow.csv.CSVWriter,
    ".parquet": pyarrow.parquet.ParquetWriter,
    ".arrow": pa.ipc.new_file,
    ".feather": pa.ipc.new_file,
}


def check_out(out: Path, read: list[Path]) -> None:
    """Refuse, before any work, an output that cannot be written or is one of the inputs."""
    folder = Path(os.path.realpath(out)).parent
    if not folder.is_dir():
        raise CommandError(f"--out {out}: there is no folder {folder}. Remedy: make it first.")
    try:
        check_writable("--out", out)
    except ValueError as error:
        raise CommandError(str(error)) from error
    if any(path.exists() and out.exists() and path.samefile(out) for path in read):
        raise CommandError(
            f"--out {out}: this file is what is read. Remedy: choose another place for the output."
        )


def check_format(out: Path) -> None:
    """Refuse a file whose ending is not that of a format of tables."""
    if out.suffix.lower() not in _WRITERS:
        raise CommandError(
            f"--out {out}: this ending stands for no format. Remedy: use one of "
            f"{', '.join(_WRITERS)}."
        )


@contextmanager
def table_writer(out: Path, schema: Any) -> Iterator[Any]:
    """Write a table batch by batch to a file beside its place; move it there once complete."""
    try:
        with (
            written_whole("--out", out) as file,
            _WRITERS[out.suffix.lower()](file, schema) as rows,
        ):
            yield rows
    except OSError as error:
        raise CommandError(
            f"--out {out}: it cannot be written: {error}. Remedy: make room there, or choose "
            "another place."
        ) from error
