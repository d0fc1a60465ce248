"""Functions beyond the array API: SciPy's for NumPy arrays, and the same by its operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device
from scipy import special

from trickless._arrays.places import namespace


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


def looked_up(table: Any, where: Any) -> Any:
    """Return the elements of a vector at some places, in the shape of the places."""
    xp = namespace(table)
    return xp.reshape(xp.take(table, xp.reshape(where, (-1,))), where.shape)


def count_below(X: Any, cuts: list[np.ndarray]) -> Any:
    """Count the cuts of each column that are below its value, (n_rows, n_columns).

    The cuts that are in question are halved, for all columns together. The cuts of a column are
    sorted, and have the precision of X.
    """
    xp, size = namespace(X), 1 << max(map(len, cuts)).bit_length()
    table = np.full((len(cuts), size), np.inf)
    for row, some in zip(table, cuts, strict=True):
        row[: len(some)] = some
    table = xp.asarray(table.ravel(), dtype=X.dtype, device=device(X))
    first = xp.arange(len(cuts), device=device(X)) * size
    at = first
    while size > 1:
        size //= 2
        at = at + xp.astype(looked_up(table, at + (size - 1)) < X, xp.int64) * size
    return at - first
