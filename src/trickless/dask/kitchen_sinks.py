"""Kitchen Sinks: statistics of all pieces, summed on each worker, then over the workers."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import dask
from dask.sizeof import sizeof

from trickless.arrays.places import HOST
from trickless.arrays.threads import linear_algebra
from trickless.dask.fitting import check_remembers, fit, labels
from trickless.dask.pieces import (
    Pieces,
    at_home,
    by_thread,
    current_client,
    pieces,
    some_rows,
    tree,
)
from trickless.errors import InvalidValueError
from trickless.functions.stream import as_seed
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.neuron_learner import try_neurons
from trickless.learners.streams import check_streamable
from trickless.learners.training import training_copy
from trickless.rows.weights import check_weights
from trickless.solvers.least_squares.statistics import Statistics


# Dask uses sizes of inputs to decide where tasks run.
@sizeof.register(Statistics)
def n_bytes(statistics: Statistics) -> int:
    """Bytes of the sums, or of rows kept instead of sums."""
    return statistics.nbytes


@fit.register(KitchenSinksRegressor)
@fit.register(KitchenSinksClassifier)
def fit_kitchen_sinks(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
) -> Any:
    """Sum the statistics of all pieces in a tree, and solve."""
    check_remembers(estimator)
    check_streamable(estimator)
    owner = type(estimator).__name__
    if estimator.half_life is not None:
        raise InvalidValueError(
            f"{owner}: half_life={estimator.half_life!r} needs rows in their order, but pieces are "
            "summed in any order",
            "half_life=None; or partial_fit with one chunk after the other",
        )
    rows = pieces(owner, X, y, sample_weight)
    classes, class_weight = labels(estimator, rows, classes)
    seed = as_seed(estimator.random_state)
    with training_copy(estimator, type(estimator)._is_model) as new:
        if class_weight is not None:
            new.class_weight = class_weight  # numbers instead of "balanced"
        batch = new._receive_first(*some_rows(owner, rows, seed), classes, seed=seed, stream=True)
        new._begin_sums(*batch)
        new.sums_.take(_summed(new, rows))
        new.sums_.function(new._problem())
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
    total = model.sums_.no_rows() if before is None else deepcopy(before)
    weight = check_weights(type(model).__name__, weight, X.shape[0], may_be_empty=True)
    if weight is None or weight.any():
        with linear_algebra(model.n_jobs):
            batch = model._receive_later(X, y, weight)
            if len(batch[1]):
                try_neurons(model, batch[0], HOST)
                total.make_room(len(batch[1]))
                total.merge(model.sums_.summed(*batch, model._problem()))
    return total


def merged(parts: list[Statistics]) -> Statistics:
    """Return the sum of several statistics. They stay unchanged."""
    total = deepcopy(parts[0])
    for part in parts[1:]:
        total.merge(part)
    return total
