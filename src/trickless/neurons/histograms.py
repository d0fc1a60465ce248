"""Neurons for histograms: rows of counts, shares or intensities of at least 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from scipy.sparse import issparse

from trickless.arrays.places import namespace, to_host
from trickless.arrays.stated import check_array
from trickless.errors import InvalidValueError
from trickless.neurons.base import Weights
from trickless.neurons.projected import Projected


class Histograms(Projected):
    r"""Neurons that read one bin, for additive kernels :math:`\sum_j k(x_j, x'_j) / \sum_j m_j`.

    Here :math:`m_j` is the largest training value of bin j, and k is homogeneous:
    :math:`k(cx_j, cx'_j) = c \, k(x_j, x'_j)`. Bin j can therefore be drawn in proportion to
    :math:`m_j` and divided by :math:`m_j`, which bounds neurons by 1. Values above :math:`m_j`
    count as :math:`m_j`.

    Attributes
    ----------
    largest_ : array of shape (n_features,)
        Values :math:`m_j`. All are 1 if all training rows are zero.
    """

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Histograms:
        super().fit(X, rng, sample_weight)
        self.prepare(X)
        largest = X.max(axis=0).toarray() if issparse(X) else to_host(namespace(X).max(X, axis=0))
        largest = largest.ravel()
        self.largest_ = largest.astype(np.float64) if largest.any() else np.ones(len(largest))
        return self

    def check_state(self) -> None:
        super().check_state()
        if hasattr(self, "largest_"):
            check_array("largest_", self.largest_, "f8", (self.n_features_in_,), 0)

    def draw_bins(self, rng: np.random.Generator, n: int) -> np.ndarray:
        chance = self.largest_ / self.largest_.max()
        return rng.choice(self.n_features_in_, n, p=chance / chance.sum())

    def prepare(self, X: Any) -> Any:
        """Check that no value is negative, and return the rows unchanged."""
        check_histograms(type(self).__name__, X)
        return X

    def clipped(self, X: Any) -> np.ndarray:
        return np.minimum(np.asarray(X, dtype=np.float64), self.largest_)


class Chi2(Histograms):
    r"""Neurons for histograms with the additive chi-squared kernel.

    .. math:: \psi(x; j, \lambda) = \sqrt{x_j / m_j} \,
        \big( \cos(\lambda \log (x_j / m_j)), \sin(\lambda \log (x_j / m_j)) \big), \qquad
        P(j) \propto m_j, \; \lambda \sim \mathrm{sech}(\pi \lambda)

    A neuron is a pair of cosine and sine of the logarithm of one bin. The kernel is :math:`k(x, x')
    = \frac{1}{\sum_j m_j} \sum_j \frac{2 x_j x'_j}{x_j + x'_j}`. scikit-learn's
    ``AdditiveChi2Sampler`` has the same kernel without the divisor :math:`\sum_j m_j`. Here
    :math:`m_j` is the largest value of bin j in the training rows (the first batch of a stream).
    Larger values count as :math:`m_j`. An empty bin gives 0.

    Inputs must not be negative. Rows are used unchanged. If their sums carry no meaning, like the
    lengths of documents, divide each row by its sum first.

    References
    ----------
    .. [1] A. Vedaldi and A. Zisserman, "Efficient additive kernels via explicit feature maps",
       IEEE TPAMI 34(3), 2012, Table 1 (the spectrum, which it samples at regular steps).
    .. [2] F. Li, C. Ionescu and C. Sminchisescu, "Random Fourier approximations for skewed
       multiplicative histogram kernels", DAGM 2010 (random frequencies of such spectra).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_digits(return_X_y=True)  # intensities
    >>> model = KitchenSinksClassifier("chi2", n_neurons=300, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    width = 2

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        j = self.draw_bins(rng, n)
        uniform = 1 - rng.random(n)  # never 0
        return j, self.largest_[j], np.log(np.tan(np.pi / 2 * uniform)) / np.pi

    def respond(self, t: Any, largest: Any, frequency: Any) -> Any:
        xp = namespace(t)
        share = xp.where(t < largest, t, largest) / largest
        angle = frequency * xp.log(xp.where(share > 0, share, xp.ones_like(share)))
        root = xp.sqrt(share)
        return xp.concat((root * xp.cos(angle), root * xp.sin(angle)), axis=1)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        X, Y = self.clipped(X), self.clipped(Y)
        sums = X.sum(axis=1)[:, None] + Y.sum(axis=1)
        minus_chi2 = sklearn.metrics.pairwise.additive_chi2_kernel(X, Y)
        return (sums + minus_chi2) / 2 / self.largest_.sum()


class Intersection(Histograms):
    r"""Neurons for histograms with the histogram intersection kernel.

    .. math:: \psi(x; j, \theta) = \mathbb{1}[x_j > \theta], \qquad
        P(j) \propto m_j, \; \theta \sim U(0, m_j)

    A neuron says whether one bin holds more than a random level. The kernel is :math:`k(x, x') =
    \frac{1}{\sum_j m_j} \sum_j \min(x_j, x'_j)`, where :math:`m_j` is the largest value of bin j in
    the training rows (the first batch of a stream). Larger values count as :math:`m_j`.

    Inputs must not be negative. Rows are used unchanged. If their sums carry no meaning, like the
    lengths of documents, divide each row by its sum first.

    References
    ----------
    .. [1] S. Maji and A. C. Berg, "Max-margin additive classifiers for detection", ICCV 2009
       (thresholds at regular steps, for the same kernel).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_digits(return_X_y=True)  # intensities
    >>> model = KitchenSinksClassifier("intersection", n_neurons=300, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        j = self.draw_bins(rng, n)
        return j, self.largest_[j] * rng.random(n)

    def respond(self, t: Any, threshold: Any) -> Any:
        return namespace(t).astype(t > threshold, t.dtype)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        X, Y = self.clipped(X), self.clipped(Y)
        sums = X.sum(axis=1)[:, None] + Y.sum(axis=1)
        return (sums - sklearn.metrics.pairwise.manhattan_distances(X, Y)) / 2 / self.largest_.sum()


def check_histograms(owner: str, X: Any) -> None:
    """Check that dense or sparse rows hold no negative values."""
    values = X.data if issparse(X) else X
    lowest = namespace(values).min(values) if all(values.shape) else 0.0
    check_non_negative(owner, float(lowest))


def check_non_negative(owner: str, lowest: float) -> None:
    """Check that rows are histograms, which hold no negative values."""
    if lowest < 0:
        raise InvalidValueError(
            f"{owner}: X holds negative values, down to {lowest:g}, but its rows must be "
            "histograms: counts, shares or intensities of at least 0",
            "do not centre X (StandardScaler does), or choose neurons ('gaussian') or a kernel "
            "('rbf') for any inputs",
        )
