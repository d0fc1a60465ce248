"""Successive halving, which chooses a family of neurons from the data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from trickless._functions.stream import Purpose
from trickless._selection.relevance import FEW_ROWS, LearnedRelevance, learned_relevance
from trickless._selection.scores import Comparison
from trickless.neurons import Neurons
from trickless.neurons.inputs import Relevance
from trickless.neurons.isotropic import Isotropic

#: The largest number of rows, and the neurons of each family, in each round.
ROUNDS = (4096, 256), (16_384, 512), (16_384, 1024), (32_768, 2048)
#: A round after the first takes place only if it costs at most this share of the fit.
SHARE = 1 / 4
#: The least rows for each feature with which "auto" tries a length scale for each feature.
_ROWS_PER_SCALE = 2
#: How much a length scale of its own must lower the error at rows that are left out, relative to 1
#: over the number of rows. It is 2 for a parameter that is fitted by least squares (Akaike, "A new
#: look at the statistical model identification", 1974). Twice that did best on small tables.
_PARAMETERS = 4


def choose(
    families: list[Neurons],
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    products: int,
    seed: int,
    n_jobs: int | None,
    alpha: float | None = None,
    groups: np.ndarray | None = None,
) -> tuple[Neurons, np.ndarray | None]:
    """Choose the family with the least cross-validation score, by successive halving [1]_.

    All candidates of the fitted ``families`` are compared. The first round has few rows and few
    neurons, so it is inexact, and prefers larger length scales than more rows and neurons would.
    The half with the lower scores, at least two, therefore enters another round with more rows and
    neurons. Rounds continue as long as they take little time compared with the fit, which needs
    about ``products`` multiplications for each row.

    :class:`~trickless._selection.scores.Comparison` explains the scores. With an ``alpha``,
    families are compared at that regularisation strength. With ``groups``, rows are left out with
    all rows of their group. Families that use the relevance of features receive it first.

    The result is the best family, and each candidate's score in its last round. With only one
    candidate, there are no scores (None).

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic best arm identification and
       hyperparameter optimization", AISTATS 2016.
    """
    relevance = partial(LearnedRelevance, X, targets, weight, seed, n_jobs, groups)
    if any(family._wants_relevance for family in families):
        learned = relevance()
        families = [_by_relevance(f, learned) if f._wants_relevance else f for f in families]
    candidates = [candidate for family in families for candidate in family._candidates()]
    if len(candidates) == 1:
        return candidates[0], None
    scores, left = np.empty(len(candidates)), np.arange(len(candidates))
    for number, (most, neurons) in enumerate(ROUNDS):
        if number:
            left = left[: max(2, -(-len(left) // 2))]
            cost = len(left) * most * neurons**2
            if most > len(targets) or cost > SHARE * len(targets) * products:
                break
        comparison = Comparison(
            X, targets, weight, seed, Purpose.SEARCH, number, most, neurons, n_jobs, alpha,
            groups=groups,
        )  # fmt: skip
        scores[left] = comparison.scores([candidates[i] for i in left])
        left = left[np.argsort(scores[left], kind="stable")]
    best = candidates[left[0]]
    if not isinstance(best, Isotropic) or not best.may_have_own_scales:
        return best, scores
    n_rows, n_features = min(len(targets), FEW_ROWS), best.n_features_in_
    if n_features * _ROWS_PER_SCALE > n_rows or issparse(comparison.X):
        return best, scores
    if len(np.unique(comparison.targets)) == 2:  # classes: left-out rows would seem too easy
        return best, scores
    own = relevance().most_likely(best, FEW_ROWS, (1.0,))
    score = comparison.scores([own])[0] * (1 + _PARAMETERS * n_features / n_rows)
    return own if score < scores.min() else best, np.append(scores, score)


def _by_relevance(family: Neurons, relevance: Relevance) -> Neurons:
    family = family._by_relevance(relevance)
    if learned_relevance(family) is None:
        family.relevance_ = relevance.importances
    return family
