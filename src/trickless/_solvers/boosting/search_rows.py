"""The rows on which a tree is chosen, with slopes and curvatures whose sums are exact.

Slopes and curvatures are rounded to integers, whose unit depends on the largest. A few rows that
far outweigh all others would make them 0, so they are limited. Only the choice of cuts does that:
leaves are computed from whole slopes.

References
----------
.. [1] B. Ibragimov and G. Gusev, "Minimal variance sampling in stochastic gradient boosting",
   NeurIPS 2019 (rows are sampled in proportion to the root of g² + c h²).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._solvers.boosting.compiled import compiled
from trickless._solvers.boosting.random import uniform

#: Bits of a sum of slopes. One number holds it, with a sum of curvatures in the bits above.
SUM_BITS = 26
#: Weight of the curvatures in the chance of a row to be sampled.
_CURVED = 0.3
#: Values are outliers if fewer than so many are so far above the rest.
_FEW = 10
#: How far a curvature is above the rest if it counts less in λ.
_FAR = 1e4
TINY = np.finfo(float).tiny


class SearchRows(NamedTuple):
    """Rows on which a tree is chosen.

    Attributes
    ----------
    bins : uint8 array of shape (n_columns, n_rows)
        Their bins, which ``fetch`` fills if they are a sample.
    rows : intp array
        Their numbers if they are a sample, else empty.
    fetched : bool array of shape (n_columns,)
    g, h : float64 arrays of shape (n_rows,)
        Slopes and curvatures as integers.
    whole : int64 array of shape (n_rows,)
        Both in one number, if there is room for their sums: those of h take the upper bits.
    unit, ridge, noise : float
        The unit of gains, λ in the unit of h, and what a degree of freedom gains from noise alone.
    """

    bins: np.ndarray
    rows: np.ndarray
    fetched: np.ndarray
    g: np.ndarray
    h: np.ndarray
    whole: np.ndarray
    unit: float
    ridge: float
    noise: float


@compiled
def search_of(bins, g, h, square, ridge, size, bits, state):  # type: ignore[no-untyped-def]
    """Return the rows on which a tree is chosen: all, or a sample if there are more than ``size``.

    ``bits`` is how many bits a sum of slopes may have.
    """
    rows, search = np.empty(0, dtype=np.intp), bins
    if len(g) > size:
        rows, g, h, square = sampled(g, h, square, size, state)
        search = np.empty((len(bins), len(rows)), dtype=np.uint8)
    n_rows = len(g)
    unit_g, unit_h = unit_of(g, bits), unit_of(h, bits)
    whole = np.empty(n_rows, dtype=np.int64)
    whole_g, whole_h = np.empty(n_rows), np.empty(n_rows)
    for i in range(n_rows):
        whole_g[i], whole_h[i] = np.rint(g[i] / unit_g), np.rint(h[i] / unit_h)
        if bits == SUM_BITS:
            whole[i] = np.int64(whole_h[i]) * 2**SUM_BITS + np.int64(whole_g[i])
    fetched = np.zeros(len(bins), dtype=np.bool_)
    unit, ridge = unit_g * unit_g / unit_h, max(ridge / unit_h, TINY)
    noise = ratio(square, h)
    return SearchRows(search, rows, fetched, whole_g, whole_h, whole, unit, ridge, noise)


@compiled
def fetch(bins, search, columns):  # type: ignore[no-untyped-def]
    """Fill the bins of a sample in some columns."""
    if len(search.rows):
        for j in columns:
            if not search.fetched[j]:
                search.fetched[j] = True
                for i in range(len(search.rows)):
                    search.bins[j, i] = bins[j, search.rows[i]]


@compiled
def limit_of(values, far):  # type: ignore[no-untyped-def]
    """Return the most that outliers may be: ``far`` times the tenth largest of positive values.

    It is infinite if there are no outliers. Signs do not matter.
    """
    peak, n_near = 0.0, 0
    for value in values:
        peak = max(peak, abs(value))
    for value in values:
        n_near += abs(value) * far >= peak
    if n_near >= min(_FEW, len(values)):
        return np.inf
    top = np.zeros(_FEW)  # the largest values, the least of them first
    for value in values:
        if abs(value) > top[0]:
            at = 0
            while at + 1 < _FEW and top[at + 1] < abs(value):
                top[at] = top[at + 1]
                at += 1
            top[at] = abs(value)
    for value in top:
        if value > 0:
            return far * value if peak > far * value else np.inf
    return np.inf


@compiled
def excess(h):  # type: ignore[no-untyped-def]
    """Return by how much outliers among curvatures exceed their limit."""
    most, total = limit_of(h, _FAR), 0.0
    for value in h:
        total += max(value - most, 0.0)
    return total


@compiled
def limit(g, h, square, far):  # type: ignore[no-untyped-def]
    """Limit slopes and curvatures of outliers, in place, as if their rows had less weight."""
    most_g, most_h = limit_of(g, far), limit_of(h, far)
    for i in range(len(g)):
        by = min(1.0, most_g / max(abs(g[i]), TINY), most_h / max(h[i], TINY))
        if by < 1:
            g[i], h[i], square[i] = g[i] * by, h[i] * by, square[i] * by


@compiled
def ratio(square, h):  # type: ignore[no-untyped-def]
    """Return what a degree of freedom gains from noise alone."""
    squares, curvatures = 0.0, 0.0
    for i in range(len(h)):
        squares += square[i]
        curvatures += h[i]
    return squares / max(curvatures, TINY)


@compiled
def sampled(g, h, square, size, state):  # type: ignore[no-untyped-def]
    """Return numbers of some rows, and slopes, curvatures and squares that make up for it.

    Rows with large slopes are sampled more often. The squares of slopes are divided by weights.
    """
    n_rows, squares, curvatures = len(g), 0.0, 0.0
    for i in range(n_rows):
        squares += g[i] * g[i]
        curvatures += h[i]
    share = _CURVED * np.sqrt(squares / n_rows) / max(curvatures / n_rows, TINY)
    chance, total = np.empty(n_rows), 0.0
    for i in range(n_rows):
        chance[i] = np.sqrt(g[i] * g[i] + (share * h[i]) ** 2)
        total += chance[i]
    rows = np.empty(size + 2, dtype=np.intp)
    first, below, at, n = uniform(state), 0.0, 0, 0
    for i in range(n_rows):  # at regular spots of the sums, so that a row may be there twice
        below += chance[i]
        until = int(np.ceil(below * (size / total) - first))
        while at < until and n < len(rows):
            rows[n] = i
            n += 1
            at += 1
    if not total > 0:  # no slopes, so that any rows will do
        n = size
        for i in range(n):
            rows[i] = i
    g_, h_, square_ = np.empty(n), np.empty(n), np.empty(n)
    for r in range(n):
        i = rows[r]
        weight = total / (n_rows * chance[i]) if total > 0 else 1.0
        g_[r], h_[r], square_[r] = g[i] * weight, h[i] * weight, square[i] * weight * weight
    return rows[:n], g_, h_, square_


@compiled
def unit_of(values, bits):  # type: ignore[no-untyped-def]
    """Return a power of two, in which no sum of the values has more than so many bits."""
    largest = 0.0
    for value in values:
        largest = max(largest, abs(value))
    largest *= len(values)
    return 2.0 ** (np.floor(np.log2(largest)) + 2 - bits) if largest > 0 else 1.0
