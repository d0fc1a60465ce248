"""CSV files whose quotes do not match, or that have NUL bytes.

A reader takes all that follows an open quote as one cell, so rows would be lost.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from typing import Any, NoReturn

import numpy as np

from trickless.readers.errors import CommandError

#: Bytes that are read at a time.
_CHUNK = 2**22


def check_quotes(file: str, opened: Any, delimiter: str, longest: int) -> None:
    """Refuse text with NUL bytes, lines beyond ``longest`` bytes, or quotes that do not match.

    A quoted cell ends with a quote before the next ``delimiter`` or end of line, and a quote inside
    it is doubled. A quote that does not begin a cell is part of the text.
    """
    good, closed = _patterns(delimiter.encode())
    line, is_last = 1, False
    text = b"\n" + opened.read(len(BOM_UTF8)).removeprefix(BOM_UTF8)
    while not is_last:
        chunk = opened.read(_CHUNK)
        text, is_last = text + chunk, not chunk
        if b"\0" in text:
            raise CommandError(
                f"{file}: the file has NUL bytes, which text does not have. Remedy: save it as "
                "UTF-8 (from a spreadsheet as 'CSV UTF-8'), since UTF-16 is read only if the file "
                "begins with its mark; or give it the ending of its format, if it is not CSV."
            )
        whole = len(text) if is_last else 1 + max(text.rfind(b"\n"), text.rfind(b"\r"))
        # The first byte is from the text before. It shows whether a cell begins after it.
        if whole > 1 and _is_simple(text, whole, delimiter):
            end = whole
        else:
            match = good.match(text, 1, whole)
            end = match.end() if match else 1
        line += text.count(b"\n", 1, end)
        if end < whole and (is_last or closed.match(text, end, whole)):
            _refuse(file, line, "is not closed at the end of the cell")
        text = text[end - 1 :]
        if len(text) > longest and end < whole:
            _refuse(file, line, f"is not closed within {longest:,} bytes")
        if len(text) > longest:
            raise CommandError(
                f"{file}, line {line:,}: the line is longer than {longest:,} bytes. Remedy: close "
                "its quotes and shorten its cells; or write the table as Parquet."
            )


def _is_simple(text: bytes, end: int, sign: str) -> bool:
    """Whether quotes alternately begin and end a cell.

    A doubled quote ends a cell and begins another. If this is false, a closer look is needed.
    """
    signs = np.frombuffer(text, np.uint8, end)
    quotes = np.flatnonzero(signs[1:] == ord('"')) + 1
    if len(quotes) % 2 or (len(quotes) and quotes[-1] + 1 == end):
        return False
    ends = np.frombuffer(b'\r\n"' + sign.encode(), np.uint8)
    beside = signs[quotes[::2] - 1], signs[quotes[1::2] + 1]
    return bool(np.isin(beside, ends).all())


def _patterns(sign: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Patterns of text whose quoted cells end correctly, and of a quoted cell that goes on."""
    ends, quoted = rb"[\r\n" + re.escape(sign) + rb"]", rb'"(?:[^"]++|"")*+"'
    cell = rb"(?<=" + ends + rb")" + quoted + rb"(?= *+(?:" + ends + rb"|\Z))"
    return (
        re.compile(rb'(?:[^"]++|(?<!' + ends + rb')"|' + cell + rb")*+"),
        re.compile(quoted + rb" *+[^ ]"),
    )


def _refuse(file: str, line: int, what: str) -> NoReturn:
    raise CommandError(
        f"{file}, line {line:,}: a quote that begins a cell {what}. Remedy: close it before the "
        'next separator, and double the quotes inside a cell, as in "a 5"" pipe".'
    )
