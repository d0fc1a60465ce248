"""How the loops of boosting are compiled: the entries for Python, and what these call."""

from __future__ import annotations

from logging import getLogger
from pathlib import Path
from threading import Lock
from typing import Any

import numba

_njit: Any = numba.njit
_options: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
#: Compiles functions that only compiled functions call.
compiled = _njit(no_cpython_wrapper=True, **_options)
#: Compiles functions that Python calls, and keeps them on disk.
entry = _njit(cache=True, **_options)
_telling, _known = Lock(), set[Any]()


def tell_if_slow(function: Any) -> None:
    """Log that a function is about to be compiled, unless that has been done and kept on disk."""
    with _telling:
        if function in _known or function.signatures:
            return
        _known.add(function)
    folder, name = Path(function.stats.cache_path), function.py_func.__name__
    if not any(folder.glob(f"*.{name}-*.nbi")):
        getLogger(__name__).warning(
            "trickless compiles the loops of boosted trees, which takes a while, but only this once"
        )
