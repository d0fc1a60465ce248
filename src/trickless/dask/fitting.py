"""``fit``, and what it does for every learner."""

from __future__ import annotations

from copy import copy, deepcopy
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import clone

import dask
from trickless.dask.pieces import Pieces, some_rows
from trickless.functions.stream import as_seed
from trickless.learners.old_tasks import Classification
from trickless.rules import check_parameters


@singledispatch
def fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
    """Fit a learner to Dask collections, as its own ``fit`` would to all their rows.

    The rows stay with the workers. With the same integer ``random_state`` and the same rows in the
    same order, the answer is that of the estimator's own ``fit`` up to rounding, with one
    exception: what neurons take from the data (a length scale that is not a number, cuts of stumps,
    categories of a table; also the choice of a ``search``) they take from 16,384 rows, drawn from
    at most 16 chunks, where there are more rows. ``Gaussian(length_scale=5.0)`` takes nothing. In
    single precision ``preconditioner="block"`` amplifies rounding to about 1e-2, however a batch is
    split.

    Parameters
    ----------
    estimator : estimator of Kitchen Sinks or Doubly Stochastic Gradients
        The learner. Kitchen Sinks has to be one that sums statistics: the squared loss, the direct
        solver, and ``alpha`` a number or "auto". Doubly Stochastic needs a ``distributed.Client``
        and rows that fit into the memory of its workers.
    X : Dask array or data frame of shape (n_rows, n_features)
        Cut into chunks of rows, at least one for each thread of each worker.
    y : Dask array, series or data frame of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        Cut at the same rows.
    sample_weight : Dask array or series of shape (n_rows,), optional
        Weights of the rows.
    classes : array of shape (n_classes,), optional
        The labels of a classifier. Kitchen Sinks passes over y to find them if they are not given.

    Returns
    -------
    estimator
        Fitted: an ordinary estimator, which needs Dask no more.
    """
    raise TypeError(
        f"trickless.dask.fit: {type(estimator).__name__} cannot be fitted to Dask collections. "
        "Remedy: a KitchenSinks or DoublyStochastic estimator."
    )


def begun(
    estimator: Any, rows: Pieces, classes: Any, class_weight: Any, again: bool = False
) -> Any:
    """A copy of the estimator, begun on some of the rows as by the first batch of a stream.

    A copy that goes on from what the estimator has learned only looks at the rows.
    """
    seed = estimator.seed_ if again else as_seed(estimator.random_state)
    model = deepcopy(estimator) if again else clone(estimator).set_params(random_state=seed)
    if class_weight is not None:
        model.set_params(class_weight=class_weight)
    check_parameters(model, model._rules)
    X, y, weight = some_rows(rows, seed)
    model._receive(X, y, weight, first=not again, classes=None if again else classes)
    return model


def took_over(estimator: Any, model: Any) -> Any:
    """The estimator with all that a copy of it has learned, and its own parameters."""
    parameters = {name: getattr(estimator, name) for name in estimator.get_params(deep=False)}
    estimator.__dict__.clear()
    estimator.__dict__.update(model.__dict__ | parameters)
    return estimator


def labels(estimator: Any, rows: Pieces, classes: Any) -> tuple[Any, Any]:
    """Labels of a classifier and the weights of its classes, from a pass over y where needed."""
    if not isinstance(estimator, Classification):
        return None, None
    weights = estimator.class_weight
    balanced = isinstance(weights, str) and weights == "balanced"
    if classes is not None and not balanced:
        return classes, weights
    counted = [
        dask.delayed(_count)(y, weight) for y, weight in zip(rows.y, rows.weight, strict=True)
    ]
    values, counts = map(np.concatenate, zip(*dask.compute(*counted), strict=True))
    found, where = np.unique(values, return_inverse=True)
    if balanced:
        total = np.bincount(where, counts)
        shares = total.sum() / (len(found) * total)
        weights = dict(zip(found.tolist(), shares.tolist(), strict=True))
    return found if classes is None else classes, weights


def _count(y: Any, weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows that have a weight, and how many of them have each."""
    y = np.asarray(y)
    return np.unique(y if weight is None else y[np.asarray(weight) > 0], return_counts=True)


def with_attributes(model: Any, **attributes: Any) -> Any:
    """A copy of a model that shares all it has but these attributes."""
    changed = copy(model)
    changed.__dict__.update(attributes)
    return changed
