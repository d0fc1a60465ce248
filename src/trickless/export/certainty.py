"""Standard deviations of predictions, and intervals of new targets."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import linalg

import trickless.export.namespace as xp
from trickless.arrays.places import to_host
from trickless.conformal.quantiles import rank_of_bound, weight_of_bound
from trickless.errors import InvalidValueError
from trickless.export.decisions import columns_of
from trickless.export.inputs import owner_of
from trickless.export.tensors import Tensor
from trickless.learners.gaussian_process import process_of
from trickless.learners.intervals import choices_of, counts_of_left_out, how_far
from trickless.learners.kitchen_sinks import KitchenSinks, KitchenSinksRegressor
from trickless.learners.left_out_intervals import has_errors_only
from trickless.learners.refusals import check_method
from trickless.learners.regressor import Regressor
from trickless.targets.means import Means
from trickless.targets.targets import Numbers, Quantiles


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


@singledispatch
def interval(model: Any, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    """Return intervals as ``predict_interval`` does, (n_rows, 2) or (n_rows, n_outputs, 2)."""
    raise NotImplementedError


@interval.register
def _(model: Regressor, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    far = how_far(model, confidence)
    return model.targets_.shaped(_ends(model.targets_, f, far))


def around(model: Regressor, X: Tensor, f: Tensor, confidence: float, far: np.ndarray) -> Tensor:
    """Return intervals within a distance of predictions, in the units of the targets."""
    mean = model.targets_.values(f)
    return model.targets_.shaped(xp.stack([mean - far, mean + far], axis=-1))


@interval.register
def _(model: KitchenSinksRegressor, X: Tensor, f: Tensor, confidence: float) -> Tensor:
    """Write jackknife+: quantiles of predictions without each row, plus and minus its error."""
    check_method(model, "outputs='interval'")
    if has_errors_only(model):
        return interval.dispatch(Regressor)(model, X, f, confidence)
    sums, problem = model.sums_, model._problem()
    rows, parts, order = sums.left_out(problem), [], []
    Z = _activations(sums, X)
    how = counts_of_left_out(model, confidence), confidence, choices_of(model)
    with sums._dependent_columns(problem):
        for influence, same in sums.influences(problem, rows.share):
            of_old = _affine(influence, Z)
            for output in same.tolist():
                errors = rows.targets[:, output] - rows.decisions[:, output]
                without = f[:, output : output + 1] - of_old * (rows.share * errors)
                far = abs(errors)
                ends = [-_upper(far - without, *how), _upper(far + without, *how)]  # eq. 1.7
                parts.append(xp.concat(ends, axis=1))
                order.append(output)
    ends = xp.take(xp.stack(parts, axis=1), np.argsort(order), axis=1)
    return model.targets_.shaped(ends)


def _affine(influence: Any, Z: Tensor) -> Tensor:
    """Return how much rows count at new ones, which is an affine function of activations."""
    mean = influence._mean if hasattr(influence, "_mean") else influence._posterior._moments.z_mean
    at_mean = influence(mean[None])[0]
    slopes = influence(mean + np.eye(len(mean)))[0] - at_mean
    return (Z - mean) @ slopes + at_mean


def _upper(scores: Tensor, weight: np.ndarray | None, confidence: float, choices: int) -> Tensor:
    """Return quantiles of the scores of each row, as ``upper_quantiles``: (n_rows, 1)."""
    n = scores.shape[1]
    if weight is None:
        k = rank_of_bound(n, confidence, choices)
        assert k is not None  # there are enough rows, as was checked
        return xp.sort(scores, axis=1)[:, k - 1 : k]
    wanted = weight_of_bound(weight, confidence, choices)
    assert wanted is not None
    ordered, where = xp.sorted_with_places(scores)
    below = xp.cumulative_sum(xp.take(xp.asarray(weight), where), axis=1) < wanted
    first = xp.minimum(xp.sum(below, axis=1, keepdims=True), n - 1)
    return xp.taken_along(ordered, first)


@singledispatch
def _ends(targets: Any, f: Tensor, far: np.ndarray) -> Tensor:
    """Return intervals within a distance of predictions, (n_rows, n_outputs, 2)."""
    raise NotImplementedError


@_ends.register
def _(targets: Numbers, f: Tensor, far: np.ndarray) -> Tensor:
    return xp.stack([targets.values(f - far), targets.values(f + far)], axis=-1)


@_ends.register
def _(targets: Means, f: Tensor, far: np.ndarray) -> Tensor:
    mean = targets.values(f)
    away = far * xp.maximum(mean, float(np.finfo(float).tiny)) ** (targets.power / 2)
    return xp.stack([xp.maximum(mean - away, 0.0), mean + away], axis=-1)


@_ends.register
def _(targets: Quantiles, f: Tensor, far: np.ndarray) -> Tensor:
    lower, upper = xp.min(f, axis=1, keepdims=True), xp.max(f, axis=1, keepdims=True)
    ends = lower - far, upper + far
    crossed, middle = ends[0] > ends[1], (lower + upper) / 2.0
    return xp.concat([xp.where(crossed, middle, end) for end in ends], axis=1)
