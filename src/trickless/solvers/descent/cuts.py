r"""Choose the cuts of a tree: at each level the best of a few random cuts.

For a loss with slopes g = −l′ and curvatures h, a Newton step on a tree lowers it by about half of

.. math:: \mathrm{gain} = \sum_v \frac{(\sum_{i \in v} g_i)^2}{\sum_{i \in v} h_i + \lambda}

with v the leaves. A level draws columns and thresholds, and keeps the cut with the largest gain on
a fresh sample of the rows. One candidate is a random draw. With all cuts as candidates, this is the
greedy search of gradient boosting, so the mean over w is no longer the mean of the family. Steps
minimise the loss itself, greedily, and not the expected loss over random neurons.

A tree is as deep as pays off. Leaves also fit noise: with :math:`\sigma^2 = \sum g^2 / \sum h`, d
degrees of freedom of a random tree gain about :math:`d \sigma^2` from noise alone. The best of N
cuts gains more, about the expected largest of N numbers with a χ² distribution (``noise_gain``).
A tree has the levels that gain most beyond noise. It passes through levels that gain nothing, if a
deeper one does.

References
----------
.. [1] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63(1),
   2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless.arrays import loops
from trickless.arrays.packed_sums import SUM_BITS, unpacked
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins
from trickless.neurons.levels import MISSING
from trickless.solvers.descent.cut_rows import SAMPLE, CutRows, NextTree
from trickless.solvers.descent.noise_gains import largest_normals, noise_gain, order_gain

#: Thresholds that are tried for each column that is drawn.
_THRESHOLDS = 8
#: Share of the noise that the leaves of a tree fit which counts against its depth.
PENALTY = 0.3
#: Levels without an improvement after which no more are tried.
_PATIENCE = 3
#: Power of the share that is not explained yet by which the search for cuts counts.
POWER = 4
#: How far quantiles step from pair to pair of trees, and from column to column. Multiples of such
#: numbers are evenly spread, modulo 1.
_STEPS = 0.7548776662466927, 0.5698402909980532


class ChosenCuts(NamedTuple):
    """The cuts of a tree: columns (depth,) and, for each bin, whether it goes right: (depth, 256).

    The tree has ``n_levels`` of these cuts. Cuts beyond them send all rows to the left.
    """

    columns: np.ndarray
    tables: np.ndarray
    n_levels: int

    def weights(self) -> Weights:
        """Return the weights of the tree, as :class:`Trees` has them."""
        return self.columns, np.packbits(self.tables, axis=1)


class Order(NamedTuple):
    """The ranks of the bins of categories, from 1 on, and what their order gains from noise.

    Bins that no row of the sample has come last. There are ``n`` others, or 1 if there are none.
    """

    ranks: np.ndarray
    n: int
    from_noise: float


def choose_cuts(tree: NextTree) -> ChosenCuts:
    """Choose the cuts of a tree."""
    family, rng, n_candidates = tree.family, tree.rng, tree.n_candidates
    sample, noise, scale = tree.sampled()
    chance = np.cumsum(tree.prior)
    search = _Search(family.bins_, tree.bins, sample, tree.ridge, tree.number)
    columns = np.zeros(family.depth_, dtype=np.int64)
    tables = np.zeros((family.depth_, 256), dtype=np.uint8)
    best, n_levels = -np.inf, 1
    df = from_noise = 1.0  # of the root
    share = tree.unexplained**POWER
    if search.has_numbers_only:
        values = scale, share, sample.noise, noise
        return search.grown(family.depth_, n_candidates, chance, values, rng)
    for level in range(family.depth_):
        n_before = search.n_leaves
        drawn = np.searchsorted(chance, rng.random(n_candidates) * chance[-1], side="right")
        spots = rng.random((n_candidates, min(n_candidates, search.worthwhile)))
        columns[level], tables[level], gain, of_order = search.best(drawn, spots, rng)
        before, df = df, search.degrees_of_freedom()
        from_noise += noise_gain(df - before, search.n_cuts(drawn, spots), share) + of_order
        net = scale * (gain - from_noise * sample.noise) - PENALTY * df * noise
        if net > best and (search.n_leaves > n_before or not level):
            best, n_levels = net, level + 1
        elif level + 1 - n_levels >= _PATIENCE:
            break
    columns[n_levels:], tables[n_levels:] = 0, 0
    return ChosenCuts(columns, tables, n_levels)


class _Search:
    """The leaves of a sample after the cuts so far, and the search for the next cut."""

    def __init__(
        self,
        of: Bins,
        bins: np.ndarray,
        sample: CutRows,
        ridge: float,
        number: int,
    ) -> None:
        self.of, self.bins, self.sample, self.number = of, bins, sample, number
        self.unit = sample.unit_g**2 / sample.unit_h
        self.ridge = max(ridge / sample.unit_h, np.finfo(float).tiny)
        # Both sums in one number: those of h take the upper bits.
        self.both = sample.h * 2.0**SUM_BITS + sample.g
        self.leaf = np.zeros(len(sample.rows), dtype=np.intp)
        self.n_leaves = 1
        self._columns: dict[int, np.ndarray] = {}
        self._orders: dict[int, Order] = {}
        self._orders_of_all = self._orders
        self._followed: dict[int, int] = {}
        self._ordering = self.both

    @property
    def worthwhile(self) -> int:
        """How many thresholds of a column are worth trying: fewer where leaves have few rows."""
        return min(_THRESHOLDS, max(1, len(self.leaf) // (2 * self.n_leaves)))

    def best(
        self, drawn: np.ndarray, spots: np.ndarray, rng: np.random.Generator
    ) -> tuple[int, np.ndarray, float, float]:
        """Return the best cut of the columns that are drawn, at thresholds by ``spots`` in [0, 1).

        Returns its column, its table, its gain, and what the order of categories adds to the gain
        from noise alone. The best cut is the one with the largest difference of both.
        """
        self._choose_order(drawn, rng)
        bins = np.stack([self._column(j) for j in drawn.tolist()])
        buckets = self._buckets(drawn, bins, spots)
        args = self.leaf, self.both, self.n_leaves, self.ridge
        gains = loops.cut_gains(bins, buckets, *args)
        of_order = np.array([self._of_order(j) for j in drawn.tolist()])
        net = gains - (self.sample.noise / self.unit) * of_order[:, None]
        side, column, cut = np.unravel_index(np.argmax(net), gains.shape)
        table = (buckets[column] > cut).astype(np.uint8)
        table[MISSING] = side
        self._send_unseen(table, bins[column], int(drawn[column]))
        self._cut(table[bins[column]])
        gain = float(gains[side, column, cut]) * self.unit
        return int(drawn[column]), table, gain, float(of_order[column])

    def _send_unseen(self, table: np.ndarray, bins: np.ndarray, j: int) -> None:
        """Send missing values and categories to a side, if no row of the sample decides it.

        These are new categories, those that the training rows never have although their type
        declares them, and those that the sample lacks. In the first tree they go to the side with
        more rows. In later trees, they follow the row at some quantile of the column, whose
        categories are in the order of their slopes. Pairs of trees mirror each other's quantiles,
        which are evenly spread, so a sum of many trees is about its mean over the rows.
        """
        unseen = np.bincount(bins, minlength=256) == 0
        if self.of.of_code[j] is None:
            unseen[MISSING + 1 :] = False  # the order of numbers decides
        if not unseen.any():
            return
        if not self.number:
            left = self.sample.h[table[bins] == 0].sum() / max(self.sample.h.sum(), 1)
            table[unseen] = left <= 0.5
            return
        if j not in self._followed:
            ranks = np.r_[256, 1:256]
            if self.of.of_code[j] is not None:
                ranks[1 : self.of.counts[j] + 1] = self._by_all_slopes(j).ranks
            order = np.argsort(ranks)
            below = np.bincount(bins, self.sample.h, 256)[order].cumsum()
            pair, mirrored = divmod(self.number + 1, 2)
            quantile = (0.5 + pair * _STEPS[0] + j * _STEPS[1]) % 1
            quantile = 1 - quantile if mirrored else quantile
            place = np.searchsorted(below, quantile * below[-1], side="right")
            self._followed[j] = int(order[min(place, 255)])
        table[unseen] = table[self._followed[j]]

    @property
    def has_numbers_only(self) -> bool:
        """Whether no column has categories, whose order depends on the slopes."""
        return all(codes is None for codes in self.of.of_code)

    def grown(
        self,
        depth: int,
        n_candidates: int,
        chance: np.ndarray,
        values: tuple[float, float, float, float],
        rng: np.random.Generator,
    ) -> ChosenCuts:
        """Choose the cuts in one call, with the results of the loop over the levels."""
        n_cuts = n_candidates * min(n_candidates, _THRESHOLDS)
        state = rng.bit_generator.state
        random = rng.random(depth * (n_candidates + n_cuts))
        pair, mirrored = divmod(self.number + 1, 2)
        j = np.arange(len(chance))
        quantiles = (0.5 + pair * _STEPS[0] + min(pair, 1) * j * _STEPS[1]) % 1
        columns, tables, n_levels, used = loops.grow(
            self.bins,
            self.sample.rows if self.bins.shape[1] > SAMPLE else np.empty(0, dtype=np.intp),
            self.sample.g,
            self.sample.h,
            (self.ridge, self.unit, *values, PENALTY),
            (self.of.counts, chance, 1 - quantiles if mirrored else quantiles),
            random,
            largest_normals(n_cuts),
            (depth, n_candidates, _THRESHOLDS, _PATIENCE),
        )
        rng.bit_generator.state = state
        rng.random(used)  # as many as the loop over the levels draws
        return ChosenCuts(columns, tables, n_levels)

    def n_cuts(self, drawn: np.ndarray, spots: np.ndarray) -> int:
        """Count the candidates that differ: thresholds of different columns."""
        counts = self._n_values(list(set(drawn.tolist()))) - 1
        return int(np.minimum(np.maximum(counts, 1), spots.shape[1]).sum())

    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of the leaves so far: nearly 1 for a leaf of many rows, else less."""
        h = np.bincount(self.leaf, self.sample.h, self.n_leaves)
        return float((h / (h + self.ridge)).cumsum()[-1])  # in a fixed order, unlike sum

    def _buckets(self, drawn: np.ndarray, bins: np.ndarray, spots: np.ndarray) -> np.ndarray:
        """Return the bucket of each bin, the number of thresholds below it; the last if missing."""
        n_spots = spots.shape[1]
        shares = (np.arange(n_spots) + spots) / n_spots
        thresholds = 1 + (shares * (self._n_values(drawn.tolist()) - 1)[:, None]).astype(int)
        first = 256 * np.arange(len(drawn))[:, None]
        above = np.bincount((first + thresholds + 1).ravel(), minlength=256 * len(drawn) + 1)
        buckets = above[:-1].reshape(-1, 256).cumsum(axis=1).astype(np.uint8)
        for i, j in enumerate(drawn.tolist()):
            if self.of.of_code[j] is not None:
                buckets[i, 1 : self.of.counts[j] + 1] = buckets[i, self._by_slope(j).ranks]
        buckets[:, 0] = n_spots + 1
        return buckets

    def _column(self, j: int) -> np.ndarray:
        """Return the bins of a column of the sample."""
        if j not in self._columns:
            self._columns[j] = self.bins[j].take(self.sample.rows)
        return self._columns[j]

    def _of_order(self, j: int) -> float:
        """Return what the order of a column's categories gains from noise, in units of σ²."""
        return 0.0 if self.of.of_code[j] is None else self._by_slope(j).from_noise

    def _n_values(self, columns: list[int]) -> np.ndarray:
        """Count the bins of columns: for categories, those that the sample has."""
        counts = [
            self.of.counts[j] if self.of.of_code[j] is None else self._by_slope(j).n
            for j in columns
        ]
        return np.array(counts, dtype=int)

    def _choose_order(self, drawn: np.ndarray, rng: np.random.Generator) -> None:
        """Choose the slopes by which the next cut orders categories.

        They are the slopes of all rows, or as often those of each leaf times a random sign. Sums
        with signs see categories whose slopes differ from leaf to leaf, although their means do
        not, as in an interaction with an earlier cut.
        """
        self._orders, self._ordering = self._orders_of_all, self.both
        has_categories = any(self.of.of_code[j] is not None for j in drawn.tolist())
        if has_categories and self.n_leaves > 1 and rng.random() < 0.5:
            signs = rng.choice([-1.0, 1.0], self.n_leaves)
            signed = signs[self.leaf] * self.sample.g
            self._orders, self._ordering = {}, self.sample.h * 2.0**SUM_BITS + signed

    def _by_all_slopes(self, j: int) -> Order:
        """Return the order by the slopes of all rows, whatever the next cut uses."""
        now = self._orders, self._ordering
        self._orders, self._ordering = self._orders_of_all, self.both
        order = self._by_slope(j)
        self._orders, self._ordering = now
        return order

    def _by_slope(self, j: int) -> Order:
        """Return the order of the bins of a column of categories by their mean slope."""
        if j not in self._orders:
            column, n = self._column(j), self.of.counts[j]
            g, h = unpacked(np.bincount(column, self._ordering, 256)[1 : n + 1])
            empty = np.bincount(column, minlength=256)[1 : n + 1] == 0
            ranks = np.empty(n, dtype=int)
            mean = np.where(empty, np.inf, g / (h + self.ridge))
            ranks[np.argsort(mean, kind="stable")] = np.arange(1, n + 1)
            self._orders[j] = Order(ranks, max(int(n - empty.sum()), 1), order_gain(h[~empty]))
        return self._orders[j]

    def _cut(self, right: np.ndarray) -> None:
        """Cut each leaf in two, and number those that have rows."""
        self.leaf, self.n_leaves = loops.halved(self.leaf, right, self.n_leaves)
