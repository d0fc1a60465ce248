"""A linear function of the features, compared with neurons on the same rows.

Random neurons see each feature through all others. With thousands of features, as in text, a target
may depend a little on many of them, and a linear function then often predicts much better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.sparse import issparse

from trickless._arrays.threads import linear_algebra
from trickless._functions.stream import Purpose
from trickless._selection.scores import Comparison
from trickless.neurons import Neurons

#: Features from which neurons may lose to a linear function. The least and the most rows, and the
#: most columns of the neurons, for which that is tried.
_WIDE, _LEAST_ROWS, _ROWS, _COLUMNS = 1024, 100, 384, 1024
#: The linear function must leave at most this share of the error of the neurons.
_CLEARLY = 0.7


class Linear(NamedTuple):
    """Shares of the variance of the targets that are explained at rows left out of the fit."""

    linear: float
    neurons: float

    @property
    def clearly_better(self) -> bool:
        """Whether the linear function predicts better, by more than the error of the comparison."""
        return 1 - self.linear < _CLEARLY * (1 - self.neurons)


def compare_with_linear(
    family: Neurons,
    n_neurons: int,
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
    groups: np.ndarray | None = None,
) -> Linear | None:
    """Compare neurons with a linear function, both by ridge regression on at most 384 rows.

    The result is None for narrow or few rows, for trees, and for families that read tables. It is
    also None if the linear function itself predicts little, so that the neurons need no comparison.
    There are at most 1,024 columns of activations.
    """
    narrow = X.shape[1] < _WIDE or X.shape[0] < _LEAST_ROWS
    if narrow or family.accepts_tables or not np.ptp(targets, axis=0).any():
        return None
    n = max(1, min(n_neurons, _COLUMNS // family.width))
    comparison = Comparison(
        X, targets, weight, seed, Purpose.LINEAR, 0, _ROWS, n, n_jobs, groups=groups
    )
    n_varying = np.count_nonzero(np.ptp(comparison.targets, axis=0))
    if not n_varying:
        return None
    linear = comparison.score_of(*_moments(comparison)) / n_varying
    if linear >= _CLEARLY:
        return None
    score = comparison.score_of(*comparison.moments(family, comparison.draw(family)))
    return Linear(1 - linear, 1 - score / n_varying)


def _moments(comparison: Comparison) -> Any:
    """Compute moments of the features in fewer columns: rows with the same inner products."""
    X = comparison.X.astype(np.float64)
    products = (X @ X.T).toarray() if issparse(X) else X @ X.T
    with linear_algebra(comparison.n_jobs, len(products) ** 3):
        eigenvalues, vectors = linalg.eigh(products)
    rows = vectors * np.sqrt(np.maximum(eigenvalues, 0))
    return comparison.summed("linear function", len(rows), lambda some: rows[some])
