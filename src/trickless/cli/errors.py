"""Errors that the user can correct, and how they name a place in the data."""

from __future__ import annotations

from pathlib import Path


class CommandError(Exception):
    """Bad input. Its message has place, cause and remedy; the command ends with exit code 2."""


def place(path: str | Path, column: str | None = None, row: int | None = None) -> str:
    """Where in the data: the file, the column, and the row, counted from 1 below the names."""
    parts = [str(path)]
    if column is not None:
        parts.append(f"column {column!r}")
    if row is not None:
        parts.append(f"row {row + 1:,}")
    return ", ".join(parts)


def check_name(path: str | Path) -> None:
    """Refuse the name of a file that is no text, which Arrow neither reads nor writes."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise CommandError(
            f"{path}: the name has bytes that are no text in UTF-8. Remedy: rename it."
        ) from error
