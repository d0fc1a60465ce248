"""Binary trees: the leaf of each row, the best cuts of nodes, and the rows of their two sides.

A binary tree cuts each node on its own. A cut is a column and a set of 32 bytes, which says by a
bit for each bin whether it goes to the right (1) or to the left (0). The children of a node are
numbers of nodes, which are larger than its own, or -v for leaf v. Node 0 is the root.

Rows are bins, bytes of shape (n_features, n_rows). These loops use NumPy and are always available.
``compiled_branches`` has the same functions, and ``branch_loops`` chooses between them. Sums of
slopes and curvatures are sums of integers below 2^53, so they are exact in any order.
"""

from __future__ import annotations

import numpy as np

from trickless.arrays.leaves import summed as _summed


def leaves(
    bins: np.ndarray, columns: np.ndarray, children: np.ndarray, sets: np.ndarray
) -> np.ndarray:
    """Find the leaf of each row in a tree, shape (n_rows,).

    Shapes are (n_nodes,) for ``columns``, (n_nodes, 2) for ``children`` and (n_nodes, 32) for
    ``sets``.
    """
    number = np.zeros(bins.shape[1], dtype=np.intp)
    rows, node = np.arange(bins.shape[1]), np.zeros(bins.shape[1], dtype=np.intp)
    while len(rows):
        b = bins[columns[node], rows]
        right = sets[node, b >> 3] >> (7 - (b & 7)) & 1
        node = children[node, right].astype(np.intp)
        at_leaf = node <= 0
        number[rows[at_leaf]] = -node[at_leaf]
        rows, node = rows[~at_leaf], node[~at_leaf]
    return number


def combine_few(
    bins: np.ndarray,
    columns: np.ndarray,
    children: np.ndarray,
    sets: np.ndarray,
    coef: np.ndarray,
) -> np.ndarray:
    """Sum the coefficients of the leaves of a few rows over all trees: (n_rows, n_outputs).

    Arrays have the shapes of ``leaves`` after a first axis of n trees. All trees go down one level
    at a time. ``coef`` has the shape (n, n_leaves, n_outputs).
    """
    (n, n_nodes), n_rows = columns.shape, bins.shape[1]
    columns, children, sets = columns.ravel(), children.reshape(-1, 2), sets.reshape(-1, 32)
    tree, row = np.repeat(np.arange(n), n_rows), np.tile(np.arange(n_rows), n)
    number, left = np.zeros(n * n_rows, dtype=np.intp), np.arange(n * n_rows)
    node, root = np.zeros(n * n_rows, dtype=np.intp), tree * n_nodes
    while len(left):
        at = root[left] + node
        b = bins[columns[at], row[left]]
        right = sets[at, b >> 3] >> (7 - (b & 7)) & 1
        node = children[at, right].astype(np.intp)
        inner = node > 0
        number[left] = -node  # of leaves, in the end
        left, node = left[inner], node[inner]
    return _summed(coef[tree, number].reshape(n, n_rows, coef.shape[2]))


def best_cuts(
    bins: np.ndarray,
    rows: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    ends: np.ndarray,
    drawn: np.ndarray,
    spots: np.ndarray,
    by_slope: np.ndarray,
    ridge: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    counts = ends[:, 1] - ends[:, 0]
    node = np.repeat(np.arange(n_nodes), counts)
    starts = np.cumsum(counts) - counts
    at = np.arange(len(node)) - np.repeat(starts, counts) + np.repeat(ends[:, 0], counts)
    rows, g, h = rows[at], g[at], h[at]
    best, best_gain = np.full(n_nodes, -1), np.full(n_nodes, -np.inf)
    sums, tables = np.zeros((n_nodes, 4)), np.zeros((n_nodes, 256), dtype=np.uint8)
    every = np.arange(n_nodes)
    for m in range(n_drawn):
        b = bins[drawn[node, m], rows].astype(np.intp)
        cell = node * 256 + b
        of_g, of_h, n = (
            np.bincount(cell, some, n_nodes * 256).reshape(n_nodes, 256) for some in (g, h, None)
        )
        present = n[:, 1:] > 0
        slope = of_g[:, 1:] / (of_h[:, 1:] + ridge)
        order = np.where(by_slope[drawn[:, m], None], slope, np.arange(255.0))
        order = np.argsort(np.where(present, order, np.inf), axis=1, kind="stable") + 1
        rank = np.empty((n_nodes, 256), dtype=np.intp)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(255), order.shape), axis=1)
        rank[:, 0] = 255
        up_g, up_h = (
            np.take_along_axis(some, order, axis=1).cumsum(axis=1) for some in (of_g, of_h)
        )
        all_g, all_h = up_g[:, -1] + of_g[:, 0], up_h[:, -1] + of_h[:, 0]
        last = present.sum(axis=1) - 1
        for t in range(n_spots):
            spot = starts + np.minimum((spots[:, m, t] * counts).astype(np.intp), counts - 1)
            r = rank[every, b[spot]]
            cut = np.where(r == 255, last, np.minimum(r, last - 1))
            for side in range(2):
                left = up_g[every, cut], up_h[every, cut]
                if side == 0:
                    left = left[0] + of_g[:, 0], left[1] + of_h[:, 0]
                    valid = (cut >= 0) & (cut < last)
                else:
                    valid = (cut >= 0) & (n[:, 0] > 0)
                right = all_g - left[0], all_h - left[1]
                gain = left[0] * left[0] / (left[1] + ridge) + (
                    right[0] * right[0] / (right[1] + ridge)
                )
                better = np.flatnonzero(valid & (gain > best_gain))
                best[better], best_gain[better] = m, gain[better]
                sums[better] = np.stack([left[0], left[1], right[0], right[1]], axis=1)[better]
                heavier = right[1] > left[1]
                unseen = np.where(by_slope[drawn[:, m]], heavier, False)[:, None]
                above = np.where(
                    by_slope[drawn[:, m], None],
                    np.where(n > 0, rank > cut[:, None], unseen),
                    np.arange(256) > order[every, cut][:, None],
                )
                above[:, 0] = np.where(n[:, 0] > 0, side == 1, heavier)
                tables[better] = above[better]
    return best, sums, tables


def parted(
    bins: np.ndarray,
    rows: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    ends: np.ndarray,
    columns: np.ndarray,
    tables: np.ndarray,
) -> np.ndarray:
    """Sort the rows of some nodes by their sides, in place, and return where the right sides start.

    The rows of each side stay in order. ``g`` and ``h`` are sorted alike.
    """
    counts = ends[:, 1] - ends[:, 0]
    node = np.repeat(np.arange(len(ends)), counts)
    starts = np.cumsum(counts) - counts
    at = np.arange(len(node)) - np.repeat(starts, counts) + np.repeat(ends[:, 0], counts)
    right = tables[node, bins[columns[node], rows[at]]]
    order = np.argsort(2 * node + right, kind="stable")
    for some in (rows, g, h):
        some[at] = some[at[order]]
    return ends[:, 1] - np.bincount(node, right, len(ends)).astype(np.intp)
