"""Choosing a family of neurons by the data: ridge regression on a few rows and neurons of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless._blocks import linear_algebra, map_rows
from trickless._devices import take, to_host
from trickless._least_squares import solve_by_gcv
from trickless._statistics import Statistics, least_ridge
from trickless._stream import Purpose, draw, generator
from trickless.neurons import Neurons, Weights

#: Rows and neurons on which families are compared.
ROWS, NEURONS = 1500, 256
#: The same for each contest of those that adapt to what is learned. What matters has to be told
#: from noise in the first ones, which takes more of both.
ADAPTING = ((8192, 512),) * 2 + ((4096, 256),) * 4


class _Trial(NamedTuple):
    """A family, its score, and the fit that the score is of."""

    family: Neurons
    score: float
    weights: Weights
    coef: np.ndarray


def choose(
    families: list[Neurons],
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
) -> tuple[Neurons, np.ndarray]:
    """The family with the least score of generalised cross-validation, relative to a constant's.

    Each output has the alpha that suits it best; several outputs count alike. A family that knows
    how to adapt to what was learned with it is refined a few times, each time from the best of the
    last candidates, which meet other rows and neurons than those before: relevance that was found
    in the noise of a sample is not found again.

    Parameters
    ----------
    families : list of Neurons
        Fitted.
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,) or None
    seed : int
    n_jobs : int or None
        Threads.

    Returns
    -------
    family : Neurons
    scores : array of shape (n_candidates,)
        Those of ``families``, and then of what they were refined to.
    """
    contest = _Contest(families, X, targets, weight, seed, n_jobs, 0)
    every = contest.trials
    for number in range(1, len(ADAPTING)):
        refined = contest.refined()
        if refined is None:
            break
        contest = _Contest(refined.candidates(), X, targets, weight, seed, n_jobs, number)
        every = every + contest.trials
    return _least(every).family, np.array([trial.score for trial in every])


class _Contest:
    """Families on the same rows and the same random numbers, which are others in each contest."""

    def __init__(
        self,
        families: list[Neurons],
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        seed: int,
        n_jobs: int | None,
        number: int,
    ) -> None:
        rows, most, self.n_neurons = np.arange(len(targets)), ROWS, NEURONS
        if any(family.adapts for family in families):
            most, self.n_neurons = ADAPTING[number]
        if len(rows) > most:
            rng = generator(seed, Purpose.SEARCH, 2 * number)
            rows = np.sort(rng.choice(rows, most, replace=False))
        self.X, self.targets = to_host(take(X, rows)), targets[rows]
        self.weight = None if weight is None else weight[rows]
        self.seed, self.n_jobs, self.number = seed, n_jobs, number
        self.trials = [self._tried(family) for family in families]

    def refined(self) -> Neurons | None:
        """What the best family becomes by what was learned with it."""
        best = _least(self.trials)
        return best.family.refined(self.X, best.weights, best.coef, self.weight)

    def _tried(self, family: Neurons) -> _Trial:
        rng = generator(self.seed, Purpose.SEARCH, 2 * self.number + 1)
        weights = draw(family, rng, self.n_neurons, self.X.dtype)
        n_columns = self.n_neurons * family.width
        parts = map_rows(lambda rows: family(self.X[rows], weights), self.X, n_columns, self.n_jobs)
        Z = np.concatenate(parts)
        statistics = Statistics(n_columns, self.targets.mean(axis=0))
        statistics.add(Z, self.targets, self.weight, least_ridge(len(Z)), self.n_jobs)
        moments = statistics.centred()
        with linear_algebra(self.n_jobs, n_columns**3):
            solution = solve_by_gcv(moments)
        assert solution.scores is not None
        varies = moments.y_variance > 0
        variance = moments.y_variance[varies]
        score = (solution.scores.min(axis=1)[varies] / variance).sum()
        coef = solution.coef[:, varies] / np.sqrt(variance)
        by_neuron = coef.reshape(family.width, self.n_neurons, -1).swapaxes(0, 1)
        return _Trial(family, score, weights, by_neuron)


def _least(trials: list[_Trial]) -> _Trial:
    return min(trials, key=lambda trial: trial.score)
