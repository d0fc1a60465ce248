"""A graph as loops over the numbers of one row, in the syntax that C and JavaScript share.

Operations on each element are not stored: they are computed where they are read, unless they would
be computed more than once. Shapes, slices and lookups move only indices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from trickless.export.graph import Graph, Node, Value

#: Sums of products of variables and strides, by the text of the variable; "" is the constant.
Index = dict[str, int]
#: Operations that are read through their argument: only indices differ.
_VIEWS = {"Reshape", "Transpose", "Unsqueeze", "Slice", "Expand", "Gather", "GatherElements"}
_VIEWS |= {"Identity"}
#: Operations on each element, as operators of both languages.
OPERATORS = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Less": "<", "Greater": ">",
    "LessOrEqual": "<=", "GreaterOrEqual": ">=", "And": "&&", "Or": "||", "BitwiseXor": "^",
    "BitShift": ">>", "Equal": "==",
}  # fmt: skip
_SIGNS = {"Neg": "-", "Not": "!"}
_ELEMENTS = {
    "Sqrt", "Exp", "Log", "Sin", "Cos", "Tanh", "Abs", "Neg", "Sign", "Floor", "Ceil", "Round",
    "IsNaN", "Not", "Sigmoid", "Erf", "Cast", "Pow", "Mod", "Max", "Min", "Where", "Codes",
    *OPERATORS,
}  # fmt: skip


def index(name: str | int) -> Index:
    """Return the index of a variable or a number."""
    return {"": name} if isinstance(name, int) else {name: 1}


def plus(*parts: Index) -> Index:
    """Add indices."""
    total: Counter[str] = Counter()
    for part in parts:
        for name, n in part.items():
            total[name] += n
    return dict(total)


def times(part: Index, n: int) -> Index:
    """Multiply an index."""
    return {name: n * each for name, each in part.items() if n}


def text_of(part: Index) -> str:
    """Return the text of an index."""
    terms = [name if n == 1 else f"{name} * {n}" for name, n in part.items() if name and n]
    constant = part.get("", 0)
    return " + ".join(terms + ([str(constant)] if constant or not terms else []))


def flat(at: list[Index], shape: tuple[int, ...]) -> Index:
    """Return the place of an element in a contiguous array, whose axes of length 1 have index 0."""
    total: Index = {}
    for part, n in zip(at, shape, strict=True):
        total = plus(times(total, int(n)), part if n != 1 else {})
    return total


def reshaped(at: list[Index], new: tuple[int, ...], old: tuple[int, ...]) -> list[Index] | None:
    """Return an index before a change of shape, or None if that takes divisions."""
    found: list[Index] = []
    i = j = 0
    while i < len(old) or j < len(new):
        first, start, a, b = i, j, 1, 1
        while a != b or (i == first and j == start):
            if i < len(old) and (a <= b or j == len(new)):
                a, i = a * int(old[i]), i + 1
            else:
                b, j = b * int(new[j]), j + 1
        place = flat(at[start:j], new[start:j])
        if sum(n != 1 for n in old[first:i]) > 1:
            return None
        found += [place if n != 1 else {} for n in old[first:i]]
    return found


class Loops(ABC):
    """The loops that compute one answer.

    Attributes
    ----------
    lines : list of str
    buffers : dict of Value
        Arrays that the loops fill.
    constants : list of str
        Constants that the loops read as arrays.
    """

    def __init__(self, graph: Graph, answer: str) -> None:
        self.graph, self.values = graph, graph.values
        self.lines: list[str] = []
        self.buffers: dict[str, Value] = {}
        self.arrays: dict[str, np.ndarray] = {}
        self._depth = 1
        self._n = 0
        nodes, self.tensor = graph.needed(answer), graph.outputs[answer]
        self._makers = {node.output: node for node in nodes}
        self._plan(nodes)
        for name in graph.inputs:
            self._check(name)
        for node in nodes:
            self._make(node)
        value = self.values[self.tensor]
        with self._over(value.shape) as at:
            self.line(f"out[{text_of(flat(at, value.shape))}] = {self.read(self.tensor, at)};")

    # What differs between languages.

    @abstractmethod
    def scalar(self, dtype: np.dtype, name: str, value: str) -> str:
        """Return the declaration of a variable."""

    @abstractmethod
    def place(self, name: str) -> str:
        """Return the name of a buffer."""

    @abstractmethod
    def literal(self, value: Any, dtype: np.dtype) -> str:
        """Return a number."""

    @abstractmethod
    def cast(self, text: str, old: np.dtype, new: np.dtype) -> str:
        """Return a conversion."""

    @abstractmethod
    def function(self, op: str, dtype: np.dtype) -> str:
        """Return the name of the function of an operation on numbers of a type."""

    @abstractmethod
    def rounded(self, text: str, op: str, dtype: np.dtype) -> str:
        """Return the result of an operation in a type."""

    def apply(self, op: str, args: list[str], old: np.dtype, new: np.dtype) -> str:
        """Return an operation on numbers of type ``old``, whose result has type ``new``."""
        if op == "Where":
            return f"({args[0]} ? {args[1]} : {args[2]})"
        if op in OPERATORS:
            text = f"({args[0]} {OPERATORS[op]} {args[1]})"
        elif op in _SIGNS:
            text = f"({_SIGNS[op]}{args[0]})"
        else:
            text = f"{self.function(op, old)}({', '.join(args)})"
        return self.rounded(text, op, new)

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
            if op == "Reshape":
                shapes = self.values[output].shape, old[0].shape
                if reshaped([index("i")] * len(shapes[0]), *shapes) is None:
                    forced.add(node.inputs[0])
            for i, name in enumerate(node.inputs[:1] if op == "Expand" else node.inputs):
                if op == "MatMul":
                    n = int(size * old[0].shape[-1])
                elif op.startswith("Reduce") or op in ("CumSum", "Concat"):
                    n = old[i].size
                elif op == "ArgSort":
                    n = 2 * old[i].size  # or more
                reads[name] += n

    def read(self, name: str, at: list[Index]) -> str:
        """Return the element of a tensor at an index."""
        value = self.values[name]
        if name in self.graph.constants:
            array = self.graph.constants[name]
            if array.size == 1:
                return self.literal(array.ravel()[0].item(), value.dtype)
            return self.stored(name, array, text_of(flat(at, value.shape)))
        if name in self.graph.inputs:
            first = self.graph.inputs.index(name)
            return self.cast(
                f"x[{text_of(plus(at[1], index(first)))}]", np.dtype(float), _number(value.dtype)
            )
        if name in self.buffers:
            return f"{self.place(name)}[{text_of(flat(at, value.shape))}]"
        return self._computed(self._makers[name], at)

    def stored(self, name: str, array: np.ndarray, at: str) -> str:
        """Return an element of a constant array, which is kept in as few bytes as it needs."""
        dtype, array = array.dtype, _small(array)
        self.arrays[name] = array
        return self.cast(f"{name}[{at}]", array.dtype, dtype)

    def _computed(self, node: Node, at: list[Index]) -> str:
        """Return an element of what is not stored."""
        value, (name, *_) = self.values[node.output], node.inputs
        old, about = self.values[name], node.attributes
        if node.op in _ELEMENTS:
            args = [
                self.read(each, _broadcast(at, self.values[each].shape)) for each in node.inputs
            ]
            if node.op == "Cast":
                return self.cast(args[0], old.dtype, value.dtype)
            if node.op == "Codes":
                args += [str(max(about["codes"].values())), str(about["missing"])]
                return self.apply("Codes", [*args, str(about["others"])], value.dtype, value.dtype)
            dtype = value.dtype if node.op == "Where" else self.values[node.inputs[-1]].dtype
            return self.apply(node.op, args, dtype, value.dtype)
        if node.op == "Reshape":
            before = reshaped(at, value.shape, old.shape)
            if before is None:
                place = text_of(flat(at, value.shape))
                if name in self.graph.constants:
                    return self.stored(name, self.graph.constants[name], place)
                return f"{self.place(name)}[{place}]"
            return self.read(name, before)
        if node.op == "Transpose":
            return self.read(name, [at[about["perm"].index(i)] for i in range(len(at))])
        if node.op == "Unsqueeze":
            return self.read(name, [part for i, part in enumerate(at) if i != about["axis"]])
        if node.op in ("Expand", "Identity"):
            return self.read(name, _broadcast(at, old.shape))
        axis = about["axis"]
        if node.op == "Slice":
            there = plus(at[axis], index(int(about["start"])))
            return self.read(name, [*at[:axis], there, *at[axis + 1 :]])
        where, n = node.inputs[1], 1
        if node.op == "Gather":
            n = len(self.values[where].shape)
            chosen = at[axis : axis + n]
        else:
            chosen = at
        number = self.read(where, chosen)
        found = index(self.cast(number, self.values[where].dtype, np.dtype(np.int32)))
        return self.read(name, [*at[:axis], found, *at[axis + n :]])

    # Loops.

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def _over(self, shape: tuple[int, ...]) -> Iterator[list[Index]]:
        """Open loops over a shape, give their indices, and close the loops."""
        found = [{} if n == 1 else index(self.fresh()) for n in shape]
        integer, depth = np.dtype(np.int32), self._depth
        for n, part in zip(shape, found, strict=True):
            for name in part:
                first = self.scalar(integer, name, "0")
                self.line(f"for ({first} {name} < {int(n)}; {name}++) {{")
                self._depth += 1
        if not any(found):
            self.line("{")
            self._depth += 1
        yield found
        while self._depth > depth:
            self._depth -= 1
            self.line("}")

    def fresh(self, prefix: str = "i") -> str:
        """Return a name of a variable."""
        self._n += 1
        return f"{prefix}{self._n}"

    def _make(self, node: Node) -> None:
        """Add the loops of a tensor that is stored."""
        output = node.output
        if output not in self.buffers:
            return
        value = self.values[output]
        if node.op in _ELEMENTS or node.op in _VIEWS:
            with self._over(value.shape) as at:
                self._store(output, at, self._computed(node, at))
        else:
            name = "reduced" if node.op.startswith("Reduce") else node.op.lower()
            getattr(self, f"_{name}")(node, output, value, self.values[node.inputs[0]])
        self._check(output)

    def _store(self, name: str, at: list[Index], text: str, op: str = "=") -> None:
        place = text_of(flat(at, self.values[name].shape))
        self.line(f"{self.place(name)}[{place}] {op} {text};")

    def _check(self, name: str) -> None:
        """Add the return from a row with numbers that are too large or missing."""
        if name in self.graph.limits:
            limit, value = self.graph.limits[name], self.values[name]
            largest = self.literal(limit.largest, np.dtype(float))
            with self._over(value.shape) as at:
                size = self.apply("Abs", [self.read(name, at)], value.dtype, value.dtype)
                bad = f"{size} > {largest}" if limit.gaps else f"!({size} <= {largest})"
                self.line(f"if ({bad}) return 1;")

    def _concat(self, node: Node, output: str, value: Value, old: Value) -> None:
        axis, start = node.attributes["axis"], 0
        for name in node.inputs:
            shape = self.values[name].shape
            with self._over(shape) as at:
                moved = [*at[:axis], plus(at[axis], index(start)), *at[axis + 1 :]]
                self._store(output, moved, self.read(name, at))
            start += int(shape[axis])

    def _reduced(self, node: Node, output: str, value: Value, old: Value) -> None:
        axes, op, total = node.attributes["axes"], node.op, self.fresh("s")
        kept = tuple(1 if i in axes else int(n) for i, n in enumerate(old.shape))
        inner = tuple(int(n) if i in axes else 1 for i, n in enumerate(old.shape))
        lowest, highest = (-np.inf, np.inf)
        if value.dtype.kind != "f":
            lowest, highest = np.iinfo(value.dtype).min, np.iinfo(value.dtype).max
        first = {"ReduceProd": 1, "ReduceMax": lowest, "ReduceMin": highest}.get(op, 0)
        with self._over(kept) as outer:
            self.line(self.scalar(value.dtype, total, self.literal(first, value.dtype)))
            with self._over(inner) as inside:
                at = [inside[i] if i in axes else outer[i] for i in range(len(outer))]
                element = self.read(node.inputs[0], at)
                how = {"ReduceProd": "Mul", "ReduceMax": "Max", "ReduceMin": "Min"}.get(op, "Add")
                self.line(
                    f"{total} = {self.apply(how, [total, element], value.dtype, value.dtype)};"
                )
            result = total
            if op == "ReduceMean":
                n = self.literal(prod(inner), value.dtype)
                result = self.apply("Div", [total, n], value.dtype, value.dtype)
            place = text_of(flat(outer, kept))
            self.line(f"{self.place(output)}[{place}] = {result};")

    def _argsort(self, node: Node, output: str, value: Value, old: Value) -> None:
        """Sort places by Shell's method, those of equal numbers in their order."""
        axis, places, integer = node.attributes["axis"], self.place(output), np.dtype(np.int32)
        n, stride = int(old.shape[axis]), prod(map(int, old.shape[axis + 1 :]))
        with self._over(old.shape) as at:
            self._store(output, at, text_of(at[axis]))
        with self._over(tuple(1 if i == axis else m for i, m in enumerate(old.shape))) as at:
            first = flat([{} if i == axis else part for i, part in enumerate(at)], old.shape)

            def place(k: str) -> str:
                return f"{places}[{text_of(plus(first, times(index(k), stride)))}]"

            def number(name: str, p: str) -> str:
                there = [*at[:axis], index(p), *at[axis + 1 :]]
                return self.scalar(old.dtype, name, self.read(node.inputs[0], there))

            for line in (
                f"for ({self.scalar(integer, 'g', str(n // 2))} g > 0; g >>= 1) {{",
                f"  for ({self.scalar(integer, 'a', 'g')} a < {n}; a++) {{",
                f"    {self.scalar(integer, 'p', place('a'))}",
                f"    {number('v', 'p')}",
                f"    {self.scalar(integer, 'b', 'a')}",
                "    while (b >= g) {",
                f"      {self.scalar(integer, 'q', place('(b - g)'))}",
                f"      {number('u', 'q')}",
                "      if (u < v || (u == v && q < p)) break;",
                f"      {place('b')} = q;",
                "      b -= g;",
                "    }",
                f"    {place('b')} = p;",
                "  }",
                "}",
            ):
                self.line(line)

    def _cumsum(self, node: Node, output: str, value: Value, old: Value) -> None:
        axis, total = node.attributes["axis"], self.fresh("s")
        with self._over(tuple(1 if i == axis else n for i, n in enumerate(old.shape))) as outer:
            self.line(self.scalar(value.dtype, total, self.literal(0, value.dtype)))
            with self._over((int(old.shape[axis]),)) as (j,):
                at = [*outer[:axis], j, *outer[axis + 1 :]]
                element = self.read(node.inputs[0], at)
                self.line(f"{total} = {self.apply('Add', [total, element], *[value.dtype] * 2)};")
                self._store(output, at, total)

    def _matmul(self, node: Node, output: str, value: Value, old: Value) -> None:
        """Add rows of the right matrix, as compilers can do for several numbers at once."""
        left, right = node.inputs
        a_shape, b_shape = old.shape, self.values[right].shape
        one_row, one_column = len(a_shape) == 1, len(b_shape) == 1
        shape = [*value.shape[:-1], *[1] * one_row, *value.shape[-1:]] if not one_column else None
        full = tuple(shape) if shape is not None else (*value.shape, 1)
        k, n = int(a_shape[-1]), int(full[-1])
        dtype, factor = value.dtype, self.fresh("e")
        with self._over(full[:-1]) as outer:
            with self._over((n,)) as (j,):
                place = text_of(flat([*outer, j], full))
                self.line(f"{self.place(output)}[{place}] = {self.literal(0, dtype)};")
            with self._over((k,)) as (m,):
                row = [m] if one_row else _broadcast([*outer, m], a_shape)
                self.line(self.scalar(dtype, factor, self.read(left, row)))
                with self._over((n,)) as (j,):
                    there = [m] if one_column else _broadcast([*outer[:-1], m, j], b_shape)
                    args = [factor, self.read(right, there)]
                    target = f"{self.place(output)}[{text_of(flat([*outer, j], full))}]"
                    product = self.apply("Mul", args, dtype, dtype)
                    self.line(f"{target} = {self.apply('Add', [target, product], dtype, dtype)};")


def _broadcast(at: list[Index], shape: tuple[int, ...]) -> list[Index]:
    """Return the index of an array that is repeated to a larger shape."""
    if not shape:
        return []
    return [part if n != 1 else {} for part, n in zip(at[-len(shape) :], shape, strict=True)]


def _number(dtype: np.dtype) -> np.dtype:
    """Return the type of an input, whose categories are numbers."""
    return dtype if dtype.kind not in "OU" else np.dtype(float)


def _small(values: np.ndarray) -> np.ndarray:
    """Return numbers in a type that holds them exactly in fewer bytes."""
    values = np.ascontiguousarray(values).ravel()
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        return single if np.array_equal(single, values, equal_nan=True) else values
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    low, high = int(values.min()), int(values.max())
    for kind in (np.uint8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return values.astype(kind)
    return values
