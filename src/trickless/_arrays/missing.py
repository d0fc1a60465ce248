"""Missing values of every library: NaN, NaT, NA, None, and values that are masked."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

#: Types of missing values that have no ``==``: of pandas, pandas, and NumPy.
_MARKS = "NAType", "NaTType", "MaskedConstant"
#: Types of objects that are never missing, as most are.
_THERE = frozenset((str, bytes, int, bool))


def is_missing(value: Any) -> bool:
    """Return whether an object is a missing value."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | complex | np.number | np.datetime64):
        return bool(value != value)
    return value is None or type(value).__name__ in _MARKS


def missing(array: np.ndarray) -> np.ndarray:
    """Return where values of an array without a mask are missing, as an array of its shape."""
    if array.dtype.kind in "fcmM":
        return np.isnan(array)
    if array.dtype.kind == "T":
        array = array.astype(object)
    if array.dtype.kind != "O" or set(map(type, array.flat)) <= _THERE:
        return np.zeros(array.shape, dtype=bool)
    return np.fromiter(map(is_missing, array.flat), bool, array.size).reshape(array.shape)


def is_masked(values: Any) -> bool:
    """Return whether some values of an array of ``numpy.ma`` are masked."""
    return isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values)


def unmasked(values: Any) -> Any:
    """Return values without a mask. Masked numbers become NaN, times NaT, and objects None.

    A list of masked arrays becomes one array. Other values are unchanged.
    """
    if isinstance(values, list | tuple) and any(
        isinstance(row, np.ma.MaskedArray) for row in values
    ):
        values = np.ma.array(values)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    plain, mask = np.ma.getdata(values), np.ma.getmaskarray(values)
    if not is_masked(values) or plain.dtype.names:  # records are refused in any case
        return plain
    if plain.dtype.kind in "biu":
        plain = plain.astype(np.float64)
    elif plain.dtype.kind not in "fcmM":
        plain = plain.astype(object)
    plain = plain.copy()
    plain[mask] = {"O": None, "m": "NaT", "M": "NaT"}.get(plain.dtype.kind, np.nan)
    return plain
