r"""Choose a binary tree: in each node the best of a few random cuts.

A cut of a node gains

.. math:: \frac{g_l^2}{h_l + \lambda} + \frac{g_r^2}{h_r + \lambda} - \frac{g^2}{h + \lambda}

with g and h the sums of slopes and curvatures of its rows, and of those on its left and right side.
Thresholds are values of random rows of the node, so that small nodes have cuts among their own
rows. Bins of categories are in the order of their mean slopes in the node.

A tree grows level by level. Leaves are cut that gain more than noise does: the best of N cuts that
add d degrees of freedom gains d times the expected largest of N numbers with a χ² distribution
(``noise_gain``). If there is not room for all, those are cut that gain most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._solvers.boosting.columns import chance_of_columns, draw_columns
from trickless._solvers.boosting.compiled import compiled, entry
from trickless._solvers.boosting.noise import noise_gain, sort
from trickless._solvers.boosting.oblivious import PENALTY
from trickless._solvers.boosting.random import uniform
from trickless._solvers.boosting.search_rows import ratio, search_of
from trickless._solvers.boosting.steps import add_leaves, find_slopes, memory_for, total

#: The most rows of a sample, on which a tree is chosen, and the bits of sums over them.
SAMPLE, _BITS = 2**16, 52
#: Thresholds that are tried for each column that is drawn.
THRESHOLDS = 2


class Sides(NamedTuple):
    """The best cuts of the leaves of a level.

    Attributes
    ----------
    net : float64 array of shape (n_leaves,)
        What a cut gains beyond noise, or 0 if no cut does.
    columns : int64 array of shape (n_leaves,)
    tables : uint8 array of shape (n_leaves, 256)
        Whether each bin goes to the right.
    """

    net: np.ndarray
    columns: np.ndarray
    tables: np.ndarray


@entry
def take_binary_steps(  # type: ignore[no-untyped-def]
    rows, table, loss, start, variables, wins, size, search, given, seeds, first, found
):
    """Take steps on binary trees.

    See ``take_steps`` for the arguments. Trees have columns (n_steps, n_nodes), children
    (n_steps, n_nodes, 2) and sets (n_steps, n_nodes, 32).
    """
    bins, f, y, _ = rows
    n_candidates, noise, depth = search
    columns, children, sets, coef = found
    width = coef.shape[1]
    memory, free = memory_for(bins, y, 0, width), np.zeros(0, dtype=np.int8)
    for t in range(len(columns)):
        memory.state[0] = seeds[t]
        share = find_slopes(rows, loss, start, SAMPLE, t < given, memory)
        if t >= given:
            chance_of_columns(variables, wins, table.feature, memory.chance)
            ridge = size[1] * total(memory.total_h) / width
            _choose(
                bins, memory, ridge, share, table, (depth, n_candidates), noise,
                (columns[t], children[t], sets[t]),
            )  # fmt: skip
        n_leaves = 1
        for node in range(width - 1):
            some = False
            for byte in range(32):
                some = some or sets[t, node, byte] > 0
            wins[table.feature[columns[t, node]]] += some
            n_leaves += children[t, node, 0] != 0 or children[t, node, 1] != 0
        _find_leaves(bins, columns[t], children[t], sets[t], memory.leaf)
        add_leaves(f, loss, size, n_leaves, 0, free, memory, coef[t])


@compiled
def _find_leaves(bins, columns, children, sets, leaf):  # type: ignore[no-untyped-def]
    """Fill the leaf of each row."""
    for i in range(len(leaf)):
        node = 0
        while True:
            b = bins[columns[node], i]
            node = children[node, sets[node, b >> 3] >> (7 - (b & 7)) & 1]
            if node <= 0:
                break
        leaf[i] = -node


@compiled
def _choose(bins, memory, ridge, share, table, most, noise, tree):  # type: ignore[no-untyped-def]
    """Choose a tree. ``choose_cuts`` explains the arguments."""
    columns, children, sets = tree
    depth, n_candidates = most
    from_all = ratio(memory.square, memory.total_h)
    search = search_of(
        bins, memory.total_g, memory.total_h, memory.square, ridge, SAMPLE, _BITS, memory.state
    )
    n_rows, width = len(search.g), len(columns) + 1
    where = np.arange(n_rows) if not len(search.rows) else search.rows
    sorted_rows = where.copy(), search.g.copy(), search.h.copy()  # in the order of the leaves
    scale = len(memory.total_g) / n_rows
    z, weight = noise[n_candidates * THRESHOLDS], (scale, share, search.noise, from_all)
    ends, place = np.zeros((width, 2), dtype=np.intp), np.zeros(width, dtype=np.intp)
    ends[0, 1] = n_rows
    n_leaves, level = 1, np.zeros(1, dtype=np.intp)
    for _ in range(depth):
        leaves = _open_leaves(level, ends, width - n_leaves)
        sides = _best_cuts(
            bins, sorted_rows, ends, leaves, search, table, n_candidates, z, weight, memory
        )
        order, n_cut = np.empty(len(leaves), dtype=np.intp), 0
        sort(-sides.net, order)
        level = np.empty(2 * len(leaves), dtype=np.intp)
        for r in range(len(leaves)):
            i = order[r]
            if not sides.net[i] > 0 or n_leaves == width:
                break
            v, right, node = leaves[i], n_leaves, n_leaves - 1  # a cut adds a node and a leaf
            if n_leaves > 1:
                children[place[v] >> 1, place[v] & 1] = node
            children[node, 0], children[node, 1], columns[node] = -v, -right, sides.columns[i]
            for byte in range(32):
                bits = 0
                for b in range(8):
                    bits = bits << 1 | sides.tables[i, 8 * byte + b]
                sets[node, byte] = bits
            middle = _part(bins[columns[node]], sorted_rows, ends[v], sides.tables[i])
            place[v], place[right] = 2 * node, 2 * node + 1
            ends[right, 0], ends[right, 1], ends[v, 1] = middle, ends[v, 1], middle
            level[2 * n_cut], level[2 * n_cut + 1] = v, right
            n_leaves, n_cut = n_leaves + 1, n_cut + 1
        level = level[: 2 * n_cut]
        if not n_cut:
            break


@compiled
def _open_leaves(level, ends, room):  # type: ignore[no-untyped-def]
    """Return the leaves of the last level that have several rows, if there is room for more."""
    leaves, n = np.empty(len(level), dtype=np.intp), 0
    for v in level:
        if ends[v, 1] - ends[v, 0] > 1 and room > 0:
            leaves[n] = v
            n += 1
    return leaves[:n]


@compiled
def _best_cuts(bins, rows, ends, leaves, search, table, n_candidates, z, weight, memory):  # type: ignore[no-untyped-def]
    """Find the best of some cuts of each leaf.

    ``weight`` has how many rows a row stands for, the share of a chosen cut's noise that counts,
    and what a degree of freedom gains from noise on these rows and on all of them.
    """
    scale, share, from_rows, from_all = weight
    numbers, g, h = rows
    ridge, n_leaves = search.ridge, len(leaves)
    net, tables = np.zeros(n_leaves), np.zeros((n_leaves, 256), dtype=np.uint8)
    columns, drawn = np.zeros(n_leaves, dtype=np.int64), np.empty(n_candidates, dtype=np.intp)
    allowed = np.ones(table.groups.shape[1], dtype=np.bool_)
    of_g, of_h, n = np.zeros(256), np.zeros(256), np.zeros(256, dtype=np.intp)
    up_g, up_h, rank = np.empty(256), np.empty(256), np.empty(256, dtype=np.intp)
    for leaf in range(n_leaves):
        first, stop = ends[leaves[leaf], 0], ends[leaves[leaf], 1]
        best, h_left_best, h_right_best = -np.inf, 0.0, 0.0
        draw_columns(memory.chance, table, allowed, memory.state, drawn)
        g_all, h_all = 0.0, 0.0
        for m in range(n_candidates):
            j = drawn[m]
            column = bins[j]
            for b in range(256):
                of_g[b], of_h[b], n[b] = 0.0, 0.0, 0
            for i in range(first, stop):
                b = column[numbers[i]]
                of_g[b] += g[i]
                of_h[b] += h[i]
                n[b] += 1
            order = _present(of_g, of_h, n, table.is_category[j], ridge)
            g_all, h_all = of_g[0], of_h[0]
            for r in range(len(order)):
                g_all, h_all = g_all + of_g[order[r]], h_all + of_h[order[r]]
                up_g[r], up_h[r], rank[order[r]] = g_all - of_g[0], h_all - of_h[0], r
            last = len(order) - 1
            for _ in range(THRESHOLDS):
                spot = first + min(
                    np.intp(uniform(memory.state) * (stop - first)), stop - first - 1
                )
                b = column[numbers[spot]]
                cut = last if b == 0 else min(rank[b], last - 1)
                for side in range(2):
                    # A missing value at the spot parts missing values from all others.
                    if cut < 0 or (side == 0 and cut == last) or (side == 1 and n[0] == 0):
                        continue
                    g_left = up_g[cut] + (0.0 if side else of_g[0])
                    h_left = up_h[cut] + (0.0 if side else of_h[0])
                    g_right, h_right = g_all - g_left, h_all - h_left
                    gain = g_left * g_left / (h_left + ridge) + (
                        g_right * g_right / (h_right + ridge)
                    )
                    if not gain > best:
                        continue
                    best, columns[leaf], h_left_best, h_right_best = gain, j, h_left, h_right
                    heavier = h_right > h_left
                    for b_ in range(1, 256):
                        if table.is_category[j]:
                            tables[leaf, b_] = rank[b_] > cut if n[b_] else heavier
                        else:
                            tables[leaf, b_] = b_ > order[cut]
                    tables[leaf, 0] = side == 1 if n[0] else heavier
        if best > -np.inf:
            df = h_left_best / (h_left_best + ridge) + h_right_best / (h_right_best + ridge)
            df -= h_all / (h_all + ridge)
            gain = search.unit * (best - g_all * g_all / (h_all + ridge))
            from_noise = noise_gain(df, z, share) * from_rows
            net[leaf] = max(scale * (gain - from_noise) - PENALTY * df * from_all, 0.0)
    return Sides(net, columns, tables)


@compiled
def _present(of_g, of_h, n, is_category, ridge):  # type: ignore[no-untyped-def]
    """Return the bins with rows in order; categories are in the order of their mean slopes."""
    there, n_there = np.empty(255, dtype=np.intp), 0
    for b in range(1, 256):
        if n[b]:
            there[n_there] = b
            n_there += 1
    if not is_category:
        return there[:n_there]
    slope, order = np.empty(n_there), np.empty(n_there, dtype=np.intp)
    for r in range(n_there):
        slope[r] = of_g[there[r]] / (of_h[there[r]] + ridge)
    sort(slope, order)
    for r in range(n_there):
        order[r] = there[order[r]]
    return order


@compiled
def _part(column, rows, ends, table):  # type: ignore[no-untyped-def]
    """Sort the rows of a leaf by their sides, in place, and return where the right side starts.

    The rows of each side stay in order.
    """
    numbers, g, h = rows
    first, stop = ends[0], ends[1]
    n_, g_, h_ = numbers[first:stop].copy(), g[first:stop].copy(), h[first:stop].copy()
    to, n_right = first, 0
    for i in range(len(n_)):
        n_right += table[column[n_[i]]]
    right = stop - n_right
    middle = right
    for i in range(len(n_)):
        at = right if table[column[n_[i]]] else to
        numbers[at], g[at], h[at] = n_[i], g_[i], h_[i]
        right, to = (right + 1, to) if table[column[n_[i]]] else (right, to + 1)
    return middle
