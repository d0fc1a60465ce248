"""Ways of picking support points by the size of their coefficients, all of them unbiased.

``by_size`` and ``Strata`` pick n points with replacement, each point i with probability
|α_i| / ‖α‖₁, for estimates that give every draw the weight ‖α‖₁/n. ``thin`` picks without
replacement, for sums over fewer points with the same expectation.
"""

from __future__ import annotations

import numpy as np


def by_size(size: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """N independent draws of i with probability size_i / Σ size.

    Parameters
    ----------
    size : array of shape (t,)
        Non-negative, with a positive sum.
    n : int
    rng : numpy.random.Generator

    Returns
    -------
    integer array of shape (n,)
    """
    return _where(*_cumulated(size), rng.random(n))


class Strata:
    """Support points in an order from which one is drawn in each of n equal strata.

    The mean over the draws has the expectation of independent draws and never a larger variance
    (Livni et al.'s Algorithm 2 draws independently). Points of one group lie next to each other, so
    that few strata hold points of two groups.

    Parameters
    ----------
    size : array of shape (t,)
        Non-negative, with a positive sum.
    groups : boolean array of shape (t, n_keys)
        Rows that are equal make a group: the signs of the coefficients.
    """

    def __init__(self, size: np.ndarray, groups: np.ndarray) -> None:
        self._order = np.lexsort(groups.T)
        self._total, self._last = _cumulated(size[self._order])

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """One draw from each of n strata of the cumulated sizes, shape (n,)."""
        u = (np.arange(n) + rng.random(n)) / n
        return self._order[_where(self._total, self._last, u)]


def thin(size: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    r"""Pick at most n points, without replacement, so that weighted sums keep their expectation.

    Point i is kept with probability :math:`\pi_i = \min(1, c \cdot \mathrm{size}_i)`, where c makes
    the sum of the probabilities n, and counts :math:`1 / \pi_i` times: for every v,
    :math:`E \sum_{i \in S} v_i / \pi_i = \sum_i v_i` over the points whose size is positive. With
    systematic sampling the number kept is n for certain.

    Parameters
    ----------
    size : array of shape (t,)
        Non-negative. Points of size 0 are dropped.
    n : int
    rng : numpy.random.Generator

    Returns
    -------
    index : integer array of shape (at most n,)
        The points kept, in increasing order.
    factor : array of the same shape
        Their 1/π_i.
    """
    chance = inclusion(size, n)
    total = np.cumsum(chance)
    # A point is kept where its interval of the cumulated chances holds one of u, u + 1, …
    steps = np.floor(np.concatenate([[0.0], total]) + rng.random())
    index = np.flatnonzero(np.diff(steps) > 0)
    return index, 1 / chance[index]


def inclusion(size: np.ndarray, n: int) -> np.ndarray:
    """Chances min(1, c · size_i) that sum to n, or 1 for all positive sizes if there are no more.

    Parameters
    ----------
    size : array of shape (t,)
    n : int

    Returns
    -------
    array of shape (t,)
    """
    if np.count_nonzero(size) <= n:
        return (size > 0).astype(float)
    largest_first = np.argsort(-size, kind="stable")
    sorted_size = size[largest_first]
    # With the k largest kept for certain, the others share n − k.
    rest = np.cumsum(sorted_size[::-1])[::-1]
    k = int(np.argmax((n - np.arange(n)) * sorted_size[:n] <= rest[:n]))
    chance = np.ones_like(size, dtype=float)
    chance[largest_first[k:]] = (n - k) * sorted_size[k:] / rest[k]
    return chance


def _cumulated(size: np.ndarray) -> tuple[np.ndarray, int]:
    """Sums of the sizes up to each point, and the last point of positive size."""
    return np.cumsum(size), int(np.flatnonzero(size)[-1])


def _where(total: np.ndarray, last: int, u: np.ndarray) -> np.ndarray:
    """The points whose intervals of the cumulated sizes hold the shares u in [0, 1)."""
    index = np.searchsorted(total, u * total[-1], side="right")
    return np.minimum(index, last)  # rounding at the upper end
