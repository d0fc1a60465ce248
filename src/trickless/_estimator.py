"""What the six public estimators share: the path of the data from the user to a learner and back.

X, y → validation → targets (a matrix) → the learner's update → ``network_`` → decision values →
answer. A learner adds ``_initialise``, ``_learn`` and ``network_``; the two tasks below turn labels
into targets and decision values into answers.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm.auto import tqdm

from trickless._losses import Loss
from trickless._network import Network
from trickless._stream import Purpose, as_seed, generator
from trickless._validation import (
    DTYPE,
    N_JOBS,
    Rule,
    anything,
    check_classes,
    check_known_labels,
    check_parameters,
    check_sparse,
    check_weights,
    integer,
)
from trickless.neurons import Neurons, make_neurons


class Learner(BaseEstimator):
    """Common parameters, validation and prediction of the learners.

    Subclasses store their parameters in ``__init__`` and implement ``_initialise`` (once the
    inputs are known), ``_learn`` (a batch) and ``network_`` (the current network).
    """

    neurons: Neurons | str
    n_neurons: int
    random_state: Any
    n_jobs: int | None
    verbose: bool
    dtype: Any

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neurons": integer(1, "it counts draws of w; n_neurons=1000 is a good start"),
        "n_jobs": N_JOBS,
        "verbose": anything(
            "a boolean or an integer",
            "verbose=True shows a progress bar",
            lambda v: isinstance(v, int | np.bool_),
        ),
        "dtype": DTYPE,
    }

    @property
    def network_(self) -> Network:
        """The finite network that predicts."""
        raise NotImplementedError

    def _loss(self, n_outputs: int) -> Loss:
        """The loss that is minimised; its link turns decision values into probabilities."""
        raise NotImplementedError

    def _initialise(self, n_outputs: int) -> None:
        raise NotImplementedError

    def _learn(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        raise NotImplementedError

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        raise NotImplementedError

    def _receive(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool, classes: Any = None
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Validate a batch; on the first, fix everything that later batches must agree with."""
        name = type(self).__name__
        check_parameters(self, self._rules)
        neurons = make_neurons(self.neurons)
        regression = isinstance(self, RegressorMixin)
        with np.errstate(over="ignore"):  # what overflows in float32 is refused as infinite
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=self.dtype,
                multi_output=regression,
                y_numeric=regression,
                reset=first,
            )
        check_sparse(name, neurons, X)
        weight = check_weights(name, sample_weight, X)
        if weight is not None and not weight.all():
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
        targets = self._targets(y, classes, first)
        if first:
            self.seed_ = as_seed(self.random_state)
            self.neurons_ = clone(neurons).fit(X, generator(self.seed_, Purpose.FIT), weight)
            self._initialise(targets.shape[1])
        return X, targets, weight

    def _decide(self, X: Any) -> np.ndarray:
        """Decision values, shape (n_rows, n_outputs)."""
        check_is_fitted(self)
        with np.errstate(over="ignore"):
            X = validate_data(self, X, accept_sparse="csr", dtype=self.dtype, reset=False)
        check_sparse(type(self).__name__, self.neurons_, X)
        return self.network_(X)

    def _progress(self, total: int, unit: str) -> tqdm:
        return tqdm(total=total, unit=unit, desc=type(self).__name__, disable=not self.verbose)

    def set_params(self, **params: Any) -> Learner:
        """Set parameters, also those of the neurons, as ``neurons__length_scale=2``.

        Where ``neurons`` is a name, it is replaced by the family that it stands for first.
        """
        neurons = params.get("neurons", self.neurons)
        if isinstance(neurons, str) and any(key.startswith("neurons__") for key in params):
            params["neurons"] = make_neurons(neurons)
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        neurons = self.neurons
        known = isinstance(neurons, str | Neurons)
        tags.input_tags.sparse = known and make_neurons(neurons).accepts_sparse
        return tags


class Regression(RegressorMixin, Learner):
    """Real targets, one column or several."""

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
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

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
        """
        decisions = self._decide(X)
        return decisions[:, 0] if self._squeeze else decisions

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

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        check_classification_targets(y)
        name = type(self).__name__
        if first:
            labels = np.unique(y if classes is None else classes)
            check_classes(name, labels)
            self.classes_ = labels
        check_known_labels(name, np.unique(y), self.classes_)
        index = np.searchsorted(self.classes_, y)
        if len(self.classes_) == 2:
            return np.where(index == 1, 1.0, -1.0)[:, None]
        return np.where(index[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def _error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """1 for each row that is given the wrong class, else 0."""
        if targets.shape[1] == 1:
            return np.where((decisions > 0) == (targets > 0), 0.0, 1.0)[:, 0]
        return np.where(decisions.argmax(axis=1) == targets.argmax(axis=1), 0.0, 1.0)

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values: the larger, the more confident in a class.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows,) for two classes (positive for the second), or
        (n_rows, n_classes)
        """
        decisions = self._decide(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        decisions = self._decide(X)
        binary = decisions.shape[1] == 1
        index = (decisions[:, 0] > 0).astype(int) if binary else decisions.argmax(axis=1)
        return self.classes_[index]

    @available_if(_has_link)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, by the link of the loss.

        Not available for losses that have none, such as the hinge.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows, n_classes), in the order of ``classes_``
        """
        decisions = self._decide(X)
        return self._loss(decisions.shape[1]).probability(decisions)
