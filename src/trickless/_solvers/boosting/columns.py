"""Columns of bins in the search for cuts: which are drawn, their thresholds, and their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._solvers.boosting.compiled import compiled
from trickless._solvers.boosting.noise import order_gain, sort
from trickless._solvers.boosting.random import uniform

#: How far quantiles step from pair to pair of trees, and from column to column. Multiples of such
#: numbers are evenly spread, modulo 1.
_STEPS = 0.7548776662466927, 0.5698402909980532
#: Share of draws in which all columns are equally likely, so that a column which matters late, by
#: its interactions, is found.
_UNIFORM = 0.1


class Table(NamedTuple):
    """What the search knows of the columns of bins.

    Attributes
    ----------
    counts : int64 array of shape (n_columns,)
        How many bins a column has, without missing values.
    is_category : bool array of shape (n_columns,)
    feature : int64 array of shape (n_columns,)
        The feature of each column, of which one of many categories has several.
    signs : int8 array of shape (n_columns,)
        1 if f must not fall along a column, -1 if it must not rise, else 0.
    groups : bool array of shape (n_groups, n_features)
        Features that may be in one tree. None of them means all.
    most : int
        The most features of one tree.
    """

    counts: np.ndarray
    is_category: np.ndarray
    feature: np.ndarray
    signs: np.ndarray
    groups: np.ndarray
    most: int


@compiled
def chance_of_columns(variables, wins, feature, chance):  # type: ignore[no-untyped-def]
    """Fill how often each column is drawn: in proportion to 1 + how often its feature won.

    ``variables`` is 1 for features that vary, else 0.
    """
    n, learned, n_columns = 0.0, 0.0, np.zeros(len(wins))
    for j in range(len(wins)):
        n += variables[j]
        learned += variables[j] * (1 + wins[j])
    for j in feature:
        n_columns[j] += 1
    for c in range(len(feature)):
        j = feature[c]
        share = _UNIFORM / n + (1 - _UNIFORM) * (1 + wins[j]) / learned
        chance[c] = variables[j] * share / n_columns[j]


@compiled
def draw_columns(chance, table, allowed, state, drawn):  # type: ignore[no-untyped-def]
    """Draw columns of the features that are allowed."""
    sums, total = np.empty(len(chance)), 0.0
    for c in range(len(chance)):
        total += chance[c] if allowed[table.feature[c]] else 0.0
        sums[c] = total
    for c in range(len(drawn)):
        drawn[c] = _first_above(sums, uniform(state) * total)


@compiled
def allow(table, feature, used, alive, allowed):  # type: ignore[no-untyped-def]
    """Find the features that may be in a tree with those ``used`` and another one.

    ``alive`` says which groups have all of these.
    """
    used[feature], n_used = True, 0
    for group in range(len(alive)):
        alive[group] = alive[group] and table.groups[group, feature]
    for j in range(len(used)):
        n_used += used[j]
        allowed[j] = len(alive) == 0
        for group in range(len(alive)):
            allowed[j] = allowed[j] or (alive[group] and table.groups[group, j])
    for j in range(len(used)):
        allowed[j] = allowed[j] and (used[j] or n_used < table.most)


@compiled
def _first_above(chance, value):  # type: ignore[no-untyped-def]
    """Find the first of increasing numbers that is above a value, or else the last."""
    low, high = 0, len(chance) - 1
    while low < high:
        middle = (low + high) // 2
        if chance[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


class Orders(NamedTuple):
    """The orders of categories by the slopes of all rows, of columns where that is known.

    Attributes
    ----------
    known : bool array of shape (n_columns,)
    rank : intp array of shape (n_columns, 256)
        The rank of each bin, from 1 on; those without rows come last.
    n_values : intp array of shape (n_columns,)
        How many bins have rows.
    from_order : float64 array of shape (n_columns,)
        What the order gains from noise.
    """

    known: np.ndarray
    rank: np.ndarray
    n_values: np.ndarray
    from_order: np.ndarray


@compiled
def orders_of(table, bins):  # type: ignore[no-untyped-def]
    """Return memory for the orders of columns of categories, if there are any."""
    n = 0
    for j in range(len(bins)):
        n = len(bins) if table.is_category[j] else n
    known, n_values = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.intp)
    return Orders(known, np.zeros((n, 256), dtype=np.intp), n_values, np.zeros(n))


@compiled
def order_once(search, table, orders, j):  # type: ignore[no-untyped-def]
    """Order the categories of a column by the slopes of all rows, unless that is done."""
    if not orders.known[j]:
        n, gain = order_bins(search, search.g, table.counts[j], j, orders.rank[j])
        orders.known[j], orders.n_values[j], orders.from_order[j] = True, n, gain


@compiled
def order_bins(search, g, n, j, rank):  # type: ignore[no-untyped-def]
    """Rank the bins 1 to n of categories by their mean slopes, from 1 on; those without rows last.

    Return how many have rows, and what their order gains from noise.
    """
    of_g, of_h, there = np.zeros(256), np.zeros(256), np.zeros(256, dtype=np.bool_)
    for i in range(len(g)):
        b = search.bins[j, i]
        of_g[b] += g[i]
        of_h[b] += search.h[i]
        there[b] = True
    mean, order, n_there = np.empty(n), np.empty(n, dtype=np.intp), 0
    for b in range(n):
        mean[b] = of_g[b + 1] / (of_h[b + 1] + search.ridge) if there[b + 1] else np.inf
    sort(mean, order)
    for r in range(n):
        rank[order[r] + 1] = r + 1
        n_there += there[r + 1]
    return max(n_there, 1), order_gain(of_h[1 : n + 1])


@compiled
def put_buckets(spots, n_values, n_bins, is_category, rank, buckets):  # type: ignore[no-untyped-def]
    """Count the thresholds below each bin. They are at ``spots`` in [0, 1) of equal parts.

    The bins of categories are in the order of their ranks.
    """
    n_spots, q = len(spots), 0
    buckets[0] = n_spots + 1
    for value in range(n_bins + 1, 256):
        buckets[value] = n_spots
    for value in range(1, n_bins + 1):
        while q < n_spots and 2 + int((q + spots[q]) / n_spots * (n_values - 1)) <= value:
            q += 1
        buckets[value] = q
    if is_category:
        by_rank = buckets.copy()
        for b in range(1, n_bins + 1):
            buckets[b] = by_rank[rank[b]]


@compiled
def quantile_of(number, column):  # type: ignore[no-untyped-def]
    """Return the quantile of a column that unseen values follow in a tree.

    Pairs of trees mirror each other's quantiles, which are evenly spread, so a sum of many trees is
    about its mean over the rows.
    """
    pair, mirrored = (number + 1) // 2, (number + 1) % 2
    quantile = (0.5 + pair * _STEPS[0] + min(pair, 1) * column * _STEPS[1]) % 1
    return 1 - quantile if mirrored else quantile


@compiled
def send_unseen(search, table, orders, number, j, right):  # type: ignore[no-untyped-def]
    """Send missing values and categories to a side, if no row of the search decides it.

    These are new categories, those that the training rows never have although their type declares
    them, and those that a sample lacks. In the first tree they go to the side with more rows. In
    later trees, they follow the row at some quantile of the column, whose categories are in the
    order of their slopes.
    """
    present, left, total = np.zeros(256, dtype=np.bool_), 0.0, 0.0
    for i in range(len(search.h)):
        b = search.bins[j, i]
        present[b] = True
        left += search.h[i] * (right[b] == 0)
        total += search.h[i]
    quantile = quantile_of(number, j)
    side, last = left <= quantile * total, 1
    if table.is_category[j]:
        last = 256
        if number:
            order_once(search, table, orders, j)
            side = right[_follow(search, orders.rank[j], table.counts[j], j, quantile * total)] > 0
    for b in range(last):
        if not present[b]:
            right[b] = side


@compiled
def _follow(search, rank, n, j, weight):  # type: ignore[no-untyped-def]
    """Return the bin of categories behind so much weight, in their order; missing come first."""
    of_h, below, found = np.zeros(256), 0.0, 0
    for i in range(len(search.h)):
        b = search.bins[j, i]
        of_h[rank[b] if 0 < b <= n else 0] += search.h[i]
    for r in range(n + 1):
        below += of_h[r]
        found = r
        if below > weight:
            break
    for b in range(1, n + 1):
        if rank[b] == found:
            return b
    return 0
