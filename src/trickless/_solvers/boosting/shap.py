r"""Shapley values of features, exactly, with rows of a background as what features are without.

The game of a row x and a row b of the background has the worth :math:`v(S) = f(x_S, b_{\bar S})`,
where features in S have the values of x and others those of b. The values of a feature are the mean
over the background. In a tree, a leaf is reached if features A have the values of x, and features B
those of b, while the others do not matter. The game that is worth 1 if :math:`A \subseteq S` and
:math:`B \cap S = \emptyset`, and else 0, has the Shapley values [1]_

.. math:: \frac{(|A| - 1)! \, |B|!}{(|A| + |B|)!} \text{ in } A, \qquad
    -\frac{|A|! \, (|B| - 1)!}{(|A| + |B|)!} \text{ in } B.

A slope of a linear leaf is worth :math:`z_b`, and :math:`z_x - z_b` more if its column is in S.

References
----------
.. [1] S. M. Lundberg et al., "From local explanations to global understanding with explainable AI
   for trees", Nature Machine Intelligence 2, 2020 (the interventional case).
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from trickless._arrays.loops import to_read
from trickless._arrays.threads import map_blocks, row_blocks
from trickless._solvers.boosting.compiled import compiled, entry
from trickless.neurons import Trees
from trickless.neurons.base import Weights

#: More features than the path to a leaf has.
_MOST = 33
#: Rows of a block.
_ROWS = 16


def shap_values(
    family: Trees,
    weights: Weights,
    coef: np.ndarray,
    rows: np.ndarray,
    background: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Return Shapley values of features at rows that are bins: (n_rows, n_features, n_outputs)."""
    features = family.bins_.features.astype(np.int64)
    found = np.zeros((len(rows), family.bins_.n_features, coef.shape[2]))
    rows, background, coef, *of_trees = map(to_read, (rows, background, coef, *weights))
    linear = np.zeros((len(family.bins_.counts), 256))
    used = np.full((len(coef), max(family.n_inputs, 1)), -1)
    if family.linear_ is not None:
        linear, used = family.linear_.of_bins(), family.linear_.columns(weights)
    used = to_read(used, np.int64)
    table: Any = features, linear, _WEIGHTS

    def fill(some: slice) -> None:
        if family.used_shape == "binary":
            _of_binary(rows[some], background, *of_trees, coef, table, found[some])
        else:
            _of_oblivious(rows[some], background, *of_trees, used, coef, table, found[some])

    map_blocks(fill, row_blocks(len(rows), _ROWS), n_jobs)
    return found / len(background)


def _weights() -> np.ndarray:
    """Return the Shapley values in A, by the sizes of A and B."""
    found = np.zeros((_MOST, _MOST))
    for a in range(1, _MOST):
        for b in range(_MOST):
            found[a, b] = factorial(a - 1) * factorial(b) / factorial(a + b)
    return found


_WEIGHTS = _weights()


@entry
def _of_oblivious(rows, background, columns, sets, used, coef, table, found):  # type: ignore[no-untyped-def]
    features, linear, of_size = table
    depth = columns.shape[1]
    width = 1 << depth
    flips, parts = np.empty(depth, dtype=np.intp), np.empty(depth + 1, dtype=np.int64)
    for t in range(len(columns)):
        n_inputs = coef.shape[1] // width - 1
        for r in range(len(rows)):
            for q in range(len(background)):
                x, b = rows[r], background[q]
                leaf, n = np.intp(0), 0  # of b, and features by which x goes another way
                for level in range(depth):
                    j = columns[t, level]
                    at_x = sets[t, level, x[j] >> 3] >> (7 - (x[j] & 7)) & 1
                    at_b = sets[t, level, b[j] >> 3] >> (7 - (b[j] & 7)) & 1
                    leaf |= np.intp(at_b) << level
                    if at_x != at_b:
                        k = _place(parts, n, features[j])
                        if k == n:
                            parts[n], flips[n] = features[j], 0
                            n += 1
                        flips[k] ^= np.intp(1) << level
                for subset in range(1 << n):
                    at, size = leaf, 0
                    for k in range(n):
                        if subset >> k & 1:
                            at ^= flips[k]
                            size += 1
                    for o in range(coef.shape[2]):
                        worth = np.float64(coef[t, at, o])
                        for a in range(n_inputs):
                            j = used[t, a]
                            if j < 0:
                                continue
                            slope = np.float64(coef[t, (1 + a) * width + at, o])
                            z_x, z_b = linear[j, x[j]], linear[j, b[j]]
                            k = _place(parts, n, features[j])
                            if k < n:
                                worth += slope * (z_x if subset >> k & 1 else z_b)
                                continue
                            worth += slope * z_b
                            more = slope * (z_x - z_b)
                            parts[n] = features[j]
                            _share(
                                parts, n + 1, subset | 1 << n, size + 1, more, of_size, found[r], o
                            )
                        _share(parts, n, subset, size, worth, of_size, found[r], o)


@compiled
def _place(parts, n, feature):  # type: ignore[no-untyped-def]
    for k in range(n):
        if parts[k] == feature:
            return k
    return n


@compiled
def _share(parts, n, subset, size, worth, of_size, found, o):  # type: ignore[no-untyped-def]
    """Add the Shapley values of features, those of A in the subset, and those of B not in it."""
    for k in range(n):
        if subset >> k & 1:
            found[parts[k], o] += worth * of_size[size, n - size]
        else:
            found[parts[k], o] -= worth * of_size[n - size, size]


@entry
def _of_binary(rows, background, columns, children, sets, coef, table, found):  # type: ignore[no-untyped-def]
    features, _, of_size = table
    stack, parts = np.empty((4 * _MOST, 4), dtype=np.int64), np.empty(_MOST, dtype=np.int64)
    choice = np.zeros(found.shape[1], dtype=np.int64)  # 1 for x and 2 for b
    for t in range(len(columns)):
        for r in range(len(rows)):
            for q in range(len(background)):
                x, b = rows[r], background[q]
                n, top = 0, 1
                stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, -1, 0
                inner = True  # node 0 is the root, and later leaf 0
                while top:
                    top -= 1
                    node, depth, feature, side = stack[top]
                    while n > depth:
                        n -= 1
                        choice[parts[n]] = 0
                    if feature >= 0:
                        choice[feature], parts[n] = side, feature
                        n += 1
                    if node <= 0 and not inner:
                        subset, size = 0, 0
                        for k in range(n):
                            if choice[parts[k]] == 1:
                                subset |= 1 << k
                                size += 1
                        for o in range(coef.shape[2]):
                            worth = np.float64(coef[t, -node, o])
                            _share(parts, n, subset, size, worth, of_size, found[r], o)
                        continue
                    inner = False
                    j = columns[t, node]
                    at_x = children[t, node, sets[t, node, x[j] >> 3] >> (7 - (x[j] & 7)) & 1]
                    at_b = children[t, node, sets[t, node, b[j] >> 3] >> (7 - (b[j] & 7)) & 1]
                    chosen, f = choice[features[j]], features[j]
                    if chosen == 1 or at_x == at_b:
                        stack[top, 0], stack[top, 1], stack[top, 2] = at_x, n, -1
                        top += 1
                    elif chosen == 2:
                        stack[top, 0], stack[top, 1], stack[top, 2] = at_b, n, -1
                        top += 1
                    else:
                        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = at_x, n, f, 1
                        top += 1
                        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = at_b, n, f, 2
                        top += 1
                while n > 0:
                    n -= 1
                    choice[parts[n]] = 0
