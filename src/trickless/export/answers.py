"""What a fitted model answers, from its decision values: numbers, labels and probabilities."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import Any

import numpy as np

import trickless.export.namespace as xp
from trickless.arrays.functions import expit, softmax
from trickless.conformal.sets import scores_of_classes
from trickless.conformal.split import SplitConformal
from trickless.errors import InvalidValueError
from trickless.export.certainty import around, deviations, interval
from trickless.export.decisions import decisions, features
from trickless.export.tensors import Tensor
from trickless.learners.classifier import Classifier
from trickless.learners.intervals import how_unlikely
from trickless.learners.random_features import RandomFeatures
from trickless.learners.regressor import Regressor
from trickless.targets.labels import LabelSets

#: Scores that differ by at most so many units of rounding are ties.
TIES = 64
#: A function of a model, its validated rows, its decision values, and a confidence.
Answer = Any


@singledispatch
def answers_of(model: Any) -> tuple[dict[str, Answer], tuple[str, ...]]:
    """Return the answers that a kind of model has, and the names of those that are usual."""
    raise InvalidValueError(
        f"model={type(model).__name__}(...) is not a model of trickless",
        "a fitted learner or RandomFeatures, after one StandardScaler at most; for "
        "another pipeline, import trickless.export.pipelines and skl2onnx.to_onnx(pipeline, X)",
    )


@answers_of.register
def _(model: Regressor) -> Any:
    def prediction(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
        return model.targets_.shaped(model.targets_.values(f))

    return {"prediction": prediction, "std": deviations, "interval": interval}, ("prediction",)


@answers_of.register
def _(model: Classifier) -> Any:
    known = {"label": _label, "probabilities": _probabilities, "decision": _decision, "set": _set}
    usual = "probabilities" if hasattr(model, "predict_proba") else "decision"
    if usual == "decision":
        del known["probabilities"]
    return known, ("label", usual)


@answers_of.register
def _(model: RandomFeatures) -> Any:
    return {"features": lambda model, X, f, confidence: features(model, X)}, ("features",)


def written(
    model: Any,
    X: Tensor,
    names: tuple[str, ...],
    confidence: float,
    conformal: SplitConformal | None = None,
) -> dict[str, Tensor]:
    """Return some answers of a model by their names, with the errors of others if there are any."""
    known = answers_of(model)[0]
    if conformal is not None:
        far: Any = conformal._fixed_bounds(confidence)
        known |= {"set": partial(_set, far=far), "interval": partial(around, far=far)}
    f: Any = None
    if not isinstance(model, RandomFeatures):
        f = model.targets_.shown(decisions(model, X))
        assert X.graph is not None
        if f.value is None:
            X.graph.limit(f.name, np.finfo(float).max, gaps=False)
    return {name: known[name](model, X, f, confidence) for name in names}


def _decision(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    return f[:, 0] if f.shape[1] == 1 else f


def _label(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    if isinstance(model.targets_, LabelSets):
        return xp.astype(f > 0, xp.int64)
    if len(model.classes_) == 1:
        return xp.astype(xp.isnan(f[:, 0]), xp.int32) * 0
    return xp.astype(f[:, 0] > 0, xp.int32) if f.shape[1] == 1 else xp.argmax(f, axis=1)


def _probabilities(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    if len(model.classes_) == 1:
        return xp.broadcast_to(xp.ones((1, 1)), (f.shape[0], 1), f[:, :1])
    temperatures = model._temperatures()
    if temperatures is None:
        return model._link()(f)
    return _tempered(f, temperatures, isinstance(model.targets_, LabelSets))


def _set(model: Any, X: Tensor, f: Tensor, confidence: float, far: Any = None) -> Tensor:
    """Return which classes are in prediction sets, as ``predict_set``.

    The bound is the score of a row. Rounding must not move other rows of the same score beyond it.
    """
    far = how_unlikely(model, confidence) if far is None else far
    has_link = hasattr(model, "predict_proba")
    likely: Any = _probabilities(model, X, f, confidence) if has_link else _tempered(f, (1.0, 1.0))
    return scores_of_classes(likely) <= far + TIES * np.finfo(model.rows_.dtype).eps


def _tempered(f: Tensor, temperatures: tuple[float, float], apart: bool = False) -> Tensor:
    """Return probabilities as ``solvers.calibration`` does: of classes, or of each label apart."""
    f = f / xp.where(f < 0, *temperatures)
    if apart:
        return expit(f)
    return softmax(xp.concat([xp.zeros_like(f), f], axis=1) if f.shape[1] == 1 else f)
