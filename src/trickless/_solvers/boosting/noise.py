"""What the best of several cuts gains from noise alone, in units of its variance σ².

References
----------
.. [1] G. Blom, "Statistical estimates and transformed beta-variables", Wiley, 1958 (the expected
   largest of N normal numbers).
"""

from __future__ import annotations

from functools import lru_cache
from math import pi

import numpy as np
from scipy.special import ndtri

from trickless._solvers.boosting.compiled import compiled

#: The largest value of φ(z)² / Φ(−z).
_ONE_SIDE = 0.405


@lru_cache(maxsize=32)
def largest_normals(n: int) -> np.ndarray:
    """Return the expected largest of 0 to n normal numbers, of which that of none is not used."""
    numbers = np.arange(n + 1)
    numbers[0] = 1
    return ndtri((numbers - 0.375) / (numbers + 0.25))


@compiled
def sort(keys, order):  # type: ignore[no-untyped-def]
    """Fill the order of a few keys from the least on; equal ones keep their places."""
    for i in range(len(keys)):
        at = i
        while at > 0 and keys[order[at - 1]] > keys[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i


@compiled
def noise_gain(df, z, share):  # type: ignore[no-untyped-def]
    r"""Return what the best of n cuts gains from noise alone, in units of σ².

    A cut adds ``df`` degrees of freedom, so its gain has a χ² distribution. The expected largest of
    n is

    .. math:: \mathrm{df} + z \sqrt{2\, \mathrm{df}} + \tfrac{2}{3} \max(z^2 - 1, 0),

    by the first terms of Cornish and Fisher, with z the expected largest of n normal numbers. Gains
    that depend on each other have a smaller one. Only a ``share`` of what exceeds ``df`` counts.
    """
    return df + share * (z * np.sqrt(2 * max(df, 0.0)) + 2 / 3 * max(z * z - 1, 0.0))


@compiled
def order_gain(h):  # type: ignore[no-untyped-def]
    r"""Return what the order of categories by their slopes gains from noise, in units of σ².

    ``h`` are the sums of curvatures of the categories. If slopes are noise, a category adds
    :math:`\sqrt{h} |z|` to the slopes of the side on which the order puts it, with a normal number
    z. With

    .. math:: k = \frac{(\sum_b \sqrt{h_b})^2}{\sum_b h_b},

    equal halves of categories with the same h gain :math:`2 k / \pi`. If one category outweighs all
    others, the best part of the others gains :math:`\max_z \varphi(z)^2 / \Phi(-z)` times their k.
    The result is between the two, by the k of all categories and the largest k of the rarest ones.
    A cut in a given order gains 1 as well, and two categories have only one order.
    """
    roots, total, n, most, last = 0.0, 0.0, 0, 0.0, 0.0
    order = np.empty(len(h), dtype=np.intp)
    sort(h, order)
    for r in range(len(h)):
        value = h[order[r]]
        if value > 0:
            n += 1
            roots += np.sqrt(value)
            total += value
            last = roots * roots / total
            most = max(most, last)
    if n <= 2:
        return 0.0
    return max(2 / pi * last + _ONE_SIDE * (most - last) - 1, 0.0)
