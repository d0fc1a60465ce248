"""Trees as a graph: bins by comparisons, leaves by looking up bits, and values by leaf.

All trees are looked up together, so that the number of nodes depends on their depth and not on how
many trees there are. Cuts are stored as in a model, 32 bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import trickless.onnx.namespace as xp
from trickless.arrays.places import to_host
from trickless.neurons import Trees
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins
from trickless.neurons.levels import MISSING
from trickless.onnx.families import count_below, writes
from trickless.onnx.tensors import Tensor


@writes(Trees)
class _Trees(Trees):
    """It looks up all trees together."""

    def read(self, X: Any, n_jobs: int | None = None) -> Any:
        rows = X if self.crosses_ is None else self.crosses_.extended(X)
        bins = _bins(self.bins_, rows)
        if self.linear_ is None:
            return bins
        return xp.where(bins == MISSING, self.linear_.of_gaps.astype(np.int32), bins)

    def activate(self, X: Any, weights: Weights) -> Any:
        bins = self.read(X)
        leaf = LEAVES[self.used_shape](bins, *map(to_host, weights))
        hot = leaf[:, None, :] == np.arange(self.geometry.width, dtype=np.int32)[:, None]
        hot = xp.astype(hot, X.dtype)
        if self.linear_ is not None:
            inputs = self.linear_.everywhere(xp, bins, weights, X.dtype)
            hot = inputs[:, :, None, :] * hot[:, None, :, :]
        return xp.reshape(hot, (X.shape[0], self.width * leaf.shape[1]))

    def combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        bins, coef = self.read(X), to_host(coef)
        leaf = LEAVES[self.used_shape](bins, *map(to_host, weights))
        n, width, n_outputs = coef.shape
        flat = xp.asarray(coef.reshape(n * width, n_outputs))
        first = np.arange(n, dtype=np.int32) * np.int32(width)
        inputs: Any = None
        if self.linear_ is not None:
            inputs = self.linear_.everywhere(xp, bins, weights, xp.float64)
        total: Any = 0.0
        for i in range(1 + self.n_inputs):
            where = leaf + (first + np.int32(i * self.geometry.width))
            values = xp.astype(xp.take(flat, where, axis=0), xp.float64)
            values = values if i == 0 else values * inputs[:, i, :, None]
            total = total + xp.sum(values, axis=1)
        return total


def _bins(bins: Bins, X: Any) -> Any:
    """Map rows to bins, (n_rows, n_columns)."""
    codes = [j for j, of_code in enumerate(bins.of_code) if of_code is not None]
    numbers = [j for j, of_code in enumerate(bins.of_code) if of_code is None]
    parts = []
    if numbers:
        x = xp.take(X, bins.features[numbers], axis=1)
        found = count_below(x, [bins.thresholds[j] for j in numbers]) + np.int32(1)
        parts.append(xp.where(xp.isnan(x), np.int32(MISSING), found))
    if codes:
        x = xp.take(X, bins.features[codes], axis=1)
        tables: list[Any] = [bins.of_code[j] for j in codes]
        starts = np.cumsum([0, *map(len, tables[:-1])])
        gaps = xp.isnan(x)
        code = xp.astype(xp.where(gaps, np.zeros(1, X.dtype), x), xp.int64) + starts
        found = xp.take(xp.asarray(np.concatenate(tables).astype(np.int32)), code)
        parts.append(xp.where(gaps, np.int32(MISSING), found))
    both = xp.concat(parts, axis=1) if len(parts) > 1 else parts[0]
    order = np.argsort(numbers + codes)
    return both if (order == np.arange(len(order))).all() else xp.take(both, order, axis=1)


def _bits(flat: np.ndarray, cut: Any, b: Any) -> Any:
    """Return whether bins go to the right (1) at cuts, whose sets of 32 bytes are ``flat``."""
    byte = xp.take(xp.asarray(flat), cut * np.int32(32) + b // np.int32(8))
    shift = xp.astype(np.int32(7) - b % np.int32(8), xp.uint8)
    return xp.astype(xp.bitwise_right_shift(byte, shift) % np.uint8(2), xp.int32)


def _oblivious(bins: Any, columns: np.ndarray, sets: np.ndarray) -> Any:
    """Find the leaves of rows in oblivious trees, (n_rows, n)."""
    n, depth = columns.shape
    b = xp.take(bins, columns.ravel().astype(np.int64), axis=1)
    right = _bits(sets.ravel(), Tensor.constant(np.arange(n * depth, dtype=np.int32)), b)
    right = xp.reshape(right, (bins.shape[0], n, depth))
    return xp.sum(right * 2 ** np.arange(depth, dtype=np.int32), axis=-1)


def _binary(bins: Any, columns: np.ndarray, children: np.ndarray, sets: np.ndarray) -> Any:
    """Find the leaves of rows in binary trees, (n_rows, n)."""
    n, n_nodes = columns.shape
    flat_columns = xp.asarray(columns.ravel().astype(np.int64))
    flat_children = xp.asarray(children.ravel().astype(np.int32))
    first = np.arange(n, dtype=np.int32) * np.int32(n_nodes)
    at = Tensor.constant(first[None, :])
    node: Any = None
    for _ in range(_n_levels(children)):
        if node is None:  # at the root, the columns are constants
            b = xp.take(bins, columns[:, 0].astype(np.int64), axis=1)
        else:
            b = xp.taken_along(bins, xp.take(flat_columns, at))
        child = xp.take(flat_children, at * np.int32(2) + _bits(sets.ravel(), at, b))
        node = child if node is None else xp.where(node > np.int32(0), child, node)
        at = xp.maximum(node, np.int32(0)) + first
    return -node


def _n_levels(children: np.ndarray) -> int:
    """Return the most cuts from the root of a tree to a leaf; children come after their parents."""
    level = np.zeros(children.shape[:2], dtype=int)
    trees = np.arange(len(children))[:, None]
    for i in range(children.shape[1]):
        below = children[:, i]
        deeper = np.where(below > 0, level[:, i, None] + 1, level[trees, np.maximum(below, 0)])
        level[trees, np.maximum(below, 0)] = deeper
    reached = level.max() if level.size else 0
    return int(reached) + 1


#: How the leaves of trees of each shape are found.
LEAVES: dict[str, Any] = {"oblivious": _oblivious, "binary": _binary}
