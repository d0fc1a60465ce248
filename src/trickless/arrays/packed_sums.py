"""Sums of slopes and of curvatures, integers, in one number."""

from __future__ import annotations

import numpy as np

#: Bits of a sum of slopes. One number holds it, with a sum of curvatures in the bits above.
SUM_BITS = 26


def unpacked(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers that hold both sums into sums of slopes and sums of curvatures."""
    h = np.rint(sums * 2.0**-SUM_BITS)
    return sums - h * 2.0**SUM_BITS, h
