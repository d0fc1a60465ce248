"""CSV files as bytes of UTF-8. Compressed files are unpacked, and other encodings converted."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from trickless.readers.errors import CommandError

#: How compressed files are opened, by file ending.
OPENED = {".gz": gzip.open, ".bz2": bz2.open}
#: Encodings by the first bytes of a file. The order matters, since some begin like others.
_ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Other formats by the first bytes of a file, and their file endings.
_FORMATS = {
    b"\x1f\x8b": ("gzip", ".csv.gz"),
    b"BZh91AY&SY": ("bzip2", ".csv.bz2"),
    b"PAR1": ("Parquet", ".parquet"),
    b"ARROW1": ("Arrow", ".arrow"),
    b"\xff\xff\xff\xff": ("an Arrow stream", ""),
    b"FEA1": ("Feather, version 1", ""),
    b"\x28\xb5\x2f\xfd": ("Zstandard", ""),
    b"\xfd7zXZ": ("xz", ""),
    b"\x04\x22\x4d\x18": ("LZ4", ""),
    b"7z\xbc\xaf": ("7-Zip", ""),
    b"PK\x03\x04": ("ZIP, like a spreadsheet", ""),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet", ""),
    b"\x89HDF": ("HDF5", ""),
    b"SQLite format 3": ("SQLite", ""),
    b"Obj\x01": ("Avro", ""),
    b"%PDF-": ("PDF", ""),
}
#: Bytes that are decoded at a time.
_CHUNK = 2**16


@contextmanager
def opened(file: str) -> Iterator[Any]:
    """A CSV file as a stream of bytes of UTF-8."""
    with _unpacked(file) as raw:
        encoding = _encoding(raw)
        yield raw if encoding is None else io.BufferedReader(_InUtf8(raw, encoding), _CHUNK)


@contextmanager
def source(file: str) -> Iterator[Any]:
    """The same for Arrow, which opens and unpacks UTF-8 files faster itself."""
    with _unpacked(file) as raw:
        is_utf8 = _encoding(raw) is None
    if is_utf8:
        yield file
    else:
        with opened(file) as stream:
            yield stream


def check_format(file: str) -> None:
    """Refuse a file that begins like a file of another format."""
    with _unpacked(file) as raw:
        head = raw.read(16)
    for begin, (name, ending) in _FORMATS.items():
        if head.startswith(begin) and (not begin.isascii() or not _is_text(file)):
            remedy = f"rename it to end in {ending}" if ending else "write the table as CSV"
            raise CommandError(
                f"{file}: its name is that of a CSV file, but its content is {name}. "
                f"Remedy: {remedy}."
            )


def _is_text(file: str) -> bool:
    """Whether the beginning of a file might be text."""
    with _unpacked(file) as raw:
        head = raw.read(_CHUNK)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return b"\0" not in head


def _unpacked(file: str) -> BinaryIO:
    opener: Any = OPENED.get(Path(file).suffix.lower(), open)
    return opener(file, "rb")


def _encoding(raw: BinaryIO) -> str | None:
    """The encoding by the first bytes of a file, None for UTF-8. Rewinds the file."""
    head = raw.read(4)
    raw.seek(0)
    return next((name for begin, name in _ENCODINGS.items() if head.startswith(begin)), None)


class _InUtf8(io.RawIOBase):
    """Text in another encoding as bytes of UTF-8."""

    def __init__(self, raw: BinaryIO, encoding: str) -> None:
        self._raw, self._decoder = raw, codecs.getincrementaldecoder(encoding)()
        self._rest, self._is_last = b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and not self._is_last:
            chunk = self._raw.read(_CHUNK)
            self._is_last = not chunk
            self._rest = self._decoder.decode(chunk, self._is_last).encode()
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n
