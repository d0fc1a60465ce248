r"""Choose neurons: the best of several candidates, by how much a step on each would gain.

For a loss with slopes g = −l′ and curvatures h, a Newton step on the neuron ψ alone lowers it by
about half of

.. math:: \frac{(\sum_i g_i \psi(x_i))^2}{\sum_i h_i \psi(x_i)^2 + \lambda},

summed over the numbers of a neuron and the outputs. One candidate is the algorithm of Dai et al.:
neurons are random, and steps are unbiased for the kernel of μ. With more candidates, neurons follow
the slopes. The step then descends the loss itself, greedily, as boosting does, instead of the
expected loss over μ. The cuts of trees are chosen one by one (``cuts``).

References
----------
.. [1] L. Iosipoi and A. Vakhrushev, "SketchBoost: fast gradient boosted decision tree for
   multioutput problems", NeurIPS 2022 (cuts chosen by a random sum of the outputs).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.places import matching, take, to_host
from trickless.arrays.threads import row_blocks
from trickless.functions.activations import activations, in_blocks
from trickless.functions.stream import BLOCK, NeuronStream, Purpose, generator, moved
from trickless.neurons import Neurons, Trees, Weights
from trickless.solvers.descent.cuts import choose_cuts, resolved
from trickless.solvers.descent.newton import Units, limited, terms
from trickless.solvers.descent.step_sizes import DescentOptions
from trickless.solvers.losses import Loss

#: Rows by which candidates are compared.
_SAMPLE = 4096


class Chooser:
    """Chooses neurons by the slopes of the loss at some rows.

    They are of the family of a stream, or trees of a mixture, which no stream draws.
    """

    def __init__(
        self,
        stream: NeuronStream,
        family: Neurons,
        units: Units,
        scale: np.ndarray,
        typical: np.ndarray | float,
        options: DescentOptions,
    ) -> None:
        self.stream, self.family = stream, family
        self.units, self.scale, self.options = units, scale, options
        #: What each output gains at the start.
        self.typical = np.where(typical > 0, typical, 1.0)

    def choose(
        self,
        X: Any,
        f: np.ndarray,
        targets: np.ndarray,
        weight: np.ndarray | None,
        first: int,
        k: int,
        n_rows: int,
        wins: np.ndarray,
        terms: np.ndarray | None = None,
    ) -> Weights:
        """The weights of k neurons, the first of which has the number ``first``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, n_features)
            Rows to choose by.
        f, targets : arrays of shape (n, n_outputs)
            Values of the network there, with its intercept, and targets.
        weight : array of shape (n,), optional
        first, k : int
        n_rows : int
            How many rows the step itself takes.
        wins : int array of shape (n_features,)
            How often each feature was chosen so far, for trees.
        terms : array of shape (2 n_outputs, n), optional
            Slopes and curvatures in their units, if they are known.
        """
        if isinstance(self.family, Trees):
            rng = generator(self.stream.seed, Purpose.CANDIDATES, first)
            if terms is None:
                terms = self.terms(f, targets, weight)
            numbers = range(first, first + k)
            return self._trees(self.family, X, terms, weight, numbers, n_rows, wins, rng)
        if len(targets) > _SAMPLE:
            some = compared(self.stream.seed, first, len(targets))
            X, f, targets = take(X, some), f[some], targets[some]
            weight = None if weight is None else weight[some]
        g, h = self.options.loss.newton(f, targets, self.scale)
        if weight is not None:
            g, h = g * weight[:, None], h * weight[:, None]
        of_g, of_h = self._factors(h.mean(axis=0))
        return self._best(X, g * of_g, h * of_h, first, k)

    def terms(self, f: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Slopes and curvatures of rows in their units, shape (2 n_outputs, n)."""
        loss, n_jobs = self.options.loss, self.options.n_jobs
        return terms(loss, f, targets, weight, self.units, self.scale, n_jobs)

    def _factors(self, curvature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Factors of slopes and curvatures that make outputs count equally in any units.

        ``curvature`` is the mean of each output. Times its factor it is about 1. Gains are relative
        to the gains at the start. Factors are powers of two, so that products are exact. They are 1
        if the loss couples the outputs, since these then have the same unit.
        """
        if len(curvature) == 1 or self.options.loss.coupled:
            return np.ones_like(curvature), np.ones_like(curvature)
        mean = np.where(curvature > 0, curvature, 1.0)
        return _power_of_two(1 / np.sqrt(mean * self.typical)), _power_of_two(1 / mean)

    def _trees(
        self,
        family: Trees,
        X: Any,
        terms: np.ndarray,
        weight: np.ndarray | None,
        numbers: range,
        n_rows: int,
        wins: np.ndarray,
        rng: np.random.Generator,
    ) -> Weights:
        """The best cuts of the trees with some numbers."""
        prior = np.zeros(len(wins))
        prior[family.variables_] = 1.0
        if self.options.learned_prior:
            prior *= 1 + wins
        g, h = np.split(terms, 2)
        of_g, of_h = self._factors(h.mean(axis=1) * self.units.h)
        h = (of_h * self.units.h) @ h
        far = resolved(len(h))
        for by in (limited((of_g * self.units.g) @ np.abs(g), far), limited(h, far)):
            if by is not None:
                g, h, weight = g * by, h * by, by if weight is None else weight * by
        ridge = self.options.damping * float(h.mean()) * n_rows / family.width
        bins = to_host(family.read(X, self.options.n_jobs)).T
        trees = []
        for number in numbers:
            # Several outputs choose by a random sum of their slopes, which is exact.
            signs = rng.choice([-1.0, 1.0], len(g)) if len(g) > 1 else np.ones(1)
            slopes = (signs * of_g * self.units.g) @ g
            args = family, bins, slopes, h, weight, ridge, n_rows, self.options.n_candidates
            trees.append(choose_cuts(*args, prior, rng, number))
        columns = np.stack([tree.columns for tree in trees])
        return columns, np.packbits(np.stack([tree.tables for tree in trees]), axis=2)

    def _best(self, X: Any, g: np.ndarray, h: np.ndarray, first: int, k: int) -> Weights:
        """The best neuron of each of k groups of candidates."""
        m, family = self.options.n_candidates, self.stream.neurons
        weights = self.stream.between(first * m, (first + k) * m)
        Z = activations(family, in_blocks(moved(weights, X)), X, k * m, self.options.n_jobs)
        score = np.zeros(Z.shape[1])
        for slopes, curvatures in zip(g.T, h.T, strict=True):
            gain = to_host(Z.T @ matching(Z, slopes)).astype(float)
            cost = to_host((Z * Z).T @ matching(Z, curvatures)).astype(float)
            ridge = self.options.damping * max(cost.mean(), np.finfo(float).tiny)
            score += gain**2 / (cost + ridge)
        return tuple(array[_best_of(score, family.width, k, m)] for array in weights)


def compared(seed: int, first: int, n_rows: int) -> np.ndarray:
    """The rows of a batch on which candidates are compared, if neurons are not trees.

    The first neuron to choose has the number ``first``.
    """
    if n_rows <= _SAMPLE:
        return np.arange(n_rows)
    rng = generator(seed, Purpose.CANDIDATES, first)
    return np.sort(rng.choice(n_rows, _SAMPLE, replace=False))


def typical_of(
    loss: Loss,
    start: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None,
    scale: np.ndarray,
) -> np.ndarray:
    """What Newton steps gain for each output where f is the constant ``start``: (n_outputs,)."""
    g, h = loss.newton(np.broadcast_to(start, targets.shape), targets, scale)
    square, curvature = (np.average(each, axis=0, weights=weight) for each in (g * g, h))
    return np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)


def _power_of_two(values: np.ndarray) -> np.ndarray:
    """The powers of two that are nearest."""
    return np.ldexp(1.0, np.rint(np.log2(values)).astype(int))


def _best_of(score: np.ndarray, width: int, k: int, m: int) -> np.ndarray:
    """Numbers of the best neuron of each of k groups of m, by scores of columns in blocks."""
    ends = [block.stop * width for block in row_blocks(k * m, BLOCK)]
    of_blocks = np.split(score, ends[:-1])
    total = np.concatenate([block.reshape(width, -1).sum(axis=0) for block in of_blocks])
    return total.reshape(k, m).argmax(axis=1) + m * np.arange(k)
