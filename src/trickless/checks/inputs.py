"""Checks of rows, targets, weights and classes."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.multiclass import check_classification_targets

_RESOLUTION_ROWS = 1000
#: Share of the different values of a column that rounding has to leave.
_DISTINCT = 0.9
#: Targets may be as large as this in double precision.
_LARGEST_TARGET = 1e100


def check_sparse(owner: str, neurons: Any, X: Any) -> None:
    """Refuse a sparse X where the neurons cannot take it."""
    if scipy.sparse.issparse(X) and not neurons.accepts_sparse:
        raise TypeError(
            f"{owner}: X is a sparse matrix of shape {X.shape}, but "
            f"neurons={type(neurons).__name__}() works on dense rows only. Remedy: pass "
            "X.toarray(), or choose neurons that take sparse rows, such as 'gaussian'."
        )


def check_class_weight(owner: str, class_weight: Any, classes: np.ndarray, stream: bool) -> None:
    """A weight for known classes only; "balanced" needs all rows at once."""
    if isinstance(class_weight, str) and stream:
        raise ValueError(
            f"{owner}: class_weight={class_weight!r} needs the shares of the classes in all rows, "
            "which partial_fit does not know. Remedy: pass the weights as a dictionary, or call "
            "fit."
        )
    named = [] if isinstance(class_weight, str) else list(class_weight)
    unknown = [label for label in named if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"{owner}: class_weight={class_weight!r} has weights for {unknown!r}, but the "
            f"classes are {classes.tolist()}. Remedy: use the labels that y holds as keys."
        )


def check_some_weight(owner: str, class_weight: Any, weight: np.ndarray) -> None:
    """Some row must count."""
    if not weight.any():
        raise ValueError(
            f"{owner}: class_weight={class_weight!r} gives every one of {len(weight)} rows the "
            "weight 0, so there is nothing to learn from. Remedy: a positive weight for one of the "
            "classes in y."
        )


def check_targets(owner: str, targets: np.ndarray, dtype: Any, name: str = "y") -> None:
    """Targets must be finite in the precision of the coefficients, and their squares summable."""
    largest = float(np.abs(targets).max(initial=0.0))
    if largest > min(1e-2 * float(np.finfo(dtype).max), _LARGEST_TARGET):
        raise ValueError(
            f"{owner}: {name} reaches {largest:g}, which is too large for dtype="
            f"{np.dtype(dtype).name!r}. Remedy: scale y, or dtype='float64' for up to "
            f"{_LARGEST_TARGET:g}."
        )


def distinct_labels(owner: str, source: str, labels: Any) -> np.ndarray:
    """Labels, each once, in order; they must have one."""
    if source == "classes":
        labels = _as_list(owner, labels)
    try:
        distinct = np.unique(labels)
        if len(distinct):
            check_classification_targets(labels)
        return distinct
    except TypeError as error:
        raise TypeError(
            f"{owner}: {source} holds labels that cannot be classes: {error}. Remedy: labels of "
            "one type, text or integers, and none that is missing."
        ) from error


def _as_list(owner: str, classes: Any) -> Any:
    """Labels as they are given: a sequence, or a set, or the keys of a dictionary."""
    if isinstance(classes, Set):
        classes = list(classes)
    if isinstance(classes, str | bytes) or not hasattr(classes, "__len__"):
        raise TypeError(
            f"{owner}: classes={classes!r}, but it must hold all labels. Remedy: a list of them, "
            "such as classes=[0, 1]."
        )
    array = np.asarray(classes)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(
            f"{owner}: classes={classes!r} holds NaN, which is no label. Remedy: leave it out."
        )
    return classes


def check_classes(owner: str, source: str, classes: np.ndarray) -> None:
    """A classifier needs two classes at least."""
    if len(classes) < 2:
        held = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no classes"
        raise ValueError(
            f"{owner}: {source} holds {held}, and a classifier needs at least two classes. Remedy: "
            "check the split (rows of weight 0 do not count), or pass classes= with all labels to "
            "partial_fit."
        )


def check_same_classes(owner: str, classes: Any, fixed: np.ndarray) -> None:
    """The classes given with a later batch must be those of the first."""
    if classes is None:
        return
    classes = distinct_labels(owner, "classes", classes)
    if not np.array_equal(classes, fixed):
        raise ValueError(
            f"{owner}: classes={classes.tolist()!r}, but the first batch fixed the classes "
            f"{fixed.tolist()}. Remedy: pass all labels in the first call of partial_fit, or leave "
            "classes out of later ones."
        )


def check_known_labels(owner: str, labels: np.ndarray, classes: np.ndarray) -> None:
    """Labels of a later batch must be among the classes fixed by the first."""
    unknown = np.setdiff1d(labels, classes)
    if unknown.size:
        raise ValueError(
            f"{owner}: y holds the label(s) {unknown.tolist()}, which are not among the classes "
            f"{classes.tolist()} fixed by the first batch. Remedy: pass classes= with all labels "
            "to the first call of partial_fit."
        )


def check_range(owner: str, targets: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Targets must lie in the range that is mapped to [-1, 1]."""
    outside = (targets < low) | (targets > high)
    if outside.any():
        row, output = np.argwhere(outside)[0]
        raise ValueError(
            f"{owner}: y holds {targets[row, output]:g} (row {row}), outside of y_range="
            f"({low[output]:g}, {high[output]:g}), which is mapped to the [-1, 1] that the online "
            "guarantee assumes. Remedy: a new model with y_range=(low, high) wide enough for every "
            "batch from the first on; 'auto' takes it from the first."
        )
