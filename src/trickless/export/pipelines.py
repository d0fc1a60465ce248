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
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import guess_proto_type, guess_tensor_type
from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

import trickless
import trickless.export.namespace as xp
from trickless._errors import InvalidValueError
from trickless._learners.base import Learner
from trickless._learners.classifier import Classifier
from trickless._learners.kernel_gradient import KernelGradientClassifier, KernelGradientRegressor
from trickless.export.answers import answers_of, written
from trickless.export.graph import Graph
from trickless.export.onnx import OPSET, Operators, as_proto, as_written
from trickless.export.tensors import Tensor
from trickless.export.trace import declared, naming, rows_of_matrix


def _declare(operator: Any) -> None:
    """Declare the shape of what a regressor or a transformer returns."""
    model, (variable,) = operator.raw_operator, operator.outputs
    transforms = isinstance(model, trickless.RandomFeatures)
    width = model._n_features_out if transforms else model._targets_.n_outputs
    kind = type(guess_tensor_type(operator.inputs[0].type))
    variable.type = kind([operator.inputs[0].get_first_dimension(), width])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of a model to that of a pipeline."""
    from onnx.helper import tensor_dtype_to_np_dtype

    if container.target_opset < OPSET:
        raise InvalidValueError(
            f"skl2onnx.to_onnx: target_opset={container.target_opset}, but graphs of trickless "
            f"need {OPSET} or later",
            f"target_opset={OPSET}",
        )
    model, (rows,) = operator.raw_operator, operator.inputs
    kinds = [guess_proto_type(kind) for kind in (rows.type, guess_tensor_type(rows.type))]
    of_inputs, of_outputs = map(tensor_dtype_to_np_dtype, kinds)
    graph = Graph(prefix=scope.get_unique_variable_name("trickless_"))
    with naming("skl2onnx.to_onnx"):
        X = rows_of_matrix(model, declared(graph, rows.full_name, of_inputs, model.n_features_in_))
        answers = written(model, X, answers_of(model)[1], 0.9)
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
    made = Operators(graph)
    container.initializers += [as_proto(value, name) for name, value in made.constants.items()]
    container.nodes += made.nodes
    container.node_domain_version_pair_sets.add(("", OPSET))


_CHOICE = [True, False]
_OPTIONS = {"zipmap": [*_CHOICE, "columns"], "nocl": _CHOICE, "output_class_labels": _CHOICE}
_LEARNERS = [getattr(trickless, name) for name in trickless.__all__]
for _each in (*_LEARNERS, KernelGradientClassifier, KernelGradientRegressor):
    if isinstance(_each, type) and issubclass(_each, Learner | trickless.RandomFeatures):
        _labels = issubclass(_each, Classifier)
        update_registered_converter(
            _each,
            f"Trickless{_each.__name__}",
            calculate_linear_classifier_output_shapes if _labels else _declare,
            _convert,
            options=_OPTIONS if _labels else None,
        )
