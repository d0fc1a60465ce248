"""Open files of the caller, of any kind that reads or writes bytes."""

from __future__ import annotations

import io
import os
from typing import Any

from trickless._errors import InvalidTypeError, InvalidValueError, RemedyError
from trickless._files.causes import explaining
from trickless._rules import shown

#: How a file is opened for a method, and what that is called.
_MODES = {"read": ("rb", "reading"), "write": ("wb", "writing")}


def is_open(call: str, file: Any, method: str) -> bool:
    """Return whether this is an open file and not a path. Raise a TypeError if it is neither."""
    if isinstance(file, str | os.PathLike):
        return False
    if not callable(getattr(file, method, None)):
        raise InvalidTypeError(
            f"{call}: path={shown(file)}, but it must be a path, or a file that is open in binary "
            "mode",
            "'model.trickless'",
        )
    return True


def name_of_file(file: Any) -> str:
    """Return the path of a file, or the name or the type of an open one."""
    name = file if isinstance(file, str | os.PathLike) else getattr(file, "name", None)
    if isinstance(name, str | os.PathLike):
        return repr(os.fspath(name))
    return f"the {type(file).__name__}"


class OpenFile:
    """An open file, which may read or write fewer bytes at a time than requested.

    ``call`` begins error messages.
    """

    def __init__(self, call: str, file: Any) -> None:
        self._call, self._file = call, file

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            n = self._call_of("write", left)
            if type(n) is not int or n >= len(left):  # objects need not say how many they wrote
                return
            if n <= 0:
                raise self._refused("write", "it takes none of them")
            left = left[n:]

    def read(self, n: int) -> bytes:
        parts: list[bytes] = []
        while n:
            some = self._call_of("read", n)
            if not isinstance(some, bytes | bytearray | memoryview) or len(some) > n:
                raise self._refused("read", f"it gives a {type(some).__name__}", InvalidTypeError)
            if not some:
                break
            parts.append(bytes(some))
            n -= len(some)
        return b"".join(parts)

    def _call_of(self, method: str, argument: Any) -> Any:
        try:
            with explaining(f"{self._call}: {name_of_file(self._file)} cannot {method} bytes"):
                return getattr(self._file, method)(argument)
        except io.UnsupportedOperation as error:
            cause = f"it is not open for {_MODES[method][1]}"
            raise self._refused(method, cause) from error
        except Exception as error:  # of a closed file, of text, of a damaged archive
            if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
                raise
            kind = InvalidTypeError if isinstance(error, TypeError) else InvalidValueError
            cause = str(error) or type(error).__name__
            raise self._refused(method, cause, kind) from error

    def _refused(
        self, method: str, cause: str, kind: type[RemedyError] = InvalidValueError
    ) -> RemedyError:
        return kind(
            f"{self._call}: {name_of_file(self._file)} cannot {method} bytes ({cause})",
            "pass a path, or a whole file that is open in binary mode, as by open(path, "
            f"{_MODES[method][0]!r})",
        )
