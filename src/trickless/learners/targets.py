"""Targets: converting y to a matrix, and decision values to predictions.

Solvers receive a float64 matrix with a column for each output, and return decision values of the
same shape. Only this module knows the units of y, and the labels and their weights.
"""

from __future__ import annotations

from collections.abc import Set
from copy import copy
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.multiclass import check_classification_targets

from trickless.functions.network import Network
from trickless.learners.weights import check_range
from trickless.rules import with_remedies

#: The largest target in double precision, and the least by which targets may differ in it: sums of
#: their squares neither overflow nor vanish.
_LARGEST, _LEAST = 1e100, 1e-100
_BALANCE = "weights of classes of about 1, such as class_weight={'rare': 5.0}"


class Numbers:
    """Targets of a regressor: numbers, one column or several, as in the first batch.

    They must be neither too large nor too small for ``dtype``, the precision of the coefficients.

    Attributes
    ----------
    first : array of shape (n_outputs,) or None
        The targets of the first row.
    varies : array of bool of shape (n_outputs,)
        Which outputs had a target that differs enough from the first. If one has, targets that
        differ by less are as good as equal.
    """

    first: np.ndarray | None = None
    varies: Any = False

    def __init__(self, owner: str, y: np.ndarray, dtype: Any) -> None:
        self.owner = owner
        self.dtype = np.dtype(dtype)
        self.is_vector = y.ndim == 1
        self.n_outputs = 1 if self.is_vector else y.shape[1]

    def matrix(self, y: np.ndarray) -> np.ndarray:
        """Targets as a matrix, shape (n_rows, n_outputs)."""
        with with_remedies(self.owner):
            targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        _check_size(self.owner, targets, self.dtype)
        if targets.shape[1] != self.n_outputs:
            raise ValueError(
                f"{self.owner}: y has {targets.shape[1]} outputs, but the first batch had "
                f"{self.n_outputs}. Remedy: pass the same columns in every batch."
            )
        self.after(targets)
        return targets

    def after(self, targets: np.ndarray, others_vary: Any = False) -> Numbers:
        """The same, after a batch of targets has been seen: an error if all differ by too little.

        ``others_vary`` tells which outputs had targets in other batches that differ enough.
        """
        first = targets[0].copy() if self.first is None else self.first
        differences = np.abs(targets - first).max(axis=0)
        varies = self.varies | others_vary | (differences >= _least_difference(self.dtype))
        _check_differences(self.owner, np.where(varies, 0.0, differences), self.dtype)
        if self.first is not None and np.array_equal(varies, self.varies):
            return self
        new = copy(self)
        new.first, new.varies = first, varies
        return new

    def merged(self, other: Numbers) -> Numbers:
        """The same, after the targets of another model have been seen as well."""
        return self if other.first is None else self.after(other.first[None], other.varies)

    def intercept(self, targets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """The constant that a function of these targets begins with: their mean, (n_outputs,)."""
        return np.average(targets, axis=0, weights=weight)

    def values(self, decisions: Any) -> Any:
        """Decision values in the units of y, which are the same."""
        return decisions

    def network(self, network: Network) -> Network:
        """A network of decision values in the units of y: the same."""
        return network

    def shaped(self, values: Any) -> Any:
        """Values of all outputs, in the shape that y had."""
        return values[:, 0] if self.is_vector else values

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Squared error of each row, summed over the outputs."""
        return ((decisions - targets) ** 2).sum(axis=1)

    def score(self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> float:
        """Coefficient of determination, R²."""
        return float(sklearn.metrics.r2_score(targets, decisions, sample_weight=weight))


class Range(Numbers):
    """Targets of an online regressor, mapped to [-1, 1] from a range that contains all of them.

    ``y_range`` "auto" takes each output's range from the first batch.
    """

    def __init__(self, owner: str, y: np.ndarray, dtype: Any, y_range: Any) -> None:
        super().__init__(owner, y, dtype)
        if isinstance(y_range, str):
            targets = super().matrix(y)
            self.low, self.high = targets.min(axis=0), targets.max(axis=0)
        else:
            self.low, self.high = (np.full(self.n_outputs, float(end)) for end in y_range)
        _check_size(owner, np.stack([self.low, self.high]), self.dtype, "y_range")
        _check_differences(owner, self.high - self.low, self.dtype, "y_range")

    @property
    def middle(self) -> np.ndarray:
        """Middle of the range of each output."""
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> np.ndarray:
        """Half the width of each output's range; 1 if all its targets are the same."""
        return np.where(self.high > self.low, (self.high - self.low) / 2, 1.0)

    def after(self, targets: np.ndarray, others_vary: Any = False) -> Range:
        """The same: it is the width of the range that counts, which is checked at first."""
        return self

    def matrix(self, y: np.ndarray) -> np.ndarray:
        """Targets as a matrix, mapped to [-1, 1]."""
        targets = super().matrix(y)
        outside = (targets < self.low) | (targets > self.high)
        if outside.any():
            row, output = np.argwhere(outside)[0]
            raise ValueError(
                f"{self.owner}: y holds {targets[row, output]:g} (row {row}), outside of y_range="
                f"({self.low[output]:g}, {self.high[output]:g}), which is mapped to the [-1, 1] "
                "that the online guarantee assumes. Remedy: a new model with y_range=(low, high) "
                "wide enough for every batch from the first on; 'auto' takes it from the first."
            )
        return (targets - self.middle) / self.half_width

    def values(self, decisions: Any) -> Any:
        """Decision values in the units of y."""
        return decisions * self.half_width + self.middle

    def differences(self, decisions: Any) -> Any:
        """Differences of decision values in the units of y."""
        return decisions * self.half_width

    def tolerance(self, differences: Any) -> Any:
        """Differences in the units of y as those of decision values."""
        return differences / self.half_width

    def network(self, network: Network) -> Network:
        """A network of decision values in the units of y."""
        coef = (network.coef * self.half_width).astype(network.coef.dtype)
        return Network(network.neurons, network.source, coef, self.middle, network.n_jobs)


class Labels:
    """Targets of a classifier: ±1, in one column for two classes, else in one for each class.

    The classes are all labels that may occur; None takes those of the first batch.
    """

    def __init__(self, owner: str, y: np.ndarray, classes: Any = None) -> None:
        source = "y" if classes is None else "classes"
        labels = distinct(owner, source, y if classes is None else classes)
        if len(labels) < 2:
            held = f"only one class, {labels.tolist()[0]!r}" if len(labels) else "no classes"
            raise ValueError(
                f"{owner}: {source} holds {held}, and a classifier needs at least two classes. "
                "Remedy: check the split (rows of weight 0 do not count), or pass classes= with "
                "all labels to partial_fit."
            )
        self.owner = owner
        self.classes = labels

    @property
    def n_outputs(self) -> int:
        """Columns of targets and of decision values."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def check_classes(self, classes: Any) -> None:
        """Raise an error if classes are given and differ from those of the first batch."""
        if classes is None:
            return
        classes = distinct(self.owner, "classes", classes)
        if not np.array_equal(classes, self.classes):
            raise ValueError(
                f"{self.owner}: classes={classes.tolist()!r}, but the first batch fixed the "
                f"classes {self.classes.tolist()}. Remedy: pass all labels in the first call of "
                "partial_fit, or leave classes out of later ones."
            )

    def matrix(self, y: np.ndarray) -> np.ndarray:
        """Labels as ±1 targets, shape (n_rows, n_outputs)."""
        unknown = np.setdiff1d(distinct(self.owner, "y", y), self.classes)
        if unknown.size:
            raise ValueError(
                f"{self.owner}: y holds the label(s) {unknown.tolist()}, which are not among the "
                f"classes {self.classes.tolist()} fixed by the first batch. Remedy: pass classes= "
                "with all labels to the first call of partial_fit."
            )
        index = np.searchsorted(self.classes, y)
        if len(self.classes) == 2:
            return np.where(index == 1, 1.0, -1.0)[:, None]
        return np.where(index[:, None] == np.arange(len(self.classes)), 1.0, -1.0)

    def intercept(self, targets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """The constant that a function of these targets begins with: 0, (n_outputs,)."""
        return np.zeros(self.n_outputs)

    def weights(
        self, y: np.ndarray, weight: np.ndarray | None, class_weight: Any, stream: bool = False
    ) -> np.ndarray | None:
        """Weights of the rows times those of their classes.

        The rows of a stream do not show the shares of the classes, so "balanced" is refused there.
        """
        if class_weight is None:
            return weight
        self._check_class_weight(class_weight, stream)
        label = np.searchsorted(self.classes, y)
        if isinstance(class_weight, str):
            each = balanced(np.bincount(label, weight, minlength=len(self.classes)))
        else:
            each = np.array([float(class_weight.get(c, 1.0)) for c in self.classes.tolist()])
        by_class = each[label]
        check_range(self.owner, "class_weight", by_class, _BALANCE)
        if weight is not None:
            by_class = by_class * weight
            check_range(self.owner, "class_weight times sample_weight", by_class, _BALANCE)
        return by_class

    def _check_class_weight(self, class_weight: Any, stream: bool) -> None:
        if isinstance(class_weight, str) and stream:
            raise ValueError(
                f"{self.owner}: class_weight={class_weight!r} needs the shares of the classes in "
                "all rows, which partial_fit does not know. Remedy: pass the weights as a "
                "dictionary, or call fit."
            )
        named = [] if isinstance(class_weight, str) else list(class_weight)
        unknown = [label for label in named if label not in self.classes.tolist()]
        if unknown:
            raise ValueError(
                f"{self.owner}: class_weight={class_weight!r} has weights for {unknown!r}, but the "
                f"classes are {self.classes.tolist()}. Remedy: use the labels that y holds as keys."
            )

    def network(self, network: Network) -> Network:
        """A network of decision values, which have no units: the same."""
        return network

    def differences(self, decisions: Any) -> Any:
        """Differences of decision values, which have no other unit."""
        return decisions

    def labels(self, decisions: np.ndarray) -> np.ndarray:
        """The predicted label of each row."""
        binary = decisions.shape[1] == 1
        return self.classes[(decisions[:, 0] > 0).astype(int) if binary else decisions.argmax(1)]

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """1 for each misclassified row, else 0."""
        if targets.shape[1] == 1:
            return np.where((decisions > 0) == (targets > 0), 0.0, 1.0)[:, 0]
        return np.where(decisions.argmax(axis=1) == targets.argmax(axis=1), 0.0, 1.0)

    def score(self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> float:
        """Accuracy."""
        return 1 - float(np.average(self.error(decisions, targets), weights=weight))


class LabelSets:
    """Targets of a classifier of several labels a row: 1 where a row has the label, else 0.

    Each label is learned by itself, as ±1. The classes are the numbers of the columns of y.
    """

    def __init__(self, owner: str, y: np.ndarray) -> None:
        self.owner = owner
        self.classes = np.arange(y.shape[1])

    @property
    def n_outputs(self) -> int:
        """Columns of targets and of decision values."""
        return len(self.classes)

    def check_classes(self, classes: Any) -> None:
        """Raise an error if classes are given that are not the numbers of the columns."""
        if classes is not None and not np.array_equal(classes, self.classes):
            raise ValueError(
                f"{self.owner}: classes={classes!r}, but y has a column for each of "
                f"{self.n_outputs} labels. Remedy: leave classes out."
            )

    def matrix(self, y: np.ndarray) -> np.ndarray:
        """Labels as ±1 targets, shape (n_rows, n_labels)."""
        if y.ndim != 2 or y.shape[1] != self.n_outputs:
            raise ValueError(
                f"{self.owner}: y has the shape {y.shape}, but the first batch had a column for "
                f"each of {self.n_outputs} labels. Remedy: the same columns in every batch."
            )
        if not np.isin(y, (0, 1)).all():
            wrong = y[~np.isin(y, (0, 1))].tolist()[0]
            raise ValueError(
                f"{self.owner}: y has {y.shape[1]} columns and holds {wrong!r}, but with several "
                "labels a row it must be 1 where the row has the label, else 0. Remedy: "
                "sklearn.preprocessing.MultiLabelBinarizer, or MultiOutputClassifier for several "
                "outputs with classes of their own."
            )
        return 2.0 * y - 1

    def intercept(self, targets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """The constant that a function of these targets begins with: 0, (n_labels,)."""
        return np.zeros(self.n_outputs)

    def weights(
        self, y: np.ndarray, weight: np.ndarray | None, class_weight: Any, stream: bool = False
    ) -> np.ndarray | None:
        """Weights of the rows; classes have none, as a row may be of several."""
        if class_weight is not None:
            raise ValueError(
                f"{self.owner}: class_weight={class_weight!r} does not go with several labels a "
                "row. Remedy: sample_weight."
            )
        return weight

    def network(self, network: Network) -> Network:
        """A network of decision values, which have no units: the same."""
        return network

    def labels(self, decisions: np.ndarray) -> np.ndarray:
        """1 for each predicted label, else 0: shape (n_rows, n_labels)."""
        return (decisions > 0).astype(int)


def check_some_weight(owner: str, class_weight: Any, n_rows: int, n_left: int) -> None:
    """Raise an error if the weights of all rows are 0 by the weights of their classes."""
    if not n_left:
        raise ValueError(
            f"{owner}: class_weight={class_weight!r} gives every one of {n_rows} rows the weight "
            "0, so there is nothing to learn from. Remedy: a positive weight for one of the "
            "classes in y."
        )


def check_scale(owner: str, y: np.ndarray, dtype: np.dtype) -> None:
    """Check that numbers are neither too large nor too small, and differ enough unless equal."""
    targets = y.reshape(len(y), -1)
    _check_size(owner, targets, dtype)
    if targets.size:
        _check_differences(owner, np.ptp(targets, axis=0), dtype)


def _check_size(owner: str, targets: np.ndarray, dtype: np.dtype, name: str = "y") -> None:
    """Check that targets are finite in the coefficients' precision, and so are sums of squares."""
    largest = float(np.abs(targets).max(initial=0.0))
    if largest > min(1e-2 * float(np.finfo(dtype).max), _LARGEST):
        raise ValueError(
            f"{owner}: {name} reaches {largest:g}, which is too large for dtype="
            f"{dtype.name!r}. Remedy: scale y, or dtype='float64' for up to {_LARGEST:g}."
        )


def _least_difference(dtype: np.dtype) -> float:
    """The least by which targets may differ, so that coefficients keep their digits."""
    return max(1e8 * float(np.finfo(dtype).tiny), _LEAST)


def _check_differences(
    owner: str, differences: np.ndarray, dtype: np.dtype, name: str = "y"
) -> None:
    """Check that the largest difference of targets of each output is 0, or large enough."""
    least = _least_difference(dtype)
    small = (differences > 0) & (differences < least)
    if small.any():
        output = int(small.argmax())
        which = f"{name} of output {output}" if len(differences) > 1 else name
        raise ValueError(
            f"{owner}: {which} varies by {differences[output]:g} only, and less than {least:g} "
            f"vanishes in sums of squares, or in coefficients of dtype={dtype.name!r}. Remedy: "
            f"scale y, or dtype='float64' from {_LEAST:g} on; y may also be constant."
        )


def distinct(owner: str, source: str, labels: Any) -> np.ndarray:
    """Distinct labels in sorted order; an error if they cannot be sorted."""
    if source == "classes":
        labels = _as_list(owner, labels)
    try:
        found = np.unique(labels)
        if len(found):
            with with_remedies(owner):
                check_classification_targets(labels)
        return found
    except TypeError as error:
        raise TypeError(
            f"{owner}: {source} holds labels that cannot be classes: {error}. Remedy: labels of "
            "one type, text or integers, and none that is missing."
        ) from error


def _as_list(owner: str, classes: Any) -> Any:
    """Labels given as a sequence, a set, or the keys of a dictionary."""
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


def balanced(total: np.ndarray) -> np.ndarray:
    """Weights of classes by which all of them weigh the same, from the total weights of their rows.

    The mean weight of the rows stays as it is. Classes without rows get the weight 1. Weights have
    twelve digits, so that totals which were summed in another order give the same.
    """
    mean = total.sum() / np.count_nonzero(total)
    each = np.divide(mean, total, where=total > 0, out=np.ones(len(total)))
    return np.array([float(f"{weight:.12g}") for weight in each])
