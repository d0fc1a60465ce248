"""The rows on which a tree is chosen, with slopes and curvatures whose sums are exact.

Slopes and curvatures are rounded to integers, whose unit depends on the largest. A few rows that
far outweigh all others would make them 0, so they are limited (``resolved``). Only the choice of
cuts does that: coefficients are computed from whole slopes.

References
----------
.. [1] B. Ibragimov and G. Gusev, "Minimal variance sampling in stochastic gradient boosting",
   NeurIPS 2019 (rows are sampled in proportion to the root of g² + c h²).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless.arrays.packed_sums import SUM_BITS
from trickless.neurons.trees import Trees

#: The most rows of a sample, on which a tree is chosen.
SAMPLE = 2**14
#: Weight of the curvatures in the chance of a row to be sampled.
_CURVED = 0.3


class CutRows(NamedTuple):
    """Rows on which a tree is chosen: their numbers, and their slopes and curvatures.

    Both are integers, in units of ``unit_g`` and ``unit_h``. ``noise`` is what a degree of
    freedom gains from noise alone, if a cut is not chosen.
    """

    rows: np.ndarray
    g: np.ndarray
    h: np.ndarray
    unit_g: float
    unit_h: float
    noise: float


class NextTree(NamedTuple):
    """What the next tree is chosen by.

    Attributes
    ----------
    family : Trees
    bins : uint8 array of shape (n_features, n)
        Rows to choose by.
    g, h : arrays of shape (n,)
        Their slopes and curvatures, times their weights.
    weight : array of shape (n,) or None
        The weights.
    ridge : float
        λ of the step on ``n_rows`` rows, in units of h. It is the same if the sample has fewer
        rows, which makes cuts of leaves with few rows less likely.
    n_rows : int
        How many rows the coefficients of the leaves will be computed from.
    n_candidates : int
        How many columns are drawn for each cut. Each is tried at as many thresholds, up to eight.
    prior : array of shape (n_features,)
        How often each column is drawn, relative to each other.
    unexplained : float
        Mean square of the slopes, relative to that at the start: the share of the squared loss that
        is not explained yet.
    rng : numpy.random.Generator
    number : int
        Number of the tree.
    """

    family: Trees
    bins: np.ndarray
    g: np.ndarray
    h: np.ndarray
    weight: np.ndarray | None
    ridge: float
    n_rows: int
    n_candidates: int
    prior: np.ndarray
    unexplained: float
    rng: np.random.Generator
    number: int

    def sampled(
        self, size: int | None = None, bits: int = SUM_BITS
    ) -> tuple[CutRows, float, float]:
        """Return a sample of the rows, the noise of all rows, and the step's rows for each."""
        square = self.g * self.g if self.weight is None else self.g * self.g / self.weight
        sample = sampled(self.g, self.h, square, self.rng, size, bits)
        return sample, ratio(square, self.h), self.n_rows / max(len(sample.rows), 1)


def resolved(n_rows: int) -> float:
    """Return how many times as large as others a slope may be while sums still resolve those."""
    return float(2.0 ** (SUM_BITS - 3)) / min(n_rows, SAMPLE)


def sampled(
    g: np.ndarray,
    h: np.ndarray,
    square: np.ndarray,
    rng: np.random.Generator,
    size: int | None = None,
    bits: int = SUM_BITS,
) -> CutRows:
    """Return some of the rows, more often with large slopes, and weights that make up for it.

    Sums of their slopes and curvatures have at most so many ``bits``.
    """
    n, size = len(g), SAMPLE if size is None else size
    rows = np.arange(n)
    if n > size:
        share = _CURVED * np.sqrt((g * g).mean()) / max(h.mean(), np.finfo(float).tiny)
        chance = np.sqrt(g * g + (share * h) ** 2)
        total = np.cumsum(chance)
        if total[-1] > 0:  # at regular spots of the sums, so that a row may be there twice
            spots = np.ceil(total * (size / total[-1]) - rng.random()).astype(int)
            rows = np.repeat(rows, np.diff(spots, prepend=0))
            weight = total[-1] / (n * chance[rows])
            weighted = g[rows] * weight, h[rows] * weight, square[rows] * weight**2
            return _whole(rows, *weighted, bits)
        rows = rows[:size]
    return _whole(rows, g[rows], h[rows], square[rows], bits)


def _whole(
    rows: np.ndarray, g: np.ndarray, h: np.ndarray, square: np.ndarray, bits: int
) -> CutRows:
    """Slopes and curvatures rounded to multiples of a unit, so that their sums are exact."""
    unit_g, unit_h = _unit(g, bits), _unit(h, bits)
    whole = np.rint(g / unit_g), np.rint(h / unit_h)
    return CutRows(rows, *whole, unit_g, unit_h, ratio(square, h))


def _unit(values: np.ndarray, bits: int) -> float:
    """Return a power of two, in which no sum of the values has more bits than there is room for."""
    largest = float(np.abs(values).max(initial=0.0)) * len(values)
    return float(2.0 ** (np.frexp(largest)[1] - bits + 1)) if largest else 1.0


def ratio(square: np.ndarray, h: np.ndarray) -> float:
    """Return what a degree of freedom gains from noise alone."""
    return float(square.sum() / max(float(h.sum()), np.finfo(float).tiny))
