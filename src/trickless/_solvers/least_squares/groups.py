"""Groups of rows, numbered from 0 on, that are left out together."""

from __future__ import annotations

import numpy as np

from trickless._arrays.threads import row_blocks

#: Numbers of matrices that are held at a time.
_NUMBERS = 2**22
#: Added to 1 − h of a group, so that it can be divided by.
LEAST_LEFT = 1e-12
#: The most rows that groups left out have, unless the last of them has more.
_ROWS = 2048


def some_groups(groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which rows are in the groups that are left out, drawn at random if rows are many."""
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    before = np.cumsum(sizes[order]) - sizes[order]
    return np.isin(groups, order[before < _ROWS])


def folds_of(groups: np.ndarray) -> list[np.ndarray]:
    """Return the numbers of the rows of each group that has some."""
    sizes = np.bincount(groups)
    return np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes[sizes > 0])[:-1])


def few_of_each(groups: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return the numbers of at most so many rows of each group, drawn at random, in order."""
    sizes, shuffled = np.bincount(groups), rng.permutation(len(groups))
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    rank = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[rank < most])


def errors_without(A: np.ndarray, weights: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Return (I − A W Aᵀ)⁻¹ r: errors at the rows of a group if it is left out, by its residuals r.

    A has a row for each of them. ``weights`` (n, n_columns) are the diagonals of W, and
    ``residuals`` are (n, n_rows, n_outputs). With few columns, the errors are r + A (I − W Aᵀ A)⁻¹
    W Aᵀ r, where the products of columns do not depend on W.
    """
    blocks = row_blocks(len(weights), max(1, _NUMBERS // A.size))
    if 2 * len(A) <= A.shape[1]:
        one = (1 + LEAST_LEFT) * np.eye(len(A))
        parts = [
            np.linalg.solve(one - (A * weights[some, None]) @ A.T, residuals[some])
            for some in blocks
        ]
        return np.concatenate(parts)
    one, products = (1 + LEAST_LEFT) * np.eye(A.shape[1]), A.T @ A
    right = weights[:, :, None] * (A.T @ residuals)
    parts = [
        np.linalg.solve(one - weights[some, :, None] * products, right[some]) for some in blocks
    ]
    return residuals + A @ np.concatenate(parts)
