"""Binary trees: the leaf of each row.

A binary tree cuts each node on its own. A cut is a column and a set of 32 bytes, which says by a
bit for each bin whether it goes to the right (1) or to the left (0). The children of a node are
numbers of nodes, which are larger than its own, or -v for leaf v. Node 0 is the root.

Rows are bins, bytes of shape (n_features, n_rows). The only way to these loops, which numba
compiles, leads through ``branch_loops``.
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
