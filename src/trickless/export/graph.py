"""The graph of a model: inputs, constants, operations and outputs, all with names.

A graph is the only description of a model's arithmetic. ONNX, C and JavaScript are printed from it.
It uses operations of ONNX, with axes and ends as attributes, and three more:

- ``Codes`` makes the code of a category: ``codes`` of strings, ``missing`` and ``others``.
- ``ArgSort`` finds the places of numbers along the last axis, in the order of the numbers. Equal
  ones keep their order.
- ``Expand`` repeats a constant for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class RowCount(int):
    """The number of rows, or a multiple of it, which is known only when the graph is used.

    As a number it counts as a single row. Shapes keep it, and so do products.
    """

    def __mul__(self, other: Any) -> Any:
        return RowCount(int(self) * other) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__


class Value(NamedTuple):
    """What is known of a tensor before the graph is used."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        """The number of elements for one row."""
        return int(np.prod([int(n) for n in self.shape]))


class Node(NamedTuple):
    """An operation that makes a tensor from others, all given by name."""

    op: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


@dataclass
class Graph:
    """A graph to which nodes are added in the order of their computation.

    Equal constants are stored once, and equal nodes are computed once. ``about`` is a line about
    the graph, and the names of tensors begin with ``prefix``.

    Attributes
    ----------
    inputs : list of str
        A matrix, or a column each. The columns of a row may have ``names``, and ``kinds`` if the
        model was fitted to a data frame.
    values : dict of Value
        Shape and type of each tensor: of inputs, ``constants`` and outputs of ``nodes``.
    outputs : dict of str
        The tensor of each answer.
    labels : array or None
        The classes of a classifier. The answer "label" counts them, unless rows have several.
    limits : dict
        By tensor: the largest size that its numbers may have, and whether they may be missing.
        Other rows have no answer. ONNX has no way to refuse them.
    """

    about: str = ""
    prefix: str = ""
    inputs: list[str] = field(default_factory=list)
    names: list[str] | None = None
    kinds: list[str] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    labels: np.ndarray | None = None
    limits: dict[str, tuple[float, bool]] = field(default_factory=dict)
    _known: dict[Any, str] = field(default_factory=dict)
    _count: int = 0

    @property
    def n_columns(self) -> int:
        """The number of values of a row."""
        return sum(self.values[name].shape[1] for name in self.inputs)

    @property
    def codes(self) -> dict[int, tuple[dict[str, int], int]]:
        """The codes of strings, and that of all other strings, of each column of categories."""
        found = ((node.inputs[0], node.attributes) for node in self.nodes if node.op == "Codes")
        return {self.inputs.index(x): (about["codes"], about["others"]) for x, about in found}

    def input(self, name: str, dtype: Any, width: int) -> None:
        """Declare an input of shape (n_rows, width). Inputs come before nodes."""
        self.inputs.append(name)
        self.values[name] = Value((RowCount(1), width), np.dtype(dtype))

    def constant(self, value: np.ndarray) -> str:
        """Store an array, and return its name."""
        content: Any = np.ascontiguousarray(value).tobytes()
        if value.dtype.kind == "O":
            content = tuple(value.ravel().tolist())
        key = "constant", value.dtype.str, value.shape, content
        if key not in self._known:
            self._known[key] = name = self.fresh("c")
            self.constants[name] = value
            self.values[name] = Value(value.shape, value.dtype)
        return self._known[key]

    def add(self, op: str, inputs: list[str], output: Value, **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        key = op, tuple(inputs), output, repr(sorted(attributes.items()))
        if key not in self._known:
            self._known[key] = name = self.fresh("t")
            self.values[name] = output
            self.nodes.append(Node(op, tuple(inputs), name, attributes))
        return self._known[key]

    def fresh(self, kind: str) -> str:
        """Return a name that no tensor has."""
        self._count += 1
        name = f"{self.prefix}{kind}{self._count}"
        return name if name not in self.values else self.fresh(kind)

    def needed(self, output: str) -> list[Node]:
        """Return the nodes that an answer needs, in the order of their computation."""
        wanted, found = {self.outputs[output]}, []
        for node in reversed(self.nodes):
            if node.output in wanted:
                wanted.update(node.inputs)
                found.append(node)
        return found[::-1]


def smaller(values: np.ndarray) -> np.ndarray:
    """Return numbers in a type that holds them exactly in fewer bytes."""
    kinds: tuple[Any, ...] = (np.uint8, np.int16, np.int32)
    with np.errstate(over="ignore"):
        for kind in (np.float32,) if values.dtype.kind == "f" else kinds:
            if np.array_equal(small := values.astype(kind), values, equal_nan=True):
                return small
    return values
