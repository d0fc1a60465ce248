"""Arrays in NumPy's files: one in a .npy file, and several with names in a .npz file."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from trickless.readers.errors import CommandError

_ONE, _SEVERAL = ".npy", ".npz"
#: How a file of one array begins, and one of several.
_MAGIC, _ZIP = b"\x93NUMPY", b"PK"
#: The name of the rows in a file of several arrays.
_ROWS = "X"
#: What NumPy raises for a file that is damaged, or holds Python objects.
_DAMAGED = (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def is_array_file(path: Path) -> bool:
    """Return whether a file has the ending of a file of arrays."""
    return path.suffix.lower() in (_ONE, _SEVERAL)


class ArrayFile:
    """A file of arrays, which are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._arrays: Any = _opened(path)

    def rows(self, name: str | None, others: list[str | None]) -> np.ndarray:
        """Return the array of rows: of this name, or named X, or the only one besides others."""
        if isinstance(self._arrays, np.ndarray):
            if name is not None:
                raise CommandError(
                    f"--rows {name!r}: {self.path} holds one array, which has no name",
                    "leave --rows out, or a .npz file",
                )
            return _with_rows(self.path, "the array", self._arrays)
        names: list[str] = self._arrays
        left = [each for each in names if each not in others]
        if name is None:
            name = left[0] if len(left) == 1 and _ROWS not in left else _ROWS
        if name not in names:
            raise CommandError(
                f"{self.path}: there is no array {name!r}. The arrays are "
                f"{', '.join(map(repr, names)) or 'none'}",
                "name the array of rows with --rows",
            )
        return _with_rows(self.path, f"array {name!r}", self._read(name))

    def values(self, option: str, name: str, n_rows: int) -> np.ndarray:
        """Return one value for each row, from an array of this name, or from a .npy file."""
        if not isinstance(self._arrays, np.ndarray) and name in self._arrays:
            where, values = f"{self.path}, array {name!r}", self._read(name)
        elif Path(name).suffix.lower() == _ONE:
            where, values = name, np.asarray(_opened(Path(name)))
        else:
            there = "" if isinstance(self._arrays, np.ndarray) else f", which has {self._arrays}"
            raise CommandError(
                f"{option} {name!r}: there is no array of this name in {self.path}{there}",
                "the name of an array in a .npz file, or the path of a .npy file",
            )
        if values.shape == (n_rows, 1):
            values = values[:, 0]
        if values.shape != (n_rows,):
            raise CommandError(
                f"{where}: the shape is {values.shape}, but there are {n_rows:,} rows, each of "
                "which needs one value",
                f"an array of shape ({n_rows},)",
            )
        return values

    def _read(self, name: str) -> np.ndarray:
        try:
            with self.path.open("rb") as file:
                return np.load(file, allow_pickle=False)[name]
        except _DAMAGED as error:
            raise _unreadable(f"{self.path}, array {name!r}", error) from error


def _opened(path: Path) -> Any:
    """Return the array of a .npy file, which stays on disk, or the names in a .npz file."""
    if not path.exists():
        raise CommandError(f"{path}: there is no such file", "check the path")
    if path.is_dir():
        raise CommandError(f"{path}: it is a folder", "pass a file of arrays")
    one = path.suffix.lower() == _ONE
    try:
        with path.open("rb") as file:  # which NumPy leaves open if it is damaged
            begins = file.read(len(_MAGIC))
            if one and begins == _MAGIC:
                return np.load(path, mmap_mode="r", allow_pickle=False)
            file.seek(0)
            if not one and begins.startswith(_ZIP):
                return np.load(file, allow_pickle=False).files
    except _DAMAGED as error:
        raise _unreadable(str(path), error) from error
    if begins != _MAGIC and not begins.startswith(_ZIP):
        raise _unreadable(str(path), ValueError("it is no file of NumPy arrays"))
    raise CommandError(
        f"{path}: the ending does not say what the file holds, which is "
        f"{'several arrays' if one else 'one array'}",
        f"rename it to end in {_SEVERAL if one else _ONE}",
    )


def _unreadable(where: str, error: Exception) -> CommandError:
    if "allow_pickle" in str(error):
        return CommandError(
            f"{where}: it holds Python objects, which are not read, since they could run code",
            "save arrays of numbers or text; series of unequal length may end with NaN",
        )
    return CommandError(
        f"{where}: it cannot be read: {str(error)[:200]}",
        "save it again with numpy.save or numpy.savez, and check that the file is complete",
    )


def _with_rows(path: Path, name: str, X: np.ndarray) -> np.ndarray:
    if X.ndim < 2 or not len(X):
        raise CommandError(
            f"{path}: {name} has the shape {X.shape}, but it must hold rows",
            "an array with one row, image or series for each index along its first axis",
        )
    return X
