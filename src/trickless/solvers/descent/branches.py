r"""Choose a binary tree: in each node the best of a few random cuts.

A cut of a node gains

.. math:: \frac{g_l^2}{h_l + \lambda} + \frac{g_r^2}{h_r + \lambda} - \frac{g^2}{h + \lambda}

with g and h the sums of slopes and curvatures of its rows, and of those on its left and right side.
Thresholds are values of random rows of the node, so that small nodes have cuts among their own
rows. Bins of categories are in the order of their mean slopes in the node.

A tree grows level by level. Leaves are cut that gain more than noise does: the best of N cuts that
add d degrees of freedom gains d times the expected largest of N numbers with a χ² distribution
(``noise_gain``). If a tree would have more leaves than it may have, those are cut that gain most.
"""

from __future__ import annotations

import numpy as np

from trickless.arrays import branch_loops
from trickless.neurons.base import Weights
from trickless.solvers.descent.cut_rows import NextTree
from trickless.solvers.descent.cuts import PENALTY, POWER
from trickless.solvers.descent.noise_gains import noise_gain

#: The most rows of a sample, on which a tree is chosen, and the bits of sums over them.
SAMPLE, _BITS = 2**16, 52
#: Thresholds that are tried for each column that is drawn.
_THRESHOLDS = 2


def choose_branches(wanted: NextTree) -> Weights:
    """Choose a binary tree, and return its weights."""
    family, rng, n_candidates = wanted.family, wanted.rng, wanted.n_candidates
    sample, noise, scale = wanted.sampled(SAMPLE, _BITS)
    rows = np.ascontiguousarray(sample.rows, dtype=np.intp)
    data = wanted.bins, rows, sample.g.copy(), sample.h.copy()  # in the order of the leaves
    by_slope = np.array([codes is not None for codes in family.bins_.of_code])
    unit = sample.unit_g**2 / sample.unit_h
    ridge = max(wanted.ridge / sample.unit_h, np.finfo(float).tiny)
    chance = np.cumsum(wanted.prior)
    n_cuts, share = n_candidates * _THRESHOLDS, wanted.unexplained**POWER
    tree = _GrowingTree(family.geometry.width, len(rows))
    for _ in range(family.depth_):
        leaves = tree.last_level()
        if not len(leaves):
            break
        drawn = rng.random((len(leaves), n_candidates)) * chance[-1]
        drawn = np.searchsorted(chance, drawn, side="right")
        spots = rng.random((*drawn.shape, _THRESHOLDS))
        ends = tree.ends[leaves]
        best, sums, tables = branch_loops.best_cuts(*data, ends, drawn, spots, by_slope, ridge)
        g_left, h_left, g_right, h_right = sums.T
        g_both, h_both = g_left + g_right, h_left + h_right
        df = h_left / (h_left + ridge) + h_right / (h_right + ridge) - h_both / (h_both + ridge)
        gain = g_left**2 / (h_left + ridge) + g_right**2 / (h_right + ridge)
        gain = unit * (gain - g_both**2 / (h_both + ridge))
        from_noise = noise_gain(df, n_cuts, share) * sample.noise
        net = scale * (gain - from_noise) - PENALTY * df * noise
        worth = np.flatnonzero((best >= 0) & (net > 0))
        some = worth[np.argsort(-net[worth], kind="stable")[: tree.room]]
        columns, tables = drawn[some, best[some]], tables[some]
        middle = branch_loops.parted(*data, ends[some], columns, tables)
        tree.cut(leaves[some], middle, columns, tables)
    return tree.weights


class _GrowingTree:
    """A binary tree that grows, and where the rows of each of its leaves are."""

    def __init__(self, width: int, n_rows: int) -> None:
        self.n_leaves = 1
        self.ends = np.zeros((width, 2), dtype=np.intp)
        self.ends[0] = 0, n_rows
        self._children = np.zeros((width - 1, 2), dtype=np.int32)
        self._columns = np.zeros(width - 1, dtype=np.int32)
        self._sets = np.zeros((width - 1, 32), dtype=np.uint8)
        #: Where the tree has each leaf: twice the node that it is a child of, plus its side.
        self._place = np.zeros(width, dtype=np.intp)
        self._last = np.zeros(1, dtype=np.intp)

    @property
    def room(self) -> int:
        """Number of leaves that may be cut."""
        return len(self.ends) - self.n_leaves

    @property
    def weights(self) -> Weights:
        return self._columns, self._children, self._sets

    def last_level(self) -> np.ndarray:
        """Return the leaves that the last cuts made, if they have several rows."""
        ends = self.ends[self._last]
        return self._last[(ends[:, 1] - ends[:, 0] > 1) & (self.room > 0)]

    def cut(
        self, leaves: np.ndarray, middle: np.ndarray, columns: np.ndarray, tables: np.ndarray
    ) -> None:
        """Cut leaves. The left side keeps the number of the leaf, and the right one gets another.

        ``middle`` says where the rows of the right sides start.
        """
        right = self.n_leaves + np.arange(len(leaves))
        nodes = right - 1  # each cut adds a node and a leaf
        if self.n_leaves > 1:
            self._children.reshape(-1)[self._place[leaves]] = nodes
        self._children[nodes] = np.stack([-leaves, -right], axis=1)
        self._columns[nodes], self._sets[nodes] = columns, np.packbits(tables, axis=1)
        self._place[leaves], self._place[right] = 2 * nodes, 2 * nodes + 1
        self.ends[right] = np.stack([middle, self.ends[leaves, 1]], axis=1)
        self.ends[leaves, 1] = middle
        self.n_leaves += len(leaves)
        self._last = np.sort(np.concatenate([leaves, right]))
