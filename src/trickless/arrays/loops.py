"""Loops over the rows of oblivious trees, behind checks of their arguments.

Compiled loops use numbers as positions in memory, without checks. The only way to them therefore
leads through this module, whose functions raise a ValueError that names an argument with another
type, shape or range. numba takes a second to load, so the first call loads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from types import ModuleType

import numpy as np

from trickless.arrays.stated import check_array, check_count

#: The most levels of a tree: leaves of deeper trees have more coefficients than tables have rows.
MOST_LEVELS = 16
#: Rows up to which reading the bits of sets is faster than unpacking them for each tree.
FEW_ROWS = 64
_INTP = np.dtype(np.intp).str[1:]


@cache
def _compiled() -> ModuleType:
    from trickless.arrays import leaves

    return leaves


def leaves(bins: np.ndarray, columns: np.ndarray, sets: np.ndarray) -> Iterator[np.ndarray]:
    """Iterate over the leaf of each row, shape (n_rows,), in one tree after the other.

    ``bins`` are bytes of shape (n_features, n_rows). ``columns``, of shape (n_trees, depth),
    and ``sets``, of shape (n_trees, depth, 32), have the feature of each cut, and a bit for
    each bin. Leaves are below 2^depth.
    """
    check_array("bins of rows", bins, "u1", (None, None))
    check_cuts(columns, sets, len(bins))
    columns = np.ascontiguousarray(columns, np.int64)
    tables = np.unpackbits(sets, axis=2)
    return map(partial(_compiled().leaves, bins), columns, tables)


def leaves_of_pairs(bins: np.ndarray, columns: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Find the leaf of row i in tree i, for as many rows as trees: (n_rows,)."""
    check_array("bins of rows", bins, "u1", (None, len(columns)))
    check_cuts(columns, sets, len(bins))
    return _compiled().leaves_of_pairs(bins, np.ascontiguousarray(columns, np.int64), sets)


def combine(
    bins: np.ndarray, columns: np.ndarray, sets: np.ndarray, coef: np.ndarray
) -> np.ndarray:
    """Sum the coefficients of the leaves of each row: (n_rows, n_outputs).

    ``coef`` has the shape (n_trees, n_leaves, n_outputs). See ``leaves`` for the other
    arguments.
    """
    check_array("bins of rows", bins, "u1", (None, None))
    check_cuts(columns, sets, len(bins))
    shape, kind = (len(columns), 2 ** columns.shape[1]), f"depth {columns.shape[1]}"
    if bins.shape[1] <= FEW_ROWS:
        check_coefficients(coef, shape, kind)
        columns, ones = columns.astype(np.int64), np.ones((len(columns), 1, bins.shape[1]))
        return _compiled().combine_few(bins, columns, sets, coef[:, None], ones)
    return combined(leaves(bins, columns, sets), bins.shape[1], coef, shape, kind)


def combined(
    leaves: Iterator[np.ndarray],
    n_rows: int,
    coef: np.ndarray,
    shape: tuple[int, int],
    kind: str,
) -> np.ndarray:
    """Sum coefficients, given the leaves, and the numbers of trees and of leaves of a tree."""
    check_coefficients(coef, shape, kind)
    total = np.zeros((n_rows, coef.shape[2]))
    for leaf, values in zip(leaves, coef, strict=True):
        _compiled().add_leaf_values(total, leaf, values)
    return total


def combine_few_linear(
    bins: np.ndarray,
    columns: np.ndarray,
    sets: np.ndarray,
    coef: np.ndarray,
    inputs: np.ndarray,
) -> np.ndarray:
    """Sum linear functions of the leaves of a few rows: (n_rows, n_outputs).

    ``coef`` has the shape (n_trees, 1 + n_inputs, n_leaves, n_outputs), and ``inputs``, whose
    first are 1, the shape (n_trees, 1 + n_inputs, n_rows).
    """
    check_array("bins of rows", bins, "u1", (None, None))
    check_cuts(columns, sets, len(bins))
    check_array("inputs of leaves", inputs, "f8", (len(columns), None, bins.shape[1]))
    shape = len(columns), inputs.shape[1], 2 ** columns.shape[1], None
    check_array("coefficients of leaves", coef, "f4 f8", shape)
    columns = np.ascontiguousarray(columns, np.int64)
    return _compiled().combine_few(bins, columns, sets, coef, inputs)


def leaf_sums(leaf: np.ndarray, values: np.ndarray, width: int) -> np.ndarray:
    """Call ``leaves.leaf_sums``, which explains the arguments."""
    check_leaves(leaf, width)
    check_array("values of rows", values, "f8", (None, len(leaf)))
    return _compiled().leaf_sums(leaf, values, width)


def add_leaf_values(total: np.ndarray, leaf: np.ndarray, values: np.ndarray) -> None:
    """Call ``leaves.add_leaf_values``, which explains the arguments."""
    check_array("values of leaves", values, "f4 f8", (None, None))
    check_leaves(leaf, len(values))
    check_array("sums of rows", total, "f8", (len(leaf), values.shape[1]))
    _compiled().add_leaf_values(total, leaf, values)


def scaled_leaf_sums(
    leaf: np.ndarray, values: np.ndarray, scales: np.ndarray, width: int
) -> np.ndarray:
    """Call ``leaves.scaled_leaf_sums``, which explains the arguments."""
    check_leaves(leaf, width)
    check_array("values of rows", values, "f8", (None, len(leaf)))
    check_array("scales of rows", scales, "f8", (None, len(leaf)))
    return _compiled().scaled_leaf_sums(leaf, values, scales, width)


def add_scaled_leaf_values(
    total: np.ndarray, leaf: np.ndarray, values: np.ndarray, scales: np.ndarray
) -> None:
    """Call ``leaves.add_scaled_leaf_values``, which explains the arguments."""
    check_array("values of leaves", values, "f4 f8", (None, None, None))
    check_leaves(leaf, values.shape[1])
    check_array("sums of rows", total, "f8", (len(leaf), values.shape[2]))
    check_array("scales of rows", scales, "f8", (None, len(leaf)))
    if len(scales) > len(values):
        raise ValueError(f"there are {len(scales)} scales, but {len(values)} values of leaves")
    _compiled().add_scaled_leaf_values(total, leaf, values, scales)


def cut_gains(
    bins: np.ndarray,
    buckets: np.ndarray,
    leaf: np.ndarray,
    both: np.ndarray,
    n_leaves: int,
    ridge: float,
) -> np.ndarray:
    """Call ``leaves.cut_gains``, which explains the arguments."""
    check_leaves(leaf, n_leaves)
    check_array("bins of rows", bins, "u1", (None, len(leaf)))
    check_array("buckets of bins", buckets, "u1", (len(bins), 256))
    check_array("slopes and curvatures", both, "f8", (len(leaf),))
    if not len(bins) or buckets[0, 0] < max(2, buckets.max()):
        raise ValueError("the bucket of missing values is not the last one")
    return _compiled().cut_gains(bins, buckets, leaf, both, n_leaves, float(ridge))


def grow(
    bins: np.ndarray,
    rows: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    numbers: tuple[float, float, float, float, float, float, float],
    columns: tuple[np.ndarray, np.ndarray, np.ndarray],
    random: np.ndarray,
    noise: np.ndarray,
    tree: tuple[int, int, int, int],
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Choose the cuts of a tree whose columns are numbers, as ``choose_cuts`` does.

    Parameters
    ----------
    bins : uint8 array of shape (n_features, n_rows)
    rows : intp array
        Numbers of the rows to use. None of them means all.
    g, h : float64 arrays
        Slopes and curvatures of the rows in use, integers.
    numbers : tuple of float
        The ridge, the unit of a gain, and how many rows a row stands for. The share of a chosen
        cut's noise that counts, what a degree of freedom gains from noise on these rows and on
        all of them, and its penalty.
    columns : tuple of arrays of shape (n_features,)
        How many bins each column has (int64), sums of the prior up to each column, and the
        quantile that missing values follow if no row has any (float64).
    random : float64 array
        Numbers in [0, 1), enough for all levels.
    noise : float64 array
        The expected largest of n normal numbers, at n.
    tree : tuple of int
        The depth, how many columns are drawn for a cut, the most thresholds of each, and how
        many levels may gain nothing.

    Returns
    -------
    tuple
        Columns, tables and number of levels of ``Chosen``, and how many random numbers were
        used.
    """
    depth, n_candidates, most_cuts, patience = tree
    counts, chance, quantiles = columns
    check_count("levels of a tree", depth, 1, MOST_LEVELS)
    check_count("candidates of a cut", n_candidates, 1)
    check_count("thresholds of a column", most_cuts, 1, 253)
    check_array("bins of rows", bins, "u1", (None, None))
    check_array("rows of a sample", rows, _INTP, (None,), 0, bins.shape[1])
    n_features, n_rows = len(bins), len(rows) or bins.shape[1]
    check_array("slopes", g, "f8", (n_rows,))
    check_array("curvatures", h, "f8", (n_rows,))
    check_count("columns", n_features, 1)
    check_array("numbers of bins", counts, "i8", (n_features,), 1, 256)
    check_array("prior of columns", chance, "f8", (n_features,))
    check_array("quantiles of columns", quantiles, "f8", (n_features,))
    n_cuts = n_candidates * min(n_candidates, most_cuts)
    check_array("random numbers", random, "f8", (depth * (n_candidates + n_cuts),), 0, 1)
    check_array("noise", noise, "f8", (n_cuts + 1,))
    ints = depth, n_candidates, most_cuts, int(patience)
    return _compiled().grow(
        bins, rows, g, h, tuple(map(float, numbers)), columns, random, noise, ints
    )


def halved(leaf: np.ndarray, right: np.ndarray, n_leaves: int) -> tuple[np.ndarray, int]:
    """Call ``leaves.halved``, which explains the arguments."""
    check_leaves(leaf, n_leaves)
    check_array("sides of rows", right, "u1", (len(leaf),), below=2)
    return _compiled().halved(leaf, right, n_leaves)


def check_coefficients(coef: np.ndarray, shape: tuple[int, int], kind: str) -> None:
    """Check the coefficients of the leaves of trees, given the numbers of both."""
    check_array("coefficients of leaves", coef, "f4 f8", (shape[0], None, None))
    if coef.shape[1] < shape[1]:
        raise ValueError(f"trees of {kind} have coefficients for {coef.shape[1]} leaves")


def check_cuts(columns: np.ndarray, sets: np.ndarray, n_features: int) -> None:
    """Check the cuts of trees: their features, and a bit for each of 256 bins."""
    check_array("columns of cuts", columns, "i4 i8", (None, None), 0, n_features)
    check_array("sets of cuts", sets, "u1", (*columns.shape, 32))
    check_count("levels of a tree", columns.shape[1], 0, MOST_LEVELS)


def check_leaves(leaf: np.ndarray, n_leaves: int) -> None:
    """Check that numbers of leaves are in range. Negative numbers are huge if read as unsigned."""
    check_count("leaves of a tree", n_leaves, 1, 2**MOST_LEVELS)
    check_array("leaves of rows", leaf, _INTP, (None,))
    if leaf.view(np.uintp).max(initial=0) >= n_leaves:
        raise ValueError(f"leaves of rows are not in the range from 0 to {n_leaves - 1}")
