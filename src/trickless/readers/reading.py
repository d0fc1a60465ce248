"""Errors of reading a file, with their cause and place."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from trickless.readers.csv_text import names_of
from trickless.readers.errors import CommandError, place

_NO_TEXT = (
    "the text is not valid UTF-8. Remedy: save the file as UTF-8 (from a spreadsheet as 'CSV "
    "UTF-8'), convert it, for example with iconv, or write the table again."
)


def _no_text(error: UnicodeError) -> str:
    encoding = getattr(error, "encoding", "utf-8").upper()
    wide = next((name for name in ("UTF-16", "UTF-32") if encoding.startswith(name)), "UTF-8")
    return _NO_TEXT.replace("UTF-8", wide, 1)


@contextmanager
def told(path: str) -> Iterator[None]:
    """Turn errors of reading a file into a ``CommandError``."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeError, OverflowError, zlib.error) as error:
        raise _explained(path, error) from error


def _explained(path: str, error: BaseException) -> CommandError:
    """The error with the place, the cause and a remedy."""
    text = str(error)
    cell = re.search(
        r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to \S+: (.*)", text, re.S
    )
    if cell:
        column, line, cause = cell.groups()
        row = None if line is None else int(line) - 2
        where = place(path, _name(path, int(column)), row)
        if "invalid UTF8" in cause:
            return CommandError(f"{where}: {_NO_TEXT}")
        return CommandError(
            f"{where}: {cause.strip()} for the type of this column. Remedy: correct or empty "
            "the cell; or, if the column holds names, fit with --category."
        )
    if isinstance(error, UnicodeError):
        return CommandError(f"{path}: {_no_text(error)}")
    if isinstance(error, PermissionError):
        return CommandError(f"{path}: you may not read it. Remedy: chmod u+r, or a copy.")
    if "Empty CSV file" in text:
        return CommandError(
            f"{path}: there are no names, or no rows. Remedy: pass a table with both."
        )
    if "straddl" in text:
        return CommandError(
            f"{path}: a line is too long to be read. Remedy: close all quotes, shorten the cells, "
            "or write the table as Parquet."
        )
    line = re.search(r"CSV parse error: (?:Row #(\d+): )?(.*)", text, re.S)
    if line:
        row = None if line[1] is None else int(line[1]) - 2
        return CommandError(
            f"{place(path, row=row)}: {line[2].strip()[:200]}. Remedy: begin the table with a "
            "line of names, and put as many values as names in every line."
        )
    cause = text.split(": ", 1)[-1] if text.startswith("Error creating dataset") else text
    return CommandError(
        f"{path}: it cannot be read: {cause.strip()[:300]}. Remedy: check that the file is "
        "complete, and that its ending names its format."
    )


def _name(path: str, j: int) -> str | None:
    """The name of column j, if it has one."""
    names = names_of(path)
    return names[j] if j < len(names) else None
