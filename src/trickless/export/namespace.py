"""The array API on tensors of a graph: its functions of each element, and those along axes.

Each one adds a node to the graph, or a few. Functions of constants alone are NumPy's. What is not
here cannot be written.
"""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

from trickless.export.elements import *
from trickless.export.elements import _numpy
from trickless.export.graph import RowCount
from trickless.export.tensors import Tensor, UnwritableError

__array_namespace_info__ = _numpy.__array_namespace_info__


def __getattr__(name: str) -> Any:
    raise AttributeError(f"there is no {name} in graphs")


# Sums, and functions along an axis.


def _axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = tuple(one % x.ndim for one in axes)
    if any_of(isinstance(x.shape[one], RowCount) for one in axes):
        raise UnwritableError("it sums or compares values of several rows")
    return axes


def _reduction(op: str, name: str) -> Any:
    def function(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
        axes = _axes(x, axis)
        if x.dtype.kind in "bu" and op == "ReduceSum":
            x = astype(x, int32)
        shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
        return emit(op, [x], shape, x.dtype, axes=axes, keepdims=int(keepdims))

    function.__name__ = name
    return of_tensors(function)


sum, prod_of, mean = (
    _reduction("ReduceSum", "sum"), _reduction("ReduceProd", "prod"),
    _reduction("ReduceMean", "mean"),
)  # fmt: skip
max, min = _reduction("ReduceMax", "max"), _reduction("ReduceMin", "min")


@of_tensors
def any(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    return astype(max(astype(x, uint8), axis=axis, keepdims=keepdims), bool)


@of_tensors
def all(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    return astype(min(astype(x, uint8), axis=axis, keepdims=keepdims), bool)


@of_tensors
def argmax(x: Tensor, /, *, axis: int) -> Tensor:
    (axis,) = _axes(x, axis)
    places = np.arange(x.shape[axis], dtype=int32).reshape(-1, *[1] * (x.ndim - axis - 1))
    is_most = x == max(x, axis=axis, keepdims=True)
    return min(where(is_most, places, places[-1]), axis=axis)


def argmin_last(x: Tensor) -> Tensor:
    """Return where the smallest numbers along the last axis are, the last ones of equal numbers."""
    places = np.arange(x.shape[-1], dtype=int32)
    return max(where(x == min(x, axis=-1, keepdims=True), places, places[0]), axis=-1)


@of_tensors
def sort(x: Tensor, /, *, axis: int = -1) -> Tensor:
    return take_along_axis(x, argsort(x, axis=axis), axis=axis)


@of_tensors
def cumulative_sum(x: Tensor, /, *, axis: int) -> Tensor:
    (axis,) = _axes(x, axis)
    return emit("CumSum", [x], x.shape, x.dtype, axis=axis)


@of_tensors
def argsort(x: Any, /, *, axis: int = -1, descending: Any = False, **_: Any) -> Tensor:
    """Return the order of values; ``stable`` and ``kind`` say no more, as equal values stay."""
    (axis,), x = _axes(x, axis), -x if descending else x
    return emit("ArgSort", [x], x.shape, int32, axis=axis)


def partition(x: Tensor, kth: Any, *, axis: int = -1) -> Tensor:
    """Sort, which is more than NumPy's function does."""
    return sort(x, axis=axis)


@of_tensors
def nonzero(x: Tensor, /) -> Tensor:
    raise UnwritableError("it chooses rows by their values")


@of_tensors
def searchsorted(cuts: Any, x: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Count the cuts below numbers; not a number is above all of them."""
    beyond = less_equal if side == "left" else less
    n = cuts.shape[0]
    return n - sum(astype(beyond(x[..., None], cuts), int32), axis=-1)


@of_tensors
def matmul(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    left = a.shape if a.ndim > 1 else (1, *a.shape)
    right = b.shape if b.ndim > 1 else (*b.shape, 1)
    if left[-1] != right[-2]:
        raise UnwritableError(f"it multiplies matrices of the shapes {a.shape} and {b.shape}")
    shape = (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])
    shape = shape if a.ndim > 1 else (*shape[:-2], shape[-1])
    return emit("MatMul", [a, b], shape if b.ndim > 1 else shape[:-1], a.dtype)


@of_tensors
def vecdot(a: Any, b: Any, /, *, axis: int = -1) -> Tensor:
    return sum(a * b, axis=axis)


class linalg:  # noqa: N801
    """The functions of the array API's ``linalg`` that graphs have."""

    @staticmethod
    def vector_norm(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
        return sqrt(sum(x * x, axis=axis, keepdims=keepdims))


def norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute Euclidean norms of vectors, as NumPy's function does by default."""
    if ord not in (None, 2) or not isinstance(axis, int):
        raise UnwritableError(f"there is no norm of ord={ord!r} and axis={axis!r} in graphs")
    return linalg.vector_norm(x, axis=axis, keepdims=keepdims)


# Shapes, and picking elements.


@of_tensors
def reshape(x: Tensor, /, shape: Any, *, copy: Any = None) -> Tensor:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if -1 in shape:
        rows = [n for n in x.shape if isinstance(n, RowCount)]
        known = prod(int(n) for n in shape if n != -1)
        left = prod(map(int, x.shape)) // known
        new = (
            left if any_of(isinstance(n, RowCount) for n in shape) else rows[0] * (left // rows[0])
        )
        shape = tuple(new if n == -1 else n for n in shape)
    if prod(shape) != prod(x.shape) or [isinstance(n, RowCount) for n in shape].count(True) != 1:
        raise UnwritableError(f"it reshapes an array of shape {x.shape} to {shape}")
    return _view(emit("Reshape", [x], shape, x.dtype))


def _view(x: Tensor) -> Tensor:
    x.is_view = True
    return x


@of_tensors
def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    shape = [x.shape[axis] for axis in axes]
    return _view(emit("Transpose", [x], shape, x.dtype, perm=list(axes)))


@of_tensors
def matrix_transpose(x: Tensor, /) -> Tensor:
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@of_tensors
def expand_dims(x: Tensor, /, *, axis: int = 0) -> Tensor:
    axis = axis % (x.ndim + 1)
    shape = (*x.shape[:axis], 1, *x.shape[axis:])
    return _view(emit("Unsqueeze", [x], shape, x.dtype, axis=axis))


@of_tensors
def concat(arrays: Any, /, *, axis: int = 0) -> Tensor:
    arrays = list(map(as_tensor, arrays))
    if len(arrays) == 1:
        return arrays[0]
    dtype = np.result_type(*(array.dtype for array in arrays))
    like = next(array for array in arrays if array.graph is not None)
    axis %= like.ndim
    arrays = [_with_rows_of(like, astype(array, dtype), axis) for array in arrays]
    if isinstance(like.shape[axis], RowCount):
        raise UnwritableError("it appends rows")
    shape = list(like.shape)
    shape[axis] = int(np.sum([array.shape[axis] for array in arrays]))
    return emit("Concat", arrays, shape, dtype, axis=axis)


def _with_rows_of(like: Tensor, array: Tensor, axis: int) -> Tensor:
    """Repeat a constant for as many rows as another array has."""
    rows = [i for i, n in enumerate(like.shape) if isinstance(n, RowCount)]
    if array.graph is not None or not rows:
        return array
    shape = [*like.shape[:axis], array.shape[axis], *like.shape[axis + 1 :]]
    return broadcast_to(array, shape, like)


def broadcast_to(x: Tensor, shape: Any, like: Tensor | None = None) -> Tensor:
    """Repeat an array. It has as many rows as another, or as itself."""
    like = as_tensor(x) if like is None else like
    if like.graph is None:
        return Tensor.constant(np.broadcast_to(x.known(), shape))
    for _ in range(len(shape) - like.ndim):
        like = expand_dims(like, axis=0)
    return emit("Expand", [as_tensor(x), like], shape, x.dtype)


def side_by_side(arrays: Any) -> Tensor:
    return concat(arrays, axis=1)


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    axis = axis % (arrays[0].ndim + 1)
    return concat([expand_dims(as_tensor(array), axis=axis) for array in arrays], axis=axis)


@of_tensors
def take(x: Any, indices: Any, /, *, axis: Any = None) -> Tensor:
    x, indices = as_tensor(x), as_tensor(indices)
    if indices.graph is None:
        indices = astype(indices, int32)
    axis = 0 if axis is None else axis % x.ndim
    if isinstance(x.shape[axis], RowCount):
        raise UnwritableError("it picks rows by their number")
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return emit("Gather", [x, indices], shape, x.dtype, axis=axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the values of each row at places of its own, in the shape of the places."""
    return emit("GatherElements", [x, indices], indices.shape, x.dtype, axis=axis % x.ndim)


def count_below(x: Tensor, cuts: list[np.ndarray]) -> Tensor:
    """Count the cuts of each column that are below its value, (n_rows, n_columns).

    The cuts that are in question are halved.
    """
    size = 2
    while size <= np.max([len(some) for some in cuts]):
        size *= 2
    table = np.full((len(cuts), size), np.inf, dtype=x.dtype)
    for row, some in zip(table, cuts, strict=True):
        row[: len(some)] = some
    first = np.arange(len(cuts), dtype=int32) * np.int32(size)
    at: Any = first
    while size > 1:
        size //= 2
        is_below = take(table.ravel(), at + np.int32(size - 1)) < x
        at = at + astype(is_below, int32) * size
    return at - first


def picked(x: Tensor, key: Any) -> Tensor:
    """Return ``x[key]``, for integers, slices, None, an ellipsis and arrays of constants."""
    key = key if isinstance(key, tuple) else (key,)
    if x.graph is None:
        return Tensor.constant(x.known()[tuple(map(values_of, key))])
    n_given = len([part for part in key if part is not None and part is not ...])
    at = key.index(...) if any_of(part is ... for part in key) else len(key)
    rest = (slice(None),) * (x.ndim - n_given)
    axis = 0
    for part in (*key[:at], *rest, *key[at + 1 :]):
        if part is None:
            x = expand_dims(x, axis=axis)
        elif isinstance(part, slice):
            x = _sliced(x, part, axis)
        else:
            x = take(x, _positions(part), axis=axis)
            axis -= np.ndim(values_of(part)) == 0
        axis += 1
    return x


def _positions(part: Any) -> np.ndarray:
    """Return where an index or a mask of constants picks elements."""
    part = np.asarray(values_of(part))
    return np.flatnonzero(part) if part.dtype.kind == "b" else part.astype(np.int64)


def _sliced(x: Tensor, part: slice, axis: int) -> Tensor:
    n = x.shape[axis]
    whole = part.start in (None, 0) and part.step in (None, 1)
    if whole and (
        part.stop is None or (isinstance(part.stop, RowCount) and isinstance(n, RowCount))
    ):
        return x
    if isinstance(n, RowCount):
        raise UnwritableError("it picks rows by their number")
    kept = range(*part.indices(n))
    if kept == range(n):
        return x
    if kept.step != 1:
        return take(x, np.arange(*part.indices(n)), axis=axis)
    shape = (*x.shape[:axis], len(kept), *x.shape[axis + 1 :])
    return _view(emit("Slice", [x], shape, x.dtype, start=kept.start, stop=kept.stop, axis=axis))


Tensor.xp = sys.modules[__name__]
