"""Leaves of oblivious trees: the leaf of each row, and values by leaf.

An oblivious tree makes the same cut in all branches of a level. A cut is a column and a table of
256 bytes, which says for each bin whether it goes to the right (1) or to the left (0). The leaf of
a row is the sum of 2^i over the levels i at which the row goes to the right.

Rows are bins, bytes of shape (n_features, n_rows), so that a feature is contiguous. numba compiles
the loops, which use numbers as positions in memory without checks, so the only way to them leads
through ``loops``. Numbers are summed in a fixed order.
"""

from __future__ import annotations

import numba
import numpy as np

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
def add_leaf_values(total, leaf, values):  # type: ignore[no-untyped-def]
    """Add to each row of ``total`` (n_rows, n_outputs) the ``values`` of its leaf."""
    for i in range(len(leaf)):
        for k in range(total.shape[1]):
            total[i, k] += values[leaf[i], k]


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
