"""What C and JavaScript share: a graph as loops over the numbers of one row, and its functions.

Operations on each element are not stored: they are computed where they are read, unless they would
be computed more than once. Shapes, slices and lookups move only indices.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from trickless._errors import InvalidValueError
from trickless._files.whole import as_path
from trickless.export.graph import Graph, Node, Value, smaller
from trickless.export.operations import OPERATIONS

#: What both functions take.
WRITING = """
Parameters
----------
model : estimator
    A model that :func:`to_onnx` takes.
outputs : tuple of str, optional
    The outputs, as for :func:`to_onnx`.
confidence : float, default=0.9
    The probability that a target is in its interval, or the true class in its set.

Raises
------
ValueError
    If a family, a label, a name or an output cannot be written, or if the file cannot be written.
    Then no file is left behind.
"""
#: What the functions answer.
ABOUT = {
    "prediction": "Predictions.",
    "std": "Standard deviations of new targets.",
    "interval": "Lower and upper ends of prediction intervals.",
    "label": "The number of a label; or 1 for each label that a row has.",
    "probabilities": "Probabilities of the labels.",
    "decision": "Decision values.",
    "set": "1 for each label that is in the prediction set.",
    "features": "Random features.",
}
#: Operations that are read through their argument: only indices differ.
_VIEWS = {"Reshape", "Transpose", "Slice", "Gather", "GatherElements"}
_ELEMENTS = {"Cast", "Codes", "Expand", *OPERATIONS}
#: How elements are reduced, and with which number that begins.
_REDUCED: dict[str, tuple[str, Any]] = {"ReduceSum": ("Add", 0), "CumSum": ("Add", 0)}
_REDUCED |= {"ReduceMax": ("Max", -np.inf), "ReduceMin": ("Min", np.inf)}
_INTEGER, _DOUBLE = np.dtype(np.int32), np.dtype(np.float64)


def source_path(owner: str, path: Any, *endings: str) -> Path:
    """Return the path of a file of source code, whose ending is one of some."""
    path = as_path(owner, path)
    if path.suffix not in endings:
        raise InvalidValueError(
            f"{owner}: path={str(path)!r} does not end in {' or '.join(endings)}",
            f"such as 'model{endings[0]}'",
        )
    return path


def used(helpers: str, text: str) -> list[str]:
    """Return the helpers that a text calls."""
    calls = set(re.findall(r"\b(\w+)\(", text))  # words may be long
    return [one for one in helpers.split("\n\n") if calls & {*re.findall(r"(\w+)\(", one)[:1]}]


def flat(at: list[str], shape: tuple[int, ...]) -> str:
    """Return the place of an element in a contiguous array, whose axes of length 1 have index 0."""
    place = ""
    for part, n in zip(at, shape, strict=True):
        if n != 1:
            place = f"({place}) * {int(n)} + {part}" if place else part
    return place or "0"


class Loops(ABC):
    """The ``lines`` that compute an answer, fill ``buffers``, and read constant ``arrays``."""

    #: The field of an operation that has its code in this language, names of types, and of numbers.
    language: ClassVar[str]
    types: ClassVar[dict[str, str]]
    not_finite: ClassVar[tuple[str, str]]

    def __init__(self, graph: Graph, answer: str) -> None:
        self.graph, self.values = graph, graph.values
        self.lines: list[str] = []
        self.buffers: dict[str, Value] = {}
        self.arrays: dict[str, np.ndarray] = {}
        self._depth, self._n = 1, 0
        nodes, self.tensor = graph.needed(answer), graph.outputs[answer]
        self._makers = {node.output: node for node in nodes}
        self._plan(nodes)
        for name in graph.inputs:
            self._check(name)
        for node in nodes:
            if node.output in self.buffers:
                self._make(node)
                self._check(node.output)
        value = self.values[self.tensor]
        with self._over(value.shape) as at:
            self.line(f"out[{flat(at, value.shape)}] = {self.read(self.tensor, at)};")

    # What differs between languages.

    @abstractmethod
    def scalar(self, dtype: np.dtype, name: str, value: str) -> str:
        """Return the declaration of a variable."""

    @staticmethod
    @abstractmethod
    def number(value: Any, dtype: np.dtype) -> str:
        """Return a finite number, in as many digits as give it exactly."""

    @abstractmethod
    def converted(self, text: str, old: np.dtype, new: np.dtype) -> str:
        """Return the conversion of a number that has no fraction, or keeps it."""

    @abstractmethod
    def rounded(self, text: str, op: str, dtype: np.dtype) -> str:
        """Return the result of an operation in a type."""

    @classmethod
    def type_of(cls, dtype: np.dtype) -> str:
        """Return the name of a type, or of arrays of it."""
        return cls.types[dtype.str[1:]]

    @classmethod
    def literal(cls, value: Any, dtype: np.dtype) -> str:
        """Return a number."""
        if dtype.kind != "f" or np.isfinite(value):
            return cls.number(value, dtype)
        nan, infinity = cls.not_finite
        return nan if np.isnan(value) else infinity if value > 0 else f"-{infinity}"

    def cast(self, text: str, old: np.dtype, new: np.dtype) -> str:
        """Return a conversion."""
        if old == new:
            return text
        if new.kind == "b":
            return f"({text} != 0)"
        return self.converted(f"whole({text})" if old.kind == "f" != new.kind else text, old, new)

    def apply(self, op: str, args: list[str], old: np.dtype, new: np.dtype) -> str:
        """Return an operation on numbers of type ``old``, whose result has type ``new``."""
        code = getattr(OPERATIONS[op], self.language)
        return self.rounded(code.format(*args, f="f" if old == np.float32 else ""), op, new)

    # What to store, and what to compute where it is read.

    def _plan(self, nodes: list[Node]) -> None:
        """Count how often each tensor is read, from the answer back to the inputs."""
        reads = Counter({self.tensor: self.values[self.tensor].size})
        forced = set(self.graph.limits)
        for node in reversed(nodes):
            output, op = node.output, node.op
            size, old = self.values[output].size, [self.values[name] for name in node.inputs]
            is_light = (op in _ELEMENTS and reads[output] <= size) or op in _VIEWS
            if not is_light or output in forced:
                self.buffers[output] = self.values[output]
            n = size if output in self.buffers else reads[output]
            splits = op == "Reshape" and _mapped(self.values[output], old[0]) is None
            if op == "ArgSort" or splits:
                forced.add(node.inputs[0])
            for name, value in zip(node.inputs, old, strict=True):
                if op == "MatMul":
                    n = int(size * old[0].shape[-1])
                elif op in _REDUCED or op == "Concat":
                    n = value.size
                reads[name] += n

    def read(self, name: str, at: list[str]) -> str:
        """Return the element of a tensor at an index."""
        value = self.values[name]
        if name in self._makers and name not in self.buffers:
            return self._computed(self._makers[name], at)
        return self._stored(name, flat(at, value.shape))

    def _stored(self, name: str, place: str) -> str:
        """Return an element of what is stored: a buffer, an input or a constant."""
        dtype = self.values[name].dtype
        if name in self.graph.inputs:
            number = _DOUBLE if dtype.kind in "OU" else dtype  # a category is a number
            first = self.graph.inputs.index(name)
            return self.cast(f"x[{first} + {place}]" if first else f"x[{place}]", _DOUBLE, number)
        if name not in self.graph.constants:
            return f"{name}[{place}]"
        array = self.graph.constants[name]
        if array.size == 1:
            return self.literal(array.ravel()[0].item(), dtype)
        self.arrays[name] = array = smaller(array).ravel()
        return self.cast(f"{name}[{place}]", array.dtype, dtype)

    def _computed(self, node: Node, at: list[str]) -> str:
        """Return an element of what is not stored."""
        value, (name, *_) = self.values[node.output], node.inputs
        old, about = self.values[name], node.attributes
        if node.op in _ELEMENTS:
            args = [self.read(each, _broadcast(at, self.values[each])) for each in node.inputs]
            if node.op in ("Cast", "Expand"):
                return self.cast(args[0], old.dtype, value.dtype)
            if node.op == "Codes":
                numbers = max(about["codes"].values()), about["missing"], about["others"]
                return f"code({args[0]}, {', '.join(map(str, numbers))})"
            dtype = value.dtype if node.op == "Where" else self.values[node.inputs[-1]].dtype
            return self.apply(node.op, args, dtype, value.dtype)
        if node.op == "Reshape":
            axes = _mapped(value, old)
            if axes is None:
                return self._stored(name, flat(at, value.shape))
            return self.read(name, ["0" if axis is None else at[axis] for axis in axes])
        if node.op == "Transpose":
            return self.read(name, [at[about["perm"].index(i)] for i in range(len(at))])
        axis = about["axis"]
        if node.op == "Slice":
            return self.read(name, [*at[:axis], f"{at[axis]} + {about['start']}", *at[axis + 1 :]])
        where = self.values[node.inputs[1]]
        n, chosen = 1, at
        if node.op == "Gather":
            n = len(where.shape)
            chosen = at[axis : axis + n]
        found = self.cast(self.read(node.inputs[1], chosen), where.dtype, _INTEGER)
        return self.read(name, [*at[:axis], found, *at[axis + n :]])

    # Loops.

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def _over(self, shape: tuple[int, ...]) -> Iterator[list[str]]:
        """Open loops over a shape, give their indices, and close the loops."""
        found, depth = ["0" if n == 1 else self._fresh("i") for n in shape], self._depth
        opened = [f"for ({self.scalar(_INTEGER, name, '0')} {name} < {int(n)}; {name}++) {{"
                  for name, n in zip(found, shape, strict=True) if n != 1]  # fmt: skip
        for text in opened or ["{"]:
            self.line(text)
            self._depth += 1
        yield found
        while self._depth > depth:
            self._depth -= 1
            self.line("}")

    def _fresh(self, prefix: str) -> str:
        """Return a name of a variable."""
        self._n += 1
        return f"{prefix}{self._n}"

    def _make(self, node: Node) -> None:
        """Add the loops of a tensor that is stored."""
        value = self.values[node.output]
        if node.op in _ELEMENTS or node.op in _VIEWS:
            with self._over(value.shape) as at:
                self._store(node, flat(at, value.shape), self._computed(node, at))
        else:
            name = "reduced" if node.op in _REDUCED else node.op.lower()
            getattr(self, f"_{name}")(node, value, self.values[node.inputs[0]])

    def _store(self, node: Node, place: str, text: str) -> None:
        self.line(f"{node.output}[{place}] = {text};")

    def _check(self, name: str) -> None:
        """Add the return from a row with numbers that are too large or missing."""
        if name in self.graph.limits:
            (most, gaps), value = self.graph.limits[name], self.values[name]
            largest = self.literal(most, _DOUBLE)
            with self._over(value.shape) as at:
                size = self.apply("Abs", [self.read(name, at)], value.dtype, value.dtype)
                bad = f"{size} > {largest}" if gaps else f"!({size} <= {largest})"
                self.line(f"if ({bad}) return 1;")

    def _concat(self, node: Node, value: Value, old: Value) -> None:
        axis, start = node.attributes["axis"], 0
        for name in node.inputs:
            shape = self.values[name].shape
            with self._over(shape) as at:
                moved = [*at[:axis], f"{at[axis]} + {start}", *at[axis + 1 :]]
                self._store(node, flat(moved, value.shape), self.read(name, at))
            start += int(shape[axis])

    def _reduced(self, node: Node, value: Value, old: Value) -> None:
        axes, total = node.attributes["axes"], self._fresh("s")
        how, first = _REDUCED[node.op]
        if value.dtype.kind != "f":
            limits = np.iinfo(value.dtype)
            first = min(max(first, limits.min), limits.max)
        kept = tuple(1 if i in axes else int(n) for i, n in enumerate(old.shape))
        inner = tuple(int(n) if i in axes else 1 for i, n in enumerate(old.shape))
        with self._over(kept) as outer:
            self.line(self.scalar(value.dtype, total, self.literal(first, value.dtype)))
            with self._over(inner) as inside:
                at = [inside[i] if i in axes else outer[i] for i in range(len(outer))]
                args = [total, self.read(node.inputs[0], at)]
                self.line(f"{total} = {self.apply(how, args, value.dtype, value.dtype)};")
                if node.op == "CumSum":
                    self._store(node, flat(at, value.shape), total)
            if node.op != "CumSum":
                self._store(node, flat(outer, kept), total)

    def _argsort(self, node: Node, value: Value, old: Value) -> None:
        n = int(old.shape[-1])
        values = "x" if node.inputs[0] in self.graph.inputs else node.inputs[0]
        with self._over((prod(map(int, old.shape[:-1])),)) as (i,):
            self.line(f"order({values}, {node.output}, {i} * {n}, {n});")

    def _matmul(self, node: Node, value: Value, old: Value) -> None:
        """Add rows of the right matrix, as compilers can do for several numbers at once."""
        (left, right), shape, dtype = node.inputs, value.shape, value.dtype
        factor = self._fresh("e")
        with self._over(shape[:-1]) as outer:
            with self._over(shape[-1:]) as (j,):
                self._store(node, flat([*outer, j], shape), self.literal(0, dtype))
            with self._over(old.shape[-1:]) as (m,):
                row = self.read(left, _broadcast([*outer, m], old))
                self.line(self.scalar(dtype, factor, row))
                with self._over(shape[-1:]) as (j,):
                    place = flat([*outer, j], shape)
                    there = _broadcast([*outer[:-1], m, j], self.values[right])
                    product = self.apply("Mul", [factor, self.read(right, there)], dtype, dtype)
                    args = [f"{node.output}[{place}]", product]
                    self._store(node, place, self.apply("Add", args, dtype, dtype))


def _mapped(value: Value, old: Value) -> list[int | None] | None:
    """Return the axis of each axis before a change of shape; None if they are split or joined."""
    new = [i for i, n in enumerate(value.shape) if n != 1]
    if [value.shape[i] for i in new] != [n for n in old.shape if n != 1]:
        return None
    rest = iter(new)
    return [None if n == 1 else next(rest) for n in old.shape]


def _broadcast(at: list[str], value: Value) -> list[str]:
    """Return the index of an array that is repeated to a larger shape."""
    last = at[len(at) - len(value.shape) :]
    return [part if n != 1 else "0" for part, n in zip(last, value.shape, strict=True)]
