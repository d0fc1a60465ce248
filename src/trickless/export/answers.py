"""What a fitted model answers, from its decision values."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import trickless.export.namespace as xp
from trickless._errors import InvalidValueError
from trickless._learners.classifier import Classifier
from trickless._learners.gaussian_process import process_of
from trickless._learners.intervals import choices_of, counts_of_left_out, how_far, how_unlikely
from trickless._learners.kitchen_sinks import KitchenSinks
from trickless._learners.left_out_intervals import has_errors_only
from trickless._learners.random_features import RandomFeatures
from trickless._learners.refusals import check_method
from trickless._learners.regressor import Regressor
from trickless._solvers.least_squares.left_out_intervals import JackknifePlus, NewRows
from trickless._targets.labels import LabelSets
from trickless.conformal.models import within_range
from trickless.conformal.sets import scores_of_classes
from trickless.conformal.split import SplitConformal
from trickless.export.decisions import columns_of, decisions, features
from trickless.export.tensors import Tensor

#: Scores that differ by at most so many units of rounding are ties.
TIES = 64


def answers_of(model: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the answers that a kind of model has, and the names of those that are usual.

    They are functions of a model, its validated rows, its decision values, and a confidence.
    """
    if isinstance(model, Regressor):
        std = {"std": _std} if isinstance(model, KitchenSinks) else {}
        return {"prediction": _prediction, **std, "interval": _interval}, ("prediction",)
    if isinstance(model, RandomFeatures):
        return {"features": lambda model, X, f, confidence: features(model, X)}, ("features",)
    if not isinstance(model, Classifier):
        raise InvalidValueError(
            f"model={type(model).__name__}(...) is not a model of trickless",
            "a fitted learner or RandomFeatures, after one StandardScaler at most; for "
            "another pipeline, import trickless.export.pipelines and skl2onnx.to_onnx(pipeline, X)",
        )
    known: dict[str, Any] = {"label": _label}
    if has_link := hasattr(model, "predict_proba"):
        known["probabilities"] = lambda model, X, f, confidence: model._probabilities(f)
    known |= {"decision": lambda model, X, f, confidence: f[:, 0] if f.shape[1] == 1 else f}
    return known | {"set": _set}, ("label", "probabilities" if has_link else "decision")


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
        known |= {"set": partial(_set, far=far), "interval": partial(_around, far=far)}
    f: Any = None
    if not isinstance(model, RandomFeatures):
        f = xp.repeated(model._targets_.shown(decisions(model, X)), X)
        f.graph.limits[f.name] = np.finfo(float).max, False
    answers = {name: xp.repeated(known[name](model, X, f, confidence), X) for name in names}
    for answer in (answers[name] for name in ("features", "std") if name in answers):
        assert answer.graph is not None
        answer.graph.limits[answer.name] = float(np.finfo(answer.dtype).max), False
    return answers


def _label(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    if isinstance(model._targets_, LabelSets):
        return xp.astype(f > 0, np.int64)
    if len(model.classes_) == 1:
        return xp.zeros((1,), dtype=xp.int32)
    return xp.astype(f[:, 0] > 0, xp.int32) if f.shape[1] == 1 else xp.argmax(f, axis=1)


def _set(model: Any, X: Tensor, f: Any, confidence: float, far: Any = None) -> Any:
    """Return which classes are in prediction sets, as ``predict_set``.

    The bound is the score of a row. Rounding must not move other rows of the same score beyond it.
    """
    far = how_unlikely(model, confidence)[0] if far is None else far
    return scores_of_classes(model._likely(f)) <= far + TIES * np.finfo(model._rows_.dtype).eps


def _prediction(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    return model._targets_.shaped(model._targets_.values(f))


def _std(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    """Return standard deviations of new targets, in the shape of the predictions."""
    with process_of(model, "outputs='std'") as process:
        mean, n = process.moments.z_mean, float(process.moments.n)
        Z, parts = _activations(process, X), {}
        for posterior, same in process.posteriors():
            inverse = posterior.along(mean + np.eye(len(mean)))
            square = xp.sum(((Z - mean) @ inverse) ** 2, axis=1) + process.moments.n_constants
            for output in np.flatnonzero(same).tolist():
                parts[output] = square * (process.noise[output] / n)
    variance = xp.stack([parts[output] for output in sorted(parts)], axis=1)
    return model._targets_.shaped(np.sqrt(variance + process.noise_of_new))


def _activations(solved: Any, X: Tensor) -> Tensor:
    """Return the activations of a solver's neurons in double precision, (n_rows, n_columns)."""
    stream = solved.stream
    return xp.astype(columns_of(stream.neurons, stream, solved.n_neurons, X), xp.float64)


def _interval(model: Any, X: Tensor, f: Any, confidence: float) -> Tensor:
    """Return intervals as ``predict_interval`` does, (n_rows, 2) or (n_rows, n_outputs, 2)."""
    if isinstance(model, KitchenSinks):
        check_method(model, "outputs='interval'")
    if not isinstance(model, KitchenSinks) or has_errors_only(model):
        return model._targets_.ends(f, how_far(model, confidence))
    sums, problem = model._sums_, model._problem()
    rows, Z, parts = sums.left_out(problem), _activations(sums, X), {}
    rule = JackknifePlus(confidence, counts_of_left_out(model, confidence), choices_of(model))
    with sums._dependent_columns(problem):
        for influence, same in sums.influences(problem, rows.share):
            of_old: Any = _affine(influence, Z)
            for output in same.tolist():
                new = NewRows(f[:, output], of_old, np.empty(0))
                parts[output] = rule(new, rows.of_output(output))
    return model._targets_.in_units(xp.stack([parts[j] for j in sorted(parts)], axis=1))


def _affine(influence: Any, Z: Tensor) -> Tensor:
    """Return how much rows count at new ones, which is an affine function of activations."""
    mean = influence.mean
    at_mean, *beside = influence(np.vstack([mean, mean + np.eye(len(mean))]))[0]
    return (Z - mean) @ (np.stack(beside) - at_mean) + at_mean


def _around(model: Any, X: Tensor, f: Tensor, confidence: float, far: np.ndarray) -> Tensor:
    """Return intervals within a distance of predictions, in the units of the targets."""
    mean = model._targets_.values(f)
    ends = model._targets_.shaped(xp.stack([mean - far, mean + far], axis=-1))
    return within_range(model, ends)
