"""Memory: of the machine, and of arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import inf, prod
from typing import Any


def physical_memory() -> float:
    """Return the machine's memory in bytes, or infinity if the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return inf


def size_of(arrays: Iterable[Any]) -> int:
    """Return the bytes of arrays of any library."""
    return sum(getattr(array, "nbytes", 8 * prod(array.shape)) for array in arrays)
