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
from trickless._contest import Contest, Entry, best
from trickless._stream import Purpose, generator
from trickless.neurons import Gaussian, Relevance
from trickless.neurons._projected import project

#: Rows, at most, and neurons of each round, and those on which rounds are compared in the end.
#: What matters has to be told from noise, which takes more of both.
SIZE, COMPARED = (8192, 512), (4096, 256)
#: Length scales of each round: of the first in medians of the distance, of the others in that of
#: the round before.
MULTIPLES = ((1 / 2, 1.0, 2.0),) * 2 + ((1.0,),) * 4
#: A feature counts at least so much of what the one that matters most does.
LEAST = 1e-3
#: What rounding may make of the deviation of a constant, relative to it.
_ROUNDING = 1e-7
#: Slopes held at a time.
_SLOPES = 2**22


def find_relevance(
    X: Any, targets: np.ndarray, weight: np.ndarray | None, seed: int, n_jobs: int | None
) -> Relevance:
    """How much each feature matters for the targets.

    Each round meets other rows, if there are enough, and neurons than those before: relevance that
    was found in the noise of a sample is not found again. In the end, what all rounds began with is
    compared on the same rows; among it is one length scale for all features, in case that is best.

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
    rows = X, targets, weight, seed, Purpose.RELEVANCE
    for number, multiples in enumerate(MULTIPLES):
        contest = Contest(*rows, number, *SIZE, n_jobs)
        families = [_times(family, factor * multiple) for multiple in multiples]
        first = best(contest.entries(families))
        factor *= multiples[families.index(first.family)]
        found.append(first.family)
        relevance = None if number == len(MULTIPLES) - 1 else relevance_to(first, contest)
        if relevance is None:
            break
        family = family.by_relevance(relevance)
    contest = Contest(*rows, len(MULTIPLES), *COMPARED, n_jobs)
    scale = best(contest.entries(found)).family.length_scale_
    spread = _standard_deviations(contest.X, contest.weight)
    slope = np.broadcast_to(1 / scale, spread.shape)
    return Relevance(slope, spread, contest.X, contest.weight)


def _times(family: Gaussian, factor: float) -> Gaussian:
    return family.with_length_scale(factor * family.length_scale_)


def relevance_to(entry: Entry, contest: Contest) -> Relevance | None:
    """How much each feature matters to the function of an entry of Gaussian neurons.

    Its slope is √E (∂f/∂x_j)², the mean over the rows, for all outputs together. None if it is a
    constant.
    """
    X, (frequencies,), coef = contest.X, entry.weights, entry.coef
    weight = np.ones(X.shape[0]) if contest.weight is None else contest.weight
    square = np.zeros(X.shape[1])
    for rows in row_blocks(X.shape[0], max(1, _SLOPES // X.shape[1])):
        t = project(X[rows], frequencies)
        cos, sin = np.cos(t), np.sin(t)
        for of_cos, of_sin in zip(coef[:, 0].T, coef[:, 1].T, strict=True):
            square += weight[rows] @ ((of_sin * cos - of_cos * sin) @ frequencies) ** 2
    spread = _standard_deviations(X, contest.weight)
    matters = np.sqrt(square / weight.sum()) * spread
    if not matters.any():
        return None
    matters = np.maximum(matters, LEAST * matters.max())
    slope = matters / np.where(spread > 0, spread, 1.0)
    return Relevance(slope, spread, X, contest.weight)


def _standard_deviations(X: Any, weight: np.ndarray | None) -> np.ndarray:
    """Of the columns of a dense or sparse matrix; 0 where rounding leaves more of a constant."""
    if issparse(X):
        mean, variance = mean_variance_axis(X.tocsr().astype(np.float64), 0, weights=weight)
    else:
        X = np.asarray(X, dtype=np.float64)
        mean = np.average(X, axis=0, weights=weight)
        variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    spread = np.sqrt(variance)
    return np.where(spread > _ROUNDING * np.abs(mean), spread, 0.0)
