"""Converters of skl2onnx, which put the graphs of models into those of pipelines."""

from __future__ import annotations

from typing import Any

import trickless.onnx.namespace as xp
from trickless.errors import InvalidValueError
from trickless.learners.classifier import Classifier
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.kernel_gradient import (
    KernelGradientClassifier,
    KernelGradientRegressor,
)
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.random_features import RandomFeatures
from trickless.learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.onnx.answers import answers_of, written
from trickless.onnx.graph import OPSET, Graph, as_proto
from trickless.onnx.inputs import rows_of_matrix
from trickless.onnx.tensors import Rows, Tensor

#: The classes whose converters are registered.
CLASSES: tuple[type, ...] = (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
    KernelGradientClassifier,
    KernelGradientRegressor,
)


def register() -> None:
    """Tell skl2onnx how models of this package are written."""
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

    for cls in CLASSES:
        labels = issubclass(cls, Classifier)
        choice = [True, False]
        options = {"zipmap": [*choice, "columns"], "nocl": choice, "output_class_labels": choice}
        update_registered_converter(
            cls,
            f"Trickless{cls.__name__}",
            calculate_linear_classifier_output_shapes if labels else _declare,
            _convert,
            options=options if labels else None,
        )


def _declare(operator: Any) -> None:
    """Declare the shape of what a regressor or a transformer returns."""
    from skl2onnx.common.data_types import guess_tensor_type

    model, (variable,) = operator.raw_operator, operator.outputs
    transforms = isinstance(model, RandomFeatures)
    width = model._n_features_out if transforms else model.targets_.n_outputs
    kind = type(guess_tensor_type(operator.inputs[0].type))
    variable.type = kind([operator.inputs[0].get_first_dimension(), width])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of a model to that of a pipeline."""
    from onnx.helper import tensor_dtype_to_np_dtype
    from skl2onnx.common.data_types import guess_proto_type, guess_tensor_type

    if container.target_opset < OPSET:
        raise InvalidValueError(
            f"skl2onnx.to_onnx: target_opset={container.target_opset}, but graphs of trickless "
            f"need {OPSET} or later",
            f"target_opset={OPSET}",
        )
    model, (rows,) = operator.raw_operator, operator.inputs
    kinds = [guess_proto_type(kind) for kind in (rows.type, guess_tensor_type(rows.type))]
    of_inputs, of_outputs = map(tensor_dtype_to_np_dtype, kinds)
    graph, name = Graph(), rows.full_name
    graph.input(name, of_inputs, model.n_features_in_)
    X = Tensor((Rows(1), model.n_features_in_), of_inputs, graph, name)
    answers = written(model, rows_of_matrix(model, X), answers_of(model)[1], 0.9)
    names = {name: name}
    for variable, tensor in zip(operator.outputs, answers.values(), strict=True):
        if tensor.dtype.kind == "f":
            tensor = xp.astype(tensor, of_outputs)
        elif tensor.dtype.kind == "b":  # labels
            tensor = xp.astype(tensor, xp.int64)
        if tensor.ndim == 1 and tensor.dtype == of_outputs:
            tensor = tensor[:, None]
        output = graph.add("Identity", [tensor.name_in(graph)])[0]
        names[output] = variable.full_name
    _copy(graph, names, scope, container)


def _copy(graph: Graph, names: dict[str, str], scope: Any, container: Any) -> None:
    """Copy constants and nodes of a graph, under names that are new except for ``names``."""
    from onnx import TensorProto

    for old, value in graph.constants.items():
        names[old] = new = scope.get_unique_variable_name(f"trickless_{old}")
        if value.dtype.kind in "OU":
            container.add_initializer(new, TensorProto.STRING, value.shape, value.ravel().tolist())
        else:
            container.add_initializer(new, None, None, as_proto(value, new))
    for node in graph.nodes:
        for old in node.outputs:
            if old not in names:
                names[old] = scope.get_unique_variable_name(f"trickless_{old}")
        container.add_node(
            node.op,
            [names[one] for one in node.inputs],
            [names[one] for one in node.outputs],
            op_domain=node.domain,
            name=scope.get_unique_operator_name(f"Trickless{node.op}"),
            **node.attributes,
        )
