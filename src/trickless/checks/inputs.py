"""Checks of rows, targets, weights and classes."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Errors of rounding that a sum of bounded terms is granted.
_ROUNDINGS = 8


def in_precision(owner: str, what: str, values: np.ndarray, dtype: Any) -> np.ndarray:
    """Finite numbers in a precision, in which they must be finite as well."""
    try:
        with np.errstate(over="raise"):
            return values.astype(dtype, copy=False)
    except FloatingPointError as error:
        raise ValueError(
            f"{owner}: {what} that suit the scale of X reach {np.abs(values).max():.1e}, which is "
            f"too large for dtype={np.dtype(dtype).name!r}. Remedy: scale X (StandardScaler), or "
            "dtype='float64'."
        ) from error
