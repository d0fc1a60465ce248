"""Families of neurons whose own code cannot write a graph, or would write a longer one.

A family computes its activations by the functions of the array API, and most families write a graph
by the same code, those of users as well. The families here look at the values of rows, change
arrays in place, or leave the array API for speed. Each has a subclass that overrides only that, and
:func:`writable` returns it instead of the family.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import trickless.export.namespace as xp
from trickless.arrays.places import to_host
from trickless.export.tensors import Tensor
from trickless.neurons import (
    Landmarks,
    Laplace1,
    Neurons,
    On,
    Patches,
    Tabular,
    Tanimoto,
)
from trickless.neurons.base import Weights
from trickless.neurons.isotropic import Isotropic
from trickless.neurons.patches import _FLOOR, _affine, _unit_range
from trickless.neurons.tabular import TOP
from trickless.neurons.tanimoto import _FACTORS

#: The classes that write graphs, by the class of the family.
WRITABLE: dict[type[Neurons], type[Neurons]] = {}


def writes(family: type[Neurons]) -> Any:
    """Make a decorator of a class that writes the graph of a family."""

    def register(cls: type[Neurons]) -> type[Neurons]:
        WRITABLE[family] = cls
        cls.__name__ = family.__name__  # in errors
        cls.__doc__ = (cls.__doc__ or "").partition("\n\n")[0]  # without the family's sections
        return cls

    return register


def writable(family: Neurons) -> Neurons:
    """Return a family that evaluates tensors of a graph, as its parts do."""
    new: Any = object.__new__(WRITABLE.get(type(family), type(family)))
    vars(new).update(vars(family))
    for name in ("parts_", "mixture_"):
        part = vars(family).get(name)
        if part is not None:
            setattr(new, name, list(map(writable, part)) if name == "parts_" else writable(part))
    return new


@writes(On)
class _On(On):
    """It does not look for missing values."""

    def _pick(self, X: Any) -> Any:
        return xp.take(X, self.indices_, axis=1)


@writes(Tanimoto)
class _Tanimoto(Tanimoto):
    """It samples from all features of a row, of which those that are 0 are never chosen."""

    def activate(self, X: Any, weights: Weights) -> Any:
        r, log_c, beta, seed = map(to_host, weights)
        t = xp.floor(xp.log(X)[:, None, :] / r + beta)
        value = log_c - r * (t - beta + 1)
        feature = xp.argmin_last(value)
        level = xp.take_along_axis(t, feature[:, :, None], axis=2)[:, :, 0]
        empty = xp.all(X == 0, axis=1, keepdims=True)
        feature, level = (xp.where(empty, -1, xp.astype(i, xp.int64)) for i in (feature, level))
        bits: Any = seed.astype(np.int64)
        for number, factor in zip((feature, level, level), _FACTORS, strict=True):
            bits = xp.bitwise_xor(bits, number) * np.uint64(factor).astype(np.int64)
            bits = xp.bitwise_xor(bits, xp.bitwise_right_shift(bits, 31))
        return xp.astype(xp.where(bits < 0, -1, 1), X.dtype)


@writes(Tabular)
class _Tabular(Tabular):
    """It compares all columns with their thresholds at once."""

    def _ranks(self, X: Any) -> Any:
        is_number = np.array([cuts is not None for cuts in self.cuts_])
        n = np.array([0 if cuts is None else len(cuts) for cuts in self.cuts_])
        if not is_number.any():
            return X
        cuts = [np.empty(0) if each is None else each for each in self.cuts_]
        below = xp.astype(xp.count_below(X, cuts), X.dtype)
        # As in the family: the count over the number, both in the precision of the rows.
        rank = below / np.maximum(n, 1).astype(X.dtype) * np.asarray(TOP, X.dtype)
        return xp.where(xp.isnan(X) | ~is_number, X, rank)


@writes(Landmarks)
class _Landmarks(Landmarks):
    """It computes kernels by operators of the graph, in double precision."""

    def activate(self, X: Any, weights: Weights) -> Any:
        (landmarks,) = weights
        exact, where = xp.astype(X, xp.float64), to_host(landmarks)
        if self._fixed:
            n = int(where.max(initial=-1)) + 1
            values = kernel_of(self.parts_[0], exact, _dense(self.basis_.points[:n]))
            values = values @ self.basis_.inverse[where, :n].T * self.basis_.size**0.5
        else:
            points = where if where.ndim > 1 else self.rows_[where]
            values = kernel_of(self.parts_[0], exact, _dense(points)) - self.mean_
        return xp.astype(values, X.dtype)


@writes(Patches)
class _Patches(Patches):
    """It makes new arrays instead of changing parts of them."""

    def activate(self, X: Any, weights: Weights) -> Any:
        affine = _affine(X, weights)
        t = xp.matmul(xp.permute_dims(self._patches(X), (1, 2, 0)), affine)
        return self._pooled(t, X.shape[0], affine.shape[1])

    def _patches(self, X: Any) -> Any:
        p, (down, across) = self.patch, self._positions
        images = xp.reshape(_unit_range(X), (X.shape[0], *self.shape_[:2], self._channels))
        images = xp.permute_dims(images, (3, 0, 1, 2))
        lines = xp.concat([images[..., x : x + across] for x in range(p)], axis=0)
        shifted = xp.concat([lines[:, :, y : y + down, :] for y in range(p)], axis=0)
        patches = xp.reshape(shifted, (self._size, X.shape[0], down * across))
        patches = patches - xp.mean(patches, axis=0)
        norm = xp.linalg.vector_norm(patches, axis=0) + _FLOOR * sqrt(self._size)
        return xp.concat([patches / norm, xp.ones_like(patches[:1])], axis=0)


def kernel_of(family: Neurons, X: Any, points: np.ndarray) -> Any:
    """Compute the kernel of a family between rows and points, both in double precision."""
    if isinstance(family, Isotropic):
        scale = family.length_scale_
        return family.profile(squared_distances(X / scale, points / scale))
    if isinstance(family, Laplace1):
        return xp.exp(-distances(X / family.length_scale_, points / family.length_scale_))
    there: Any = Tensor.constant(points)
    return family.closed_form(X, there)


def distances(X: Any, points: np.ndarray) -> Any:
    """Compute sums of absolute differences of rows from points, (n_rows, n_points)."""
    return xp.sum(xp.abs(X[:, None, :] - points), axis=-1)


def squared_distances(X: Any, points: np.ndarray) -> Any:
    """Compute squared distances of rows from points, (n_rows, n_points)."""
    mean = points.mean(axis=0)
    X, points = X - mean, points - mean
    lengths = xp.sum(X * X, axis=1)[:, None] + (points**2).sum(axis=1)
    return xp.maximum(lengths - 2.0 * (X @ points.T), 0.0)


def _dense(points: Any) -> np.ndarray:
    points = points.toarray() if hasattr(points, "toarray") else points
    return np.asarray(points, dtype=np.float64)
