"""Leaves of oblivious trees: the leaf of each row, and sums and values by leaf.

An oblivious tree makes the same cut in all branches of a level. A cut is a column and a table of
256 bytes, which says for each bin whether it goes to the right (1) or to the left (0). The leaf of
a row is the sum of 2^i over the levels i at which the row goes to the right.

Rows are bins, bytes of shape (n_features, n_rows), so that a feature is contiguous. These loops use
NumPy and are always available. ``compiled`` has the same functions, and ``loops`` chooses between
them. Sums of integers stay below 2^53, so they are exact and the same in any order, whereas other
numbers are summed in a fixed order.
"""

from __future__ import annotations

import numpy as np


def leaves(bins: np.ndarray, columns: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Find the leaf of each row in a tree, shape (n_rows,).

    ``columns`` has shape (depth,) and ``tables`` (depth, 256).
    """
    number = np.zeros(bins.shape[1], dtype=np.intp)
    part = np.empty(bins.shape[1], dtype=np.uint8)
    for first in range(0, len(columns), 8):  # eight levels fill a byte
        byte = np.zeros(bins.shape[1], dtype=np.uint8)
        for i, j in enumerate(columns[first : first + 8].tolist()):
            bit = _goes_right(bins[j], tables[first + i], part)
            byte |= np.multiply(bit, np.uint8(1 << i), out=part)
        number += byte.astype(np.intp) << first
    return number


def _goes_right(column: np.ndarray, table: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Find rows that go to the right (1), by a comparison if the table is a threshold."""
    n_right = int(table[1:].sum())
    highest_left = 255 - n_right
    if n_right and not table[highest_left + 1 :].all():
        return np.frombuffer(column.tobytes().translate(table.tobytes()), np.uint8)
    if not table[0]:
        np.greater(column, np.uint8(highest_left), out=out.view(bool))
    elif highest_left:
        np.subtract(column, np.uint8(1), out=out)  # turns bin 0 into 255
        np.greater(out, np.uint8(highest_left - 1), out=out.view(bool))
    else:
        out[:] = 1
    return out


def leaf_sums(leaf: np.ndarray, values: np.ndarray, width: int) -> np.ndarray:
    """Sum ``values`` (n_values, n_rows), integers, in each leaf: (width, n_values)."""
    return np.stack([np.bincount(leaf, some, width) for some in values], axis=1)


def add_leaf_values(total: np.ndarray, leaf: np.ndarray, values: np.ndarray) -> None:
    """Add to each row of ``total`` (n_rows, n_outputs) the ``values`` of its leaf."""
    total += values.take(leaf, axis=0)


def combine_few(
    bins: np.ndarray, columns: np.ndarray, sets: np.ndarray, coef: np.ndarray
) -> np.ndarray:
    """Sum the coefficients of the leaves of a few rows over all trees: (n_rows, n_outputs).

    ``columns`` has shape (n_trees, depth), ``sets`` (n_trees, depth, 32) and ``coef`` (n_trees,
    n_leaves, n_outputs).
    """
    tree, number = np.arange(len(columns))[:, None], _few_leaves(bins, columns, sets)
    return summed(coef[tree, number])


def combine_few_linear(
    bins: np.ndarray, columns: np.ndarray, sets: np.ndarray, coef: np.ndarray, inputs: np.ndarray
) -> np.ndarray:
    """Sum linear functions of the leaves of a few rows over all trees: (n_rows, n_outputs).

    ``coef`` has the constants and the slopes, (n_trees, 1 + n_inputs, n_leaves, n_outputs), and
    ``inputs`` their factors, (n_trees, 1 + n_inputs, n_rows).
    """
    tree, number = np.arange(len(columns))[:, None], _few_leaves(bins, columns, sets)
    values = coef[tree, :, number].swapaxes(1, 2) * inputs[..., None]
    return summed(values.reshape(-1, *values.shape[2:]))


def _few_leaves(bins: np.ndarray, columns: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Find the leaves of a few rows in all trees: (n_trees, n_rows)."""
    tree = np.arange(len(columns))[:, None]
    number = np.zeros((len(columns), bins.shape[1]), dtype=np.intp)
    for i in range(columns.shape[1]):
        bin_ = bins[columns[:, i]]
        bit = sets[tree, i, bin_ >> 3] >> (7 - (bin_ & 7)) & 1
        number += bit.astype(np.intp) << i
    return number


def summed(values: np.ndarray) -> np.ndarray:
    """Sum over the first axis, in a fixed order, unlike sum."""
    none = np.zeros((1, *values.shape[1:]))
    return np.concatenate([none, values]).cumsum(axis=0)[-1]


def scaled_leaf_sums(
    leaf: np.ndarray, values: np.ndarray, scales: np.ndarray, width: int
) -> np.ndarray:
    """Sum ``values`` times each of the ``scales`` of rows (n_scales, n_rows), rounded to integers.

    The sums in each leaf have the shape (n_scales, width, n_values).
    """
    return np.stack([leaf_sums(leaf, np.rint(values * scale), width) for scale in scales])


def add_scaled_leaf_values(
    total: np.ndarray, leaf: np.ndarray, values: np.ndarray, scales: np.ndarray
) -> None:
    """Add to each row of ``total`` values of its leaf times scales of the row.

    ``values`` has the shape (at least n_scales, width, n_outputs), and ``scales`` has the shape
    (n_scales, n_rows).
    """
    for some, scale in zip(values, scales, strict=False):
        total += some.take(leaf, axis=0) * scale[:, None]


#: Bits of a sum of slopes. One number holds it, with a sum of curvatures in the bits above.
SUM_BITS = 26


def unpacked(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers that hold both sums into sums of slopes and sums of curvatures."""
    h = np.rint(sums * 2.0**-SUM_BITS)
    return sums - h * 2.0**SUM_BITS, h


def cut_gains(
    bins: np.ndarray,
    buckets: np.ndarray,
    leaf: np.ndarray,
    both: np.ndarray,
    n_leaves: int,
    ridge: float,
) -> np.ndarray:
    """Compute the gain of a Newton step for each cut: shape (2, n_features, n_cuts).

    ``bins`` has shape (n_features, n_rows). ``buckets``, of shape (n_features, 256), has the bucket
    of each bin: the number of thresholds below it, and n_cuts + 1 for missing values. ``both``
    holds slope and curvature of each row in one number. In the first half of the result, missing
    values go to the left, and in the second to the right. The gain of a cut is the sum of g² / (h +
    ridge) over all leaves and sides, in a fixed order.
    """
    n_features, n_buckets = len(bins), int(buckets[0, 0]) + 1
    first = leaf * n_buckets
    sums = np.empty((n_features, n_leaves, n_buckets))
    for i in range(n_features):
        bucket = np.frombuffer(bins[i].tobytes().translate(buckets[i].tobytes()), np.uint8)
        by_cell = np.bincount(first + bucket, both, n_leaves * n_buckets)
        sums[i] = by_cell.reshape(n_leaves, n_buckets)
    g, h = unpacked(sums)
    g_all, h_all = (part.sum(axis=2, keepdims=True) for part in (g, h))
    g_left, h_left = (part[:, :, :-2].cumsum(axis=2) for part in (g, h))
    gains: list[np.ndarray] = []
    for side in range(2):
        if side == 0:
            left = g_left + g[:, :, -1:], h_left + h[:, :, -1:]
        elif sums.reshape(-1, n_buckets)[:, -1].any():
            left = g_left, h_left
        else:
            gains.append(gains[0])
            break
        right = g_all - left[0], h_all - left[1]
        each = left[0] ** 2 / (left[1] + ridge) + right[0] ** 2 / (right[1] + ridge)
        gains.append(each.cumsum(axis=1)[:, -1])  # in a fixed order, unlike sum
    return np.stack(gains)


def halved(leaf: np.ndarray, right: np.ndarray, n_leaves: int) -> tuple[np.ndarray, int]:
    """Find the leaves of rows after a cut. ``right`` is 1 for rows that go to the right.

    Leaves with rows are numbered in order, and their number is returned as well.
    """
    half = 2 * leaf + right
    occupied = np.bincount(half, minlength=2 * n_leaves) > 0
    return (np.cumsum(occupied) - 1)[half], int(occupied.sum())
