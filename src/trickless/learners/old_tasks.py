"""The two tasks: how y becomes targets, and decision values become answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if

from trickless.arrays.devices import beside, to_host
from trickless.checks.inputs import (
    check_class_weight,
    check_classes,
    check_known_labels,
    check_same_classes,
    check_some_weight,
    check_targets,
    distinct_labels,
)
from trickless.learners.old_base import Learner


class Regression(RegressorMixin, Learner):
    """Real targets, one column or several."""

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        check_targets(type(self).__name__, targets, self._begun_with["dtype"])
        if first:
            self.n_outputs_ = targets.shape[1]
            self._squeeze = y.ndim == 1
        elif targets.shape[1] != self.n_outputs_:
            raise ValueError(
                f"{type(self).__name__}: y has {targets.shape[1]} outputs, but the first batch had "
                f"{self.n_outputs_}. Remedy: pass the same columns in every batch."
            )
        return targets

    def _error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Squared error of each row."""
        return ((decisions - targets) ** 2).sum(axis=1)

    def _score(
        self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None
    ) -> float:
        """Coefficient of determination, R²."""
        return float(sklearn.metrics.r2_score(targets, decisions, sample_weight=weight))

    def predict(self, X: Any) -> Any:
        """Predict targets.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
            Of the library and on the device of X.
        """
        return self._as_y(self._decide(X))

    def _as_y(self, values: Any) -> Any:
        """Values of all outputs, in the shape that y had."""
        return values[:, 0] if self._squeeze else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _has_link(estimator: Any) -> bool:
    if not estimator._loss(1).has_link:
        raise AttributeError(
            f"loss={estimator.loss!r} does not determine probabilities, so there is no "
            "predict_proba. Remedy: use loss='log_loss', 'squared_hinge' or 'squared_error', or "
            "wrap the model in sklearn.calibration.CalibratedClassifierCV."
        )
    return True


class Classification(ClassifierMixin, Learner):
    """Labels: one column of ±1 targets for two classes, one a class otherwise."""

    class_weight: Any = None

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        name = type(self).__name__
        there = distinct_labels(name, "y", y)
        if first:
            labels = there if classes is None else distinct_labels(name, "classes", classes)
            check_classes(name, "y" if classes is None else "classes", labels)
            self.classes_ = labels
        check_same_classes(name, classes, self.classes_)
        check_known_labels(name, there, self.classes_)
        index = np.searchsorted(self.classes_, y)
        if len(self.classes_) == 2:
            return np.where(index == 1, 1.0, -1.0)[:, None]
        return np.where(index[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def _reweighted(
        self, y: np.ndarray, weight: np.ndarray | None, stream: bool, may_be_empty: bool = False
    ) -> np.ndarray | None:
        given = self.class_weight
        if given is None:
            return weight
        check_class_weight(type(self).__name__, given, self.classes_, stream)
        if isinstance(given, str):
            by_class = compute_sample_weight(given, y)
        else:
            each = np.array([float(given.get(label, 1.0)) for label in self.classes_.tolist()])
            by_class = each[np.searchsorted(self.classes_, y)]
        if not may_be_empty:
            check_some_weight(type(self).__name__, given, by_class)
        return by_class if weight is None else by_class * weight

    def _score(
        self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None
    ) -> float:
        """Share of the rows that are given the right class."""
        return 1 - float(np.average(self._error(decisions, targets), weights=weight))

    def _error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """1 for each row that is given the wrong class, else 0."""
        if targets.shape[1] == 1:
            return np.where((decisions > 0) == (targets > 0), 0.0, 1.0)[:, 0]
        return np.where(decisions.argmax(axis=1) == targets.argmax(axis=1), 0.0, 1.0)

    def decision_function(self, X: Any) -> Any:
        """Decision values: the larger, the more confident in a class.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows,) for two classes (positive for the second), or
        (n_rows, n_classes)
            Of the library and on the device of X.
        """
        decisions = self._decide(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Any) -> Any:
        """Predict labels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
            Of the library and on the device of X if y was in ``fit``, else NumPy's.
        """
        there = self._decide(X)
        decisions = to_host(there)
        binary = decisions.shape[1] == 1
        index = (decisions[:, 0] > 0).astype(int) if binary else decisions.argmax(axis=1)
        labels = self.classes_[index]
        return beside(there, labels) if self._labels_beside_rows else labels

    @available_if(_has_link)
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, by the link of the loss.

        Not available for losses that have none, such as the hinge. For squared losses it is the
        decision value clipped to [0, 1], exact zeros included; where probabilities themselves
        matter, wrap the model in scikit-learn's CalibratedClassifierCV.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows, n_classes), in the order of ``classes_``
            Of the library and on the device of X.
        """
        decisions = self._decide(X)
        loss = self._loss(decisions.shape[1])
        return beside(decisions, loss.probability(to_host(decisions)))
