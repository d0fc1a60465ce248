"""Standard deviations of predictions, and intervals of new targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

import trickless.export.namespace as xp
from trickless.arrays.places import to_host
from trickless.conformal.models import within_range
from trickless.errors import InvalidValueError
from trickless.export.decisions import columns_of
from trickless.export.inputs import owner_of
from trickless.export.tensors import Tensor
from trickless.learners.gaussian_process import process_of
from trickless.learners.intervals import choices_of, counts_of_left_out, how_far
from trickless.learners.kitchen_sinks import KitchenSinks
from trickless.learners.left_out_intervals import has_errors_only
from trickless.learners.refusals import check_method
from trickless.learners.regressor import Regressor
from trickless.solvers.least_squares.left_out_intervals import JackknifePlus, NewRows


def deviations(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    """Return standard deviations of new targets, in the shape of the predictions."""
    if not isinstance(model, KitchenSinks):
        raise InvalidValueError(
            f"{owner_of(X)}: outputs has 'std', but a {type(model).__name__} has no standard "
            "deviations",
            "KitchenSinksRegressor(error_bars=True), or outputs=('prediction', 'interval')",
        )
    with process_of(model, "outputs='std'") as process:
        moments, parts, order = process.moments, [], []
        Z = _activations(process, X)
        for posterior, same in process.posteriors():
            factor = to_host(posterior.factor)
            inverse = linalg.solve_triangular(factor, np.eye(len(factor)), lower=True)
            along = (Z - moments.z_mean) @ inverse.T
            squares = xp.sum(along * along, axis=1, keepdims=True) + float(moments.n_constants)
            parts.append(squares / float(moments.n) * process.noise[same])
            order += np.flatnonzero(same).tolist()
    variance = xp.take(xp.concat(parts, axis=1), np.argsort(order), axis=1)
    return model.targets_.shaped(xp.sqrt(variance + process.noise_of_new))


def _activations(solved: Any, X: Tensor) -> Tensor:
    """Return the activations of a solver's neurons in double precision, (n_rows, n_columns)."""
    stream = solved.stream
    return xp.astype(columns_of(stream.neurons, stream, solved.n_neurons, X), xp.float64)


def interval(model: Regressor, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    """Return intervals as ``predict_interval`` does, (n_rows, 2) or (n_rows, n_outputs, 2)."""
    if isinstance(model, KitchenSinks):
        check_method(model, "outputs='interval'")
        if not has_errors_only(model):
            return _by_leaving_out(model, X, f, confidence)
    return model.targets_.ends(f, how_far(model, confidence))


def around(model: Regressor, X: Tensor, f: Tensor, confidence: float, far: np.ndarray) -> Tensor:
    """Return intervals within a distance of predictions, in the units of the targets."""
    mean = model.targets_.values(f)
    ends = model.targets_.shaped(xp.stack([mean - far, mean + far], axis=-1))
    return within_range(model, ends)


def _by_leaving_out(model: Any, X: Tensor, f: Any, confidence: float) -> Tensor:
    """Return intervals as ``solver.intervals`` does, for all rows together."""
    sums, problem = model.sums_, model._problem()
    rows, parts, order = sums.left_out(problem), [], []
    Z = _activations(sums, X)
    rule = JackknifePlus(confidence, counts_of_left_out(model, confidence), choices_of(model))
    with sums._dependent_columns(problem):
        for influence, same in sums.influences(problem, rows.share):
            of_old: Any = _affine(influence, Z)
            for output in same.tolist():
                new = NewRows(f[:, output], of_old, np.empty(0))
                parts.append(rule(new, rows.of_output(output)))
                order.append(output)
    ends = xp.take(xp.stack(parts, axis=1), np.argsort(order), axis=1)
    return model.targets_.in_units(ends)


def _affine(influence: Any, Z: Tensor) -> Tensor:
    """Return how much rows count at new ones, which is an affine function of activations."""
    mean = influence._mean if hasattr(influence, "_mean") else influence._posterior._moments.z_mean
    at_mean = influence(mean[None])[0]
    slopes = influence(mean + np.eye(len(mean)))[0] - at_mean
    return (Z - mean) @ slopes + at_mean
