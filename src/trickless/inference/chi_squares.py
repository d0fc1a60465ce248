"""Tails of weighted sums of chi-squares, the distribution of statistics under a hypothesis."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

#: Within the first number of standard deviations of the mean, the formula is replaced by its limit.
#: Beyond the second, the probability is 0.
_NEAR, _FAR = 1e-4, 1e6
#: A factor that moves a number surely to the inner side of a bound.
_WITHIN = 1 - 1e-9


def upper_tail(weights: np.ndarray, variance: float, value: float) -> float:
    r"""Compute the probability that a weighted sum of centred chi-squares is at least a value.

    .. math:: P\Big(\sum_l w_l (\chi^2_l - 1) \ge t\Big)

    The chi-squares are independent. This is the saddlepoint approximation of Kuonen (Biometrika 86,
    1999): the formula of Barndorff-Nielsen with the cumulant generating function :math:`K(\zeta) =
    -\frac12 \sum_l \log(1 - 2 \zeta w_l)` of the sum without its mean. The ``weights`` w, times any
    number, are at least 0 and not all 0. If the ``variance`` of the sum is 0, so is the value t.
    """
    if variance <= 0:
        return 1.0
    w = weights / weights.max()
    deviation, z = np.sqrt(2 * (w**2).sum()), min(value / np.sqrt(variance), _FAR)
    q = w.sum() + z * deviation
    if q <= 0:
        return 1.0
    if abs(z) < _NEAR:
        return float(ndtr(-(z + 4 * (w**3).sum() / (3 * deviation**3))))  # by the skewness

    def slope(zeta: float) -> float:
        return float((w / (1 - 2 * zeta * w)).sum()) - q

    # Except for rounding, the ends are the roots for the largest weight alone, and for n of them.
    ends = (0.0, (1 - _WITHIN / q) / 2) if z > 0 else (-len(w) / (2 * q) / _WITHIN, 0.0)
    zeta = brentq(slope, *ends, xtol=1e-14, rtol=1e-12)
    left = 1 - 2 * zeta * w
    r = np.sign(zeta) * np.sqrt(2 * zeta * q + np.log(left).sum())
    v = zeta * np.sqrt(2 * ((w / left) ** 2).sum())
    return float(ndtr(-(r + np.log(v / r) / r)))
