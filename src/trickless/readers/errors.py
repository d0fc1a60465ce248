"""Errors that the user can correct, and the places in the data that they name."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from trickless.errors import RemedyError

_ENCODE = (
    "save the file as UTF-8 (from a spreadsheet as 'CSV UTF-8'), convert it, for example with "
    "iconv, or write the table again"
)


class CommandError(RemedyError):
    """Bad input, at a place that the cause names. The command ends with exit code 2."""


def location(path: str | Path, column: str | None = None, row: int | None = None) -> str:
    """Name a file, a column, and a row, which is counted from 0 and printed from 1."""
    parts = [str(path)]
    if column is not None:
        parts.append(f"column {column!r}")
    if row is not None:
        parts.append(f"row {row + 1:,}")
    return ", ".join(parts)


def check_name(path: str | Path) -> None:
    """Refuse a file name that is not text. Arrow cannot read or write such a file."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise CommandError(
            f"{path}: the name has bytes that are not valid UTF-8", "rename it"
        ) from error


@contextmanager
def reading(path: str, names: Sequence[str] = ()) -> Iterator[None]:
    """Turn errors of reading a file into a ``CommandError``. A CSV file has ``names``."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeError, OverflowError, zlib.error) as error:
        raise _explained(path, names, error) from error


def _explained(path: str, names: Sequence[str], error: BaseException) -> CommandError:
    text = str(error)
    cell = re.search(
        r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to \S+: (.*)", text, re.S
    )
    if cell:
        column, line, cause = cell.groups()
        where = location(path, dict(enumerate(names)).get(int(column)), _row(line))
        if "invalid UTF8" in cause:
            return CommandError(f"{where}: the text is not valid UTF-8", _ENCODE)
        return CommandError(
            f"{where}: {cause.strip()} for the type of this column",
            "correct or empty the cell; or, if the column holds names, fit with --category",
        )
    if isinstance(error, UnicodeError):
        is_utf16 = getattr(error, "encoding", "").upper().startswith("UTF-16")
        name = "UTF-16" if is_utf16 else "UTF-8"
        return CommandError(f"{path}: the text is not valid {name}", _ENCODE)
    if isinstance(error, PermissionError):
        return CommandError(f"{path}: you may not read it", "chmod u+r, or a copy")
    if "Empty CSV file" in text:
        return CommandError(f"{path}: there are no names, or no rows", "pass a table with both")
    if "straddl" in text:
        return CommandError(
            f"{path}: a line is too long to be read",
            "close all quotes, shorten the cells, or write the table as Parquet",
        )
    line = re.search(r"CSV parse error: (?:Row #(\d+): )?(.*)", text, re.S)
    if line:
        return CommandError(
            f"{location(path, row=_row(line[1]))}: {line[2].strip()[:200]}",
            "begin the table with a line of names, and put as many values as names in every line",
        )
    cause = text.split(": ", 1)[-1] if text.startswith("Error creating dataset") else text
    return CommandError(
        f"{path}: it cannot be read: {cause.strip()[:300]}",
        "check that the file is complete, and that its ending names its format",
    )


def _row(line: str | None) -> int | None:
    return None if line is None else int(line) - 2  # line 1 has the names
