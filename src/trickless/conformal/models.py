"""What conformal prediction asks of any model, and of the targets that it is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from trickless._arrays.places import to_host
from trickless._errors import InvalidValueError
from trickless._rows.given import as_targets, targets_of

#: Losses with a log link: what names a loss, an objective or a class of any library.
_LOG_LINKS = "poisson", "gamma", "tweedie"


def targets_beside(wrapper: Any, X: Any, y: Any, numeric: bool = True) -> np.ndarray:
    """Return the targets or labels of rows, read as learners of this package read them."""
    owner, n_rows = type(wrapper).__name__, _num_samples(X)
    given = as_targets(owner, to_host(y), numeric)
    if given is None or len(given) != n_rows:
        what = "is None" if given is None else f"has the shape {given.shape}"
        raise InvalidValueError(
            f"{owner}: y {what}, but X has {n_rows} rows", "a target or label for each row of X"
        )
    return np.asarray(targets_of(owner, wrapper, given, given, numeric))


def as_predicted(predictions: Any) -> np.ndarray:
    """Return predictions of any model as float64."""
    return np.asarray(to_host(predictions), dtype=np.float64)


def inner(model: Any) -> Any:
    """Return the model that predicts, inside of pipelines and of scikit-learn's FrozenEstimator."""
    while isinstance(model, Pipeline | FrozenEstimator):
        model = model.estimator if isinstance(model, FrozenEstimator) else model[-1]
    return model


def within_range(model: Any, ends: Any) -> Any:
    """Return intervals without what a target cannot be: below 0, if the loss has a log link."""
    model = inner(model)
    names = [type(model).__name__, *(getattr(model, name, "") for name in ("loss", "objective"))]
    has_link = any(link in str(name).lower() for link in _LOG_LINKS for name in names)
    is_normal = getattr(model, "power", 1) == 0  # of TweedieRegressor
    return np.maximum(ends, 0.0) if has_link and not is_normal else ends
