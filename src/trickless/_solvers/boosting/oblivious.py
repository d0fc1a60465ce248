r"""Choose the cuts of an oblivious tree: at each level the best of a few random cuts.

For a loss with slopes g = −l′ and curvatures h, a Newton step on a tree lowers it by about half of

.. math:: \mathrm{gain} = \sum_v \frac{(\sum_{i \in v} g_i)^2}{\sum_{i \in v} h_i + \lambda}

with v the leaves. A level draws columns and thresholds, and keeps the cut with the largest gain on
a fresh sample of the rows. One candidate is a random draw. With all cuts as candidates, this is the
greedy search of gradient boosting.

A tree is as deep as pays off. Leaves also fit noise: with :math:`\sigma^2 = \sum g^2 / \sum h`, d
degrees of freedom of a random tree gain about :math:`d \sigma^2` from noise alone. The best of N
cuts gains more, about the expected largest of N numbers with a χ² distribution (``noise_gain``).
A tree has the levels that gain most beyond noise. It passes through levels that gain nothing, if a
deeper one does.

References
----------
.. [1] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63(1),
   2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._solvers.boosting.columns import (
    allow,
    draw_columns,
    order_bins,
    order_once,
    orders_of,
    put_buckets,
    send_unseen,
)
from trickless._solvers.boosting.compiled import compiled
from trickless._solvers.boosting.noise import noise_gain
from trickless._solvers.boosting.random import uniform
from trickless._solvers.boosting.search_rows import SUM_BITS, fetch, ratio, search_of

#: The most rows of a sample, on which a tree is chosen.
SAMPLE = 2**14
#: Thresholds that are tried for each column that is drawn.
THRESHOLDS = 8
#: Share of the noise that the leaves of a tree fit which counts against its depth.
PENALTY = 0.3
#: Levels without an improvement after which no more are tried.
_PATIENCE = 3


class Drawn(NamedTuple):
    """Memory for what a level draws, for each of its candidates.

    Attributes
    ----------
    columns, n_values : intp arrays of shape (n_candidates,)
        The columns, and how many bins they have, or how many categories the search has.
    from_order : float64 array of shape (n_candidates,)
        What the order of categories gains from noise.
    buckets : uint8 array of shape (n_candidates, 256)
        The bucket of each bin: the number of thresholds below it, and the last one for gaps.
    rank : intp array of shape (n_candidates, 256)
        The rank of each category.
    """

    columns: np.ndarray
    n_values: np.ndarray
    from_order: np.ndarray
    buckets: np.ndarray
    rank: np.ndarray


@compiled
def choose_cuts(bins, g, h, square, number, ridge, share, table, most, noise, chance, state, cut):  # type: ignore[no-untyped-def]
    """Choose the cuts of a tree, and return how many levels it has.

    Parameters
    ----------
    bins : uint8 array of shape (n_columns, n_rows)
    g, h, square : float64 arrays of shape (n_rows,)
        Slopes and curvatures of the rows, times their weights, and squares of slopes, divided by
        the weights.
    number : int
        Number of the tree.
    ridge : float
        λ of the step. It is the same if the search has fewer rows, which makes cuts of leaves with
        few rows less likely.
    share : float
        The share of a chosen cut's noise that counts.
    table : Table
        What is known of the columns.
    most : tuple of int
        The most levels, and how many columns are drawn for a cut.
    noise : float64 array
        The expected largest of n normal numbers, at n.
    chance : float64 array of shape (n_columns,)
        How often each column is drawn, relative to each other.
    state : uint64 array of shape (1,)
        The state of the random numbers.
    cut : tuple of arrays
        Where to write the columns of the cuts, (depth,), and whether each bin goes to the right,
        (depth, 256).
    """
    depth, n_candidates = most
    columns, tables = cut
    from_all = ratio(square, h)
    search = search_of(bins, g, h, square, ridge, SAMPLE, SUM_BITS, state)
    n_rows, scale, noise_unit = len(search.g), len(g) / len(search.g), search.noise / search.unit
    drawn = Drawn(
        np.empty(n_candidates, dtype=np.intp),
        np.empty(n_candidates, dtype=np.intp),
        np.empty(n_candidates),
        np.empty((n_candidates, 256), dtype=np.uint8),
        np.empty((n_candidates, 256), dtype=np.intp),
    )
    ordered = orders_of(table, search.bins)
    leaf, alive = np.zeros(n_rows, dtype=np.intp), np.ones(len(table.groups), dtype=np.bool_)
    allowed = np.ones(table.groups.shape[1], dtype=np.bool_)
    used = np.zeros(table.groups.shape[1], dtype=np.bool_)
    n_leaves = np.int64(1)  # a literal 1 would compile what takes it twice
    best, n_levels, df, noise_so_far = -np.inf, 1, 1.0, 1.0
    for level in range(depth):
        n_before = n_leaves
        n_spots = min(n_candidates, THRESHOLDS, max(1, n_rows // (2 * n_leaves)))
        draw_columns(chance, table, allowed, state, drawn.columns)
        fetch(bins, search, drawn.columns)
        slopes = _ordering_slopes(search.g, leaf, n_leaves, table, drawn, state)
        _fill_buckets(search, table, ordered, slopes, n_spots, state, drawn)
        gains = _gains(search, table.signs, leaf, n_leaves, n_spots, drawn)
        gap_side, c, q = _best(gains, noise_unit * drawn.from_order)
        j = columns[level] = drawn.columns[c]
        for b in range(256):
            tables[level, b] = drawn.buckets[c, b] > q
        tables[level, 0] = gap_side
        send_unseen(search, table, ordered, number, j, tables[level])
        leaf, n_leaves = _halved(leaf, search.bins[j], tables[level], n_leaves)
        before, df = df, _degrees_of_freedom(leaf, search.h, n_leaves, search.ridge)
        z = noise[_count_cuts(drawn, n_spots)]
        noise_so_far += noise_gain(df - before, z, share) + drawn.from_order[c]
        gain = gains[gap_side, c, q] * search.unit - noise_so_far * search.noise
        net = scale * gain - PENALTY * df * from_all
        allow(table, table.feature[j], used, alive, allowed)
        if net > best and (n_leaves > n_before or level == 0):
            best, n_levels = net, level + 1
        elif level + 1 - n_levels >= _PATIENCE:
            break
    for level in range(n_levels, depth):
        columns[level] = 0
        for b in range(256):
            tables[level, b] = 0
    return n_levels


@compiled
def _ordering_slopes(g, leaf, n_leaves, table, drawn, state):  # type: ignore[no-untyped-def]
    """Return the slopes by which categories of the next cut are ordered, or none for those of rows.

    Half of the time they are the slopes of each leaf times a random sign. Sums with signs see
    categories whose slopes differ from leaf to leaf, although their means do not, as in an
    interaction with an earlier cut.
    """
    some = False
    for j in drawn.columns:
        some = some or table.is_category[j]
    if not some or n_leaves == 1 or uniform(state) < 0.5:
        return np.empty(0)
    sign, slopes = np.empty(n_leaves), np.empty(len(g))
    for v in range(n_leaves):
        sign[v] = -1.0 if uniform(state) < 0.5 else 1.0
    for i in range(len(g)):
        slopes[i] = sign[leaf[i]] * g[i]
    return slopes


@compiled
def _fill_buckets(search, table, ordered, slopes, n_spots, state, drawn):  # type: ignore[no-untyped-def]
    """Draw thresholds of each candidate, and fill the buckets of its bins."""
    spots = np.empty(n_spots)
    for c in range(len(drawn.columns)):
        j = drawn.columns[c]
        drawn.n_values[c], drawn.from_order[c] = table.counts[j], 0.0
        if table.is_category[j]:
            rank = drawn.rank[c]
            order_once(search, table, ordered, j)
            drawn.n_values[c], drawn.from_order[c] = ordered.n_values[j], ordered.from_order[j]
            for b in range(256):
                rank[b] = ordered.rank[j, b]
            if len(slopes):
                n, gain = order_bins(search, slopes, table.counts[j], j, rank)
                drawn.n_values[c], drawn.from_order[c] = n, gain
        for q in range(n_spots):
            spots[q] = uniform(state)
        n_values, is_category = drawn.n_values[c], table.is_category[j]
        put_buckets(spots, n_values, table.counts[j], is_category, drawn.rank[c], drawn.buckets[c])


@compiled
def _gains(search, signs, leaf, n_leaves, n_spots, drawn):  # type: ignore[no-untyped-def]
    """Return the gain of each cut for each side of missing values: (2, n_candidates, n_spots)."""
    n_buckets, n_rows = n_spots + 2, len(leaf)
    first, size = np.empty(n_rows, dtype=np.uint64), n_leaves * n_buckets
    for i in range(n_rows):
        first[i] = np.uint64(leaf[i] * n_buckets)
    even, odd = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    gains = np.zeros((2, len(drawn.columns), n_spots))
    for c in range(len(drawn.columns)):
        j = drawn.columns[c]
        _add_cells(search.bins[j], drawn.buckets[c], first, search.whole, even, odd, size)
        _add_gains(even, odd, n_leaves, search.ridge, signs[j], c, gains)
    return gains


@compiled
def _add_cells(column, into, first, whole, even, odd, size):  # type: ignore[no-untyped-def]
    """Add up slopes and curvatures in each cell: the rows of a leaf that are in a bucket.

    ``first`` is the first cell of the leaf of each row. Integers add up faster, and two alternating
    sums do not wait for each other.
    """
    n_rows = len(whole)
    for cell in range(size):
        even[cell], odd[cell] = 0, 0
    for i in range(0, n_rows - 1, 2):
        even[first[i] + np.uint64(into[column[i]])] += whole[i]
        odd[first[i + 1] + np.uint64(into[column[i + 1]])] += whole[i + 1]
    if n_rows % 2:
        even[first[n_rows - 1] + np.uint64(into[column[n_rows - 1]])] += whole[n_rows - 1]
    for cell in range(size):
        even[cell] += odd[cell]


@compiled
def _add_gains(cells, left_cells, n_leaves, ridge, sign, c, gains):  # type: ignore[no-untyped-def]
    """Add the gains of the cuts of candidate c, for each side of missing values.

    A column whose ``sign`` is not 0 must not lower (or raise) f, so a leaf in which it would is not
    cut.
    """
    n_cuts = gains.shape[2]
    up, down = 2.0**SUM_BITS, 2.0**-SUM_BITS
    for v in range(n_leaves):
        first, total = v * (n_cuts + 2), 0.0
        for b in range(n_cuts + 2):
            total += cells[first + b]
        missing = np.float64(cells[first + n_cuts + 1])
        h_all, h_missing = np.rint(total * down), np.rint(missing * down)
        g_all, g_missing = total - h_all * up, missing - h_missing * up
        left = 0.0
        for q in range(n_cuts):
            left += cells[first + q]
            h = np.rint(left * down)
            g = left - h * up
            gain = _gain(g, h, g_all, h_all, ridge, sign)
            gains[1, c, q] += gain
            if missing != 0:
                gain = _gain(g + g_missing, h + h_missing, g_all, h_all, ridge, sign)
            gains[0, c, q] += gain


@compiled
def _best(gains, from_order):  # type: ignore[no-untyped-def]
    """Return the side of missing values, the candidate and the threshold that gain most."""
    best, found = -np.inf, (0, 0, 0)
    for side in range(2):
        for c in range(gains.shape[1]):
            for q in range(gains.shape[2]):
                if gains[side, c, q] - from_order[c] > best:
                    best, found = gains[side, c, q] - from_order[c], (side, c, q)
    return found


@compiled
def _count_cuts(drawn, n_spots):  # type: ignore[no-untyped-def]
    """Count the candidates that differ: thresholds of different columns."""
    n = 0
    for k in range(len(drawn.columns)):
        again = False
        for earlier in range(k):
            again = again or drawn.columns[earlier] == drawn.columns[k]
        if not again:
            n += min(max(drawn.n_values[k] - 1, 1), n_spots)
    return n


@compiled
def _gain(g, h, g_all, h_all, ridge, sign):  # type: ignore[no-untyped-def]
    """Return the gain of a leaf that is cut, given the sums of its left side and of all rows."""
    g_right, h_right = g_all - g, h_all - h
    if sign and sign * (g_right / (h_right + ridge) - g / (h + ridge)) < 0:
        return g_all * g_all / (h_all + ridge)
    return g * g / (h + ridge) + g_right * g_right / (h_right + ridge)


@compiled
def _halved(leaf, column, right, n_leaves):  # type: ignore[no-untyped-def]
    """Find the leaves of rows after a cut.

    Leaves with rows are numbered in order, and their number is returned as well.
    """
    half = np.empty(len(leaf), dtype=np.intp)
    number = np.zeros(2 * n_leaves, dtype=np.intp)
    for i in range(len(leaf)):
        half[i] = 2 * leaf[i] + right[column[i]]
        number[half[i]] = 1
    n_occupied = 0
    for v in range(len(number)):
        occupied = number[v]
        number[v] = n_occupied
        n_occupied += occupied
    for i in range(len(leaf)):
        half[i] = number[half[i]]
    return half, n_occupied


@compiled
def _degrees_of_freedom(leaf, h, n_leaves, ridge):  # type: ignore[no-untyped-def]
    of_leaves, total = np.zeros(n_leaves), 0.0
    for i in range(len(leaf)):
        of_leaves[leaf[i]] += h[i]
    for v in range(n_leaves):
        total += of_leaves[v] / (of_leaves[v] + ridge)
    return total
