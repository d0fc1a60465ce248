"""The array API on tensors of a graph.

Each function adds a node to the graph, or a few. Functions of constants alone are NumPy's. What is
not here cannot be written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, wraps
from itertools import zip_longest
from math import prod as product
from types import SimpleNamespace
from typing import Any

import numpy as np
from array_api_compat import numpy as numpy_api

from trickless._arrays.functions import expit  # noqa: F401  a function of SciPy
from trickless.export.graph import RowCount, Value
from trickless.export.operations import OPERATIONS, Operation
from trickless.export.tensors import Tensor, UnwritableError

_numpy: Any = numpy_api
_this: Any = sys.modules[__name__]
finfo, isdtype = _numpy.finfo, _numpy.isdtype
__array_namespace_info__ = _numpy.__array_namespace_info__
float32, float64, uint8 = (np.dtype(each) for each in (np.float32, np.float64, np.uint8))
#: Integers have 32 bits, because JavaScript takes much longer for more.
int32 = int64 = np.dtype(np.int32)
bool = np.dtype(np.bool_)  # as in the array API
pi, inf, nan, newaxis = np.pi, np.inf, np.nan, None
any_of = any  # the function of Python, as the names of the array API are those of its functions


def __getattr__(name: str) -> Any:
    raise AttributeError(f"there is no {name} in graphs")


def emit(op: str, args: list[Tensor], shape: Any, dtype: Any, **attributes: Any) -> Tensor:
    """Add a node of one output to the graph of its arguments."""
    graph = next(arg.graph for arg in args if arg.graph is not None)
    value, names = Value(tuple(shape), np.dtype(dtype)), [arg.name_in(graph) for arg in args]
    return Tensor(*value, graph, graph.add(op, names, value, **attributes))


def as_tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """Return a constant of an array or a number; a number has the type of ``like``, if it fits."""
    if isinstance(value, Tensor):
        return value
    is_plain = not isinstance(value, np.ndarray | np.generic)
    return Tensor.constant(
        value, np.result_type(like.dtype, value) if is_plain and like is not None else None
    )


def _named(name: str, function: Any) -> Any:
    function.__name__ = name
    return of_tensors(function)


def of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function compute with NumPy, if it is called without tensors of a graph."""

    @wraps(function)
    def on_any(*args: Any, **options: Any) -> Any:
        flat = [part for arg in args for part in (arg if isinstance(arg, list | tuple) else [arg])]
        if any_of(isinstance(arg, Tensor) and arg.graph is not None for arg in flat):
            return function(*args, **options)
        done = getattr(_numpy, function.__name__)(*map(values_of, args), **options)
        return tuple(map(Tensor.constant, done)) if type(done) is tuple else Tensor.constant(done)

    return on_any


def values_of(arg: Any) -> Any:
    """Return an argument with the values of constants in their place."""
    if isinstance(arg, list | tuple):
        return type(arg)(map(values_of, arg))
    return arg.known() if isinstance(arg, Tensor) else arg


def asarray(value: Any, dtype: Any = None, device: Any = None, copy: Any = None) -> Tensor:
    tensor = as_tensor(value)
    if dtype is None and tensor.value is not None and tensor.dtype == np.int64:
        dtype = int32 if (tensor.value.astype(int32) == tensor.value).all() else None
    if dtype is not None:
        return astype(tensor, dtype)
    return Tensor(**vars(tensor)) if copy else tensor


@of_tensors
def astype(x: Tensor, dtype: Any, *, copy: Any = True, device: Any = None) -> Tensor:
    dtype = np.dtype(dtype)
    if dtype == x.dtype:
        return Tensor(**vars(x))
    return emit("Cast", [x], x.shape, dtype)


def full(shape: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a constant. Its rows, if there are any, count as one row, which broadcasts."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    values = np.full(shape, value, dtype)
    return Tensor(shape, values.dtype, value=values)


def full_like(x: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    return full(x.shape, value, dtype=dtype or x.dtype)


zeros, ones = partial(full, value=0.0), partial(full, value=1.0)
zeros_like, ones_like = partial(full_like, value=0), partial(full_like, value=1)


def arange(*args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    return asarray(np.arange(*map(values_of, args), dtype=dtype))


# Functions of each element.


def together(*args: Any) -> list[Tensor]:
    """Return arrays or numbers as tensors of one type."""
    like = next((as_tensor(arg) for arg in args if not isinstance(arg, int | float)), None)
    found = [as_tensor(arg, like) for arg in args]
    dtype = np.result_type(*(each.dtype for each in found))
    return [astype(each, dtype) for each in found]


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of arrays together."""
    lengths = []
    for dims in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        rows = [dim for dim in dims if isinstance(dim, RowCount)]
        others = {dim for dim in dims if not isinstance(dim, RowCount) and dim != 1}
        if len(others) + len(set(rows)) > 1:
            raise UnwritableError(f"it combines arrays of the shapes {shapes}")
        lengths.append([*rows, *others, 1][0])
    return tuple(reversed(lengths))


def _elementwise(op: str, about: Operation) -> Callable[..., Tensor]:
    def function(*args: Any) -> Tensor:
        found = together(*args)
        if op in ("And", "Or", "Not") and found[0].dtype != bool:
            raise UnwritableError(f"it combines the bits of arrays of {found[0].dtype}")
        shape = broadcast(*(each.shape for each in found))
        return emit(op, found, shape, bool if about.is_boolean else found[0].dtype)

    return function


_FUNCTIONS = {about.name: _elementwise(op, about) for op, about in OPERATIONS.items()}
globals().update({name: _named(name, each) for name, each in _FUNCTIONS.items()})


@of_tensors
def log1p(x: Tensor) -> Tensor:
    u = x + 1.0  # with the rounding error of u divided out
    exact = u == 1.0
    return where(exact, x, np.log(u) * (x / where(exact, 1.0, u - 1.0)))


@of_tensors
def divide(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    if a.dtype.kind != "f":
        a, b = astype(a, float64), astype(b, float64)
    return _this.quotient(a, b)


@of_tensors
def remainder(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    return _this.modulo(a, b) if a.dtype.kind != "f" else a - floor_divide(a, b) * b


@of_tensors
def floor_divide(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    if a.dtype.kind == "f":
        return np.floor(a / b)
    return _this.quotient(a if a.dtype.kind == "u" else a - a % b, b)


@of_tensors
def pow(a: Any, b: Any, /) -> Tensor:
    if isinstance(b, int) and b in (2, 3):
        return a * a if b == 2 else a * a * a
    return _this.power(a, b)


@of_tensors
def bitwise_right_shift(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    return astype(_this.shift(astype(a, unsigned), astype(b, unsigned)), a.dtype)


@of_tensors
def where(condition: Any, a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    if a.dtype == bool:
        return (condition & a) | (~condition & b)
    condition = as_tensor(condition)
    shape = broadcast(condition.shape, a.shape, b.shape)
    return emit("Where", [condition, a, b], shape, a.dtype)


@of_tensors
def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    x = x if min is None else _this.maximum(x, min)
    return x if max is None else _this.minimum(x, max)


# Sums, and functions along an axis.


def _axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = tuple(one % x.ndim for one in axes)
    if any_of(isinstance(x.shape[one], RowCount) for one in axes):
        raise UnwritableError("it sums or compares values of several rows")
    return axes


def _reduction(op: str) -> Any:
    def function(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
        axes = _axes(x, axis)
        if x.dtype.kind in "bu" and op == "ReduceSum":
            x = astype(x, int32)
        shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
        return emit(op, [x], shape, x.dtype, axes=axes, keepdims=int(keepdims))

    return function


sum, max, min = (_named(n, _reduction(f"Reduce{n.title()}")) for n in ("sum", "max", "min"))


@of_tensors
def mean(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    n = product(int(x.shape[one]) for one in _axes(x, axis))
    return sum(x, axis=axis, keepdims=keepdims) / float(n)


@of_tensors
def argmax(x: Tensor, /, *, axis: int) -> Tensor:
    (axis,) = _axes(x, axis)
    places = np.arange(x.shape[axis], dtype=int32).reshape(-1, *[1] * (x.ndim - axis - 1))
    is_most = x == max(x, axis=axis, keepdims=True)
    return min(where(is_most, places, places[-1]), axis=axis)


@of_tensors
def cumulative_sum(x: Tensor, /, *, axis: int) -> Tensor:
    return emit("CumSum", [x], x.shape, x.dtype, axes=_axes(x, axis))


@of_tensors
def argsort(x: Any, /, *, axis: int = -1, descending: Any = False, **_: Any) -> Tensor:
    """Return the order of values; ``stable`` and ``kind`` say no more, as equal values stay."""
    (axis,), x = _axes(x, axis), astype(-x if descending else x, float64)
    axes = [*range(x.ndim)]
    axes[axis], axes[-1] = axes[-1], axes[axis]
    x = permute_dims(x, axes)
    return permute_dims(emit("ArgSort", [x], x.shape, int32), axes)


@of_tensors
def searchsorted(cuts: Any, x: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Count the cuts below numbers; not a number is above all of them."""
    beyond: Any = x[..., None] <= cuts if side == "left" else x[..., None] < cuts
    return cuts.shape[0] - sum(astype(beyond, int32), axis=-1)


@of_tensors
def matmul(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    if b.ndim == 1:
        return matmul(a, b[:, None])[..., 0]
    if a.ndim == 1:
        return matmul(a[None], b)[..., 0, :]
    if a.shape[-1] != b.shape[-2]:
        raise UnwritableError(f"it multiplies matrices of the shapes {a.shape} and {b.shape}")
    shape = (*broadcast(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    return emit("MatMul", [a, b], shape, a.dtype)


def norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute Euclidean norms of vectors, as NumPy's function does by default."""
    if ord not in (None, 2) or not isinstance(axis, int):
        raise UnwritableError(f"there is no norm of ord={ord!r} and axis={axis!r} in graphs")
    return np.sqrt(sum(x * x, axis=axis, keepdims=keepdims))


#: The functions of the array API's ``linalg`` that graphs have.
linalg = SimpleNamespace(vector_norm=norm)


# Shapes, and picking elements.


def _view(op: str, x: Tensor, shape: Any, **attributes: Any) -> Tensor:
    made = emit(op, [x], shape, x.dtype, **attributes)
    made.is_view = True
    return made


@of_tensors
def reshape(x: Tensor, /, shape: Any, *, copy: Any = None) -> Tensor:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if -1 in shape:
        rows = [n for n in x.shape if isinstance(n, RowCount)]
        left = product(map(int, x.shape)) // product(int(n) for n in shape if n != -1)
        has_rows = any_of(isinstance(n, RowCount) for n in shape)
        new = left if has_rows else rows[0] * (left // rows[0])
        shape = tuple(new if n == -1 else n for n in shape)
    of_rows = [n for n in shape if isinstance(n, RowCount)]
    if product(shape) != product(x.shape) or len(of_rows) != 1:
        raise UnwritableError(f"it reshapes an array of shape {x.shape} to {shape}")
    return _view("Reshape", x, shape)


@of_tensors
def permute_dims(x: Tensor, /, axes: Any) -> Tensor:
    if [*axes] == [*range(x.ndim)]:
        return x
    return _view("Transpose", x, [x.shape[axis] for axis in axes], perm=list(axes))


@of_tensors
def expand_dims(x: Tensor, /, *, axis: int = 0) -> Tensor:
    axis = axis % (x.ndim + 1)
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


@of_tensors
def concat(arrays: Any, /, *, axis: int = 0) -> Tensor:
    arrays = together(*arrays)
    like = next(array for array in arrays if array.graph is not None)
    axis %= like.ndim
    if len(arrays) == 1:
        return like
    if isinstance(like.shape[axis], RowCount):
        raise UnwritableError("it appends rows")
    shape = list(like.shape)
    for i, array in enumerate(arrays):
        shape[axis] = array.shape[axis]
        if any_of(isinstance(n, RowCount) for n in shape):
            arrays[i] = repeated(array, like, shape)
    shape[axis] = int(np.sum([array.shape[axis] for array in arrays]))
    return emit("Concat", arrays, shape, arrays[0].dtype, axis=axis)


def repeated(x: Tensor, like: Tensor, shape: Any = None) -> Tensor:
    """Repeat a constant for as many rows as another array has, which are first by default."""
    if x.graph is not None or like.graph is None:
        return x
    value = Value(tuple(shape or (like.shape[0], *x.shape[1:])), x.dtype)
    return Tensor(*value, like.graph, like.graph.add("Expand", [x.name_in(like.graph)], value))


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    axis = axis % (arrays[0].ndim + 1)
    return concat([expand_dims(as_tensor(array), axis=axis) for array in arrays], axis=axis)


@of_tensors
def take(x: Any, indices: Any, /, *, axis: Any = None) -> Tensor:
    x, indices = as_tensor(x), asarray(indices)
    axis = 0 if axis is None else axis % x.ndim
    if isinstance(x.shape[axis], RowCount):
        raise UnwritableError("it picks rows by their number")
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return emit("Gather", [x, indices], shape, x.dtype, axis=axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the values of each row at places of its own, in the shape of the places."""
    return emit("GatherElements", [x, indices], indices.shape, x.dtype, axis=axis % x.ndim)


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
            where = np.asarray(values_of(part))
            where = np.flatnonzero(where) if where.dtype.kind == "b" else where % x.shape[axis]
            x = take(x, where, axis=axis)
            axis -= where.ndim == 0
        axis += 1
    return x


def _sliced(x: Tensor, part: slice, axis: int) -> Tensor:
    n = x.shape[axis]
    if isinstance(n, RowCount):
        if part.start or part.step not in (None, 1) or not isinstance(part.stop, RowCount | None):
            raise UnwritableError("it picks rows by their number")
        return x
    kept = range(*part.indices(n))
    if kept == range(n):
        return x
    if kept.step != 1:
        return take(x, np.arange(*part.indices(n)), axis=axis)
    shape = (*x.shape[:axis], len(kept), *x.shape[axis + 1 :])
    return _view("Slice", x, shape, start=kept.start, stop=kept.stop, axis=axis)


# Short forms of others. NumPy's partition may sort, which is more.
_SHORT = {
    "not_equal": lambda a, b: ~(a == b),
    "isfinite": lambda x: abs(x) < np.inf,
    "square": lambda x: x * x,
    "any": lambda x, **how: astype(max(astype(x, uint8), **how), bool),
    "all": lambda x, **how: astype(min(astype(x, uint8), **how), bool),
    "sort": lambda x, axis=-1: take_along_axis(x, argsort(x, axis=axis), axis=axis),
    "partition": lambda x, kth, axis=-1: _this.sort(x, axis=axis),
    "vecdot": lambda a, b, axis=-1: sum(a * b, axis=axis),
    "matrix_transpose": lambda x: permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)),
    "nonzero": lambda x: x.known(),  # which raises an error
    "hstack": lambda arrays: concat(arrays, axis=1),
}
globals().update({name: _named(name, function) for name, function in _SHORT.items()})
Tensor.xp = _this
