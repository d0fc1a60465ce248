"""Draws of support points in proportion to the size of their coefficients.

``by_size`` and ``Strata`` draw n points with replacement, for estimates that give every draw the
weight ‖α‖₁/n. ``SupportSampler`` uses them for expansions. ``thin`` draws without replacement, so
that the sum over fewer points has the same expectation.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np


class SupportSampler:
    """Sampler of support points i with probability |α_i| / ‖α‖₁, for alpha (t, n_outputs).

    With several outputs, |α_i| is the Euclidean norm of row i.
    """

    def __init__(self, alpha: np.ndarray) -> None:
        self.alpha = alpha
        self.size = np.linalg.norm(alpha, axis=1)
        self.total = self.size.sum()  # ‖α‖₁

    @cached_property
    def _strata(self) -> Strata:
        return Strata(self.size, self.alpha > 0)

    def draw(self, n: int, rng: np.random.Generator, estimate: str) -> np.ndarray:
        if estimate == "index":
            return by_size(self.size, n, rng)  # Alg. 2, line 2
        return self._strata.draw(n, rng)

    def directions(self, index: np.ndarray) -> np.ndarray:
        """Compute ‖α‖₁ α_i / |α_i| for each point i, shape (len(index), n_outputs)."""
        return self.total * self.alpha[index] / self.size[index, None]


def by_size(size: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n points independently, point i with probability size_i / Σ size."""
    return _where(*_cumulated(size), rng.random(n))


class Strata:
    """Stratified draws: one support point from each of n equal strata of the cumulated sizes.

    The mean over the draws has the same expectation as with independent draws, as in Livni et al.'s
    Algorithm 2, and its variance is never larger. ``groups`` has the signs of the coefficients.
    Points with the same signs lie next to each other, so that few strata hold points of two groups.
    """

    def __init__(self, size: np.ndarray, groups: np.ndarray) -> None:
        self._order = np.lexsort(groups.T)
        self._total, self._last = _cumulated(size[self._order])

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw once from each of n strata of the cumulated sizes, shape (n,)."""
        u = (np.arange(n) + rng.random(n)) / n
        return self._order[_where(self._total, self._last, u)]


def thin(size: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw at most n points, without replacement, so that weighted sums keep their expectation.

    Point i is kept with probability :math:`\pi_i = \min(1, c \cdot \mathrm{size}_i)`, where c makes
    the probabilities sum to n, and then counts :math:`1 / \pi_i` times. For every v,
    :math:`E \sum_{i \in S} v_i / \pi_i = \sum_i v_i` over the points of positive size. Sampling is
    systematic, so exactly n points are kept, unless fewer have a positive size.

    The points kept are returned in increasing order, with their :math:`1 / \pi_i`.
    """
    chance = inclusion(size, n)
    total = np.cumsum(chance)
    # A point is kept if its interval of the cumulated probabilities holds one of u, u + 1, …
    steps = np.floor(np.concatenate([[0.0], total]) + rng.random())
    index = np.flatnonzero(np.diff(steps) > 0)
    return index, 1 / chance[index]


def inclusion(size: np.ndarray, n: int) -> np.ndarray:
    """Compute probabilities min(1, c · size_i) that sum to n, or 1 for at most n positive sizes."""
    if np.count_nonzero(size) <= n:
        return (size > 0).astype(float)
    largest_first = np.argsort(-size, kind="stable")
    sorted_size = size[largest_first]
    # The k largest are always kept; the others share n − k.
    rest = np.cumsum(sorted_size[::-1])[::-1]
    k = int(np.argmax((n - np.arange(n)) * sorted_size[:n] <= rest[:n]))
    chance = np.ones_like(size, dtype=float)
    chance[largest_first[k:]] = (n - k) * sorted_size[k:] / rest[k]
    return chance


def _cumulated(size: np.ndarray) -> tuple[np.ndarray, int]:
    """Accumulate the sizes up to each point, and find the last point of positive size."""
    return np.cumsum(size), int(np.flatnonzero(size)[-1])


def _where(total: np.ndarray, last: int, u: np.ndarray) -> np.ndarray:
    """Find the points whose intervals of the cumulated sizes hold the fractions u in [0, 1)."""
    index = np.searchsorted(total, u * total[-1], side="right")
    return np.minimum(index, last)  # rounding at the upper end
