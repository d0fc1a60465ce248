"""``fit``: statistics of all pieces, summed on each worker, then over the workers."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import dask
import numpy as np
from dask.sizeof import sizeof

from trickless._arrays.places import HOST
from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._functions.stream import as_seed
from trickless._learners.classifier import Classifier
from trickless._learners.kitchen_sinks import KitchenSinks
from trickless._learners.neuron_learner import try_neurons
from trickless._learners.refusals import check_method
from trickless._learners.training_copy import training_copy
from trickless._rows.given import as_targets
from trickless._rows.weights import check_weights
from trickless._solvers.least_squares.statistics import Statistics
from trickless._targets.labels import balanced, distinct, one_form, positions, together
from trickless.dask.pieces import (
    Pieces,
    at_home,
    by_thread,
    current_client,
    pieces,
    some_rows,
    tree,
)


# Dask uses sizes of inputs to decide where tasks run.
@sizeof.register(Statistics)
def n_bytes(statistics: Statistics) -> int:
    """Bytes of the sums, or of rows kept instead of sums."""
    return statistics.nbytes


def fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
    """Fit Kitchen Sinks to Dask collections, like its own ``fit`` on all their rows.

    The rows stay on the workers. Take the same rows in the same order, and the same integer
    ``random_state``. Then the result equals the estimator's own ``fit``, except for rounding and
    the rows that neurons are fitted to: if there are more than 16,384 rows, neurons are fitted to
    16,384 of them, drawn from at most 16 chunks. This affects length scales that are not numbers,
    cuts of stumps and trees, categories of a table, and the choice of a ``search``. It does not
    affect ``Gaussian(length_scale=5.0)``.

    Parameters
    ----------
    estimator : KitchenSinksRegressor or KitchenSinksClassifier
        The learner, with the squared loss, the direct solver, and an ``alpha`` that is a number or
        "auto".
    X : Dask array or data frame of shape (n_rows, n_features)
        The rows, in chunks. Use at least one chunk for each thread of each worker.
    y : Dask array, series or data frame of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        The targets, in chunks of the same rows.
    sample_weight : Dask array or series of shape (n_rows,), optional
        Weights of the rows.
    classes : array of shape (n_classes,), optional
        The class labels of a classifier. Default: found in a pass over y.

    Returns
    -------
    estimator
        The same estimator, fitted. It no longer needs Dask.
    """
    owner = type(estimator).__name__
    if not isinstance(estimator, KitchenSinks):
        raise InvalidTypeError(
            f"trickless.dask.fit: {owner} cannot be fitted to Dask collections",
            "use a KitchenSinks estimator, or partial_fit with one chunk after the other",
        )
    check_method(estimator, "trickless.dask.fit")
    rows = pieces(owner, X, y, sample_weight)
    classes, class_weight = labels(estimator, rows, classes)
    seed = as_seed(estimator.random_state)
    with training_copy(estimator, type(estimator)._is_model) as new:
        if class_weight is not None:
            new.class_weight = class_weight  # numbers instead of "balanced"
        batch = new._receive_first(*some_rows(owner, rows, seed), classes, seed=seed, stream=True)
        new._begin_sums(*batch)
        new._sums_.take(_summed(new, rows))
        new._sums_.function(new._problem())
        if class_weight is not None:
            new.class_weight = estimator.class_weight
    return estimator


def _summed(model: Any, rows: Pieces) -> Statistics:
    """Statistics of all rows, summed in a chain for each thread, then over threads in a tree."""
    client, chains = current_client(), []
    add, join = dask.delayed(with_rows), dask.delayed(merged)
    for worker, own in by_thread(rows.X):
        shared, total = dask.delayed(model, pure=False), None
        for i in own:
            total = add(shared, total, rows.X[i], rows.y[i], rows.weight[i])
        chains.append(total if client is None else client.compute(total, **at_home(worker)))
    return join([tree(chains, join)]).compute()


def with_rows(model: Any, before: Statistics | None, X: Any, y: Any, weight: Any) -> Statistics:
    """Sums over a piece and the pieces before it. Inputs stay unchanged, since tasks share them."""
    total = model._sums_.no_rows() if before is None else deepcopy(before)
    weight = check_weights(type(model).__name__, weight, X.shape[0], may_be_empty=True)
    if weight is None or weight.any():
        with linear_algebra(model.n_jobs):
            batch = model._receive_later(X, y, weight)
            if len(batch[1]):
                try_neurons(model, batch[0], HOST)
                total.make_room(len(batch[1]))
                total.merge(model._sums_.summed(*batch, model._problem()))
    return total


def merged(parts: list[Statistics]) -> Statistics:
    """Return the sum of several statistics. They stay unchanged."""
    total = deepcopy(parts[0])
    for part in parts[1:]:
        total.merge(part)
    return total


def labels(estimator: Any, rows: Pieces, classes: Any) -> tuple[Any, Any]:
    """Return the labels and class weights of a classifier, from a pass over y if needed."""
    if not isinstance(estimator, Classifier):
        return None, None
    weights, owner = estimator.class_weight, type(estimator).__name__
    by_shares = isinstance(weights, str) and weights == "balanced"
    if classes is not None and not by_shares:
        return classes, weights
    counted = [
        dask.delayed(_count)(owner, y, weight)
        for y, weight in zip(rows.y, rows.weight, strict=True)
    ]
    labels, totals = zip(*dask.compute(*counted), strict=True)
    values, counts = together(labels), np.concatenate(totals)
    found = one_form(np.unique(values))
    if by_shares:
        each = balanced(np.bincount(positions(found, values), counts))
        weights = dict(zip(found.tolist(), each.tolist(), strict=True))
    return found if classes is None else classes, weights


def _count(owner: str, y: Any, weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows with a weight above 0, and the total weight of each."""
    y = as_targets(owner, y, numeric=False)
    if y.ndim > 1 and y.shape[1] > 1:
        raise InvalidValueError(
            f"{owner}: y has {y.shape[1]} columns, but trickless.dask.fit takes one label for each "
            "row",
            "use the estimator's own fit",
        )
    y = y.ravel()
    weight = check_weights(owner, weight, len(y), may_be_empty=True)
    if weight is not None:
        y, weight = y[weight > 0], weight[weight > 0]
    distinct(owner, "y", y)
    found, where = np.unique(y, return_inverse=True)
    return found, np.bincount(where, weight, minlength=len(found))
