"""Groups of rows, numbered from 0 on, that are left out together."""

from __future__ import annotations

import numpy as np

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
