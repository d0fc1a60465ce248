"""Fourier neurons of a periodic kernel, whose frequencies are multiples of that of the period."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Self

import numpy as np
import scipy.sparse
from scipy.sparse import issparse
from scipy.special import ive, ndtr

from trickless._rules import check_parameters, choice, either, positive, positives
from trickless.neurons.fourier import OneOrEach, median_distance, one_or_each
from trickless.neurons.separable import Separable

#: Below this length scale the multiples of a frequency count as rounded normal numbers.
_FINE = 1e-3
#: Digits to which rows are compared around the circle. Beyond them is rounding of X / period.
_DIGITS = 6


class Periodic(Separable):
    r"""Fourier neurons of the periodic kernel, a product over the features.

    .. math:: k(x, x') = \exp\Bigl(-2 \sum_{j=1}^{d}
        \frac{\sin^2(\pi (x_j - x'_j) / p_j)}{s_j^2}\Bigr)

    .. math:: w_j = \frac{2 \pi m_j}{p_j}, \qquad P(m_j = m) = e^{-1/s_j^2} I_{|m|}(1/s_j^2)

    Functions repeat after the period :math:`p_j` of each feature. For one feature, this is
    scikit-learn's ``ExpSineSquared``. The integers :math:`m_j` are independent, and :math:`I_m` is
    the modified Bessel function.

    Add families for a trend beside the pattern, and multiply them for a pattern that changes
    slowly: ``Gaussian(30.0) + Gaussian(10.0) * Periodic(1.0)``. :class:`On` chooses the columns
    that repeat. It may name a column twice, so ``On([0, 0], Periodic([24.0, 168.0]))`` is a daily
    pattern that depends on the day of the week, with time in hours. A sum of two families keeps the
    two patterns apart.

    Parameters
    ----------
    period : float or array, default=1.0
        Period p, in the units of the inputs. An array of shape (n_features,) has a period for each
        feature.
    length_scale : float, array or {"median", "auto"}, default="auto"
        Length scale s on a circle of radius 1, so it has no units, and no two values of a feature
        are farther apart than 2. Larger values give smoother functions. Above 2, most neurons are
        constants or single sines, so finer patterns need many neurons.

        - A number is the length scale of all features, and an array has one for each feature.
        - "median" is the median distance between distinct training rows, around their circles.
        - "auto" chooses among six multiples of the median, from 1/8 to 4; see :class:`Gaussian`.

    Attributes
    ----------
    period_ : float or array of shape (n_features,)
        The period in use.

    Notes
    -----
    The kernel is the Gaussian kernel of the points :math:`(\cos 2\pi x_j / p_j,
    \sin 2\pi x_j / p_j)` [1]_. The probabilities are the coefficients of its Fourier series ([2]_,
    Equation 9.6.34), and have a total of 1e-30 beyond the largest :math:`|m_j|` that is drawn. For
    length scales below 0.001, :math:`m_j` is a rounded normal number instead, which changes a
    factor of the kernel by at most :math:`0.12 \, s_j^2`.

    Do not scale the columns, or scale the period with them. In single precision, numbers far from 0
    have few digits left for their place in the period. Count time from a recent date, or set
    ``dtype="float64"``.

    References
    ----------
    .. [1] D. J. C. MacKay, "Introduction to Gaussian processes", in: Neural Networks and Machine
       Learning, Springer 1998; C. E. Rasmussen and C. K. I. Williams, "Gaussian
       processes for machine learning", MIT Press 2006, Equation 4.31.
    .. [2] M. Abramowitz and I. A. Stegun, "Handbook of mathematical functions", 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.neurons import Periodic
    >>> month = np.arange(60.0)[:, None]
    >>> y = np.sin(2 * np.pi * month[:, 0] / 12) ** 3
    >>> neurons = Periodic(period=12.0, length_scale=1.0)
    >>> model = KitchenSinksRegressor(neurons, n_neurons=200, random_state=0)
    >>> bool(model.fit(month[:36], y[:36]).score(month[36:], y[36:]) > 0.99)
    True
    """

    _rules = Separable._rules | {
        "period": either(
            positive("period=1.0 is for functions that repeat after 1, in the units of X"),
            positives(""),
        ),
        "length_scale": either(
            positive("length_scale='auto' compares six multiples of the median distance"),
            choice("median", "auto", remedy=""),
            positives(""),
        ),
    }

    period_: OneOrEach

    def __init__(
        self, period: Any = 1.0, length_scale: Any = "auto", *, sampling: str = "iid"
    ) -> None:
        super().__init__(length_scale, sampling=sampling)
        self.period = period

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        check_parameters(self, self._rules)
        self.period_ = one_or_each(type(self).__name__, "period", self.period, X.shape[1])
        super().fit(X, rng, sample_weight)
        return self

    @property
    def unit(self) -> float | np.ndarray:
        """The part of the period that is one radian."""
        return self.period_ / (2 * np.pi)

    def median(self, X: Any, weight: np.ndarray) -> float:
        """Compute the median distance between rows around their circles."""
        if not issparse(X):
            return median_distance(np.hstack(_circle(X / self.period_)), weight, self.metric)
        turns = X.multiply(1 / self.period_).tocsr()
        parts = [turns.copy(), turns.copy()]
        for part, values in zip(parts, _circle(turns.data), strict=True):
            part.data = values
        return median_distance(scipy.sparse.hstack(parts).tocsr(), weight, self.metric)

    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        scales = np.broadcast_to(self.length_scale_, z.shape[1])
        multiples = np.empty_like(z)
        for scale in np.unique(scales):
            same = scales == scale
            multiples[:, same] = _multiples(z[:, same], float(scale))
        return multiples

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        X, Y = X / self.period_, Y / self.period_
        log_kernel = np.zeros((len(X), len(Y)))
        scales = np.broadcast_to(self.length_scale_, X.shape[1])
        for a, b, scale in zip(X.T, Y.T, scales, strict=True):
            log_kernel -= 2 * (np.sin(np.pi * (a[:, None] - b[None, :])) / scale) ** 2
        return np.exp(log_kernel)


def _circle(turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find points on the unit circle, with 0 turns at the origin so that zeros stay zeros."""
    angle = 2 * np.pi * np.round(turns - np.round(turns), _DIGITS)
    return np.cos(angle) - 1, np.sin(angle)


def _multiples(z: np.ndarray, scale: float) -> np.ndarray:
    """Map standard normal numbers to integers m with probability exp(-c) I_|m|(c), c = 1/scale².

    The size of z is mapped by inversion, and its sign is kept.
    """
    if scale < _FINE:
        return np.rint(z / scale)
    size = np.searchsorted(-_at_least(scale), -2 * ndtr(-np.abs(z)))
    return np.copysign(size, z)


@lru_cache(maxsize=64)
def _at_least(scale: float) -> np.ndarray:
    """Compute the probabilities that abs(m) is at least 1, 2, ..., until they are below 1e-30."""
    c = (1 / scale) ** 2
    sizes = np.arange(1, 40 + int(12 / scale))
    return np.cumsum(2 * ive(sizes, c)[::-1])[::-1]
