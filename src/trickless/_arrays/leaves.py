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
def combine(bins, columns, sets, coef, values, first, few):  # type: ignore[no-untyped-def]
    """Sum linear functions of the leaves of rows over all trees: (n_rows, n_outputs).

    ``columns`` has shape (n_trees, depth) and ``sets`` (n_trees, depth, 32). ``coef`` has constants
    and slopes, (n_trees, 1 + n_inputs, n_leaves, n_outputs). The inputs of a tree are the
    ``values`` of bins, (n_columns, 256), in the columns of its ``first`` cuts. Up to ``few`` rows,
    reading the bits of sets is faster than unpacking them for each tree.
    """
    n_rows, n_outputs = bins.shape[1], coef.shape[3]
    total, leaf = np.zeros((n_rows, n_outputs)), np.zeros(n_rows, dtype=np.intp)
    used, tables = np.zeros(coef.shape[1] - 1, np.intp), np.zeros((columns.shape[1], 256), np.uint8)
    for tree in range(len(columns)):
        if n_rows <= few:
            for i in range(n_rows):
                leaf[i] = _leaf(bins, i, columns[tree], sets[tree])
        else:
            for level in range(len(tables)):
                for b in range(256):
                    tables[level, b] = sets[tree, level, b >> 3] >> (7 - (b & 7)) & 1
            leaf = leaves(bins, columns[tree], tables)
        n_used = find_inputs(columns[tree], sets[tree], values, first, used)
        for k in range(n_outputs):
            constant = coef[tree, 0, :, k]
            for i in range(n_rows):
                total[i, k] += constant[leaf[i]]
            for a in range(n_used):
                slope, column, value = coef[tree, 1 + a, :, k], bins[used[a]], values[used[a]]
                for i in range(n_rows):
                    total[i, k] += slope[leaf[i]] * value[column[i]]
    return total


@_compiled
def find_inputs(columns, sets, values, first, used):  # type: ignore[no-untyped-def]
    """Fill the columns that the leaves of a tree are linear in, and return their number.

    These are the columns of its ``first`` cuts whose bins have values, each once. Cuts that send
    all rows to the left do not count.
    """
    n = 0
    for level in range(min(first, len(columns)) if len(used) else 0):
        j, byte, b, again = columns[level], 0, 0, False
        while byte < 32 and sets[level, byte] == 0:
            byte += 1
        while b < 256 and values[j, b] == 0:
            b += 1
        for a in range(n):
            again = again or used[a] == j
        if byte < 32 and b < 256 and n < len(used) and not again:
            used[n] = j
            n += 1
    return n


@_compiled
def add_leaf_values(total, leaf, values):  # type: ignore[no-untyped-def]
    """Add to each row of ``total`` (n_rows, n_outputs) the ``values`` of its leaf."""
    for i in range(len(leaf)):
        for k in range(total.shape[1]):
            total[i, k] += values[leaf[i], k]
