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
from numpy.typing import DTypeLike

from trickless._arrays.stated import check_array, check_count

#: The most levels of a tree: leaves of deeper trees have more coefficients than tables have rows.
MOST_LEVELS = 16
#: Rows up to which reading the bits of sets is faster than unpacking them for each tree.
FEW_ROWS = 64
#: The first cuts of a tree, whose columns are inputs of its leaves.
FIRST = 4


@cache
def _compiled() -> ModuleType:
    from trickless._arrays import leaves

    return leaves


def to_read(values: np.ndarray, dtype: DTypeLike | None = None) -> np.ndarray:
    """Return an array as compiled loops read it: contiguous, and not to be written to.

    numba compiles a loop again for each layout of an array, and for one that may be written to.
    """
    view = np.ascontiguousarray(values, dtype).view()
    view.setflags(write=False)
    return view


def leaves(bins: np.ndarray, columns: np.ndarray, sets: np.ndarray) -> Iterator[np.ndarray]:
    """Iterate over the leaf of each row, shape (n_rows,), in one tree after the other.

    ``bins`` are bytes of shape (n_features, n_rows). ``columns``, of shape (n_trees, depth),
    and ``sets``, of shape (n_trees, depth, 32), have the feature of each cut, and a bit for
    each bin. Leaves are below 2^depth.
    """
    check_array("bins of rows", bins, "u1", (None, None))
    check_cuts(columns, sets, len(bins))
    tables = np.unpackbits(np.ascontiguousarray(sets), axis=2)
    return map(partial(_compiled().leaves, to_read(bins)), to_read(columns, np.int64), tables)


def leaves_of_pairs(bins: np.ndarray, columns: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Find the leaf of row i in tree i, for as many rows as trees: (n_rows,)."""
    check_array("bins of rows", bins, "u1", (None, len(columns)))
    check_cuts(columns, sets, len(bins))
    return _compiled().leaves_of_pairs(to_read(bins), to_read(columns, np.int64), to_read(sets))


def combine(
    bins: np.ndarray,
    columns: np.ndarray,
    sets: np.ndarray,
    coef: np.ndarray,
    values: np.ndarray | None = None,
) -> np.ndarray:
    """Sum the coefficients of the leaves of each row: (n_rows, n_outputs).

    ``coef`` has the shape (n_trees, n_leaves, n_outputs), or (n_trees, 1 + n_inputs, n_leaves,
    n_outputs) if leaves are linear in ``values`` of bins, (n_features, 256). See ``leaves`` for the
    other arguments.
    """
    check_array("bins of rows", bins, "u1", (None, None))
    check_cuts(columns, sets, len(bins))
    if values is None:
        check_coefficients(coef, (len(columns), 2 ** columns.shape[1]), f"depth {columns.shape[1]}")
        coef, values = coef[:, None], np.empty((0, 256))
    else:
        check_array("values of bins", values, "f8", (len(bins), 256))
        shape = len(columns), None, 2 ** columns.shape[1], None
        check_array("coefficients of leaves", coef, "f4 f8", shape)
        if not coef.shape[1]:
            raise ValueError("coefficients of leaves have no constants")
    columns, sets, coef = to_read(columns, np.int64), to_read(sets), to_read(coef)
    return _compiled().combine(to_read(bins), columns, sets, coef, to_read(values), FIRST, FEW_ROWS)


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
    for leaf, values in zip(leaves, to_read(coef), strict=True):
        _compiled().add_leaf_values(total, leaf, values)
    return total


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
