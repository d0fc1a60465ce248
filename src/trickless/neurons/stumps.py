"""Decision stumps: whether one feature is above a threshold."""

from __future__ import annotations

from copy import copy
from typing import Annotated, Any, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtr

from trickless._arrays.places import namespace
from trickless._arrays.stated import Array, check_array
from trickless._rules import NONE, choice, either, shares
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.bins import midpoints
from trickless.neurons.checks import check_one_each
from trickless.neurons.inputs import Relevance
from trickless.neurons.projected import Projected
from trickless.neurons.samples import sample_rows

_THRESHOLD_ROWS = 1024
_THRESHOLD_VALUES = 4_000_000
#: Candidates for the weights of features are these powers of the relevance.
_POWERS = 0, 1, 2


class Stumps(Projected):
    r"""Decision stumps, which compare one feature with a threshold.

    .. math:: \psi(x; j, \theta) = \mathrm{sign}(x_j - \theta), \qquad P(j) = p_j

    The kernel is :math:`k(x, x') = 1 - 2 \sum_j p_j |F_j(x_j) - F_j(x'_j)|`, where :math:`F_j` is
    the distribution function of the thresholds of feature j. By default, all features are equally
    likely, :math:`p_j = 1 / d`.

    Parameters
    ----------
    thresholds : {"data", "normal"}, default="data"
        How thresholds are drawn.

        - "data" draws from the midpoints between consecutive distinct values of the feature, in at
          most 1,024 training rows. Inputs may have any scale, and a feature with two values is
          always split. It does not matter how often a value occurs, nor what its rows weigh.
        - "normal" draws from N(0, 1), as in [1]_. It suits standardised inputs.
    feature_weights : "relevance", array of shape (n_features,) or None, default=None
        How often each feature is drawn, relative to the others.

        - None draws all features equally often.
        - An array has a number for each feature. Some numbers may be 0.
        - "relevance" finds weights for data where some features matter more than others. Relevance
          is the standard deviation of a feature divided by the length scale that Gaussian neurons
          find for it. The weights are the relevance, its square, or all equal, whichever the
          learner finds best. The notes of :class:`Gaussian` say how.

    Attributes
    ----------
    feature_weights_ : array of shape (n_features,) or None
        Probability of each feature. None if all are equally likely.

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
        "feature_weights": either(
            shares("feature_weights=None draws all features equally often"),
            choice("relevance", remedy=""),
            NONE,
        ),
    }

    feature_weights_: Annotated[np.ndarray, Array("f8", "n_features_in_", least=0)] | None

    def __init__(self, thresholds: str = "data", feature_weights: Any = None) -> None:
        self.thresholds = thresholds
        self.feature_weights = feature_weights

    @property
    def _by_order(self) -> bool:  # type: ignore[override]
        """Whether thresholds come from the rows, so that they may lie between close values."""
        return self.thresholds == "data"

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        self.feature_weights_ = None
        if not (self.feature_weights is None or isinstance(self.feature_weights, str)):
            given = np.array(self.feature_weights, dtype=np.float64)
            check_one_each(type(self).__name__, "feature_weights", given, X.shape[1])
            self.feature_weights_ = given / given.sum()
        if self.thresholds == "data":
            n_rows = max(2, min(_THRESHOLD_ROWS, _THRESHOLD_VALUES // X.shape[1]))
            rows, _ = sample_rows(X, rng, n_rows, sample_weight)
            columns = (rows.toarray() if issparse(rows) else np.asarray(rows)).T
            cuts = [_midpoints(column) for column in columns]
            self.cuts_ = np.concatenate(cuts).astype(np.float64)
            self._starts = np.cumsum([0, *map(len, cuts)])
        return self

    def check_state(self) -> None:
        super().check_state()
        d = self.n_features_in_
        if hasattr(self, "_starts"):
            check_array("cuts_", self.cuts_, "f8", (None,))
            check_array("_starts", self._starts, "i8", (d + 1,), 0, len(self.cuts_) + 1)
            check_array("numbers of cuts_", np.diff(self._starts), "i8", (d,), 1)

    @property
    def _wants_relevance(self) -> bool:
        return isinstance(self.feature_weights, str)

    def _by_relevance(self, relevance: Relevance) -> Stumps:
        return self._weighted(relevance.shares())

    def _candidates(self) -> list[Neurons]:
        if not self._wants_relevance or self.feature_weights_ is None:
            return [self]
        return [self._weighted(self.feature_weights_**power) for power in _POWERS]

    def _weighted(self, weights: np.ndarray) -> Stumps:
        family = copy(self)
        family.feature_weights_ = weights / weights.sum()
        return family

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        if self.feature_weights_ is None:
            j = rng.integers(self.n_features_in_, size=n)
        else:
            j = rng.choice(self.n_features_in_, size=n, p=self.feature_weights_)
        if self.thresholds == "normal":
            return j, rng.standard_normal(n)
        start, stop = self._starts[j], self._starts[j + 1]
        return j, self.cuts_[start + (rng.random(n) * (stop - start)).astype(int)]

    def respond(self, t: Any, threshold: Any) -> Any:
        xp = namespace(t)
        return xp.astype(t > threshold, t.dtype) * 2 - 1

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        F_x, F_y = self._distribution(X), self._distribution(Y)
        d = self.n_features_in_
        p = np.full(d, 1 / d) if self.feature_weights_ is None else self.feature_weights_
        total = np.zeros((len(F_x), len(F_y)))
        for share, a, b in zip(p, F_x.T, F_y.T, strict=True):
            total += share * np.abs(a[:, None] - b[None, :])
        return 1 - 2 * total

    def _distribution(self, X: np.ndarray) -> np.ndarray:
        """Compute the share of the thresholds of each feature that lie below its value."""
        if self.thresholds == "normal":
            return ndtr(X)
        cuts = np.split(self.cuts_, self._starts[1:-1])
        below = [
            np.searchsorted(cut, x, "left") / len(cut) for cut, x in zip(cuts, X.T, strict=True)
        ]
        return np.stack(below, axis=1)


def _midpoints(column: np.ndarray) -> np.ndarray:
    """Compute midpoints between consecutive distinct values, or return the only value."""
    values = np.unique(column)
    return values if len(values) == 1 else midpoints(values)
