"""Random cosines of few or of all features, for rows whose columns grow."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np

from trickless.arrays.threads import linear_algebra
from trickless.functions.stream import Purpose, generator

#: Length scales, in root mean square distances of two rows in the chosen features.
SCALES = 0.35, 1.0
#: How many features a cosine depends on: all features are left to every fourth one.
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


class Cosines:
    """Sparse random Fourier features: pairs of cosine and sine of a few features [1]_.

    Neuron i depends on 1, 2, 4 or all of the features at first, by turns, and has one of two length
    scales. A feature that appears later joins it with the probability that an earlier one had.
    The weights of a column are drawn from the seed and its number alone.

    References
    ----------
    .. [1] A. Hashemi, H. Schaeffer, R. Shi, U. Topcu, G. Tran and R. Ward, "Generalization bounds
       for sparse random feature expansions", Applied and Computational Harmonic Analysis 62, 2023.
    """

    def __init__(self, seed: int, n_neurons: int) -> None:
        self.seed, self.n_neurons = seed, n_neurons
        turns = np.arange(n_neurons)
        self.scale = np.array(SCALES)[turns % len(SCALES)]
        self.order = np.array(ORDERS)[turns // len(SCALES) % len(ORDERS)]
        self.takes = np.zeros((n_neurons, 0), bool)  # by variable
        self.weights = np.zeros((n_neurons, 0))  # by column
        self.n_linear = 0

    @property
    def width(self) -> int:
        """Number of activations of a row: a constant, cosines, sines and columns."""
        return 1 + 2 * self.n_neurons + self.n_linear

    def grow(self, variables: list[int]) -> None:
        """Draw weights for columns that are new, given the variables of all columns."""
        n_old, n_new = self.takes.shape[1], max(variables, default=-1) + 1
        draws = [
            generator(self.seed, Purpose.SAMPLES, v).random(self.n_neurons)
            for v in range(n_old, n_new)
        ]
        if draws:
            chances = np.stack(draws, axis=1)
            if not n_old:
                ranks = chances.argsort(axis=1).argsort(axis=1)
                new = ranks < self.order[:, None]
                self.scale = self.scale * np.sqrt(np.minimum(self.order, n_new))
            else:
                new = chances < (self.order / n_old)[:, None]
            self.takes = np.hstack([self.takes, new])
        columns = [
            generator(self.seed, Purpose.BLOCKS, j).standard_normal(self.n_neurons)
            * self.takes[:, variables[j]]
            / self.scale
            for j in range(self.weights.shape[1], len(variables))
        ]
        if columns:
            self.weights = np.hstack([self.weights, np.stack(columns, axis=1)])
        self.n_linear = min(len(variables), LINEAR)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the activations of standardised rows, shape (..., width)."""
        m = self.n_neurons
        z = np.empty((*x.shape[:-1], self.width))
        z[..., 0] = 1.0
        with one_thread(self.weights.size):
            z[..., 1 : m + 1] = x @ self.weights.T
        np.sin(z[..., 1 : m + 1], out=z[..., m + 1 : 2 * m + 1])
        np.cos(z[..., 1 : m + 1], out=z[..., 1 : m + 1])
        z[..., 2 * m + 1 :] = x[..., : self.n_linear]
        return z

    def penalties(self) -> np.ndarray:
        """Return the ridge of each activation, relative to that of a function of variance 1."""
        m = self.n_neurons
        sizes = [_LEAST], np.full(2 * m, float(m)), np.full(self.n_linear, float(self.n_linear))
        return np.concatenate(sizes)
