"""Functions beyond the array API: SciPy's for NumPy arrays, and the same by its operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from trickless.arrays.places import namespace


def factors(where: Any, like: Any) -> Any:
    """Return Booleans as factors of an array: unchanged from NumPy, and as numbers of a device."""
    return where if isinstance(where, np.ndarray) else namespace(where).astype(where, like.dtype)


def sum_of_rows(x: Any) -> Any:
    """Sum the columns of each row."""
    return x.sum(axis=1) if isinstance(x, np.ndarray) else namespace(x).sum(x, axis=1)


def at_least(x: Any, least: float) -> Any:
    """Replace smaller values by a number, which a device gets without a transfer."""
    return np.maximum(x, least) if isinstance(x, np.ndarray) else namespace(x).clip(x, least, None)


def clipped(x: Any, least: float, most: float) -> Any:
    """Limit values to a range."""
    if isinstance(x, np.ndarray | np.generic):
        return np.clip(x, least, most)
    return namespace(x).clip(x, least, most)


def expit(x: Any) -> Any:
    """Compute the logistic function 1 / (1 + exp(−x))."""
    if isinstance(x, np.ndarray | np.generic):
        return special.expit(x)
    xp = namespace(x)
    small = xp.exp(-xp.abs(x))  # exponents above 0 may overflow
    return xp.where(x > 0, 1 / (1 + small), small / (1 + small))


def softplus(x: Any) -> Any:
    """Compute the logarithm of 1 + exp(x)."""
    if isinstance(x, np.ndarray | np.generic):
        return np.logaddexp(0, x)
    xp = namespace(x)
    return at_least(x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))


def softmax(x: Any) -> Any:
    """Divide the exponentials of the columns of each row by their sum."""
    if isinstance(x, np.ndarray | np.generic):
        return special.softmax(x, axis=1)
    xp = namespace(x)
    share = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return share / xp.sum(share, axis=1, keepdims=True)


def log_softmax(x: Any) -> Any:
    """Compute the logarithm of ``softmax``, also where that underflows."""
    if isinstance(x, np.ndarray | np.generic):
        return special.log_softmax(x, axis=1)
    xp = namespace(x)
    x = x - xp.max(x, axis=1, keepdims=True)
    return x - xp.log(xp.sum(xp.exp(x), axis=1, keepdims=True))


def huber(delta: float, r: Any) -> Any:
    """Compute ½ r² up to |r| = delta, and the straight line beyond."""
    if isinstance(r, np.ndarray | np.generic):
        return special.huber(delta, r)
    xp = namespace(r)
    size = xp.abs(r)
    return xp.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
