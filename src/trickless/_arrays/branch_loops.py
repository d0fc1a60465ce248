"""Loops over the rows of binary trees, behind checks of their arguments, as in ``loops``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import ModuleType

import numpy as np

from trickless._arrays.loops import FEW_ROWS, check_coefficients, combined, to_read
from trickless._arrays.stated import check_array


@cache
def _compiled() -> ModuleType:
    from trickless._arrays import branches

    return branches


def leaves(
    bins: np.ndarray, columns: np.ndarray, children: np.ndarray, sets: np.ndarray
) -> Iterator[np.ndarray]:
    """Iterate over the leaf of each row, shape (n_rows,), in one tree after the other."""
    check_array("bins of rows", bins, "u1", (None, None))
    check_branches(columns, children, sets, len(bins))
    bins, trees = to_read(bins), zip(*map(to_read, (columns, children, sets)), strict=True)
    return (_compiled().leaves(bins, *tree) for tree in trees)


def leaves_of_pairs(
    bins: np.ndarray, columns: np.ndarray, children: np.ndarray, sets: np.ndarray
) -> np.ndarray:
    """Find the leaf of row i in tree i, for as many rows as trees: (n_rows,)."""
    check_array("bins of rows", bins, "u1", (None, len(columns)))
    check_branches(columns, children, sets, len(bins))
    return _compiled().leaves_of_pairs(*map(to_read, (bins, columns, children, sets)))


def combine(
    bins: np.ndarray,
    columns: np.ndarray,
    children: np.ndarray,
    sets: np.ndarray,
    coef: np.ndarray,
) -> np.ndarray:
    """Sum the coefficients of the leaves of each row: (n_rows, n_outputs)."""
    check_array("bins of rows", bins, "u1", (None, None))
    check_branches(columns, children, sets, len(bins))
    shape, kind = (len(columns), columns.shape[1] + 1), f"{columns.shape[1]} nodes"
    if bins.shape[1] <= FEW_ROWS:
        check_coefficients(coef, shape, kind)
        return _compiled().combine_few(*map(to_read, (bins, columns, children, sets, coef)))
    of_trees = leaves(bins, columns, children, sets)
    return combined(of_trees, bins.shape[1], coef, shape, kind)


def check_branches(
    columns: np.ndarray, children: np.ndarray, sets: np.ndarray, n_features: int
) -> None:
    """Check binary trees: the features of their cuts, their children, and a bit for each bin.

    A child has a larger number than its parent, so that each path ends at a leaf.
    """
    check_array("columns of cuts", columns, "i4", (None, None), 0, n_features)
    n_nodes = columns.shape[1]
    check_array("children of nodes", children, "i4", (*columns.shape, 2), -n_nodes, n_nodes)
    check_array("sets of cuts", sets, "u1", (*columns.shape, 32))
    if not n_nodes:
        raise ValueError("binary trees have no nodes")
    if ((children > 0) & (children <= np.arange(n_nodes)[:, None])).any():
        raise ValueError("children of nodes: a node is not before its children")
