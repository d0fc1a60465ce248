"""Learners of quantiles: the parameter ``quantile``, and scores of what they predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._arrays.places import to_host
from trickless._rules import Rule, anything, either, fraction
from trickless._solvers.named_losses import QUANTILE_LOSSES


def _is_increasing(value: Any) -> bool:
    """Return whether a value is a sequence of numbers that increase within (0, 1)."""
    if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) != 1 or not len(value):
        return False
    levels = np.asarray(value)
    inside = levels.dtype.kind == "f" and bool((levels > 0).all() and (levels < 1).all())
    return inside and bool((np.diff(levels) > 0).all())


#: The rule of the parameter.
QUANTILE: Rule = either(
    fraction("quantile=0.9, or quantile=[0.05, 0.5, 0.95] for several in one fit"),
    anything("an increasing sequence of such numbers", "", _is_increasing),
)


def quantiles_of(learner: Any) -> list[float] | None:
    """Return the quantiles of a learner of several, and otherwise None."""
    quantile = learner._value("quantile")
    return np.asarray(quantile, dtype=float).tolist() if np.ndim(quantile) > 0 else None


def levels_of(learner: Any) -> list[float] | None:
    """Return the quantiles of a learner of one or several, and None for other losses."""
    if learner._value("loss") != "quantile":
        return None
    return np.atleast_1d(np.asarray(learner._value("quantile"), dtype=float)).tolist()


def explained(learner: Any, y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return R², D² or the like of predictions, as the mean over outputs or quantiles."""
    from sklearn.metrics import d2_pinball_score  # late, since it takes a while to import

    if learner._value("loss") not in QUANTILE_LOSSES:
        return float(learner._targets_.score(y, predicted, sample_weight))
    y, predicted, weight = (
        None if v is None else to_host(v) for v in (y, predicted, sample_weight)
    )
    quantiles = np.atleast_1d(learner._loss(1).quantiles)
    if len(quantiles) == 1:
        return float(d2_pinball_score(y, predicted, sample_weight=weight, alpha=quantiles[0]))
    y = np.reshape(y, len(y))
    scores = [
        d2_pinball_score(y, each, sample_weight=weight, alpha=q)
        for q, each in zip(quantiles.tolist(), predicted.T, strict=True)
    ]
    return float(np.mean(scores))
