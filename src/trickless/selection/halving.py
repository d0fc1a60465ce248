"""Choosing a family of neurons by the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.functions.stream import Purpose
from trickless.neurons import Neurons
from trickless.selection.relevance import find_relevance
from trickless.selection.scores import Contest

#: Rows, at most, and neurons on which families are compared, in the rounds.
ROUNDS = (4096, 256), (16_384, 512), (16_384, 1024), (32_768, 2048)
#: A later round takes place if its products are at most this share of those of a fit.
SHARE = 1 / 4


def choose(
    families: list[Neurons],
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    n_neurons: int,
    seed: int,
    n_jobs: int | None,
) -> tuple[Neurons, np.ndarray | None]:
    """The family with the least score of generalised cross-validation, relative to a constant's.

    Families that go by the relevance of features are told it first. Each output has the alpha that
    suits it best; several outputs count alike. Few rows and neurons say little, and want larger
    length scales than many; so the better half, two at least, goes on to a round with more of both
    while that is little beside the fit to come (successive halving [1]_).

    Parameters
    ----------
    families : list of Neurons
        Fitted. Their candidates are compared.
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,) or None
    n_neurons : int
        Of the model.
    seed : int
    n_jobs : int or None
        Threads.

    Returns
    -------
    family : Neurons
    scores : array of shape (n_candidates,) or None
        Of the last round that a candidate was in; None where there is one candidate only.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic best arm identification and
       hyperparameter optimization", AISTATS 2016.
    """
    if any(family.wants_relevance for family in families):
        relevance = find_relevance(X, targets, weight, seed, n_jobs)
        families = [
            family.by_relevance(relevance) if family.wants_relevance else family
            for family in families
        ]
    candidates = [candidate for family in families for candidate in family.candidates()]
    if len(candidates) == 1:
        return candidates[0], None
    scores, left = np.empty(len(candidates)), np.arange(len(candidates))
    for number, (most, neurons) in enumerate(ROUNDS):
        if number:
            half = left[: max(2, -(-len(left) // 2))]
            products = len(half) * most * neurons**2
            n_rows = len(targets)
            if most > n_rows or products > SHARE * n_rows * n_neurons**2:
                break
            left = half
        contest = Contest(X, targets, weight, seed, Purpose.SEARCH, number, most, neurons, n_jobs)
        entries = contest.entries([candidates[i] for i in left])
        scores[left] = [entry.score for entry in entries]
        left = left[np.argsort(scores[left], kind="stable")]
    return candidates[left[0]], scores
