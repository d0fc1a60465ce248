"""Shares and medians of weighted numbers, in which a row of weight 2 counts as two rows.

A common factor of all weights changes nothing: ties are broken alike, however sums are rounded.
"""

from __future__ import annotations

from math import ceil

import numpy as np

#: Shares of the total weight that differ by less than this are equal.
ROUNDING = 1e-9


def at_shares(weight: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Find the rows at some shares of the total weight, each from 0 to 1.

    Rows lie side by side, and each is as long as its weight. A share that is the end of a row
    belongs to the next row.
    """
    ends = np.cumsum(weight)
    index = np.searchsorted(ends, (shares + ROUNDING) * ends[-1], side="right")
    return np.minimum(index, len(ends) - 1)


def cap(weight: np.ndarray, parts: int) -> float:
    """Return the number at which to cap weights, so that none exceeds one of equal parts.

    The capped weights sum to ``parts`` times the cap. There are at least as many weights as parts,
    and all are positive.
    """
    up = np.sort(weight)
    light = np.cumsum(up)[len(up) - parts :][::-1]  # the sum without the 0, 1, ... largest
    caps = light / (parts - np.arange(parts))
    return float(caps[np.argmax(up[::-1][:parts] <= caps * (1 + ROUNDING))])


def median(values: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the least value with half of the total weight at or below it."""
    return quantile(values, 0.5, weight)


def quantile(values: np.ndarray, share: float, weight: np.ndarray | None = None) -> float:
    """Return the least value with a share of the total weight at or below it."""
    if weight is None:
        index = max(0, ceil((share - ROUNDING) * len(values)) - 1)
        return float(np.partition(values, index)[index])
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(below, (share - ROUNDING) * below[-1])]])


def effective_rows(n_rows: int, weight: np.ndarray | None) -> float:
    """Return the number of rows of equal weight that tell as much (Kish): (Σw)² / Σw²."""
    return float(n_rows) if weight is None else float(weight.sum() ** 2 / (weight**2).sum())
