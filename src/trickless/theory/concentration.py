"""Bounds on how far a mean of independent values in [-r, r] is from its expectation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def hoeffding_radius(n: int, half_range: Any, delta: float) -> Any:
    r"""Bound the distance of a mean of n values, except with probability delta.

    .. math:: P\Big( |\bar Z - E \bar Z| \ge r \sqrt{2 \log(2 / \delta) / n} \Big) \le \delta

    Livni et al.'s Lemma 4 states the bound for index sampling, where r is :math:`\|\alpha\|_1`,
    without the constants.
    """
    return half_range * math.sqrt(2 * math.log(2 / delta) / n)


def empirical_bernstein_radius(n: int, variance: Any, half_range: Any, delta: float) -> Any:
    r"""Bound the distance by the sample variance, with divisor n - 1.

    .. math:: P\Big( |\bar Z - E Z| \ge \sqrt{2 \hat V L / n} + \frac{14\, r L}{3 (n - 1)} \Big)
        \le \delta, \qquad L = \log(3 / \delta)

    The values must be identically distributed. This is Theorem 4 of Maurer and Pontil (COLT 2009)
    for a range of 2r, with Bennett's inequality on both sides, and therefore three events of
    probability :math:`\delta / 3` each. If the variance is small compared to r², the bound is
    smaller than Hoeffding's.
    """
    L = math.log(3 / delta)
    return np.sqrt(2 * variance * L / n) + 14 * half_range * L / (3 * (n - 1))
