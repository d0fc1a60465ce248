"""The loops of ``branches``, compiled by numba. Functions and results are the same."""

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
def leaves(bins, columns, children, sets):  # type: ignore[no-untyped-def]  # noqa: D103
    number = np.empty(bins.shape[1], dtype=np.intp)
    for i in range(bins.shape[1]):
        number[i] = _leaf(bins, i, columns, children, sets)
    return number


@_compiled
def combine_few(bins, columns, children, sets, coef):  # type: ignore[no-untyped-def]  # noqa: D103
    n_rows, n_outputs = bins.shape[1], coef.shape[2]
    total = np.zeros((n_rows, n_outputs))
    for tree in range(len(columns)):
        for i in range(n_rows):
            leaf = _leaf(bins, i, columns[tree], children[tree], sets[tree])
            for k in range(n_outputs):
                total[i, k] += coef[tree, leaf, k]
    return total


@_compiled
def add_packed(total, right, numbers, after, coef, ends, n_levels, n_nodes):  # type: ignore[no-untyped-def]  # noqa: D103
    tree = 0
    sums = np.empty(len(total))
    for end in ends:
        sums[:] = 0.0
        while tree < end:
            at = 2 * tree
            while at < 2 * n_nodes:
                at = after[at + right[numbers[at]]]
            for k in range(len(total)):
                sums[k] += coef[at // 2 - n_nodes, k]
            tree += 1
        for k in range(len(total)):
            total[k] += sums[k]


@_compiled
def best_cuts(bins, rows, g, h, ends, drawn, spots, by_slope, ridge):  # type: ignore[no-untyped-def]  # noqa: D103
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
def parted(bins, rows, g, h, ends, columns, tables):  # type: ignore[no-untyped-def]  # noqa: D103
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
