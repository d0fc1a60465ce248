"""Loops over the rows of trees: compiled loops if available, and otherwise those of NumPy."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from types import ModuleType

from trickless.arrays import leaves

#: The number of rows times trees from which compiled loops are worth the second for loading them.
_WORTH_COMPILED = 2**24


def loops(n_leaves: float = 0) -> ModuleType:
    """Choose loops by the number of leaves to find, which is rows times trees.

    Compiled loops need the optional package numba. They are used if there is enough work, or if
    they are already loaded. The environment variable ``TRICKLESS_NUMBA=0`` switches them off. The
    results are the same to the last bit.
    """
    if os.environ.get("TRICKLESS_NUMBA") == "0" or not _is_installed():
        return leaves
    if n_leaves < _WORTH_COMPILED and not _compiled.cache_info().currsize:
        return leaves
    return _compiled()


@cache
def _is_installed() -> bool:
    return importlib.util.find_spec("numba") is not None


@cache
def _compiled() -> ModuleType:
    from trickless.arrays import compiled

    return compiled
