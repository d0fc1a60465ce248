"""Bounds on how far a mean of independent values is from its expectation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trickless.rules import check_value, integer
from trickless.theory.checks import ANY_INTEGER, DELTA, SIZES, in_range


@in_range
def hoeffding_radius(n: int, half_range: Any, delta: float) -> Any:
    r"""Bound the distance of a mean of n values in [-r, r] from its expectation.

    .. math:: P\Big( |\bar Z - E \bar Z| \ge r \sqrt{2 \log(2 / \delta) / n} \Big) \le \delta

    The values must be independent. Livni et al.'s Lemma 4 states the bound for index sampling,
    where r is :math:`\|\alpha\|_1`, without the constants.

    Parameters
    ----------
    n : int
        Number of values.
    half_range : float or array
        Half the length of the range, r: the values are in [-r, r].
    delta : float
        Probability that the bound is wrong, in (0, 1).

    Returns
    -------
    float or array like ``half_range``
        The bound.
    """
    check_value("hoeffding_radius", "n", n, integer(1, "n is the number of values", ANY_INTEGER))
    check_value("hoeffding_radius", "delta", delta, DELTA)
    check_value("hoeffding_radius", "half_range", half_range, SIZES)
    return half_range * math.sqrt(2 * math.log(2 / delta) / n)


@in_range
def empirical_bernstein_radius(n: int, variance: Any, half_range: Any, delta: float) -> Any:
    r"""Bound the distance of a mean from its expectation, by the sample variance.

    .. math:: P\Big( |\bar Z - E Z| \ge \sqrt{2 \hat V L / n} + \frac{14\, r L}{3 (n - 1)} \Big)
        \le \delta, \qquad L = \log(3 / \delta)

    Here :math:`\hat V` is the sample variance, with divisor n - 1. The values must be independent
    and identically distributed. If their variance is small compared to r², the bound is smaller
    than :func:`hoeffding_radius`.

    Parameters
    ----------
    n : int
        Number of values, at least 2.
    variance : float or array
        Sample variance of the values.
    half_range : float or array
        Half the length of the range, r: the values are in [-r, r].
    delta : float
        Probability that the bound is wrong, in (0, 1).

    Returns
    -------
    float or array
        The bound.

    Notes
    -----
    This is Theorem 4 of [1]_ for a range of 2r, with Bennett's inequality on both sides. There are
    therefore three events of probability :math:`\delta / 3` each, and the logarithm has 3 instead
    of 2.

    References
    ----------
    .. [1] A. Maurer and M. Pontil, "Empirical Bernstein bounds and sample variance penalization",
       COLT 2009.
    """
    owner = "empirical_bernstein_radius"
    check_value(owner, "n", n, integer(2, "a sample variance needs two values", ANY_INTEGER))
    check_value(owner, "delta", delta, DELTA)
    check_value(owner, "variance", variance, SIZES)
    check_value(owner, "half_range", half_range, SIZES)
    L = math.log(3 / delta)
    return np.sqrt(2 * variance * L / n) + 14 * half_range * L / (3 * (n - 1))
