"""``fit``, and what it needs for every learner."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import dask
import numpy as np

from trickless.dask.pieces import Pieces
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.learners.classifier import Classifier
from trickless.rows.given import as_targets
from trickless.rows.weights import check_weights
from trickless.targets.labels import balanced, distinct, one_form, positions, together


@singledispatch
def fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
    """Fit a learner to Dask collections, like its own ``fit`` on all their rows.

    The rows stay on the workers. Take the same rows in the same order, and the same integer
    ``random_state``. Then the result equals the estimator's own ``fit``, except for rounding and
    the rows that neurons are fitted to:

    - If there are more than 16,384 rows, neurons are fitted to 16,384 of them, drawn from at most
      16 chunks. This affects length scales that are not numbers, cuts of stumps, categories of a
      table, and the choice of a ``search``. It does not affect ``Gaussian(length_scale=5.0)``, or
      the trees of Doubly Stochastic.
    - Trees that take Newton steps are equal bit for bit. In single precision,
      ``preconditioner="block"`` amplifies rounding to about 1e-2.

    Parameters
    ----------
    estimator : estimator of Kitchen Sinks or Doubly Stochastic Gradients
        The learner. Kitchen Sinks needs the squared loss, the direct solver, and an ``alpha`` that
        is a number or "auto". Doubly Stochastic needs a ``distributed.Client``, and rows that fit
        into the memory of its workers.
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
    raise InvalidTypeError(
        f"trickless.dask.fit: {type(estimator).__name__} cannot be fitted to Dask collections",
        "use a KitchenSinks or DoublyStochastic estimator",
    )


def check_remembers(estimator: Any) -> None:
    """Raise an error for a half-life, since chunks are learned in any order."""
    if getattr(estimator, "half_life", None) is not None:
        raise InvalidValueError(
            f"trickless.dask.fit: half_life={estimator.half_life!r} does not go with Dask, since "
            "chunks of rows are learned in any order",
            "sample_weight=0.5 ** (age / half_life), where age is how old each row is",
        )


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
