"""Converters of skl2onnx, which put the graphs of models into those of pipelines.

After ``import trickless.export.pipelines``, ``skl2onnx.to_onnx`` writes scikit-learn's pipelines
that hold learners of this package, or :class:`~trickless.RandomFeatures`. That needs the package
skl2onnx. Values have the precision of the inputs, so pass double precision if the targets are far
from 0 and vary little.

Examples
--------
>>> import trickless.export.pipelines
>>> from skl2onnx import to_onnx
>>> from sklearn.datasets import load_diabetes
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from trickless import KitchenSinksRegressor
>>> X, y = load_diabetes(return_X_y=True)
>>> model = KitchenSinksRegressor(n_neurons=50, random_state=0)
>>> graph = to_onnx(make_pipeline(StandardScaler(), model).fit(X, y), X[:1])
>>> [output.name for output in graph.graph.output]
['variable']
"""

from __future__ import annotations

from typing import Any

import numpy as np

import trickless
import trickless.export.namespace as xp
from trickless.errors import InvalidValueError
from trickless.export.answers import answers_of, written
from trickless.export.graph import Graph, RowCount
from trickless.export.inputs import rows_of_matrix
from trickless.export.onnx import OPSET, Operators, as_proto, as_written
from trickless.export.tensors import Tensor
from trickless.learners.classifier import Classifier

#: The classes whose converters are registered.
CLASSES: tuple[type, ...] = (
    trickless.BoostedTreesClassifier,
    trickless.BoostedTreesRegressor,
    trickless.DoublyStochasticClassifier,
    trickless.DoublyStochasticRegressor,
    trickless.KitchenSinksClassifier,
    trickless.KitchenSinksRegressor,
    trickless.RandomFeatures,
    trickless.ShrinkingGradientClassifier,
    trickless.ShrinkingGradientRegressor,
    trickless.KernelGradientClassifier,
    trickless.KernelGradientRegressor,
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
    transforms = isinstance(model, trickless.RandomFeatures)
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
    graph, name = Graph("skl2onnx.to_onnx"), rows.full_name
    graph.input(name, of_inputs, model.n_features_in_)
    X = Tensor((RowCount(1), model.n_features_in_), of_inputs, graph, name)
    answers = written(model, rows_of_matrix(model, X), answers_of(model)[1], 0.9)
    for variable, (answer, tensor) in zip(operator.outputs, answers.items(), strict=True):
        if answer == "label" and tensor.ndim == 1:
            classes = as_written(model.classes_)
            classes = classes.astype(np.int64) if classes.dtype.kind == "b" else classes
            tensor = xp.take(Tensor.constant(classes), tensor)
        elif tensor.dtype.kind == "f":
            tensor = xp.astype(tensor, of_outputs)
        if tensor.ndim == 1 and tensor.dtype == of_outputs:
            tensor = tensor[:, None]
        graph.outputs[variable.full_name] = tensor.name_in(graph)
    _copy(Operators(graph), {name, *graph.outputs}, scope, container)


def _copy(written: Operators, known: set[str], scope: Any, container: Any) -> None:
    """Copy constants and operators, under names that are new except for the ones that are known."""
    from onnx import TensorProto

    names = {name: name for name in known}
    for old, value in written.constants.items():
        names[old] = new = scope.get_unique_variable_name(f"trickless_{old}")
        if value.dtype.kind in "OU":
            container.add_initializer(new, TensorProto.STRING, value.shape, value.ravel().tolist())
        else:
            container.add_initializer(new, None, None, as_proto(value, new))
    for node in written.operators:
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


register()
