"""The functions of the array API on each element of tensors of a graph.

Each one adds a node to the graph, or a few. Functions of constants alone are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from itertools import zip_longest
from typing import Any

import numpy as np
from array_api_compat import numpy as numpy_api

from trickless.export.graph import RowCount
from trickless.export.tensors import Tensor, UnwritableError

float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
int32, int64, uint8 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint8)
bool = np.dtype(np.bool_)  # as in the array API
pi, inf, nan, newaxis = np.pi, np.inf, np.nan, None
_numpy: Any = numpy_api
finfo, isdtype = _numpy.finfo, _numpy.isdtype


def emit(op: str, args: list[Tensor], shape: Any, dtype: Any, **attributes: Any) -> Tensor:
    """Add a node of one output to the graph of its arguments."""
    graph = next(arg.graph for arg in args if arg.graph is not None)
    made = Tensor(shape, dtype, graph)
    made.name = graph.add(op, [arg.name_in(graph) for arg in args], made.about, **attributes)
    return made


def as_tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """Return a constant of an array or a number; a number has the type of ``like``, if it fits."""
    if isinstance(value, Tensor):
        return value
    if like is not None and not isinstance(value, np.ndarray | np.generic):
        return Tensor.constant(value, np.result_type(like.dtype, value))
    return Tensor.constant(value)


def of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function compute with NumPy, if it is called without tensors of a graph."""

    @wraps(function)
    def on_any(*args: Any, **options: Any) -> Any:
        flat = [part for arg in args for part in (arg if isinstance(arg, list | tuple) else [arg])]
        if any_of(isinstance(arg, Tensor) and arg.graph is not None for arg in flat):
            return function(*args, **options)
        done = getattr(_numpy, function.__name__)(*map(values_of, args), **options)
        if isinstance(done, tuple):
            return tuple(map(Tensor.constant, done))
        return Tensor.constant(done)

    return on_any


any_of = any  # the function of Python


def values_of(arg: Any) -> Any:
    """Return an argument with the values of constants in their place."""
    if isinstance(arg, list | tuple):
        return type(arg)(map(values_of, arg))
    return arg.known() if isinstance(arg, Tensor) else arg


# Arrays.


def asarray(value: Any, dtype: Any = None, device: Any = None, copy: Any = None) -> Tensor:
    tensor = as_tensor(value)
    if dtype is not None:
        return astype(tensor, dtype)
    return Tensor(**vars(tensor)) if copy else tensor


@of_tensors
def astype(x: Tensor, dtype: Any, *, copy: Any = True, device: Any = None) -> Tensor:
    dtype = np.dtype(dtype)
    if dtype == x.dtype:
        return Tensor(**vars(x))
    return emit("Cast", [x], x.shape, dtype)


def _filled(value: Any, shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a constant. Its rows, if there are any, count as one row, which broadcasts."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return Tensor(shape, dtype or float64, value=np.full(shape, value, dtype or float64))


def full(shape: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    return _filled(value, shape, dtype=dtype or np.asarray(value).dtype)


def full_like(x: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    return _filled(value, x.shape, dtype=dtype or x.dtype)


zeros, ones = partial(_filled, 0), partial(_filled, 1)
zeros_like, ones_like = partial(full_like, value=0), partial(full_like, value=1)


def arange(*args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    return Tensor.constant(np.arange(*map(values_of, args), dtype=dtype))


# Functions of each element.


def _unary(op: str, name: str, dtype: Any = None) -> Any:
    def function(x: Any, /) -> Tensor:
        return emit(op, [x], x.shape, dtype or x.dtype)

    function.__name__ = name
    return of_tensors(function)


sqrt, exp, log = _unary("Sqrt", "sqrt"), _unary("Exp", "exp"), _unary("Log", "log")
sin, cos, tanh = _unary("Sin", "sin"), _unary("Cos", "cos"), _unary("Tanh", "tanh")
abs, negative, sign = _unary("Abs", "abs"), _unary("Neg", "negative"), _unary("Sign", "sign")
floor, ceil, round = _unary("Floor", "floor"), _unary("Ceil", "ceil"), _unary("Round", "round")
isnan, logical_not = _unary("IsNaN", "isnan", bool), _unary("Not", "logical_not", bool)


def sigmoid(x: Tensor) -> Tensor:
    return emit("Sigmoid", [x], x.shape, x.dtype)


def erf(x: Tensor) -> Tensor:
    return emit("Erf", [x], x.shape, x.dtype)


@of_tensors
def isfinite(x: Tensor) -> Tensor:
    return less(abs(x), np.inf)


@of_tensors
def log1p(x: Tensor) -> Tensor:
    u = x + 1.0  # with the rounding error of u divided out
    exact = u == 1.0
    return where(exact, x, log(u) * (x / where(exact, 1.0, u - 1.0)))


def _binary(op: str, name: str, dtype: Any = None) -> Any:
    def function(a: Any, b: Any, /) -> Tensor:
        a, b = together(a, b)
        return emit(op, [a, b], broadcast(a.shape, b.shape), dtype or a.dtype)

    function.__name__ = name
    return of_tensors(function)


def together(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Return two arrays or numbers as tensors of one type."""
    a = as_tensor(a, b if isinstance(b, Tensor) else None)
    b = as_tensor(b, a)
    dtype = np.result_type(a.dtype, b.dtype)
    return astype(a, dtype), astype(b, dtype)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of arrays together."""
    lengths = []
    for dims in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        rows = [dim for dim in dims if isinstance(dim, RowCount)]
        others = {dim for dim in dims if not isinstance(dim, RowCount) and dim != 1}
        if len(others) + len(set(rows)) > 1:
            raise UnwritableError(f"it combines arrays of the shapes {shapes}")
        known: list[int] = [*rows, *others, 1]
        lengths.append(known[0])
    return tuple(reversed(lengths))


add, subtract, multiply = (
    _binary("Add", "add"), _binary("Sub", "subtract"), _binary("Mul", "multiply")
)  # fmt: skip
_divide, _power, _modulo = (
    _binary("Div", "divide"), _binary("Pow", "pow"), _binary("Mod", "remainder")
)  # fmt: skip
maximum, minimum = _binary("Max", "maximum"), _binary("Min", "minimum")
less, greater = _binary("Less", "less", bool), _binary("Greater", "greater", bool)
less_equal = _binary("LessOrEqual", "less_equal", bool)
greater_equal = _binary("GreaterOrEqual", "greater_equal", bool)
equal = _binary("Equal", "equal", bool)
bitwise_xor = _binary("BitwiseXor", "bitwise_xor")
_and, _or = _binary("And", "logical_and", bool), _binary("Or", "logical_or", bool)


@of_tensors
def not_equal(a: Any, b: Any, /) -> Tensor:
    return logical_not(equal(a, b))


def _of_truth(function: Any) -> Any:
    def both(a: Any, b: Any, /) -> Tensor:
        a, b = together(a, b)
        if a.dtype != bool:
            raise UnwritableError(f"it combines the bits of arrays of {a.dtype}")
        return function(a, b)

    both.__name__ = function.__name__
    return of_tensors(both)


logical_and, logical_or = _of_truth(_and), _of_truth(_or)


@of_tensors
def divide(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    if a.dtype.kind != "f":
        a, b = astype(a, float64), astype(b, float64)
    return _divide(a, b)


@of_tensors
def remainder(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    return a - floor(_divide(a, b)) * b if a.dtype.kind == "f" else _modulo(a, b)


@of_tensors
def floor_divide(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    if a.dtype.kind == "f":
        return floor(_divide(a, b))
    return _divide(a if a.dtype.kind == "u" else a - _modulo(a, b), b)


@of_tensors
def pow(a: Any, b: Any, /) -> Tensor:
    if isinstance(b, int) and b in (2, 3):
        return a * a if b == 2 else a * a * a
    return _power(a, b)


@of_tensors
def square(x: Tensor) -> Tensor:
    return x * x


@of_tensors
def bitwise_right_shift(a: Any, b: Any, /) -> Tensor:
    a, b = together(a, b)
    unsigned = np.dtype(np.uint8 if a.dtype == uint8 else np.uint64)
    both = [astype(a, unsigned), astype(b, unsigned)]
    return astype(emit("BitShift", both, broadcast(a.shape, b.shape), unsigned), a.dtype)


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
    x = x if min is None else maximum(x, as_tensor(min, x))
    return x if max is None else minimum(x, as_tensor(max, x))
