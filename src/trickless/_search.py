"""Choosing a family of neurons by the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._contest import Contest, best
from trickless._relevance import find_relevance
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
    if any(family.wants_relevance for family in families):
        relevance = find_relevance(X, targets, weight, seed, n_jobs)
        families = [
            family.by_relevance(relevance) if family.wants_relevance else family
            for family in families
        ]
    candidates = [candidate for family in families for candidate in family.candidates()]
    if len(candidates) == 1:
        return candidates[0], None
    entries = Contest(X, targets, weight, seed, 0, ROWS, NEURONS, n_jobs).entries(candidates)
    return best(entries).family, np.array([entry.score for entry in entries])
