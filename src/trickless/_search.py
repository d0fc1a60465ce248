"""Choosing a family of neurons by the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._relevance import find_relevance
from trickless._trial import Trials, best
from trickless.neurons import Neurons

#: Rows, at most, and neurons on which families are compared.
ROWS, NEURONS = 4096, 256


def choose(
    families: list[Neurons],
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
) -> tuple[Neurons, np.ndarray | None]:
    """The family with the least score of generalised cross-validation, relative to a constant's.

    Families that go by the relevance of features are told it first. Each output has the alpha that
    suits it best; several outputs count alike.

    Parameters
    ----------
    families : list of Neurons
        Fitted. Their candidates are compared.
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,) or None
    seed : int
    n_jobs : int or None
        Threads.

    Returns
    -------
    family : Neurons
    scores : array of shape (n_candidates,) or None
        None where there is one candidate only.
    """
    told = any(family.wants_relevance for family in families)
    if not told and len(candidates := _candidates(families)) == 1:
        return candidates[0], None
    trials = Trials(X, targets, weight, seed, 0, ROWS, NEURONS, n_jobs)
    if told:
        relevance = find_relevance(X, targets, weight, seed, n_jobs)
        families = [
            family.by_relevance(relevance, trials.X, trials.weight)
            if family.wants_relevance
            else family
            for family in families
        ]
    tried = trials.of(_candidates(families))
    return best(tried).family, np.array([trial.score for trial in tried])


def _candidates(families: list[Neurons]) -> list[Neurons]:
    return [candidate for family in families for candidate in family.candidates()]
