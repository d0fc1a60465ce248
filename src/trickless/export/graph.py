"""The graph of a model: inputs, constants, operations and outputs, all with names.

A graph is the only description of a model's arithmetic. ONNX, C and JavaScript are printed from it.
It uses operations of ONNX, with axes and ends as attributes, and three more:

- ``Codes`` makes the code of a category: ``codes`` of strings, ``missing`` and ``others``.
- ``ArgSort`` finds the places of numbers along an axis, in the order of the numbers. Equal ones
  keep their order.
- ``Expand`` repeats its first argument for as many rows as its second has.
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


@dataclass(frozen=True)
class Node:
    """An operation that makes a tensor from others, all given by name."""

    op: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


class Limit(NamedTuple):
    """The largest size that numbers of a tensor may have, and whether they may be missing."""

    largest: float
    gaps: bool


@dataclass
class Graph:
    """A graph to which nodes are added in the order of their computation.

    Equal constants are stored once, and equal nodes are computed once.

    Attributes
    ----------
    owner : str
        The function that writes the graph, which begins error messages.
    about : str
        What the graph computes, in a line.
    inputs : list of str
        A matrix, or a column each.
    names : list of str or None
        The names of the columns of a row, if they have names.
    values : dict of Value
        Shape and type of each tensor.
    constants : dict of arrays
    nodes : list of Node
    outputs : dict of str
        The tensor of each answer.
    labels : array or None
        The classes of a classifier. The answer "label" counts them, unless rows have several.
    limits : dict of Limit
        By tensor: the numbers without which there is no answer. ONNX has no way to refuse a row.
    """

    owner: str
    about: str = ""
    inputs: list[str] = field(default_factory=list)
    names: list[str] | None = None
    values: dict[str, Value] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    labels: np.ndarray | None = None
    limits: dict[str, Limit] = field(default_factory=dict)
    _known: dict[Any, str] = field(default_factory=dict)

    def limit(self, tensor: str, largest: float, gaps: bool) -> None:
        """Demand that numbers of a tensor are no larger, and not missing unless there are gaps."""
        self.limits[tensor] = Limit(largest, gaps)

    def input(self, name: str, dtype: Any, width: int) -> None:
        """Declare an input of shape (n_rows, width). Inputs come before nodes."""
        self.inputs.append(name)
        self.values[name] = Value((RowCount(1), width), np.dtype(dtype))

    @property
    def n_bytes(self) -> int:
        """The bytes of all constants."""
        return sum(value.nbytes for value in self.constants.values())

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

    def fresh(self, prefix: str) -> str:
        """Return a name that no tensor has."""
        number = len(self.values)
        while (name := f"{prefix}{number}") in self.values:
            number += 1
        return name

    def needed(self, output: str) -> list[Node]:
        """Return the nodes that an answer needs, in the order of their computation."""
        wanted, found = {self.outputs[output]}, []
        for node in reversed(self.nodes):
            if node.output in wanted:
                wanted.update(node.inputs[:1] if node.op == "Expand" else node.inputs)
                found.append(node)
        return found[::-1]
