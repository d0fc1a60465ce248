"""Steps of boosting: many trees in one compiled call.

Each step computes slopes and curvatures at all rows, chooses the cuts of a tree by the best of a
few random ones, computes the values of its leaves, and adds them to f. Nothing of it passes through
Python.

References
----------
.. [1] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
   Statistics 29(5), 2001.
.. [2] T. Chen and C. Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016 (Newton steps).
.. [3] L. Iosipoi and A. Vakhrushev, "SketchBoost: fast gradient boosted decision tree for
   multioutput problems", NeurIPS 2022 (cuts chosen by a random sum of the outputs).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._arrays.loops import FIRST
from trickless._solvers.boosting.columns import chance_of_columns
from trickless._solvers.boosting.compiled import compiled, entry
from trickless._solvers.boosting.leaf_values import leaf_values, make_monotone
from trickless._solvers.boosting.oblivious import SAMPLE, choose_cuts
from trickless._solvers.boosting.random import uniform
from trickless._solvers.boosting.search_rows import SUM_BITS, excess, limit
from trickless._solvers.boosting.slopes import fill_slopes

#: Power of the share that is not explained yet by which the search for cuts counts.
POWER = 4


class Memory(NamedTuple):
    """Memory of a step, and the state of its random numbers.

    Attributes
    ----------
    g, h : float64 arrays of shape (n_outputs, n_learned)
        Slopes and curvatures of each output.
    total_g, total_h, square : float64 arrays of shape (n_learned,)
        Those by which a tree is chosen.
    chance : float64 array of shape (n_columns,)
    leaf : intp array of shape (n_rows,)
    z : float64 array of shape (n_inputs, n_rows)
    values : float64 array of shape (1 + n_inputs, width)
    state : uint64 array of shape (1,)
    """

    g: np.ndarray
    h: np.ndarray
    total_g: np.ndarray
    total_h: np.ndarray
    square: np.ndarray
    chance: np.ndarray
    leaf: np.ndarray
    z: np.ndarray
    values: np.ndarray
    state: np.ndarray


@compiled
def memory_for(bins, y, n_inputs, width):  # type: ignore[no-untyped-def]
    """Return memory for the steps on some rows."""
    n_outputs, n = y.shape
    return Memory(
        np.empty((n_outputs, n)),
        np.empty((n_outputs, n)),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(len(bins)),
        np.empty(bins.shape[1], dtype=np.intp),
        np.empty((n_inputs, bins.shape[1])),
        np.zeros((1 + n_inputs, width)),
        np.zeros(1, dtype=np.uint64),
    )


@entry
def take_steps(rows, table, loss, start, variables, wins, size, search, given, seeds, first, found):  # type: ignore[no-untyped-def]
    """Take steps, and add what they learn to f at all rows.

    Parameters
    ----------
    rows : tuple of arrays
        Bins (n_columns, n_rows), f (n_outputs, n_rows), and the targets (n_outputs, n_learned) and
        weights, relative to their mean, of the first rows, which are learned from.
    table : Table
        What is known of the columns.
    loss : tuple
        The loss: its kind, numbers, bending, and whether outputs are coupled.
    start : tuple of float64 arrays of shape (n_outputs,)
        The mean squares of the slopes at the start, and the typical gains of the outputs.
    variables : float64 array of shape (n_features,)
        1 for features that vary, else 0.
    wins : int64 array of shape (n_features,)
        How often each feature was cut, which is counted here.
    size : tuple of float
        The share of a Newton step that is taken, and λ relative to the mean curvature of a leaf.
    search : tuple
        The most columns that are drawn for a cut, the expected largest of n normal numbers, and the
        values of bins (n_columns, 256) that leaves are linear in.
    given : int
        How many of the trees are given, as they have been found. Only their leaves are computed.
    seeds : uint64 array of shape (n_steps,)
        Seeds of the random numbers of each tree.
    first : int
        The number of the first tree.
    found : tuple of arrays
        Where to write the columns (n_steps, depth) and sets (n_steps, depth, 32) of cuts, and the
        coefficients (n_steps, (1 + n_inputs) * 2^depth, n_outputs).
    """
    bins, f, y, _ = rows
    n_candidates, noise, values_of_bins = search
    all_columns, all_sets, coef = found
    depth = all_columns.shape[1]
    width = 1 << depth
    n_inputs = coef.shape[1] // width - 1
    memory = memory_for(bins, y, n_inputs, width)
    columns, tables = np.zeros(depth, dtype=np.int64), np.zeros((depth, 256), dtype=np.uint8)
    of_cuts, used = np.zeros(depth, dtype=np.int8), np.full(n_inputs, -1)
    for t in range(len(all_columns)):
        memory.state[0] = seeds[t]
        share = find_slopes(rows, loss, start, SAMPLE, t < given, memory)
        if t < given:
            n_levels = _unpack(all_columns[t], all_sets[t], columns, tables)
        else:
            chance_of_columns(variables, wins, table.feature, memory.chance)
            n_levels = choose_cuts(
                bins, memory.total_g, memory.total_h, memory.square, first + t,
                size[1] * total(memory.total_h) / width, share, table, (depth, n_candidates), noise,
                memory.chance, memory.state, (columns, tables),
            )  # fmt: skip
            _pack(columns, tables, all_columns[t], all_sets[t])
        for level in range(n_levels):
            some = False
            for b in range(256):
                some = some or tables[level, b] > 0
            wins[table.feature[columns[level]]] += some
            of_cuts[level] = table.signs[columns[level]]
        _find_leaves(bins, columns, tables, n_levels, memory.leaf)
        n_used = _find_inputs(columns, tables, n_levels, values_of_bins, used)
        for a in range(n_used):
            for i in range(len(memory.leaf)):
                memory.z[a, i] = values_of_bins[used[a], bins[used[a], i]]
        add_leaves(f, loss, size, width, n_used, of_cuts[:n_levels], memory, coef[t])


@compiled
def find_slopes(rows, loss, start, sample, only_leaves, memory):  # type: ignore[no-untyped-def]
    """Fill slopes and curvatures of the rows, and those by which a tree is chosen, if it is.

    Returns the share of a chosen cut's noise that counts. Slopes are limited if a ``sample`` of so
    many rows would not resolve the others.
    """
    _, f, y, weight = rows
    kind, numbers, _, coupled = loss
    fill_slopes(kind, numbers, f, y, weight, memory.g, memory.h)
    if only_leaves:
        return 1.0
    unexplained = _add_outputs(start, weight, coupled, memory)
    far = 2.0 ** (SUM_BITS - 3) / min(y.shape[1], sample)
    limit(memory.total_g, memory.total_h, memory.square, far)
    return unexplained**POWER


@compiled
def total(values):  # type: ignore[no-untyped-def]
    """Return the sum of some values, in order."""
    result = 0.0
    for value in values:
        result += value
    return result


@compiled
def add_leaves(f, loss, size, n_leaves, n_used, signs, memory, coef):  # type: ignore[no-untyped-def]
    """Fill the coefficients of a tree, (n_coefficients, n_outputs), and add it to f at all rows.

    ``n_used`` is how many columns its leaves are linear in, and ``signs`` those of its cuts.
    """
    gamma, damping = size
    n_inputs, width = len(memory.values) - 1, memory.values.shape[1]
    for k in range(len(f)):
        g, h, values = memory.g[k], memory.h[k], memory.values
        ridge = damping * (total(h) - excess(h)) / n_leaves
        weights = leaf_values(memory.leaf, g, h, memory.z[:n_used], ridge, n_inputs, values)
        make_monotone(values[0], weights, signs)
        for v in range(width):
            moved = 0.0
            for a in range(1 + n_inputs):
                moved += abs(values[a, v])
            by = gamma * _safe_share(moved, gamma, loss[2])
            for a in range(1 + n_inputs):
                coef[a * width + v, k] = by * values[a, v]
        for i in range(len(memory.leaf)):
            f[k, i] += coef[memory.leaf[i], k]
        for a in range(n_used):
            for i in range(len(memory.leaf)):
                f[k, i] += coef[(1 + a) * width + memory.leaf[i], k] * memory.z[a, i]


@compiled
def _add_outputs(start, weight, coupled, memory):  # type: ignore[no-untyped-def]
    """Fill the slopes and curvatures by which a tree is chosen, and squares of these slopes.

    Several outputs choose by a sum of their slopes with random signs. Returns the share of the
    squared slopes at the start that is left, as the mean over the outputs.
    """
    squares, typical = start
    g, h, total_g, total_h = memory.g, memory.h, memory.total_g, memory.total_h
    n_outputs, n_rows = g.shape
    signs, unexplained = _random_signs(n_outputs, coupled, memory.state), 0.0
    for k in range(n_outputs):
        of_g = of_h = 1.0
        if n_outputs > 1 and not coupled:  # so that outputs count equally in any units
            mean = total(h[k]) / n_rows
            mean, usual = mean if mean > 0 else 1.0, typical[k] if typical[k] > 0 else 1.0
            of_g = 2.0 ** np.rint(np.log2(1 / np.sqrt(mean * usual)))
            of_h = 2.0 ** np.rint(np.log2(1 / mean))
        of_g *= signs[k]
        now = 0.0
        for i in range(n_rows):
            total_g[i] = (total_g[i] if k else 0.0) + of_g * g[k, i]
            total_h[i] = (total_h[i] if k else 0.0) + of_h * h[k, i]
            now += g[k, i] * g[k, i] / weight[i]
        unexplained += min(now / n_rows / squares[k], 1.0) if squares[k] > 0 else 1.0
    for i in range(n_rows):
        memory.square[i] = total_g[i] * total_g[i] / weight[i]
    return unexplained / n_outputs


@compiled
def _random_signs(n, coupled, state):  # type: ignore[no-untyped-def]
    """Draw signs of several outputs, which differ if their slopes are coupled and sum to 0."""
    signs, n_up = np.ones(n), n
    for k in range(n):
        if n > 1 and uniform(state) < 0.5:
            signs[k] = -1.0
            n_up -= 1
    if n > 1 and coupled and n_up % n == 0:
        signs[int(uniform(state) * n)] *= -1
    return signs


@compiled
def _find_leaves(bins, columns, tables, n_levels, leaf):  # type: ignore[no-untyped-def]
    """Fill the leaf of each row: the sum of 2^i over the levels i at which it goes to the right."""
    for i in range(len(leaf)):
        leaf[i] = 0
    for level in range(n_levels):
        column, table = bins[columns[level]], tables[level]
        for i in range(len(leaf)):
            leaf[i] |= np.intp(table[column[i]]) << level


@compiled
def _find_inputs(columns, tables, n_levels, values_of_bins, used):  # type: ignore[no-untyped-def]
    """Fill the columns of numbers that leaves are linear in, each once; return their number."""
    n = 0
    for level in range(min(FIRST, n_levels)):
        j, some, new = columns[level], False, False
        for b in range(256):
            some = some or tables[level, b] > 0
            new = new or values_of_bins[j, b] != 0
        for a in range(n):
            new = new and used[a] != j
        if some and new and n < len(used):
            used[n] = j
            n += 1
    return n


@compiled
def _safe_share(moved, gamma, bending):  # type: ignore[no-untyped-def]
    r"""Return the largest share of a step of size gamma on a leaf that is sure to descend.

    If the curvature changes along f by no more than M times itself, a move by
    :math:`\log(1 + M |c|) / M` descends, with c the whole Newton step [1]_. That is less than
    :math:`\gamma |c|` where the rows of a leaf are nearly certain of the wrong class.

    References
    ----------
    .. [1] T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions: a recipe for Newton-type
       methods", Mathematical Programming 178, 2019.
    """
    far = bending * moved
    return min(1.0, np.log1p(far) / (gamma * far)) if far > 0 else 1.0


@compiled
def _pack(columns, tables, into_columns, into_sets):  # type: ignore[no-untyped-def]
    for level in range(len(columns)):
        into_columns[level] = columns[level]
        for byte in range(32):
            bits = 0
            for b in range(8):
                bits = bits << 1 | tables[level, 8 * byte + b]
            into_sets[level, byte] = bits


@compiled
def _unpack(from_columns, from_sets, columns, tables):  # type: ignore[no-untyped-def]
    """Fill the cuts of a tree that is given, and return its number of levels."""
    n_levels = 0
    for level in range(len(columns)):
        columns[level] = from_columns[level]
        some = False
        for b in range(256):
            tables[level, b] = from_sets[level, b >> 3] >> (7 - (b & 7)) & 1
            some = some or tables[level, b]
        n_levels = level + 1 if some else n_levels
    return n_levels
