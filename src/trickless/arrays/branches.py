"""Binary trees: the leaf of each row, the best cuts of nodes, and the rows of their two sides.

A binary tree cuts each node on its own. A cut is a column and a set of 32 bytes, which says by a
bit for each bin whether it goes to the right (1) or to the left (0). The children of a node are
numbers of nodes, which are larger than its own, or -v for leaf v. Node 0 is the root.

Rows are bins, bytes of shape (n_features, n_rows). The only way to these loops, which numba
compiles, leads through ``branch_loops``. Sums of slopes and curvatures are sums of integers below
2^53, so they are exact in any order.
"""

from __future__ import annotations

import numba
import numpy as np

_compiled = numba.njit(cache=True, nogil=True)


@_compiled
def _leaf(bins, i, columns, children, sets):  # type: ignore[no-untyped-def]
    """Return the leaf of row i in a tree."""
    node = 0
    while True:
        b = bins[columns[node], i]
        node = children[node, sets[node, b >> 3] >> (7 - (b & 7)) & 1]
        if node <= 0:
            return -node


@_compiled
def leaves(bins, columns, children, sets):  # type: ignore[no-untyped-def]
    """Find the leaf of each row in a tree, shape (n_rows,).

    Shapes are (n_nodes,) for ``columns``, (n_nodes, 2) for ``children`` and (n_nodes, 32) for
    ``sets``.
    """
    number = np.empty(bins.shape[1], dtype=np.intp)
    for i in range(bins.shape[1]):
        number[i] = _leaf(bins, i, columns, children, sets)
    return number


@_compiled
def leaves_of_pairs(bins, columns, children, sets):  # type: ignore[no-untyped-def]
    """Find the leaf of row i in tree i, for as many rows as trees: (n_rows,)."""
    number = np.empty(bins.shape[1], dtype=np.intp)
    for i in range(len(number)):
        number[i] = _leaf(bins, i, columns[i], children[i], sets[i])
    return number


@_compiled
def combine_few(bins, columns, children, sets, coef):  # type: ignore[no-untyped-def]
    """Sum the coefficients of the leaves of a few rows over all trees: (n_rows, n_outputs).

    Arrays have the shapes of ``leaves`` after a first axis of n trees. ``coef`` has the
    shape (n, n_leaves, n_outputs).
    """
    n_rows, n_outputs = bins.shape[1], coef.shape[2]
    total = np.zeros((n_rows, n_outputs))
    for tree in range(len(columns)):
        for i in range(n_rows):
            leaf = _leaf(bins, i, columns[tree], children[tree], sets[tree])
            for k in range(n_outputs):
                total[i, k] += coef[tree, leaf, k]
    return total


@_compiled
def best_cuts(bins, rows, g, h, ends, drawn, spots, by_slope, ridge):  # type: ignore[no-untyped-def]
    """Find the best of some cuts of each node.

    Node i has the ``rows`` from ``ends[i, 0]`` to ``ends[i, 1]``, with slopes ``g`` and curvatures
    ``h``. It tries the columns ``drawn[i]``, each after the bins of the rows at ``spots[i]``, which
    are in [0, 1). A missing value there parts missing values from all others. Bins of a column that
    is cut ``by_slope`` are in the order of their mean slopes.

    Returns the number of the best candidate of each node, or -1 if no cut parts its rows; its sums
    of g and h on the left and on the right, shape (n_nodes, 4); and whether each bin goes to the
    right, shape (n_nodes, 256). Bins without rows go to the side with the larger sum of h, except
    those of numbers that are beside others.
    """
    n_nodes, n_drawn, n_spots = spots.shape
    best = np.full(n_nodes, -1, dtype=np.intp)
    sums, tables = np.zeros((n_nodes, 4)), np.zeros((n_nodes, 256), dtype=np.uint8)
    of_g, of_h, n = np.zeros(256), np.zeros(256), np.zeros(256, dtype=np.intp)
    up_g, up_h, slope = np.empty(256), np.empty(256), np.empty(256)
    order, rank = np.empty(256, dtype=np.intp), np.empty(256, dtype=np.intp)
    for node in range(n_nodes):
        first, stop = ends[node, 0], ends[node, 1]
        best_gain = -np.inf
        for m in range(n_drawn):
            j = drawn[node, m]
            column = bins[j]
            of_g[:], of_h[:], n[:] = 0.0, 0.0, 0
            for i in range(first, stop):
                b = column[rows[i]]
                of_g[b] += g[i]
                of_h[b] += h[i]
                n[b] += 1
            n_present = 0
            for b in range(1, 256):
                if n[b]:
                    order[n_present] = b
                    n_present += 1
            if by_slope[j]:
                for r in range(n_present):
                    slope[r] = of_g[order[r]] / (of_h[order[r]] + ridge)
                order[:n_present] = order[:n_present][
                    np.argsort(slope[:n_present], kind="mergesort")
                ]
            total_g, total_h = 0.0, 0.0
            for r in range(n_present):
                total_g += of_g[order[r]]
                total_h += of_h[order[r]]
                up_g[r], up_h[r], rank[order[r]] = total_g, total_h, r
            all_g, all_h = total_g + of_g[0], total_h + of_h[0]
            last = n_present - 1
            for t in range(n_spots):
                spot = min(np.intp(spots[node, m, t] * (stop - first)), stop - first - 1)
                b = column[rows[first + spot]]
                cut = last if b == 0 else min(rank[b], last - 1)
                if cut < 0:
                    continue
                for side in range(2):
                    if side == 0:
                        if cut == last:
                            continue
                        g_left, h_left = up_g[cut] + of_g[0], up_h[cut] + of_h[0]
                    else:
                        if n[0] == 0:
                            continue
                        g_left, h_left = up_g[cut], up_h[cut]
                    g_right, h_right = all_g - g_left, all_h - h_left
                    gain = g_left * g_left / (h_left + ridge) + (
                        g_right * g_right / (h_right + ridge)
                    )
                    if not gain > best_gain:
                        continue
                    best_gain, best[node] = gain, m
                    sums[node, 0], sums[node, 1] = g_left, h_left
                    sums[node, 2], sums[node, 3] = g_right, h_right
                    heavier = h_right > h_left
                    if by_slope[j]:
                        for b_ in range(1, 256):
                            tables[node, b_] = rank[b_] > cut if n[b_] else heavier
                    else:
                        for b_ in range(1, 256):
                            tables[node, b_] = b_ > order[cut]
                    tables[node, 0] = side == 1 if n[0] else heavier
    return best, sums, tables


@_compiled
def parted(bins, rows, g, h, ends, columns, tables):  # type: ignore[no-untyped-def]
    """Sort the rows of some nodes by their sides, in place, and return where the right sides start.

    The rows of each side stay in order. ``g`` and ``h`` are sorted alike.
    """
    middle = np.empty(len(ends), dtype=np.intp)
    longest = 0
    for node in range(len(ends)):
        longest = max(longest, ends[node, 1] - ends[node, 0])
    r_, g_, h_ = np.empty(longest, dtype=rows.dtype), np.empty(longest), np.empty(longest)
    for node in range(len(ends)):
        column, table = bins[columns[node]], tables[node]
        to, n_right = ends[node, 0], 0
        for i in range(ends[node, 0], ends[node, 1]):
            if table[column[rows[i]]]:
                r_[n_right], g_[n_right], h_[n_right] = rows[i], g[i], h[i]
                n_right += 1
            else:
                rows[to], g[to], h[to] = rows[i], g[i], h[i]
                to += 1
        middle[node] = to
        for i in range(n_right):
            rows[to + i], g[to + i], h[to + i] = r_[i], g_[i], h_[i]
    return middle
