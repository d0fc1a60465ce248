"""Binary trees for one row after another, without the nodes that no row can reach."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.branch_loops import branch_loops, check_branches
from trickless.arrays.loops import check_coefficients


class PackedBranches:
    """All trees as one table, in which the roots come first, then other nodes, then the leaves.

    Each node has two places, 2i and 2i + 1. ``after`` has the place of the node or leaf that
    follows if a row goes to the left, and to the right. Leaves follow themselves. ``numbers`` has
    the number of the node's cut among all different ``cuts``, which are columns and sets.

    Parameters
    ----------
    columns, children, sets : arrays of shape (n, n_nodes, ...)
        The trees, as in ``branches``.
    coef : array of shape (n, n_leaves, n_outputs)
        Coefficients of the leaves.
    ends : list of int
        The ends of blocks of trees, which are summed on their own.
    n_features : int
        Number of columns.
    """

    def __init__(
        self,
        columns: np.ndarray,
        children: np.ndarray,
        sets: np.ndarray,
        coef: np.ndarray,
        ends: list[int],
        n_features: int,
    ) -> None:
        check_branches(columns, children, sets, n_features)
        n, n_nodes = columns.shape
        check_coefficients(coef, (n, n_nodes + 1), f"{n_nodes} nodes")
        level = np.zeros((n_nodes, n), dtype=np.intp)  # 0 for nodes that no row can reach
        level[0] = 1
        for node in range(n_nodes):  # each comes before its children
            tree = np.flatnonzero(level[node])
            for child in children[tree, node].T:
                inner = child > 0
                at = child[inner], tree[inner]
                level[at] = np.maximum(level[at], level[node, at[1]] + 1)
        nodes, trees = np.nonzero(level)
        place = np.empty((n_nodes, n), dtype=np.intp)
        place[nodes, trees] = np.arange(len(nodes))
        child, of_tree = children[trees, nodes].ravel(), np.repeat(trees, 2)
        is_leaf = child <= 0
        after = place[np.where(is_leaf, 0, child), of_tree]
        leaves = len(nodes) + np.arange(is_leaf.sum())
        after[is_leaf] = leaves
        keys = np.append(columns[trees, nodes, None].view(np.uint8), sets[trees, nodes], axis=1)
        known: dict[bytes, int] = {}
        numbers = [known.setdefault(key.tobytes(), len(known)) for key in keys]
        cuts = np.frombuffer(b"".join(known), dtype=np.uint8).reshape(-1, keys.shape[1])
        self.cuts = np.ascontiguousarray(cuts[:, :4]).view(columns.dtype), cuts[:, 4:]
        self.n_levels, self.n_nodes, self.ends = int(level.max()), len(nodes), np.array(ends)
        self.coef = coef[of_tree[is_leaf], -child[is_leaf]]
        self._choose(0)
        # NumPy would convert smaller places in each call.
        dtype = np.int32 if self._loops.of_leaves.is_compiled else np.intp
        self.after = 2 * np.append(after, np.repeat(leaves, 2)).astype(dtype)
        self.numbers = np.repeat(np.array(numbers + [0] * len(leaves), dtype=dtype), 2)

    def _choose(self, n_leaves: float) -> None:
        self._loops = branch_loops(n_leaves)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_loops"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._choose(np.inf)

    def add(self, right: np.ndarray, total: np.ndarray) -> None:
        """Add to sums (n_outputs,) the coefficients of a row that goes ``right`` at some cuts.

        ``right`` has a Boolean for each of the ``cuts``.
        """
        self._loops.module.add_packed(
            total,
            right,
            self.numbers,
            self.after,
            self.coef,
            self.ends,
            self.n_levels,
            self.n_nodes,
        )
