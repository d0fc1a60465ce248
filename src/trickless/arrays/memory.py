"""How much memory the machine has."""

from __future__ import annotations

import os
from math import inf


def physical_memory() -> float:
    """Bytes of memory of the machine; infinity where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return inf
