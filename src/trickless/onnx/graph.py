"""An ONNX graph that is being written: inputs, constants, nodes and outputs, all with names.

This module knows nothing about arrays or models. Only :meth:`Graph.model` needs the package onnx.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: The version of ONNX's operators that graphs use, the one of its operators for machine learning,
#: and the version of the file format. The package onnx knows them from 1.14 on.
OPSET, ML_OPSET, IR_VERSION = 18, 3, 8
#: The domain of the operators for machine learning.
ML = "ai.onnx.ml"


class Node(NamedTuple):
    """An operator that makes tensors from others, all given by name."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    domain: str
    attributes: dict[str, Any]


class Value(NamedTuple):
    """An input or an output of a graph, of shape (n_rows, *shape)."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]


class Graph:
    """A graph to which nodes are added in the order of their computation.

    Equal constants are stored once, and equal nodes are computed once.
    """

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.constants: dict[str, np.ndarray] = {}
        self.nodes: list[Node] = []
        self._known: dict[Any, tuple[str, ...]] = {}
        self._taken: set[str] = set()

    def input(self, name: str, dtype: Any, *shape: int) -> None:
        """Declare an input of shape (n_rows, *shape). Inputs come before nodes."""
        self.inputs.append(Value(name, np.dtype(dtype), shape))
        self._taken.add(name)

    def output(self, name: str, of: str, dtype: Any, *shape: int) -> None:
        """Declare a tensor as an output, of shape (n_rows, *shape).

        An input or another tensor may have its name, which then gets an underscore.
        """
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self.nodes.append(Node("Identity", (of,), (name,), "", {}))
        self.outputs.append(Value(name, np.dtype(dtype), shape))

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
            self._known[key] = (self._fresh("c"),)
            self.constants[self._known[key][0]] = value
        return self._known[key][0]

    def add(
        self, op: str, inputs: list[str], n_outputs: int = 1, domain: str = "", **attributes: Any
    ) -> tuple[str, ...]:
        """Add a node, and return the names of its outputs."""
        key = op, domain, tuple(inputs), n_outputs, repr(sorted(attributes.items()))
        if key not in self._known:
            self._known[key] = tuple(self._fresh("t") for _ in range(n_outputs))
            self.nodes.append(Node(op, tuple(inputs), self._known[key], domain, attributes))
        return self._known[key]

    def _fresh(self, prefix: str) -> str:
        number = len(self._taken)
        while (name := f"{prefix}{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name

    def model(self, description: str) -> Any:
        """Return the graph as an ``onnx.ModelProto``, after the checks of the package onnx."""
        import onnx
        from onnx import helper

        domains = {node.domain for node in self.nodes}
        versions = {"": OPSET, ML: ML_OPSET}
        graph = helper.make_graph(
            [
                helper.make_node(
                    node.op, node.inputs, node.outputs, domain=node.domain, **node.attributes
                )
                for node in self.nodes
            ],
            "trickless",
            [_declared(value) for value in self.inputs],
            [_declared(value) for value in self.outputs],
            [as_proto(value, name) for name, value in self.constants.items()],
            doc_string=description,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(domain, versions[domain]) for domain in domains],
            ir_version=IR_VERSION,
            producer_name="trickless",
        )
        onnx.checker.check_model(model, full_check=True)
        return model


def as_proto(value: np.ndarray, name: str) -> Any:
    """Return an array as an ``onnx.TensorProto``."""
    from onnx import numpy_helper

    if value.dtype.kind == "U":
        value = value.astype(object)
    return numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)


def _declared(value: Value) -> Any:
    from onnx import TensorProto, helper

    known = value.dtype.kind not in "OU"
    kind = helper.np_dtype_to_tensor_dtype(value.dtype) if known else TensorProto.STRING
    return helper.make_tensor_value_info(value.name, kind, ["rows", *value.shape])
