"""Kitchen Sinks: statistics of every piece, added up where they are and then over the workers."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any

import numpy as np
from dask.sizeof import sizeof

import dask
from trickless.arrays.threads import linear_algebra
from trickless.dask.fitting import begun, fit, labels, took_over
from trickless.dask.pieces import Pieces, at_home, by_thread, current_client, pieces, tree
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.solvers.statistics import Statistics


# Dask places tasks by the sizes of what they need.
@sizeof.register(Statistics)
def n_bytes(statistics: Statistics) -> int:
    """Bytes of the sums, or of rows in their place."""
    return statistics.nbytes


@fit.register(KitchenSinksRegressor)
@fit.register(KitchenSinksClassifier)
def fit_kitchen_sinks(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
) -> Any:
    """Sum the statistics of all pieces in a tree, and solve."""
    estimator._check_statistics()
    rows = pieces(type(estimator).__name__, X, y, sample_weight)
    model = begun(estimator, rows, *labels(estimator, rows, classes))
    model.statistics_ = _summed(model, rows)
    _ = model.network_
    return took_over(estimator, model)


def _summed(model: Any, rows: Pieces) -> Statistics:
    """Statistics of all rows: those of each thread in a chain, and these in a tree."""
    client, chains = current_client(), []
    add, join = dask.delayed(with_rows), dask.delayed(merged)
    for worker, own in by_thread(rows.X):
        shared, total = dask.delayed(model, pure=False), None
        for i in own:
            total = add(shared, total, rows.X[i], rows.y[i], rows.weight[i])
        chains.append(total if client is None else client.compute(total, **at_home(worker)))
    return join([tree(chains, join)]).compute()


def with_rows(model: Any, before: Statistics | None, X: Any, y: Any, weight: Any) -> Statistics:
    """Sums over the rows of a piece and those before. Tasks share all of these: none changes."""
    total = model._no_rows(model._origin) if before is None else deepcopy(before)
    if weight is None or np.any(weight):
        model = copy(model)
        model.statistics_ = total
        with linear_algebra(model.n_jobs):
            model._learn(*model._receive(X, y, weight, first=False))
    return total


def merged(parts: list[Statistics]) -> Statistics:
    """The sum of several statistics, none of which is changed."""
    total = deepcopy(parts[0])
    for part in parts[1:]:
        total.merge(part)
    return total
