"""Errors of reading files, and the places in the data that they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from trickless._errors import InvalidValueError
from trickless._rows.signs import Signs


def location(path: str | Path, column: str | None = None, row: int | None = None) -> str:
    """Name a file, a column, and a row, which is counted from 0 and printed from 1."""
    parts = [str(path)]
    if column is not None:
        parts.append(f"column {column!r}")
    if row is not None:
        parts.append(f"row {row + 1:,}")
    return ", ".join(parts)


def types_option(name: str, kind: str) -> str:
    """Return the option that says what a column holds."""
    return f"--types {shlex.quote(f'{name}={kind}')}"


def sign_options(signs: Signs, given: Signs) -> str:
    """Return the options that say how numbers are written, also against those that are given."""
    options = signs.changed()
    if given.decimal != signs.decimal:
        options = {"decimal": signs.decimal, **options}
    return " ".join(f"--{k} {shlex.quote(v)}" for k, v in options.items())


def not_utf8(where: str) -> InvalidValueError:
    """Return the error of text in another encoding, in names and cells alike."""
    return InvalidValueError(
        f"{where}: the text is not valid UTF-8",
        "save the file as UTF-8, from a spreadsheet as 'CSV UTF-8'",
    )


@contextmanager
def reading(
    path: str | Path,
    names: Sequence[str] = (),
    remedy: Callable[[str, str], str] = lambda name, cause: "correct or empty the cell",
) -> Iterator[None]:
    """Name the place in a file, whose columns have ``names``, in errors of reading it.

    ``remedy`` is of a cell that does not fit its column, by the name of the column and the error.
    """
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise _explained(path, names, remedy, error) from error


def _explained(
    path: str | Path,
    names: Sequence[str],
    remedy: Callable[[str, str], str],
    error: BaseException,
) -> InvalidValueError:
    text = re.sub(r"\s+", " ", str(error))
    cell = re.search(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (.*)", text)
    if isinstance(error, UnicodeDecodeError) or "\0" in text:  # of names, and in UTF-16
        return not_utf8(str(path))
    if cell:
        number, line, cause = cell.groups()
        name = dict(enumerate(names)).get(int(number), "COLUMN")
        if "UTF8" in cause:
            return not_utf8(location(path, name, _row(line)))
        where = location(path, name, _row(line))
        return InvalidValueError(f"{where}: {cause}", remedy(name, cause))
    if "Empty CSV" in text:
        return InvalidValueError(f"{path}: the file is empty", "pass a table with names and rows")
    if twice := re.search(r"CSV file contained multiple columns named (.*)", text):
        return InvalidValueError(
            f"{path}: there are two columns {twice[1]!r}", "give each column its own name"
        )
    if line := re.search(r"CSV parse error: (?:Row #(\d+): )?(.*)", text):
        return InvalidValueError(
            f"{location(path, row=_row(line[1]))}: {line[2]}",
            "begin the table with a line of names, put as many values as names in every line, and "
            "save it as UTF-8",
        )
    return InvalidValueError(
        f"{path}: it cannot be read: {text.removeprefix('Error creating dataset. ')}",
        "check that you may read it, that it is complete, and that its ending names its format",
    )


def _row(line: str | None) -> int | None:
    return None if line is None else int(line) - 2  # line 1 has the names
