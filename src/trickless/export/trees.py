"""Trees as a graph: bins by comparisons, leaves by looking up one cut after another."""

from __future__ import annotations

from typing import Any

import numpy as np

import trickless.export.namespace as xp
from trickless.arrays.places import to_host
from trickless.export.families import writes
from trickless.neurons import Trees
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins
from trickless.neurons.levels import MISSING


@writes(Trees)
class _Trees(Trees):
    """It looks up all trees together."""

    def read(self, X: Any, n_jobs: int | None = None) -> Any:
        bins = _bins(self.bins_, X)
        if self.linear_ is None:
            return bins
        return xp.where(bins == MISSING, self.linear_.of_gaps.astype(np.int32), bins)

    def activate(self, X: Any, weights: Weights) -> Any:
        bins = self.read(X)
        leaf = _leaves(bins, *map(to_host, weights))
        hot = leaf[:, None, :] == np.arange(self.geometry.width, dtype=np.int32)[:, None]
        hot = xp.astype(hot, X.dtype)
        if self.linear_ is not None:
            inputs = self.linear_.everywhere(xp, bins, weights, X.dtype)
            hot = inputs[:, :, None, :] * hot[:, None, :, :]
        return xp.reshape(hot, (X.shape[0], self.width * leaf.shape[1]))

    def combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        bins, coef = self.read(X), to_host(coef)
        leaf = _leaves(bins, *map(to_host, weights))
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
        found = xp.count_below(x, [bins.thresholds[j] for j in numbers]) + np.int32(1)
        parts.append(xp.where(xp.isnan(x), np.int32(MISSING), found))
    if codes:
        x = xp.take(X, bins.features[codes], axis=1)
        tables: list[Any] = [bins.of_code[j] for j in codes]
        starts = np.cumsum([0, *map(len, tables[:-1])])
        gaps = xp.isnan(x)
        code = xp.astype(xp.where(gaps, np.zeros(1, X.dtype), x), xp.int32) + starts.astype(
            np.int32
        )
        found = xp.take(xp.asarray(np.concatenate(tables).astype(np.int32)), code)
        parts.append(xp.where(gaps, np.int32(MISSING), found))
    both = xp.concat(parts, axis=1) if len(parts) > 1 else parts[0]
    order = np.argsort(numbers + codes)
    return both if (order == np.arange(len(order))).all() else xp.take(both, order, axis=1)


def _leaves(bins: Any, columns: np.ndarray, *rest: np.ndarray) -> Any:
    """Find the leaves of rows in trees, (n_rows, n). Equal sets of bins are stored once."""
    *children, sets = rest
    distinct, which = np.unique(sets.reshape(-1, sets.shape[-1]), axis=0, return_inverse=True)
    n, n_cuts = columns.shape
    columns, which = columns.astype(np.int32), which.reshape(n, n_cuts).astype(np.int32)

    def right(which: Any, b: Any) -> Any:
        """Return 1 where bins go to the right, and 0 elsewhere."""
        byte = xp.take(distinct.ravel(), which * distinct.shape[1] + b // 8)
        bit = xp.bitwise_right_shift(byte, xp.astype(7 - b % 8, xp.uint8))
        return xp.astype(bit % 2, xp.int32)

    if not children:
        b = xp.take(bins, columns.ravel(), axis=1)
        bits = xp.reshape(right(which.ravel(), b), (bins.shape[0], n, n_cuts))
        return xp.sum(bits * (2 ** np.arange(n_cuts)).astype(np.int32), axis=2)
    below, first = children[0].astype(np.int32).ravel(), np.arange(n, dtype=np.int32) * n_cuts
    b, at = xp.take(bins, columns[:, 0], axis=1), first
    node = xp.take(below, at * 2 + right(which[:, 0], b))
    for _ in range(_n_levels(children[0]) - 1):
        at = xp.maximum(node, 0) + first
        b = xp.take_along_axis(bins, xp.take(columns.ravel(), at))
        child = xp.take(below, at * 2 + right(xp.take(which.ravel(), at), b))
        node = xp.where(node > 0, child, node)
    return -node


def _n_levels(children: np.ndarray) -> int:
    """Return the most cuts from the root of a tree to a leaf; children come after their parents."""
    level = np.zeros(children.shape[:2], dtype=int)
    trees = np.arange(len(children))[:, None]
    for i in range(children.shape[1]):
        below = children[:, i]
        deeper = np.where(below > 0, level[:, i, None] + 1, level[trees, np.maximum(below, 0)])
        level[trees, np.maximum(below, 0)] = deeper
    return int(level.max(initial=0)) + 1
