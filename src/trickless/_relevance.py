"""How much each feature matters: the slopes of a function that Gaussian neurons learn.

This is the recursive feature machine of Radhakrishnan et al. (Science 383, 2024), by the diagonal
of its matrix, the average gradient outer product: ridge regression gives a first function; each
feature then gets a length scale in inverse proportion to the slope of the function along it, and so
on. It is a finding about the data, which any family may use in its own way. Gaussian neurons look
for it, whatever the family, since slopes have to exist: those of functions with kinks are noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from trickless._blocks import row_blocks
from trickless._stream import Purpose, generator
from trickless._trial import Trial, Trials, best
from trickless.neurons import Gaussian
from trickless.neurons._base import Relevance
from trickless.neurons._projected import project

#: Rows, at most, and neurons of each round. What matters has to be told from noise in the first
#: ones, which takes more of both.
ROUNDS = ((8192, 512),) * 2 + ((4096, 256),) * 4
#: Length scales of a round: of the first in medians of the distance, of the others in that of the
#: round before.
MULTIPLES = (1 / 2, 1.0, 2.0)
#: A feature counts at least so much of what the one that matters most does.
LEAST = 1e-3
#: Slopes held at a time.
_SLOPES = 2**22


def find_relevance(
    X: Any, targets: np.ndarray, weight: np.ndarray | None, seed: int, n_jobs: int | None
) -> Relevance:
    """How much each feature matters for the targets.

    Each round meets other rows and neurons than those before: relevance that was found in the noise
    of a sample is not found again. In the end, what all rounds began with is compared on the same
    rows; among it is one length scale for all features, in case that is the best.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
        Outputs count alike, whatever their units.
    weight : array of shape (n_rows,) or None
    seed : int
    n_jobs : int or None
        Threads.

    Returns
    -------
    Relevance
    """
    family, factor = Gaussian().fit(X, generator(seed, Purpose.FIT), weight), 1.0
    found: list[Gaussian] = []
    for number, (most, n_neurons) in enumerate(ROUNDS, start=1):
        trials = Trials(X, targets, weight, seed, number, most, n_neurons, n_jobs)
        families = [_times(family, factor * multiple) for multiple in MULTIPLES]
        first = best(trials.of(families))
        factor *= MULTIPLES[families.index(first.family)]
        found.append(first.family)
        relevance = relevance_to(first, trials.X, trials.weight)
        if relevance is None:
            break
        family = family.by_relevance(relevance, trials.X, trials.weight)
    trials = Trials(X, targets, weight, seed, len(ROUNDS) + 1, *ROUNDS[-1], n_jobs)
    scale = best(trials.of(found)).family.length_scale_
    spread = _standard_deviations(trials.X, trials.weight)
    return Relevance(np.broadcast_to(1 / scale, spread.shape), spread)


def _times(family: Gaussian, factor: float) -> Gaussian:
    return family.with_length_scale(factor * family.length_scale_)


def relevance_to(trial: Trial, X: Any, weight: np.ndarray | None) -> Relevance | None:
    """How much each feature matters to the function of a trial of Gaussian neurons.

    Its slope is √E (∂f/∂x_j)², the mean over rows of X, for all outputs together. None if it is a
    constant.
    """
    frequencies, coef = trial.weights[0], trial.coef
    weight = np.ones(X.shape[0]) if weight is None else weight
    square = np.zeros(X.shape[1])
    for rows in row_blocks(X.shape[0], max(1, _SLOPES // X.shape[1])):
        t = project(X[rows], frequencies)
        for cosine, sine in zip(coef[:, 0].T, coef[:, 1].T, strict=True):
            slopes = (sine * np.cos(t) - cosine * np.sin(t)) @ frequencies
            square += weight[rows] @ slopes**2
    spread = _standard_deviations(X, weight)
    matters = np.sqrt(square / weight.sum()) * spread
    if not matters.any():
        return None
    matters = np.maximum(matters, LEAST * matters.max())
    return Relevance(matters / np.where(spread > 0, spread, 1.0), spread)


def _standard_deviations(X: Any, weight: np.ndarray | None) -> np.ndarray:
    """Of the columns of a dense or sparse matrix."""
    if issparse(X):
        return np.sqrt(mean_variance_axis(X.tocsr().astype(np.float64), 0, weights=weight)[1])
    X = np.asarray(X, dtype=np.float64)
    mean = np.average(X, axis=0, weights=weight)
    return np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
