"""Loops over the rows of binary trees: compiled loops if available, and otherwise NumPy loops.

As in ``loops``, the only way to compiled loops leads through an object that checks each argument.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import numpy as np

from trickless.arrays import branches
from trickless.arrays.loops import FEW_ROWS, Loops, check_coefficients, loops
from trickless.arrays.stated import check_array

_INTP = np.dtype(np.intp).str[1:]


def branch_loops(n_leaves: float = 0) -> BranchLoops:
    """Choose loops by the number of leaves to find, as :func:`trickless.arrays.loops.loops`."""
    chosen = loops(n_leaves)
    if chosen.is_compiled:
        return BranchLoops(importlib.import_module("trickless.arrays.compiled_branches"), chosen)
    return BranchLoops(branches, chosen)


class BranchLoops(NamedTuple):
    """Loops of a module, ``branches`` or ``compiled_branches``, behind checks of their arguments.

    They raise a ValueError that names an argument with another type, shape or range.
    """

    module: ModuleType
    of_leaves: Loops

    def leaves(
        self, bins: np.ndarray, columns: np.ndarray, children: np.ndarray, sets: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Iterate over the leaf of each row, shape (n_rows,), in one tree after the other."""
        check_array("bins of rows", bins, "u1", (None, None))
        check_branches(columns, children, sets, len(bins))
        trees = zip(*map(np.ascontiguousarray, (columns, children, sets)), strict=True)
        return (self.module.leaves(bins, *tree) for tree in trees)

    def combine(
        self,
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
            return self.module.combine_few(bins, columns, children, sets, coef)
        leaves = self.leaves(bins, columns, children, sets)
        return self.of_leaves.combined(leaves, bins.shape[1], coef, shape, kind)

    def best_cuts(
        self,
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
        _check_rows_of_nodes(bins, rows, g, h, ends)
        check_array("columns of cuts", drawn, "i8", (len(ends), None), 0, len(bins))
        check_array("spots of cuts", spots, "f8", (*drawn.shape, None), 0, 1)
        check_array("kinds of columns", by_slope, "b1", (len(bins),))
        return self.module.best_cuts(bins, rows, g, h, ends, drawn, spots, by_slope, float(ridge))

    def parted(
        self,
        bins: np.ndarray,
        rows: np.ndarray,
        g: np.ndarray,
        h: np.ndarray,
        ends: np.ndarray,
        columns: np.ndarray,
        tables: np.ndarray,
    ) -> np.ndarray:
        _check_rows_of_nodes(bins, rows, g, h, ends)
        check_array("columns of cuts", columns, "i8", (len(ends),), 0, len(bins))
        check_array("tables of cuts", tables, "u1", (len(ends), 256), below=2)
        return self.module.parted(bins, rows, g, h, ends, columns, tables)


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


def _check_rows_of_nodes(
    bins: np.ndarray, rows: np.ndarray, g: np.ndarray, h: np.ndarray, ends: np.ndarray
) -> None:
    check_array("bins of rows", bins, "u1", (None, None))
    check_array("rows of nodes", rows, _INTP, (None,), 0, bins.shape[1])
    check_array("slopes", g, "f8", rows.shape)
    check_array("curvatures", h, "f8", rows.shape)
    check_array("ends of nodes", ends, _INTP, (None, 2), 0, len(rows) + 1)
    if (ends[:, 0] >= ends[:, 1]).any():
        raise ValueError("ends of nodes: a node has no rows")
