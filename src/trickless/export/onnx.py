"""Graphs as models of ONNX."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from trickless._errors import InvalidValueError
from trickless._files.text import utf8
from trickless._files.whole import written_whole
from trickless._rules import DTYPE, NONE, check_value, either
from trickless.export.graph import Graph, Node, RowCount, Value, smaller
from trickless.neurons.foreign import library

#: The version of ONNX's operators that graphs use, the one of its operators for machine learning,
#: and the version of the file format. The package onnx knows them from 1.14 on.
OPSET, ML_OPSET, IR_VERSION = 18, 3, 8
#: The domain of the operators for machine learning.
ML = "ai.onnx.ml"
#: The most bytes of a file, which the format of protocol buffers sets.
_LARGEST = 2**31 - 2**20
#: Constants of more numbers are stored in fewer bytes, if these hold them exactly.
_FEW = 16


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    outputs: tuple[str, ...] | None = None,
    dtype: Any = None,
    confidence: float = 0.9,
) -> Any:
    """Write a fitted model as an ONNX graph, which runs without Python.

    The graph uses opset 18, and version 3 of the operators for machine learning. It makes the same
    predictions as the model. It does not make the model's checks: rows that raise an error in
    Python, such as NaN for a family of finite numbers, give NaN or another number there.

    A learner of a matrix has the input ``X``, of shape (n_rows, n_features). A learner that was
    fitted to a data frame with :class:`~trickless.neurons.Tabular` or
    :class:`~trickless.neurons.Trees` has an input of shape (n_rows, 1) for each column, by its
    name:

    - Numbers and Booleans are numbers, and NaN where they are missing.
    - Dates are numbers of days since 1970-01-01, in UTC if they have a time zone. Durations and
      times of day are days.
    - Categories are strings, spelled as in training. An empty string is a missing value, unless it
      was a category in training. All other strings are new categories.

    Parameters
    ----------
    model : estimator
        A fitted learner or :class:`~trickless.RandomFeatures`, or a pipeline of a
        ``StandardScaler`` and a learner. It may also be a
        :class:`~trickless.conformal.SplitConformal` of these, for intervals and sets from the rows
        that it was calibrated on. After ``import trickless.export.pipelines``, ``skl2onnx.to_onnx``
        writes scikit-learn's other pipelines that hold learners.
    path : str or path, optional
        Where to write the graph as well. The file is written whole or not at all.
    outputs : tuple of str, optional
        The outputs, in this order.

        - Regressors have "prediction", the default, "std" where ``predict`` has ``return_std``, and
          "interval", as from ``predict_interval``.
        - Classifiers have "label", "probabilities", "decision" and "set", as from ``predict_set``.
          Default: labels and probabilities, or decision values where the loss does not determine
          probabilities.
        - :class:`~trickless.RandomFeatures` has "features".
    dtype : {"float32", "float64"}, optional
        Precision of the inputs that are numbers. Default: that in which the model reads them, which
        is double for tables. The graph computes in the precision of the model in any case. Answers
        are in double precision.
    confidence : float, default=0.9
        The probability that a target is in its interval, or the true class in its set.

    Returns
    -------
    onnx.ModelProto
        The graph, which has passed the checks of the package onnx.

    Raises
    ------
    ImportError
        Without the package onnx: ``pip install 'trickless[onnx]'``.
    NotFittedError
        Before ``fit``.
    ValueError
        If a family, a kernel, a label or an output has no operators of ONNX. The message names it.

    Notes
    -----
    A graph holds the weights of all neurons, whereas a model may draw them again from its seed.
    Each neuron of a Fourier family takes 4 bytes for each feature. Trees have the size of
    the model. Standard deviations and intervals take 8 bytes for each pair of columns, or of a
    column and a row that is left out.

    The error function of ``Dense("erf")`` is in single precision, as onnxruntime has no other.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.export import to_onnx
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=50, random_state=0).fit(X, y)
    >>> graph = to_onnx(model, "diabetes.onnx")  # doctest: +SKIP
    """
    from trickless.export.trace import trace

    library("to_onnx", "onnx", "onnx")
    check_value("to_onnx", "dtype", dtype, either(DTYPE, NONE))
    graph = trace("to_onnx", model, outputs, confidence, dtype)
    number = graph.outputs.get("label")
    if number is not None and len(graph.values[number].shape) == 1:
        values = as_written(graph.labels)
        label = graph.values[number]._replace(dtype=values.dtype)
        graph.outputs["label"] = graph.add(
            "Gather", [graph.constant(values), number], label, axis=0
        )
    proto = _proto(graph)
    if path is not None:
        with written_whole("to_onnx", path) as file:
            file.write(proto.SerializeToString())
    return proto


class Operators:
    """The ``nodes`` of ONNX that compute a graph, and their ``constants``."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self._known: dict[str, str] = {}
        for node in graph.nodes:
            self._write(node)
        for name, tensor in graph.outputs.items():
            while name in graph.inputs:  # a column may have the name of an answer
                name += "_"
            self.add("Identity", [self.of(tensor)], name)

    def of(self, tensor: str) -> str:
        """Return the name of a tensor, after a constant is stored at its first use."""
        value = self.graph.constants.get(tensor)
        if value is not None and tensor not in self._known:
            small = smaller(value) if value.size > _FEW and value.dtype != object else value
            name = self.constant(small)
            self._known[tensor] = name if small is value else self.cast(name, value.dtype)
        return self._known.get(tensor, tensor)

    def constant(self, value: Any, dtype: Any = None) -> str:
        """Store an array, and return its name."""
        self.constants[name := self.graph.fresh("k")] = np.asarray(value, dtype)
        return name

    def add(self, op: str, inputs: list[str], *outputs: str, **attributes: Any) -> str:
        """Add an operator, and return the name of its first output."""
        from onnx.helper import make_node

        names = [output or self.graph.fresh("o") for output in outputs or [""]]
        domain = ML if op == "LabelEncoder" else ""
        self.nodes.append(make_node(op, inputs, names, domain=domain, **attributes))
        return names[0]

    def cast(self, name: str, dtype: Any, output: str = "") -> str:
        """Add the conversion of a tensor."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return self.add("Cast", [name], output, to=np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def _write(self, node: Node) -> None:
        """Add the operators of a node. Axes and ends are constants of ONNX."""
        op, about, output = node.op, dict(node.attributes), node.output
        inputs, (shape, dtype) = list(map(self.of, node.inputs)), self.graph.values[output]
        if op.startswith("Reduce"):
            inputs.append(self.constant(about.pop("axes"), np.int64))
        elif op == "CumSum":
            inputs.append(self.constant(*about.pop("axes")))
        elif op == "Slice":
            inputs += [self.constant([about.pop(end)]) for end in ("start", "stop", "axis")]
        elif op == "Reshape":
            target = [-1 if isinstance(n, RowCount) else n for n in shape]
            inputs.append(self.constant(target, np.int64))
        elif op == "BitShift":
            about = {"direction": "RIGHT"}
        elif op == "Expand":
            sizes, rows = self.constant(shape, np.int64), [isinstance(n, RowCount) for n in shape]
            n_rows = self.add("Shape", self.graph.inputs[:1], start=0, end=1)
            there = self.add(
                "Where", [self.constant(rows), self.add("Mul", [sizes, n_rows]), sizes]
            )
            inputs.append(there)
        elif op == "ArgSort":
            inputs.append(self.constant([shape[-1]], np.int64))
            self.add("TopK", inputs, "", places := self.graph.fresh("o"), largest=0)
            op, inputs = "Cast", [places]
        elif op == "Erf":  # onnxruntime has it in single precision only
            op, inputs = "Cast", [self.add("Erf", [self.cast(inputs[0], np.float32)])]
        elif op == "Codes":  # a missing string is ""
            codes = {"": about["missing"]} | about["codes"]
            known = {"keys_strings": list(codes), "values_int64s": list(codes.values())}
            code = self.add("LabelEncoder", inputs, default_int64=about["others"], **known)
            op, inputs, about = "Cast", [code], {}
        if op == "Cast":
            self.cast(inputs[0], dtype, output)
        else:
            self.add(op, inputs, output, **about)


def as_written(classes: Any) -> np.ndarray:
    """Return labels in a type that ONNX has."""
    kind, values = classes.dtype.kind, classes.tolist()
    if kind in "iu" and max(values, default=0) < 2**63:
        return classes.astype(np.int64)
    if kind in "bf":
        return classes.astype(np.float64) if kind == "f" else classes
    if kind in "OTU" and all(isinstance(value, str) for value in values):
        return np.array([utf8("to_onnx", value).decode() for value in values], dtype=object)
    raise InvalidValueError(
        f"to_onnx: the labels {values[:3]} have the type {classes.dtype}, which ONNX does not have",
        "fit to labels that are strings, integers or Booleans, such as y.astype(str)",
    )


def as_proto(value: np.ndarray, name: str) -> Any:
    """Return an array as an ``onnx.TensorProto``."""
    from onnx import numpy_helper

    return numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)


def _proto(graph: Graph) -> Any:
    """Return the graph as an ``onnx.ModelProto``, after the checks of the package onnx."""
    import onnx
    from onnx import helper

    for text in [*graph.inputs, *(text for codes, _ in graph.codes.values() for text in codes)]:
        utf8("to_onnx", text)
    if "" in graph.inputs:
        raise InvalidValueError(
            "to_onnx: the name of a column is '', which no input of a graph can have",
            "rename it before you fit the model",
        )
    n_bytes = sum(value.nbytes for value in graph.constants.values())
    if n_bytes > _LARGEST:
        raise InvalidValueError(
            f"to_onnx: the graph has {n_bytes / 2**30:.1f} GiB of numbers, but a file of ONNX "
            "holds at most 2 GiB",
            "fewer neurons; or trickless.save, for Python",
        )
    written = Operators(graph)
    answers = zip(written.nodes[-len(graph.outputs) :], graph.outputs.values(), strict=True)
    made = helper.make_graph(
        written.nodes,
        "trickless",
        [_declared(name, graph.values[name]) for name in graph.inputs],
        [_declared(node.output[0], graph.values[tensor]) for node, tensor in answers],
        [as_proto(value, name) for name, value in written.constants.items()],
        doc_string=graph.about,
    )
    versions, domains = {"": OPSET, ML: ML_OPSET}, {node.domain for node in written.nodes}
    opsets = [helper.make_opsetid(domain, versions[domain]) for domain in domains]
    about = {"ir_version": IR_VERSION, "producer_name": "trickless"}
    model = helper.make_model(made, opset_imports=opsets, **about)
    onnx.checker.check_model(model, full_check=True)
    return model


def _declared(name: str, value: Value) -> Any:
    from onnx import TensorProto, helper

    known = value.dtype.kind not in "OU"
    kind = helper.np_dtype_to_tensor_dtype(value.dtype) if known else TensorProto.STRING
    return helper.make_tensor_value_info(name, kind, ["rows", *value.shape[1:]])
