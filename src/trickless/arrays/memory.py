"""Memory of the machine."""

from __future__ import annotations

import os
from math import inf


def physical_memory() -> float:
    """Return the machine's memory in bytes, or infinity if the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return inf
