"""Choosing a family of neurons by the data: ridge regression on a few rows and neurons of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._devices import take, to_host
from trickless._least_squares import Statistics, solve_by_gcv
from trickless._stream import Purpose, draw, generator
from trickless.neurons import Neurons

#: Rows and neurons on which families are compared.
ROWS, NEURONS = 1500, 256


def scores(
    families: list[Neurons], X: Any, targets: np.ndarray, weight: np.ndarray | None, seed: int
) -> np.ndarray:
    """Generalised cross-validation score of each family, relative to that of a constant.

    All families get the same rows and the same random numbers. Each output has the alpha that
    suits it best; several outputs count alike.

    Parameters
    ----------
    families : list of Neurons
        Fitted.
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,) or None
    seed : int

    Returns
    -------
    array of shape (len(families),)
    """
    rows = np.arange(len(targets))
    if len(rows) > ROWS:
        rows = np.sort(generator(seed, Purpose.SEARCH).choice(rows, ROWS, replace=False))
    X, targets = to_host(take(X, rows)), targets[rows]
    part = None if weight is None else weight[rows]
    result = []
    for neurons in families:
        weights = draw(neurons, generator(seed, Purpose.SEARCH, 1), NEURONS, X.dtype)
        Z = neurons(X, weights)
        statistics = Statistics(Z.shape[1], targets.mean(axis=0))
        statistics.add(Z, targets, part)
        moments = statistics.centred()
        found = solve_by_gcv(moments).scores
        assert found is not None
        varies = moments.y_variance > 0
        result.append((found.min(axis=1)[varies] / moments.y_variance[varies]).sum())
    return np.array(result)
