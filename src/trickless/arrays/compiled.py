"""The loops of ``leaves``, compiled by numba. Functions and results are the same."""

from __future__ import annotations

import numba
import numpy as np

from trickless.arrays.leaves import SUM_BITS

_compiled = numba.njit(cache=True, nogil=True)


@_compiled
def leaves(bins, columns, tables):  # type: ignore[no-untyped-def]  # noqa: D103
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
def leaf_sums(leaf, values, width):  # type: ignore[no-untyped-def]  # noqa: D103
    sums = np.zeros((width, len(values)))
    for k in range(len(values)):
        some = values[k]
        for i in range(len(leaf)):
            sums[leaf[i], k] += some[i]
    return sums


@_compiled
def add_leaf_values(total, leaf, values):  # type: ignore[no-untyped-def]  # noqa: D103
    for i in range(len(leaf)):
        for k in range(total.shape[1]):
            total[i, k] += values[leaf[i], k]


@_compiled
def cut_gains(bins, buckets, leaf, both, n_leaves, ridge):  # type: ignore[no-untyped-def]  # noqa: D103
    n_features, n_buckets = len(bins), np.intp(buckets[0, 0]) + 1
    n_cuts, up, down = n_buckets - 2, 2.0**SUM_BITS, 2.0**-SUM_BITS
    gains = np.zeros((2, n_features, n_cuts))
    # Integers add up faster, and two alternating sums do not wait for each other.
    n_rows, size = len(leaf), n_leaves * n_buckets
    whole, first = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        whole[i], first[i] = np.int64(both[i]), np.uint64(leaf[i] * n_buckets)
    even, odd = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    sums = np.empty((n_leaves, n_buckets))
    for j in range(n_features):
        column, into = bins[j], buckets[j]
        even[:], odd[:] = 0, 0
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
            left = 0.0
            for q in range(n_cuts):
                left += sums[v, q]
                h = np.rint(left * down)
                g = left - h * up
                for side in range(2):
                    g_left = g + g_missing if side == 0 else g
                    h_left = h + h_missing if side == 0 else h
                    g_right, h_right = g_all - g_left, h_all - h_left
                    gains[side, j, q] += g_left * g_left / (h_left + ridge) + (
                        g_right * g_right / (h_right + ridge)
                    )
    return gains


@_compiled
def halved(leaf, right, n_leaves):  # type: ignore[no-untyped-def]  # noqa: D103
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
