"""Tensors of a graph as arrays: operations on them add nodes to the graph.

Families of neurons evaluate rows by the functions of the array API, whatever library the rows
belong to. If the rows are tensors of a graph, the same code writes the graph. A tensor whose values
are known, such as the weights of neurons, is a constant; operations on constants alone are
computed at once, by NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from trickless.export.graph import Graph


class UnwritableError(TypeError):
    """Something that needs the values of rows, or that no operator of the graph can do."""


#: Names of functions of NumPy and SciPy, and of operators, that the array API calls otherwise.
_NAMES = {
    "absolute": "abs", "true_divide": "divide", "power": "pow", "invert": "logical_not",
    "bitwise_and": "logical_and", "bitwise_or": "logical_or",
    "right_shift": "bitwise_right_shift", "concatenate": "concat", "amax": "max", "amin": "min",
    "transpose": "permute_dims", "cumsum": "cumulative_sum",
}  # fmt: skip
#: Methods of NumPy's arrays that are functions of the array API.
_METHODS = {"astype", "sum", "mean", "max", "min", "any", "all", "clip", "argmax", "take"}


@dataclass(eq=False, repr=False)
class Tensor(NDArrayOperatorsMixin):
    """An array that has a name in a graph, or a constant, which has a value.

    The number of rows in a shape is a :class:`RowCount`. A view shares memory with another array.
    """

    #: The functions of the array API, a module that sets this.
    xp: ClassVar[Any]
    #: The device, for code that asks: constants are computed by NumPy.
    device: ClassVar = "cpu"

    shape: tuple[int, ...]
    dtype: np.dtype
    graph: Graph | None = None
    name: str = ""
    value: np.ndarray | None = None
    is_view: bool = False

    @classmethod
    def constant(cls, value: Any, dtype: Any = None) -> Tensor:
        """Make a constant of an array or a number."""
        value = np.asarray(value, dtype=dtype)
        return cls(value.shape, value.dtype, value=value)

    def name_in(self, graph: Graph) -> str:
        """Return the name of the tensor in a graph, in which constants are stored at first use."""
        return self.name if self.value is None else graph.constant(self.value)

    def known(self) -> np.ndarray:
        """Return the values of a constant."""
        if self.value is None:
            raise UnwritableError("it looks at the values of the rows, which a graph does not have")
        return self.value

    ndim = property(lambda self: len(self.shape))
    T = property(lambda self: self.xp.permute_dims(self, tuple(range(self.ndim))[::-1]))
    mT = property(lambda self: self.xp.matrix_transpose(self))  # noqa: N815

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.xp

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.known() if dtype is None else self.known().astype(dtype)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        if method != "__call__" or options:
            raise UnwritableError(f"there is no {method} of {ufunc.__name__} in graphs")
        found = self._function(ufunc)(*inputs)
        if out is None:
            return found
        (changed,) = out  # by an operator in place, which changes all names of the array
        if not isinstance(changed, Tensor) or changed.is_view:
            raise UnwritableError("it changes a part of an array in place")
        changed.__dict__.update(vars(found) | {"is_view": False})
        return changed

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return self._function(function)(*args, **options)

    def _function(self, function: Any) -> Any:
        """Return what NumPy's function is in the array API of graphs."""
        name = function.__name__
        return getattr(self.xp, _NAMES.get(name, name))

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(f"arrays of a graph have no attribute {name!r}")
        return partial(getattr(self.xp, name), self)

    def reshape(self, *shape: Any) -> Tensor:
        """Return ``xp.reshape``, with the shape as a tuple or as several arguments."""
        return self.xp.reshape(self, shape if len(shape) > 1 else shape[0])

    def __len__(self) -> int:
        return self.shape[0]

    __bool__, __float__, __int__, __index__ = (
        lambda self, to=to: to(self.known()) for to in (bool, float, int, int)
    )

    def __getitem__(self, key: Any) -> Tensor:
        return self.xp.picked(self, key)
