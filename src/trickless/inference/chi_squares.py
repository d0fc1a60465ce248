"""Tails of weighted sums of chi-squares, which quadratic statistics follow under a hypothesis."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

#: The share of the variance that weights may have that are left out.
_LEFT_OUT = 1e-6
#: Within so many standard deviations of the mean the formula is replaced by its limit, and beyond
#: so many the probability is 0.
_NEAR, _FAR = 1e-4, 1e6
#: A share of a bound that is surely within it.
_WITHIN = 1 - 1e-9


def upper_tail(weights: np.ndarray, variance: float, value: float) -> float:
    r"""Probability that a weighted sum of independent centred chi-squares is at least a value.

    .. math:: P\Big(\sum_l w_l (\chi^2_l - 1) \ge t\Big)

    It is the saddlepoint approximation of Kuonen (Biometrika 86, 1999): the formula of
    Barndorff-Nielsen, with :math:`K(\zeta) = -\frac12 \sum_l \log(1 - 2 \zeta w_l)`, the cumulant
    generating function of the sum without its mean.

    Parameters
    ----------
    weights : array of shape (n,)
        The weights w times any number, not negative and not all 0.
    variance : float
        The variance of the sum. If it is 0, so is the value.
    value : float
        The value t.
    """
    if variance <= 0:
        return 1.0
    w = _that_matter(weights / weights.max())
    deviation, z = np.sqrt(2 * (w**2).sum()), min(value / np.sqrt(variance), _FAR)
    q = w.sum() + z * deviation
    if q <= 0:
        return 1.0
    if abs(z) < _NEAR:
        skewness = 8 * (w**3).sum() / deviation**3
        return float(ndtr(-(z + skewness / 6)))

    def slope(zeta: float) -> float:
        return float((w / (1 - 2 * zeta * w)).sum()) - q

    # Ends are the roots for the largest weight alone, or n such weights, but for rounding.
    ends = (0.0, (1 - _WITHIN / q) / 2) if z > 0 else (-len(w) / (2 * q) / _WITHIN, 0.0)
    zeta = brentq(slope, *ends, xtol=1e-14, rtol=1e-12)
    left = 1 - 2 * zeta * w
    exponent = zeta * q + 0.5 * np.log(left).sum()
    r = np.sign(zeta) * np.sqrt(2 * exponent)
    v = zeta * np.sqrt(2 * ((w / left) ** 2).sum())
    return float(ndtr(-(r + np.log(v / r) / r)))


def _that_matter(weights: np.ndarray) -> np.ndarray:
    """The largest weights: those that have all but a millionth of the variance."""
    largest_first = np.sort(weights)[::-1]
    rest = np.cumsum(largest_first[::-1] ** 2)[::-1]
    return largest_first[rest > _LEFT_OUT * rest[0]]
