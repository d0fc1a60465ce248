"""Decision stumps: the sign of one coordinate against a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtr

from trickless._blocks import namespace
from trickless._validation.rules import choice
from trickless.neurons._base import Weights, sample_rows
from trickless.neurons._projected import Projected

_THRESHOLD_ROWS = 1024
_THRESHOLD_VALUES = 4_000_000


class Stumps(Projected):
    r"""Decision stumps.

    .. math:: \psi(x; j, \theta) = \mathrm{sign}(x_j - \theta), \qquad j \sim U\{1, \dots, d\}

    with the kernel :math:`k(x, x') = 1 - \frac{2}{d} \sum_j |F_j(x_j) - F_j(x'_j)|`, where
    :math:`F_j` is the distribution function of the thresholds of coordinate j.

    Parameters
    ----------
    thresholds : {"data", "normal"}, default="data"
        "data" draws a threshold uniformly from the midpoints between consecutive distinct values
        of the coordinate in (up to 1,024 of) the training rows, whatever its scale, so a two-valued
        coordinate is always split. "normal" draws from N(0, 1), as in [1]_, for standardised
        inputs.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KitchenSinksClassifier("stumps", n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _rules = {
        "thresholds": choice("data", "normal", remedy="'data' fits inputs of every scale"),
    }

    def __init__(self, thresholds: str = "data") -> None:
        self.thresholds = thresholds

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Stumps:
        super().fit(X, rng, sample_weight)
        if self.thresholds == "data":
            n_rows = max(2, min(_THRESHOLD_ROWS, _THRESHOLD_VALUES // X.shape[1]))
            rows, _ = sample_rows(X, rng, n_rows, sample_weight)
            columns = (rows.toarray() if issparse(rows) else np.asarray(rows)).T
            cuts = [_midpoints(column) for column in columns]
            self.cuts_ = np.concatenate(cuts).astype(np.float64)
            self._starts = np.cumsum([0, *map(len, cuts)])
        return self

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        j = rng.integers(self.n_features_in_, size=n)
        if self.thresholds == "normal":
            return j, rng.standard_normal(n)
        start, stop = self._starts[j], self._starts[j + 1]
        return j, self.cuts_[start + (rng.random(n) * (stop - start)).astype(int)]

    def respond(self, t: Any, threshold: Any) -> Any:
        xp = namespace(t)
        return xp.astype(t > threshold, t.dtype) * 2 - 1

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        F_x = self._distribution(np.asarray(X))
        F_y = F_x if Y is None else self._distribution(np.asarray(Y))
        total = np.zeros((len(F_x), len(F_y)))
        for a, b in zip(F_x.T, F_y.T, strict=True):
            total += np.abs(a[:, None] - b[None, :])
        return 1 - 2 * total / self.n_features_in_

    def _distribution(self, X: np.ndarray) -> np.ndarray:
        """Share of the thresholds of each coordinate that lie below the value."""
        if self.thresholds == "normal":
            return ndtr(X)
        cuts = np.split(self.cuts_, self._starts[1:-1])
        below = [
            np.searchsorted(cut, x, "left") / len(cut) for cut, x in zip(cuts, X.T, strict=True)
        ]
        return np.stack(below, axis=1)


def _midpoints(column: np.ndarray) -> np.ndarray:
    """Cuts between consecutive distinct values; the value itself where there is only one.

    The cut is the midpoint, or the lower value where the midpoint rounds to the upper one.
    """
    values = np.unique(column)
    if len(values) == 1:
        return values
    lower, upper = values[:-1], values[1:]
    middle = lower / 2 + upper / 2  # a difference could overflow
    return np.where(middle < upper, middle, lower)
