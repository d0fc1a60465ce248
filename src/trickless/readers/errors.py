"""Errors that the user can correct, and the places in the data that they name."""

from __future__ import annotations

from pathlib import Path


class CommandError(Exception):
    """Bad input. The message has place, cause and remedy. The command ends with exit code 2."""


def place(path: str | Path, column: str | None = None, row: int | None = None) -> str:
    """A place in the data: the file, the column, and the row, counted from 1 below the names."""
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
            f"{path}: the name has bytes that are not valid UTF-8. Remedy: rename it."
        ) from error
