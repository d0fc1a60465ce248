"""Fitted models as ONNX graphs, for runtimes without Python."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.states import snapshot
from trickless.conformal.levels import check_confidence
from trickless.conformal.split import SplitConformal
from trickless.errors import InvalidValueError
from trickless.files.format import library_version
from trickless.files.whole import written_whole
from trickless.neurons.foreign import library
from trickless.onnx.answers import answers_of, written
from trickless.onnx.graph import Graph
from trickless.onnx.inputs import rows_of_learner
from trickless.rules import DTYPE, NONE, check_value, either

#: The most bytes of a file, which the format of protocol buffers sets.
_LARGEST = 2**31 - 2**20


def model_of(
    model: Any,
    path: str | os.PathLike[str] | None,
    outputs: tuple[str, ...] | None,
    dtype: Any,
    confidence: float,
) -> Any:
    """Return a fitted model as an ``onnx.ModelProto``, and write it to a file if there is one."""
    library("to_onnx", "onnx", "onnx")
    check_value("to_onnx", "dtype", dtype, either(DTYPE, NONE))
    check_confidence("to_onnx", confidence)
    conformal = model if isinstance(model, SplitConformal) else None
    model = model if conformal is None else conformal.model
    learner = snapshot(model)
    known, usual = answers_of(learner)
    check_is_fitted(model)
    names = usual if outputs is None else _checked_names(outputs, tuple(known))
    graph = Graph()
    if dtype is None:  # the precision in which the model reads numbers
        dtype = np.float64 if learner.rows_.encoder is not None else learner.rows_.dtype
    X = rows_of_learner(graph, learner, np.dtype(dtype))
    for name, tensor in written(learner, X, names, confidence, conformal).items():
        graph.output(name, tensor.name_in(graph), tensor.dtype, *tensor.shape[1:])
    _check_size(graph)
    proto = graph.model(f"{type(learner).__name__} of trickless {library_version()}")
    if path is not None:
        with written_whole("to_onnx", path) as file:
            file.write(proto.SerializeToString())
    return proto


def _checked_names(outputs: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    names = (outputs,) if isinstance(outputs, str) else outputs
    is_list = isinstance(names, tuple | list) and all(name in known for name in names)
    if not is_list or not 0 < len(names) == len(set(names)):
        raise InvalidValueError(
            f"to_onnx: outputs={outputs!r}, but the model has the outputs {known}",
            f"some of them, such as outputs={known[:2]}",
        )
    return tuple(names)


def _check_size(graph: Graph) -> None:
    if graph.n_bytes > _LARGEST:
        raise InvalidValueError(
            f"to_onnx: the graph has {graph.n_bytes / 2**30:.1f} GiB of numbers, but a file of "
            "ONNX holds at most 2 GiB",
            "fewer neurons; or trickless.save, for Python",
        )
