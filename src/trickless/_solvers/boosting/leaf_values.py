r"""Newton steps on trees: the values of leaves from sums of slopes and curvatures.

The activations Z of a tree are the indicators of its leaves, so ZᵀZ is diagonal, and so is ZᵀHZ
with H the curvatures of the rows. The preconditioned step of Dai et al. divides by ZᵀZ, and a
Newton step by ZᵀHZ. It is, leaf by leaf,

.. math:: c_v = \frac{\sum_{i \in v} g_i}{\sum_{i \in v} h_i + \lambda}

with slopes g = −l′ and curvatures h.

A linear leaf adds :math:`c + s \cdot (z - \bar z)`, with z the values of its columns and
:math:`\bar z` their mean, weighted by the curvatures of its rows. Its constant is the value of a
constant leaf, since the centred values sum to 0, and its slopes are a ridge regression,

.. math:: s = \Big( \sum_i h_i (z_i - \bar z)(z_i - \bar z)^\top + \mu I \Big)^{-1}
    \sum_i g_i (z_i - \bar z),

where μ is three times the mean of the diagonal over all leaves and columns. That is more than λ
takes from the constants, because m slopes fit more noise than one constant.
"""

from __future__ import annotations

import numpy as np

from trickless._solvers.boosting.compiled import compiled
from trickless._solvers.boosting.search_rows import TINY

#: μ, relative to the mean of the diagonal, and at least relative to its sum before centring, whose
#: rounding is all that is left where the columns hold one value in each leaf.
_RIDGE, _LEAST_RIDGE = 3.0, 1e-9
#: The most rounds in which leaves that are not monotone are pooled.
_ROUNDS = 100


@compiled
def leaf_values(leaf, g, h, z, ridge, n_inputs, values):  # type: ignore[no-untyped-def]
    """Fill the values of leaves after a whole Newton step for one output.

    Parameters
    ----------
    leaf : intp array
        The leaf of each row.
    g, h : float64 arrays of shape (n_rows,)
        Slopes and curvatures of the first rows, which are learned from.
    z : float64 array of shape (n_used, ...)
        The values of the columns that leaves are linear in.
    ridge : float
        λ.
    n_inputs : int
        The most columns that leaves may be linear in.
    values : float64 array of shape (1 + n_inputs, width)
        Where to write constants and slopes.

    Returns
    -------
    float64 array of shape (width,)
        The sums of curvatures.
    """
    width, m, n_rows = values.shape[1], len(z), len(g)
    of_g, of_h = np.zeros(width), np.zeros(width)
    for i in range(n_rows):
        of_g[leaf[i]] += g[i]
        of_h[leaf[i]] += h[i]
    for v in range(width):
        for a in range(1 + n_inputs):
            values[a, v] = 0.0
        if of_h[v] + ridge > 0:
            values[0, v] = of_g[v] / (of_h[v] + ridge)
    if not m:
        return of_h
    gz, hz, hzz = np.zeros((width, m)), np.zeros((width, m)), np.zeros((width, m, m))
    for i in range(n_rows):
        v = leaf[i]
        for a in range(m):
            gz[v, a] += g[i] * z[a, i]
            scaled = h[i] * z[a, i]
            hz[v, a] += scaled
            for b in range(a + 1):
                hzz[v, a, b] += scaled * z[b, i]
    diagonal = whole = 0.0
    for v in range(width):
        if of_h[v] > 0:
            for a in range(m):
                whole += hzz[v, a, a]
                gz[v, a] -= hz[v, a] / of_h[v] * of_g[v]
                for b in range(a + 1):
                    hzz[v, a, b] -= hz[v, a] * hz[v, b] / of_h[v]
                diagonal += hzz[v, a, a]
    mu = max(_RIDGE * diagonal / n_inputs / width, _LEAST_RIDGE * whole)
    mu = mu if mu > 0 else 1.0
    for v in range(width):
        if of_h[v] > 0:
            _solve(hzz[v], mu, gz[v])
            for a in range(m):
                values[1 + a, v] = gz[v, a]
                values[0, v] -= gz[v, a] * hz[v, a] / of_h[v]
    return of_h


@compiled
def _solve(matrix, ridge, vector):  # type: ignore[no-untyped-def]
    """Solve a small positive definite system in place, given its lower triangle (Cholesky)."""
    m = len(vector)
    for a in range(m):
        for b in range(a + 1):
            total = matrix[a, b] + (ridge if a == b else 0.0)
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            matrix[a, b] = np.sqrt(max(total, TINY)) if a == b else total / matrix[b, b]
        total = vector[a]
        for c in range(a):
            total -= matrix[a, c] * vector[c]
        vector[a] = total / matrix[a, a]
    for a in range(m - 1, -1, -1):
        total = vector[a]
        for c in range(a + 1, m):
            total -= matrix[c, a] * vector[c]
        vector[a] = total / matrix[a, a]


@compiled
def make_monotone(values, weight, signs):  # type: ignore[no-untyped-def]
    """Pool the values of leaves that a column with a sign parts in the wrong order, in place.

    ``signs`` has the sign of the column of each cut of an oblivious tree. The values are the
    nearest monotone ones by the weights, up to the number of rounds, and monotone in any case.
    """
    constrained = False
    for sign in signs:
        constrained = constrained or sign != 0
    if not constrained:
        return
    for _ in range(_ROUNDS):
        changed = False
        for level in range(len(signs)):
            bit = 1 << level
            for v in range(len(values)):
                if signs[level] and not v & bit:
                    u = v | bit
                    if signs[level] * (values[u] - values[v]) < 0:
                        both = weight[u] + weight[v] + 2 * TINY
                        share = (weight[u] + TINY) / both
                        mean = share * values[u] + (1 - share) * values[v]
                        changed = changed or abs(values[u] - values[v]) > 1e-9 * abs(mean)
                        values[u] = values[v] = mean
        if not changed:
            break
    for level in range(len(signs)):
        bit = 1 << level
        for v in range(len(values)):
            if signs[level] and not v & bit:
                u = v | bit
                if signs[level] * (values[u] - values[v]) < 0:
                    values[u] = values[v]
