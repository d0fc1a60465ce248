"""Fourier neurons: random frequencies whose distribution is the spectrum of a kernel."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import euclidean_distances

from trickless._blocks import namespace
from trickless._validation import choice, either, positive
from trickless.neurons._base import Neurons, Weights, sample_rows
from trickless.neurons._projected import Projected

_MEDIAN_ROWS = 1000
#: Length scales that "auto" chooses from, in units of the median distance.
_MULTIPLES = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)


class Fourier(Projected):
    r"""Cosine-sine pairs at random frequencies, for shift-invariant kernels.

    By Bochner's theorem a kernel :math:`k(x - x')` with :math:`k(0) = 1` is
    :math:`E_w \cos\langle w, x - x'\rangle`, the mean of products of the pairs
    :math:`(\cos\langle w, x\rangle, \sin\langle w, x\rangle)`. The pair has norm 1 exactly.
    """

    width = 2

    _rules = {
        "length_scale": either(
            positive("length_scale='median' sets it to the median distance of the training rows"),
            choice("median", "auto", remedy=""),
        )
    }

    def __init__(self, length_scale: float | str = "median") -> None:
        self.length_scale = length_scale

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Fourier:
        super().fit(X, rng, sample_weight)
        self.length_scale_ = (
            _median_distance(*sample_rows(X, rng, _MEDIAN_ROWS, sample_weight))
            if isinstance(self.length_scale, str)
            else float(self.length_scale)
        )
        return self

    def candidates(self) -> list[Neurons]:
        if self.length_scale != "auto":
            return [self]
        several = [copy(self) for _ in _MULTIPLES]
        for family, multiple in zip(several, _MULTIPLES, strict=True):
            family.length_scale_ = multiple * self.length_scale_
        return list(several)

    @abstractmethod
    def draw_frequencies(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """N frequencies for length scale 1, shape (n, n_features)."""

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return (self.draw_frequencies(rng, n) / self.length_scale_,)

    def respond(self, t: Any) -> Any:
        xp = namespace(t)
        return xp.concat((xp.cos(t), xp.sin(t)), axis=1)


class Gaussian(Fourier):
    r"""Fourier neurons of the Gaussian kernel.

    .. math:: k(x, x') = \exp(-\|x - x'\|^2 / (2 s^2)), \qquad w \sim N(0, I / s^2)

    Parameters
    ----------
    length_scale : float, "median" or "auto", default="median"
        The length scale s, in the units of the inputs. "median" takes the median distance between
        distinct training rows (up to 1,000 of them). "auto" chooses among six multiples of it, from
        1/8 to 4, by ridge regression with 256 neurons on at most 1,500 rows; its time does not grow
        with the rows.

    Attributes
    ----------
    length_scale_ : float
        The length scale in use.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.neurons import Gaussian
    >>> KitchenSinksRegressor(Gaussian(length_scale=0.5)).get_params()["neurons__length_scale"]
    0.5
    """

    def draw_frequencies(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.standard_normal((n, self.n_features_in_))

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        return np.exp(-0.5 * euclidean_distances(X, Y, squared=True) / self.length_scale_**2)


class Laplace(Fourier):
    r"""Fourier neurons of the Laplace kernel with the Euclidean norm.

    .. math:: k(x, x') = \exp(-\|x - x'\|_2 / s), \qquad w = z / (|g| s), \; z \sim N(0, I), \;
        g \sim N(0, 1)

    The frequencies are multivariate Cauchy: one g divides the whole vector z. (Dividing each
    coordinate by a g of its own would give the kernel with the 1-norm.)

    Parameters
    ----------
    length_scale : float, "median" or "auto", default="median"
        The length scale s, in the units of the inputs. "median" takes the median distance between
        distinct training rows (up to 1,000 of them). "auto" chooses among six multiples of it, from
        1/8 to 4, by ridge regression with 256 neurons on at most 1,500 rows; its time does not grow
        with the rows.

    Attributes
    ----------
    length_scale_ : float
        The length scale in use.
    """

    def draw_frequencies(self, rng: np.random.Generator, n: int) -> np.ndarray:
        z = rng.standard_normal((n, self.n_features_in_))
        return z / np.abs(rng.standard_normal((n, 1)))

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        return np.exp(-euclidean_distances(X, Y) / self.length_scale_)


def _median_distance(X: Any, weight: np.ndarray) -> float:
    """Weighted median of the distances between distinct rows; 1 where all rows are the same.

    A pair of rows counts as often as the product of their weights, which is what repeating the
    rows would do.
    """
    X = np.asarray(X, dtype=np.float64) if not issparse(X) else X.astype(np.float64)
    i, j = np.triu_indices(X.shape[0], k=1)
    distance = euclidean_distances(X)[i, j] if issparse(X) else pdist(X)
    pairs = weight[i] * weight[j]
    distinct = distance > 0
    if not distinct.any():
        return 1.0
    distance, pairs = distance[distinct], pairs[distinct]
    order = np.argsort(distance, kind="stable")
    cumulated = np.cumsum(pairs[order])
    return float(distance[order][np.searchsorted(cumulated, cumulated[-1] / 2)])
