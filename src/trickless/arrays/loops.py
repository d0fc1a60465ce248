"""The loops over the rows of trees: compiled ones if there are any, else those of NumPy."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from types import ModuleType

from trickless.arrays import leaves

#: Rows times trees from which compiled loops are worth the second that it takes to load them.
_WORTH_COMPILED = 2**24


def loops(n_leaves: float = 0) -> ModuleType:
    """The loops for so many leaves to be found: rows times trees.

    Compiled ones need the optional package numba, and are used if there is enough to do, or if they
    are loaded already. The environment variable ``TRICKLESS_NUMBA=0`` switches them off. The
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
