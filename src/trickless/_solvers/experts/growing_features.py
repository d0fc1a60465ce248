"""Rows of a stream as activations of random neurons, while columns and their scale change."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np

from trickless._arrays.threads import linear_algebra
from trickless._functions.stream import Purpose, generator
from trickless._solvers.moments import FAR, ColumnMoments

#: The first rows are kept, and learned again as the scale of their columns becomes known.
KEPT = 256
#: Afterwards, the scale of columns is updated after so many rows.
_RESCALE = 64
#: Half-life of the scale in rows: slower than most drifts, so that features keep their meaning.
_HALF_LIFE = 2000.0
#: Numbers from here on have squares beyond the range of floats: they are clipped, and not averaged.
LARGEST = 1e100

#: Length scales, in root mean square distances of two rows in the chosen features.
SCALES = 0.35, 1.0
#: How many columns a neuron depends on: all columns are left to every fourth one.
ORDERS = 1.0, 2.0, 4.0, np.inf
#: Ridge of the constant.
_LEAST = 1e-6
#: The most columns that also enter linearly.
LINEAR = 128

#: Products of a matrix of fewer numbers and a row take one thread anyway.
_FEW = 8192


def one_thread(size: int) -> AbstractContextManager[None]:
    """Keep BLAS from waiting for other threads in the product of a matrix and a row."""
    return linear_algebra(1) if size > _FEW else nullcontext()


class GrowingFeatures:
    """Standardised columns, and sparse random Fourier features of them [1]_.

    Numbers are standardised by their faded mean and deviation. They count as at most ``FAR``
    deviations from the mean, and are clipped there. Neurons are pairs of cosine and sine. Each
    depends on 1, 2, 4 or all of the columns at first, by turns, and has one of two length scales. A
    column that appears later joins it with the probability that an earlier one had. The weights
    of a column are drawn from the seed and its number alone.

    Attributes
    ----------
    n_rows : int
        Number of rows so far.
    is_number : array of bool of shape (n_columns,)
        False for the values of categories, which are 0 or 1.

    References
    ----------
    .. [1] A. Hashemi, H. Schaeffer, R. Shi, U. Topcu, G. Tran and R. Ward, "Generalization bounds
       for sparse random feature expansions", Applied and Computational Harmonic Analysis 62, 2023.
    """

    def __init__(self, n_neurons: int, seed: int) -> None:
        self.seed, self.n_neurons = seed, n_neurons
        turns = np.arange(n_neurons)
        self.length_scale = np.array(SCALES)[turns % len(SCALES)]
        self.order = np.array(ORDERS)[turns // len(SCALES) % len(ORDERS)]
        self.weights = np.zeros((n_neurons, 0))
        self.is_number, self.blank = np.zeros(0, bool), np.zeros(0)
        self.moments = ColumnMoments.none(0)
        self.n_rows = 0
        self._recent: list[np.ndarray] = []
        self._rescale()

    def activate(self, raw: np.ndarray) -> np.ndarray:
        """Return a constant, cosines, sines and the first columns, shape (..., n_activations)."""
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities
            x = raw - self._shift
            x *= self._rate
        missing = x != x  # also an infinity in a column without numbers
        if missing.any():
            x[missing] = 0.0
        x = np.minimum(np.maximum(x, -FAR, out=x), FAR, out=x)
        m = self.n_neurons
        z = np.empty((*x.shape[:-1], 1 + 2 * m + min(x.shape[-1], LINEAR)))
        z[..., 0] = 1.0
        with one_thread(self.weights.size):
            z[..., 1 : m + 1] = x @ self.weights.T
        np.sin(z[..., 1 : m + 1], out=z[..., m + 1 : 2 * m + 1])
        np.cos(z[..., 1 : m + 1], out=z[..., 1 : m + 1])
        z[..., 2 * m + 1 :] = x[..., :LINEAR]
        return z

    def penalties(self) -> np.ndarray:
        """Return the ridge of each activation, relative to that of a function of variance 1."""
        m, n_linear = self.n_neurons, min(len(self.blank), LINEAR)
        return np.concatenate([[_LEAST], np.full(2 * m, m), np.full(n_linear, n_linear)])

    def learn(self, raw: np.ndarray) -> np.ndarray | None:
        """Add a row to the scale, and return the activations of all rows if they change."""
        self.n_rows += 1
        self._recent.append(raw)
        first, power = self.n_rows <= KEPT, not self.n_rows & (self.n_rows - 1)
        if not (power if first else self.n_rows % _RESCALE == 0):
            return None
        rows = np.array([np.append(row, self.blank[len(row) :]) for row in self._recent])
        if first:
            self.moments = ColumnMoments.none(len(self.blank))
        self._learn_scale(rows)
        if self.n_rows >= KEPT:
            self._recent = []
        return self.activate(rows) if first else None

    def grow(self, is_number: list[bool]) -> None:
        """Draw weights for new columns, and make room for their scale."""
        self.is_number = np.append(self.is_number, is_number)
        self.blank = np.where(self.is_number, np.nan, 0.0)
        n_old, n, m = self.weights.shape[1], len(self.blank), self.n_neurons
        new = range(n_old, n)
        chances = [generator(self.seed, Purpose.SAMPLES, j).random(m) for j in new]
        normal = [generator(self.seed, Purpose.BLOCKS, j).standard_normal(m) for j in new]
        if n_old:
            takes = np.array(chances) < self.order / n_old
        else:
            takes = np.argsort(np.argsort(chances, axis=0), axis=0) < self.order
            self.length_scale = self.length_scale * np.sqrt(np.minimum(self.order, n))
        weights = np.array(normal) * takes / self.length_scale
        self.weights = np.hstack([self.weights, weights.T])
        old, none = self.moments.__getstate__(), ColumnMoments.none(n - n_old).__getstate__()
        self.moments = ColumnMoments(**{name: np.append(old[name], none[name]) for name in old})
        self._rescale()

    def _learn_scale(self, rows: np.ndarray) -> None:
        """Add rows, the latest of which counts most. NaN and huge numbers do not count."""
        rows = np.where((np.abs(rows) < LARGEST) & self.is_number, rows, np.nan)
        weight = 0.5 ** (np.arange(len(rows) - 1, -1, -1) / _HALF_LIFE)
        self.moments = self.moments.after(rows, weight, 0.5 ** (len(rows) / _HALF_LIFE))
        self._rescale()

    def _rescale(self) -> None:
        """Standardise by the present moments. Numbers without any are 0, categories unchanged."""
        mean = self.moments.mean
        known = ~np.isnan(mean)
        self._shift = np.where(known, mean, 0.0)
        rate = known / np.where(known, self.moments.scale, 1.0)
        self._rate = np.where(self.is_number, rate, 1.0)
