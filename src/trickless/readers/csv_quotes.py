"""CSV text whose quotes do not match, or that has NUL bytes.

A parser takes all that follows an open quote as one cell, so rows would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NoReturn

import numpy as np

from trickless.readers.errors import CommandError


def checked(path: str, chunks: Iterable[bytes], delimiter: str, longest: int) -> Iterator[bytes]:
    """Yield text once its quotes are known to match.

    A quoted cell ends with a quote before the next ``delimiter`` or end of line, and a quote inside
    it is doubled. A quote that does not begin a cell is part of the text. Raise an error for other
    quotes, NUL bytes, and lines beyond ``longest`` bytes.
    """
    good, closed = _patterns(delimiter.encode())
    line, text = 1, b"\n"  # The first byte shows whether a cell begins after it.
    for chunk in chain(chunks, [None]):
        is_last = chunk is None
        text += chunk or b""
        if b"\0" in text:
            raise CommandError(
                f"{path}: the file has NUL bytes, which text does not have",
                "save it as "
                "UTF-8 (from a spreadsheet as 'CSV UTF-8'), since UTF-16 is read only if the file "
                "begins with its mark; or give it the ending of its format, if it is not CSV",
            )
        whole = len(text) if is_last else 1 + max(text.rfind(b"\n"), text.rfind(b"\r"))
        if whole > 1 and _is_simple(text, whole, delimiter):
            end = whole
        else:
            match = good.match(text, 1, whole)
            end = match.end() if match else 1
        line += text.count(b"\n", 1, end)
        if end < whole and (is_last or closed.match(text, end, whole)):
            _refuse(path, line, "is not closed at the end of the cell")
        if end > 1:
            yield text[1:end]
        text = text[end - 1 :]
        if len(text) > longest and end < whole:
            _refuse(path, line, f"is not closed within {longest:,} bytes")
        if len(text) > longest:
            raise CommandError(
                f"{path}, line {line:,}: the line is longer than {longest:,} bytes",
                "close its quotes and shorten its cells; or write the table as Parquet",
            )


def _is_simple(text: bytes, end: int, delimiter: str) -> bool:
    """Return whether quotes alternately begin and end a cell.

    A doubled quote ends a cell and begins another. If this is false, a closer look is needed.
    """
    signs = np.frombuffer(text, np.uint8, end)
    quotes = np.flatnonzero(signs[1:] == ord('"')) + 1
    if len(quotes) % 2 or (len(quotes) and quotes[-1] + 1 == end):
        return False
    ends = np.frombuffer(b'\r\n"' + delimiter.encode(), np.uint8)
    beside = signs[quotes[::2] - 1], signs[quotes[1::2] + 1]
    return bool(np.isin(beside, ends).all())


def _patterns(delimiter: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Patterns of text whose quoted cells end correctly, and of a quoted cell that continues."""
    ends, quoted = rb"[\r\n" + re.escape(delimiter) + rb"]", rb'"(?:[^"]++|"")*+"'
    cell = rb"(?<=" + ends + rb")" + quoted + rb"(?= *+(?:" + ends + rb"|\Z))"
    return (
        re.compile(rb'(?:[^"]++|(?<!' + ends + rb')"|' + cell + rb")*+"),
        re.compile(quoted + rb" *+[^ ]"),
    )


def _refuse(path: str, line: int, what: str) -> NoReturn:
    raise CommandError(
        f"{path}, line {line:,}: a quote that begins a cell {what}",
        "close it before the "
        'next separator, and double the quotes inside a cell, as in "a 5"" pipe"',
    )
