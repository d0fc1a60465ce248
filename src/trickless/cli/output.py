"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from trickless.cli.errors import CommandError

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
    if out.exists() and not out.is_file():
        what = "a folder" if out.is_dir() else "a device, pipe or socket"
        raise CommandError(f"--out {out}: this is {what}. Remedy: name a file.")
    if not os.access(folder, os.W_OK):
        raise CommandError(
            f"--out {out}: {folder} must not be written to. Remedy: choose another folder."
        )
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
    path = Path(os.path.realpath(out))
    beside = path.with_name(f".{path.name[:50]}.{secrets.token_hex(8)}.tmp")
    try:
        with _WRITERS[out.suffix.lower()](str(beside), schema) as writer:
            yield writer
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):
            raise CommandError(
                f"--out {out}: it cannot be written: {error}. Remedy: make room there, or choose "
                "another place."
            ) from error
        raise
