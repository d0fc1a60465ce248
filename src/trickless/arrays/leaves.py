"""Leaves of oblivious trees: the leaf of each row, and sums and values by leaf.

An oblivious tree makes the same cut in all branches of a level. A cut is a column and a table of
256 bytes, which says for each bin whether it goes to the right (1) or to the left (0). The leaf of
a row is the sum of 2^i over the levels i at which the row goes to the right.

Rows are bins, bytes of shape (n_features, n_rows), so that a feature is contiguous. numba compiles
the loops, which use numbers as positions in memory without checks, so the only way to them leads
through ``loops``. Sums of integers stay below 2^53, so they are exact and the same in any order,
whereas other numbers are summed in a fixed order.
"""

from __future__ import annotations

import numba
import numpy as np

from trickless.arrays.packed_sums import SUM_BITS

_compiled = numba.njit(cache=True, nogil=True)


@_compiled
def leaves(bins, columns, tables):  # type: ignore[no-untyped-def]
    """Find the leaf of each row in a tree, shape (n_rows,).

    ``columns`` has shape (depth,) and ``tables`` (depth, 256).
    """
    n_rows = bins.shape[1]
    number = np.zeros(n_rows, dtype=np.intp)
    for level in range(len(columns)):
        column, table, bit = bins[columns[level]], tables[level], np.intp(1) << level
        n_right = 0
        for b in range(1, 256):
            n_right += table[b]
        highest_left = 255 - n_right
        threshold = True
        for b in range(highest_left + 1, 256):
            threshold = threshold and table[b] == 1
        if not threshold:
            for i in range(n_rows):
                number[i] += bit * table[column[i]]
        elif table[0] == 0:
            for i in range(n_rows):
                number[i] += bit * (column[i] > highest_left)
        else:
            for i in range(n_rows):
                number[i] += bit * ((column[i] > highest_left) | (column[i] == 0))
    return number


@_compiled
def _leaf(bins, i, columns, sets):  # type: ignore[no-untyped-def]
    """Return the leaf of row i, for cuts by the bits of ``sets`` (depth, 32)."""
    leaf = np.intp(0)
    for level in range(len(columns)):
        b = np.intp(bins[columns[level], i])
        byte = np.intp(sets[level, b >> 3])
        leaf |= ((byte >> (7 - (b & 7))) & 1) << level
    return leaf


@_compiled
def leaves_of_pairs(bins, columns, sets):  # type: ignore[no-untyped-def]
    """Find the leaf of row i in tree i, for as many rows as trees: (n_rows,)."""
    number = np.empty(bins.shape[1], dtype=np.intp)
    for i in range(len(number)):
        number[i] = _leaf(bins, i, columns[i], sets[i])
    return number


@_compiled
def combine_few(bins, columns, sets, coef, inputs):  # type: ignore[no-untyped-def]
    """Sum linear functions of the leaves of a few rows over all trees: (n_rows, n_outputs).

    ``columns`` has shape (n_trees, depth) and ``sets`` (n_trees, depth, 32). ``coef`` has constants
    and slopes, (n_trees, 1 + n_inputs, n_leaves, n_outputs), and ``inputs`` their factors,
    (n_trees, 1 + n_inputs, n_rows).
    """
    n_rows, n_outputs = bins.shape[1], coef.shape[3]
    total = np.zeros((n_rows, n_outputs))
    for tree in range(len(columns)):
        for i in range(n_rows):
            leaf = _leaf(bins, i, columns[tree], sets[tree])
            for j in range(coef.shape[1]):
                for k in range(n_outputs):
                    total[i, k] += coef[tree, j, leaf, k] * inputs[tree, j, i]
    return total


@_compiled
def leaf_sums(leaf, values, width):  # type: ignore[no-untyped-def]
    """Sum ``values`` (n_values, n_rows), integers, in each leaf: (width, n_values)."""
    sums = np.zeros((width, len(values)))
    for k in range(len(values)):
        some = values[k]
        for i in range(len(leaf)):
            sums[leaf[i], k] += some[i]
    return sums


@_compiled
def add_leaf_values(total, leaf, values):  # type: ignore[no-untyped-def]
    """Add to each row of ``total`` (n_rows, n_outputs) the ``values`` of its leaf."""
    for i in range(len(leaf)):
        for k in range(total.shape[1]):
            total[i, k] += values[leaf[i], k]


@_compiled
def scaled_leaf_sums(leaf, values, scales, width):  # type: ignore[no-untyped-def]
    """Sum ``values`` times each of the ``scales`` of rows (n_scales, n_rows), rounded to integers.

    The sums in each leaf have the shape (n_scales, width, n_values).
    """
    sums = np.zeros((len(scales), width, len(values)))
    for j in range(len(scales)):
        scale, into = scales[j], sums[j]
        for k in range(len(values)):
            some = values[k]
            for i in range(len(leaf)):
                into[leaf[i], k] += np.rint(some[i] * scale[i])
    return sums


@_compiled
def add_scaled_leaf_values(total, leaf, values, scales):  # type: ignore[no-untyped-def]
    """Add to each row of ``total`` values of its leaf times scales of the row.

    ``values`` has the shape (at least n_scales, width, n_outputs), and ``scales`` has the shape
    (n_scales, n_rows).
    """
    for j in range(len(scales)):
        scale, some = scales[j], values[j]
        for i in range(len(leaf)):
            for k in range(total.shape[1]):
                total[i, k] += some[leaf[i], k] * scale[i]


@_compiled
def cut_gains(bins, buckets, leaf, both, n_leaves, ridge):  # type: ignore[no-untyped-def]
    """Compute the gain of a Newton step for each cut: shape (2, n_features, n_cuts).

    ``bins`` has shape (n_features, n_rows). ``buckets``, of shape (n_features, 256), has the bucket
    of each bin: the number of thresholds below it, and n_cuts + 1 for missing values. ``both``
    holds slope and curvature of each row in one number. In the first half of the result, missing
    values go to the left, and in the second to the right. The gain of a cut is the sum of g² / (h +
    ridge) over all leaves and sides, in a fixed order.
    """
    n_features, n_buckets = len(bins), np.intp(buckets[0, 0]) + 1
    gains = np.zeros((2, n_features, n_buckets - 2))
    # Integers add up faster, and two alternating sums do not wait for each other.
    n_rows, size = len(leaf), n_leaves * n_buckets
    whole, first = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        whole[i], first[i] = np.int64(both[i]), np.uint64(leaf[i] * n_buckets)
    even, odd = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    sums = np.empty((n_leaves, n_buckets))
    for j in range(n_features):
        work = even, odd, sums
        _gains_of_column(bins[j], buckets[j], first, whole, n_leaves, ridge, work, gains[:, j])
    return gains


@_compiled
def _gains_of_column(column, into, first, whole, n_leaves, ridge, work, gains):  # type: ignore[no-untyped-def]
    """Add the gains of the cuts of a column to ``gains``, for each side of missing values.

    ``first`` is the first cell of the leaf of each row, and ``work`` is memory for the cells.
    """
    even, odd, sums = work
    n_rows, n_buckets = len(first), np.intp(into[0]) + 1
    n_cuts, up, down = n_buckets - 2, 2.0**SUM_BITS, 2.0**-SUM_BITS
    size = n_leaves * n_buckets
    even[:size], odd[:size] = 0, 0
    for i in range(0, n_rows - 1, 2):
        even[first[i] + np.uint64(into[column[i]])] += whole[i]
        odd[first[i + 1] + np.uint64(into[column[i + 1]])] += whole[i + 1]
    if n_rows % 2:
        even[first[n_rows - 1] + np.uint64(into[column[n_rows - 1]])] += whole[n_rows - 1]
    for v in range(n_leaves):
        for b in range(n_buckets):
            sums[v, b] = even[v * n_buckets + b] + odd[v * n_buckets + b]
    for v in range(n_leaves):
        total = 0.0
        for b in range(n_buckets):
            total += sums[v, b]
        h_all = np.rint(total * down)
        g_all = total - h_all * up
        h_missing = np.rint(sums[v, n_cuts + 1] * down)
        g_missing = sums[v, n_cuts + 1] - h_missing * up
        no_gaps = sums[v, n_cuts + 1] == 0
        left = 0.0
        for q in range(n_cuts):
            left += sums[v, q]
            h = np.rint(left * down)
            g = left - h * up
            g_right, h_right = g_all - g, h_all - h
            gain = g * g / (h + ridge) + g_right * g_right / (h_right + ridge)
            gains[1, q] += gain
            if no_gaps:
                gains[0, q] += gain
                continue
            g_left, h_left = g + g_missing, h + h_missing
            g_right, h_right = g_all - g_left, h_all - h_left
            gains[0, q] += g_left * g_left / (h_left + ridge) + (
                g_right * g_right / (h_right + ridge)
            )


@_compiled
def halved(leaf, right, n_leaves):  # type: ignore[no-untyped-def]
    """Find the leaves of rows after a cut. ``right`` is 1 for rows that go to the right.

    Leaves with rows are numbered in order, and their number is returned as well.
    """
    half = np.empty(len(leaf), dtype=np.intp)
    number = np.zeros(2 * n_leaves, dtype=np.intp)
    for i in range(len(leaf)):
        half[i] = 2 * leaf[i] + right[i]
        number[half[i]] = 1
    n_occupied = 0
    for v in range(len(number)):
        occupied = number[v]
        number[v] = n_occupied
        n_occupied += occupied
    for i in range(len(leaf)):
        half[i] = number[half[i]]
    return half, n_occupied


@_compiled
def grow(bins, rows, g, h, numbers, columns, random, noise, tree):  # type: ignore[no-untyped-def]
    """Choose the cuts of a tree of numbers: the loop of ``cuts.choose_cuts``, with its results.

    ``loops.grow`` explains the arguments.
    """
    ridge, unit, scale, share, from_rows, from_all, penalty = numbers
    counts, chance, quantiles = columns
    depth, n_candidates, most_cuts, patience = tree
    n_features, n_rows = len(bins), len(g)
    chosen, tables = np.zeros(depth, dtype=np.int64), np.zeros((depth, 256), dtype=np.uint8)
    sampled, seen = bins, np.zeros(n_features, dtype=np.uint8)
    if len(rows):
        sampled = np.empty((n_features, n_rows), dtype=np.uint8)
    whole, h_total = np.empty(n_rows, dtype=np.int64), 0.0
    for i in range(n_rows):
        whole[i] = np.int64(h[i] * 2.0**SUM_BITS + g[i])
        h_total += h[i]
    leaf, first = np.zeros(n_rows, dtype=np.intp), np.empty(n_rows, dtype=np.uint64)
    right, drawn = np.empty(n_rows, dtype=np.uint8), np.empty(n_candidates, dtype=np.intp)
    at, n_leaves, best, n_levels, df, noise_so_far = 0, 1, -np.inf, 1, 1.0, 1.0
    for level in range(depth):
        n_before = n_leaves
        n_spots = min(n_candidates, most_cuts, max(1, n_rows // (2 * n_leaves)))
        n_buckets = n_spots + 2
        for c in range(n_candidates):
            j = drawn[c] = _first_above(chance, random[at + c] * chance[-1])
            if len(rows) and not seen[j]:
                seen[j] = 1
                for i in range(n_rows):
                    sampled[j, i] = bins[j, rows[i]]
        at += n_candidates
        buckets = np.zeros((n_candidates, 256), dtype=np.uint8)
        for c in range(n_candidates):
            j = drawn[c]
            _put_buckets(random[at : at + n_spots], counts[j], buckets[c])
            at += n_spots
            buckets[c, 0] = n_spots + 1
        for i in range(n_rows):
            first[i] = np.uint64(leaf[i] * n_buckets)
        size = n_leaves * n_buckets
        even, odd = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        work = even, odd, np.empty((n_leaves, n_buckets))
        gains = np.zeros((2, n_candidates, n_spots))
        for c in range(n_candidates):
            of_column = sampled[drawn[c]]
            _gains_of_column(
                of_column, buckets[c], first, whole, n_leaves, ridge, work, gains[:, c]
            )
        side, c, cut = 0, 0, 0
        for s in range(2):
            for k in range(n_candidates):
                for q in range(n_spots):
                    if gains[s, k, q] > gains[side, c, cut]:
                        side, c, cut = s, k, q
        j = chosen[level] = drawn[c]
        table, column = tables[level], sampled[j]
        for b in range(256):
            table[b] = buckets[c, b] > cut
        table[0] = side
        gaps, left = 0, 0.0
        for i in range(n_rows):
            gaps += column[i] == 0
            if table[column[i]] == 0:
                left += h[i]
        if gaps == 0:
            table[0] = quantiles[j] >= left / max(h_total, 1.0)
        for i in range(n_rows):
            right[i] = table[column[i]]
        leaf, n_leaves = halved(leaf, right, n_leaves)
        gain = gains[side, c, cut] * unit
        before, df = df, _degrees_of_freedom(leaf, h, n_leaves, ridge)
        n_cuts = 0
        for k in range(n_candidates):
            again = False
            for earlier in range(k):
                again = again or drawn[earlier] == drawn[k]
            if not again:
                n_cuts += min(max(counts[drawn[k]] - 1, 1), n_spots)
        z, more = noise[n_cuts], df - before
        noise_so_far += more + share * (
            z * np.sqrt(2 * max(more, 0.0)) + 2 / 3 * max(z * z - 1, 0.0)
        )
        net = scale * (gain - noise_so_far * from_rows) - penalty * df * from_all
        if net > best and (n_leaves > n_before or level == 0):
            best, n_levels = net, level + 1
        elif level + 1 - n_levels >= patience:
            break
    chosen[n_levels:], tables[n_levels:] = 0, 0
    return chosen, tables, n_levels, at


@_compiled
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


@_compiled
def _put_buckets(spots, n_values, buckets):  # type: ignore[no-untyped-def]
    """Count the thresholds below each bin. They are at ``spots`` in [0, 1) of equal parts."""
    n_spots = len(spots)
    for q in range(n_spots):
        above = 2 + int((q + spots[q]) / n_spots * (n_values - 1))
        for b in range(above, 256):
            buckets[b] += 1


@_compiled
def _degrees_of_freedom(leaf, h, n_leaves, ridge):  # type: ignore[no-untyped-def]
    of_leaves, total = np.zeros(n_leaves), 0.0
    for i in range(len(leaf)):
        of_leaves[leaf[i]] += h[i]
    for v in range(n_leaves):
        total += of_leaves[v] / (of_leaves[v] + ridge)
    return total
