"""Families of neurons whose own code cannot write a graph.

A family computes its activations by the functions of the array API, and most families write a graph
by the same code, those of users as well. The families here look at the values of rows, or leave the
array API for speed. Each has a subclass of the same name that overrides only that, and
:func:`writable` returns it instead of the family.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import trickless.export.namespace as xp
from trickless import neurons
from trickless._arrays.places import to_host
from trickless._arrays.series import _LARGEST, _LARGEST_OF_SUMS, HEAVY, LEAST, MOST_LEVEL, TAPS
from trickless.export.tensors import Tensor, UnwritableError
from trickless.neurons.base import Weights
from trickless.neurons.convolutions import _OF_POSITIONS
from trickless.neurons.tanimoto import _FACTORS


def writable(family: neurons.Neurons) -> neurons.Neurons:
    """Return a family that evaluates tensors of a graph, as its parts do."""
    new: Any = object.__new__(_WRITABLE.get(type(family), type(family)))
    vars(new).update(vars(family))
    for name in ("parts_", "mixture_"):
        part = vars(family).get(name)
        if part is not None:
            setattr(new, name, list(map(writable, part)) if name == "parts_" else writable(part))
    return new


class On(neurons.On):
    """It does not look for missing values."""

    def _pick(self, X: Any) -> Any:
        return xp.take(X, self.indices_, axis=1)


class Tanimoto(neurons.Tanimoto):
    """It samples from all features of a row, of which those that are 0 are never chosen."""

    def activate(self, X: Any, weights: Weights) -> Any:
        r, log_c, beta, seed = map(to_host, weights)
        t = np.floor(np.log(X)[:, None, :] / r + beta)
        value = log_c - r * (t - beta + 1)
        is_least = value == value.min(axis=-1)[..., None]
        feature = xp.max(xp.where(is_least, np.arange(X.shape[1], dtype=np.int32), 0), axis=-1)
        level = xp.take_along_axis(t, feature[:, :, None], axis=2)[:, :, 0]
        empty = xp.all(X == 0, axis=1, keepdims=True)
        feature, level = (xp.where(empty, -1, xp.astype(i, np.int64)) for i in (feature, level))
        bits: Any = seed.astype(np.int64)
        for number, factor in zip((feature, level, level), _FACTORS, strict=True):
            bits = xp.bitwise_xor(bits, number) * np.uint64(factor).astype(np.int64)
            bits = xp.bitwise_xor(bits, xp.bitwise_right_shift(bits, 31))
        signs = xp.astype(xp.where(bits < 0, -1, 1), X.dtype)
        return xp.where(xp.all(X >= 0, axis=1, keepdims=True), signs, np.nan)


class Landmarks(neurons.Landmarks):
    """It computes kernels by operators of the graph, in double precision."""

    def activate(self, X: Any, weights: Weights) -> Any:
        exact, where = xp.astype(X, xp.float64), to_host(*weights)
        kernel: Any = self.parts_[0].closed_form
        if self._fixed:
            n = int(where.max(initial=-1)) + 1
            values = kernel(exact, dense(self.basis_.points[:n]))
            values = values @ self.basis_.inverse[where, :n].T * self.basis_.size**0.5
        else:
            values = kernel(exact, dense(where if where.ndim > 1 else self.rows_[where]))
            values = values - self.mean_
        return xp.astype(values, X.dtype)


def dense(points: Any) -> Tensor:
    """Return rows that a model has kept as a constant in double precision."""
    points = points.toarray() if hasattr(points, "toarray") else points
    return Tensor.constant(points, np.float64)


class Convolutions(neurons.Convolutions):
    """It interpolates no gaps, so that a series with a gap has values that are not numbers."""

    def activate(self, X: Any, weights: Weights) -> Any:
        if np.isnan(self.rows_).any():
            raise UnwritableError(
                "it was fitted to series with missing values or of unequal length, and a graph "
                "interpolates no gaps"
            )
        kinds, dilation, mix, numbers, signs, thresholds = map(to_host, weights)
        seen, gap = self._views(X)
        parts, order = [], []
        for kind, d in np.unique(np.stack([kinds, dilation], axis=1), axis=0).tolist():
            some = np.flatnonzero((kinds == kind) & (dilation == d))
            z = _responses(seen[kind], d, mix[some], HEAVY[numbers[some]], signs[some])
            parts.append(self._shares(z, thresholds[some]))
            order += some.tolist()
        values = xp.take(xp.concat(parts, axis=1), np.argsort(order), axis=1) + gap
        values = xp.permute_dims(values, (0, 3, 2, 1))
        return xp.reshape(values, (X.shape[0], self.width * len(order)))

    def _views(self, X: Any) -> tuple[list[Any], Any]:
        """Return series as each kind of neuron sees them, and zeros, or NaN for rows with a gap."""
        values = xp.reshape(X, (X.shape[0], self._n_channels, self._length))
        values = xp.astype(values, xp.float64) / self.scale_[0][:, None]
        values = xp.clip(values, -_LARGEST_OF_SUMS, _LARGEST_OF_SUMS)
        mean = xp.mean(values, axis=2, keepdims=True)
        values = xp.clip(values - mean, -_LARGEST, _LARGEST)
        change = (values[:, :, 1:] - values[:, :, :-1]) * (self.scale_[0] / self.scale_[1])[:, None]
        level: Any = self.level_
        away = mean - (level[0] / self.scale_[0])[:, None]
        away = away * (self.scale_[0] / level[1])[:, None]
        away = xp.clip(away, -MOST_LEVEL, MOST_LEVEL)
        seen = [values, xp.clip(change, -_LARGEST, _LARGEST), values + away]
        gap = 0.0 * xp.sum(mean, axis=(1, 2))[:, None, None, None]
        return [xp.astype(view, X.dtype) for view in seen], xp.astype(gap, X.dtype)

    def _shares(self, z: Any, thresholds: np.ndarray) -> Any:
        """Pool responses over time, (n_rows, n, n_kernels, 3), as the family does."""
        shares = []
        for side in (z, -z):
            highest = xp.max(side, axis=2, keepdims=True)
            limit = np.maximum(highest - (LEAST * highest + LEAST), LEAST)  # as of series_loops
            each = xp.sum(xp.where(side > limit, side, 0.0), axis=3)
            total = xp.sum(each, axis=2, keepdims=True)
            shares.append(xp.where(total > 0, each / total, 0.0))
        above = xp.sum(xp.astype(z > thresholds.astype(z.dtype), z.dtype), axis=3)
        shares.append(above / (z.shape[3] * self.kernels / _OF_POSITIONS**2))
        return xp.sqrt(xp.stack(shares, axis=3)) / sqrt(2 + _OF_POSITIONS**2)


def _responses(
    series: Any, dilation: int, mix: np.ndarray, heavy: np.ndarray, signs: np.ndarray
) -> Any:
    """Compute the responses of kernels at all times, (n_rows, n, n_kernels, length)."""
    n, length = len(mix), series.shape[2]
    beyond = np.zeros((1, n, TAPS // 2 * dilation), series.dtype)
    mixed = xp.concat([beyond, xp.matmul(mix.astype(series.dtype), series), beyond], axis=2)
    reached = [mixed[:, :, i * dilation : i * dilation + length] for i in range(TAPS)]
    total, every = sum(reached[1:], reached[0])[:, :, None, :], xp.concat(reached, axis=1)
    a, b, c = (xp.take(every, heavy[:, :, i] * n + np.arange(n)[:, None], axis=1) for i in range(3))
    return (3.0 * (a + b + c) - total) * signs.astype(series.dtype)[:, :, None]


#: The classes that write graphs, by the class of the family.
_WRITABLE = {cls.__base__: cls for cls in (On, Tanimoto, Landmarks, Convolutions)}
