"""Comparing families: ridge regression with a few of their neurons on a few rows, and its score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless._blocks import linear_algebra, map_rows
from trickless._devices import take, to_host
from trickless._least_squares import solve_by_gcv
from trickless._statistics import Statistics, least_ridge
from trickless._stream import Purpose, draw, generator
from trickless.neurons import Neurons, Weights


class Entry(NamedTuple):
    """A family, its score, and the fit that the score is of.

    The score is the least of generalised cross-validation, relative to a constant's, summed over
    the outputs. Coefficients, of shape (n_neurons, width, n_outputs), are for outputs of variance
    1.
    """

    family: Neurons
    score: float
    weights: Weights
    coef: np.ndarray


class Contest:
    """Families on the same rows, with the same random numbers.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,) or None
    seed : int
    number : int
        Which rows and random numbers of this seed; others for each number.
    most, n_neurons : int
        How many rows at most, and neurons.
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    X, targets, weight : arrays
        The rows that were chosen, on the host.
    """

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        seed: int,
        number: int,
        most: int,
        n_neurons: int,
        n_jobs: int | None,
    ) -> None:
        rows = np.arange(len(targets))
        if len(rows) > most:
            rng = generator(seed, Purpose.SEARCH, 2 * number)
            rows = np.sort(rng.choice(rows, most, replace=False))
        self.X, self.targets = to_host(take(X, rows)), targets[rows]
        self.weight = None if weight is None else weight[rows]
        self._seed, self._number, self._n_neurons, self._n_jobs = seed, number, n_neurons, n_jobs

    def entries(self, families: list[Neurons]) -> list[Entry]:
        """What each family comes to."""
        return [self._entry(family) for family in families]

    def _entry(self, family: Neurons) -> Entry:
        rng = generator(self._seed, Purpose.SEARCH, 2 * self._number + 1)
        weights = draw(family, rng, self._n_neurons, self.X.dtype)
        n_columns = self._n_neurons * family.width
        parts = map_rows(
            lambda rows: family(self.X[rows], weights), self.X, n_columns, self._n_jobs
        )
        Z = np.concatenate(parts)
        statistics = Statistics(n_columns, self.targets.mean(axis=0))
        statistics.add(Z, self.targets, self.weight, least_ridge(len(Z)), self._n_jobs)
        moments = statistics.centred()
        with linear_algebra(self._n_jobs, moments.n_products):
            solution = solve_by_gcv(moments)
        assert solution.scores is not None
        varies = moments.y_variance > 0
        variance = moments.y_variance[varies]
        score = (solution.scores.min(axis=1)[varies] / variance).sum()
        coef = solution.coef[:, varies] / np.sqrt(variance)
        by_neuron = coef.reshape(family.width, self._n_neurons, -1).swapaxes(0, 1)
        return Entry(family, score, weights, by_neuron)


def best(entries: list[Entry]) -> Entry:
    """The one with the least score."""
    return min(entries, key=lambda entry: entry.score)
