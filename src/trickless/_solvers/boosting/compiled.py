"""How the loops of boosting are compiled: the entries for Python, and what these call."""

from __future__ import annotations

from contextlib import suppress
from logging import getLogger
from pathlib import Path
from threading import Lock
from typing import Any

import numba

_options: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
_njit: Any = numba.njit
#: Compiles functions that only compiled functions call.
compiled = _njit(no_cpython_wrapper=True, **_options)


def entry(function: Any) -> Any:
    """Compile a function that Python calls, and keep it on disk.

    numba compiles it again if its file has changed, but not if a function that it calls has. What
    is older than any file of this folder is therefore removed.
    """
    dispatcher = _njit(cache=True, **_options)(function)
    newest = max(path.stat().st_mtime for path in Path(__file__).parent.glob("*.py"))
    for index in _kept(dispatcher):
        with suppress(OSError):  # another process may have removed it
            if index.stat().st_mtime < newest:
                index.unlink()
    return dispatcher


def _kept(dispatcher: Any) -> list[Path]:
    """Return the files on disk that list what has been compiled of a function."""
    folder = Path(dispatcher.stats.cache_path)
    return list(folder.glob(f"*.{dispatcher.py_func.__name__}-*.nbi"))


_telling, _known = Lock(), set[Any]()


def tell_if_slow(function: Any) -> None:
    """Log that a function is about to be compiled, unless that has been done and kept on disk."""
    with _telling:
        if function in _known or function.signatures:
            return
        _known.add(function)
    if not _kept(function):
        getLogger(__name__).warning(
            "trickless compiles the loops of boosted trees, which takes a while, but only this once"
        )
