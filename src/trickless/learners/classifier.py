"""What every learner of labels answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.places import to_device_of, to_host
from trickless.arrays.states import in_one_state
from trickless.conformal.levels import check_confidence
from trickless.errors import MissingAttributeError
from trickless.intake.growing_labels import GrowingLabels, may_grow
from trickless.intake.labels import Labels, LabelSets, spelled_as_classes
from trickless.learners.base import Learner, scored_by
from trickless.learners.intervals import sets_of_classes
from trickless.rules import with_remedies
from trickless.solvers.calibration import probabilities, tempered


def _has_link(estimator: Any) -> bool:
    if not estimator._loss(1).has_link and not estimator._calibrates():
        raise MissingAttributeError(
            f"loss={estimator.loss!r} does not determine probabilities, so there is no "
            "predict_proba",
            "use loss='log_loss', or wrap the model in sklearn.calibration.CalibratedClassifierCV",
        )
    return True


class Classifier(ClassifierMixin, Learner):
    """A learner of labels, of two or more classes.

    Parameters
    ----------
    loss : {"log_loss", "hinge", "squared_hinge", "squared_error"}, default="log_loss"
        The loss l. "log_loss" is the logistic loss for two classes and the softmax loss for more.
        The other losses learn each class against the rest.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``. In a dictionary
        {label: weight}, classes that are not named have weight 1. "balanced" gives all classes the
        same total weight.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    """

    _numeric = False
    _spare = True

    @property
    def _takes_sets(self) -> bool:
        """Whether a row may have several labels."""
        return False

    def _new_targets(self, y: np.ndarray, classes: Any) -> Labels | LabelSets:
        owner = type(self).__name__
        if y.ndim == 1 and may_grow(classes):
            return GrowingLabels(owner, y, self._spare, self._loss(3).coupled)
        if y.ndim == 1:
            return Labels(owner, y, classes)
        sets = LabelSets(owner, y)
        sets.check_classes(classes)
        return sets

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = self._takes_sets
        return tags

    @property
    def classes_(self) -> np.ndarray:
        """The labels, shape (n_classes,)."""
        return self.targets_.classes

    @in_one_state
    def decision_function(self, X: Any) -> Any:
        """Compute decision values. A larger value means more confidence in a class.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        float64 array of shape (n_rows,) for two classes (positive for the second), or
        (n_rows, n_classes)
            Values in the library and on the device of X.
        """
        decisions = self._decide(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    @in_one_state
    def predict(self, X: Any) -> Any:
        """Predict labels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows,), or (n_rows, n_labels) if y had this shape in ``fit``
            Predicted labels. If y in ``fit`` was an array of another library, such as torch, the
            labels are in the library of X, and on its device. Otherwise they are a NumPy array.
        """
        decisions = self._decide(X)
        labels = self.targets_.labels(to_host(decisions))
        return to_device_of(decisions, labels) if self.rows_.labels_beside_rows else labels

    @in_one_state
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted correctly.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Test data.
        y : array of shape (n_rows,)
            Class labels.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        owner = type(self).__name__
        with with_remedies(owner):
            y = self._scored(y)
            if isinstance(y, np.ndarray):
                y = spelled_as_classes(self.classes_, y)
            return super().score(X, y, scored_by(owner, y, sample_weight))

    @available_if(_has_link)
    @in_one_state
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities of the classes.

        For online learners, and for the squared loss of Kitchen Sinks, they are
        ``softmax(decision / T)``. The temperature T is chosen by decision values of rows that the
        model has not learned [1]_. Kitchen Sinks leaves out up to 2,048 rows in turn. Online
        learners use the last 4,096 rows before they learn them, or the later half of fewer rows.
        For two classes there is a temperature for each sign of the decision value, with which
        probabilities average to the rate of the class. The most probable class is always the
        predicted class. For other learners, the logistic, softmax and exponential losses determine
        probabilities, and other losses have no ``predict_proba``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        float64 array of shape (n_rows, n_classes), in the order of ``classes_``
            Probabilities, in the library and on the device of X. With several labels for each row,
            the probability of each label.

        References
        ----------
        .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural
           networks", ICML 2017.
        """
        decisions = self._decide(X)
        return to_device_of(decisions, self._probabilities(to_host(decisions)))

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Return probabilities of the classes from decision values."""
        if len(self.classes_) == 1:
            return np.ones((len(decisions), 1))
        temperatures = self._temperatures()
        if temperatures is not None and isinstance(self.targets_, LabelSets):
            return np.asarray(expit(tempered(decisions, temperatures)))
        if temperatures is not None:
            return probabilities(decisions, temperatures)
        return self._loss(decisions.shape[1]).probability(decisions)

    @in_one_state
    def predict_set(self, X: Any, confidence: float = 0.9) -> Any:
        """Predict sets of classes that hold the true class with a probability of ``confidence``.

        A set holds the most likely classes, as many as are needed [1]_. How many follows from rows
        that the model had not learned from when it predicted them: Kitchen Sinks leaves out up to
        2,048 rows in turn, Doubly Stochastic holds rows out for early stopping, and online learners
        use the last rows before they learn them. Rows count by their weights, and by the weights of
        their classes: with ``class_weight="balanced"``, sets of 90 % hold nine of ten rows if all
        classes are equally frequent, and more or fewer of the rows as they come. For other
        learners, use :class:`trickless.conformal.SplitConformal` with rows of yours.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows to predict.
        confidence : float, default=0.9
            The probability that the true class is in its set. It is an average over rows, which
            must come from the same source as the training rows. Sets are never empty, so they hold
            the true class more often if the most likely class alone does.

        Returns
        -------
        bool array of shape (n_rows, n_classes)
            Which classes are in the set of each row, in the order of ``classes_``.

        Raises
        ------
        ValueError
            If the model has no rows that it has not learned from, or too few for the confidence.

        References
        ----------
        .. [1] Y. Romano, M. Sesia and E. J. Candès, "Classification with valid and adaptive
           coverage", NeurIPS 2020, without the random numbers.
        """
        check_is_fitted(self)
        check_confidence(type(self).__name__, confidence)
        return sets_of_classes(self, X, confidence)

    def _likely(self, decisions: np.ndarray) -> np.ndarray:
        """Return probabilities for sets of classes; without a link, by the softmax function."""
        if self._loss(1).has_link or self._calibrates():
            return self._probabilities(decisions)
        return probabilities(decisions, (1.0, 1.0))


def partial_fit_labels(self: Any, X: Any, y: Any, classes: Any = None) -> Any:
    """Continue to learn from more rows, in the order given.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        Training data.
    y : array of shape (n_rows,)
        Class labels.
    classes : array of shape (n_classes,) or "grow", optional
        All labels that may occur, for the first call. With "grow", from the first call on, new
        labels may appear in any batch, and the first one may hold a single label. There is then one
        more output than labels, for a label that has not come yet, with targets −1. A new label
        continues from this output. With losses that learn each class against the rest, it is thus
        the output of a label that was declared from the beginning. The softmax function of
        "log_loss" has counted one label that has not come, however many do. The output is the last
        one in coefficients, and not in decision values and probabilities, whose columns follow
        ``classes_``. Default: the labels of the first batch.

    Returns
    -------
    self
    """
    return self._partial_fit(X, y, classes=classes)
