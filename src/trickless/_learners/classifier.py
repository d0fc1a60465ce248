"""What every learner of labels answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.places import to_device_of, to_host
from trickless._arrays.states import in_one_state
from trickless._docstrings import completed_by
from trickless._learners.arguments import GROWING, LABELS, LEARNING, PREDICTING, SCORING
from trickless._learners.base import Learner, scored_by
from trickless._learners.intervals import WEIGHTED, sets_of_classes
from trickless._rules import check_value, with_remedies
from trickless._solvers.calibration import certain, each_apart, probabilities
from trickless._targets.growing_labels import GrowingLabels, may_grow
from trickless._targets.labels import Labels, LabelSets, spelled_as_classes
from trickless.conformal.levels import check_confidence
from trickless.conformal.sets import BY_CLASS


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
        same total weight. It needs all rows, so it works with ``fit`` only.

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
        return self._targets_.classes

    @in_one_state
    @completed_by(PREDICTING)
    def decision_function(self, X: MatrixLike) -> Any:
        """Compute decision values. A larger value means more confidence in a class.

        Returns
        -------
        float64 array of shape (n_rows,) for two classes, or (n_rows, n_classes)
            Values, in the library and on the device of X. With two classes, a positive value stands
            for the second.
        """
        decisions = self._decide(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    @in_one_state
    @completed_by(PREDICTING)
    def predict(self, X: MatrixLike) -> Any:
        """Predict labels.

        Returns
        -------
        array of shape (n_rows,), or (n_rows, n_labels) if y had this shape in ``fit``
            Predicted labels. If y in ``fit`` was an array of another library, such as torch, the
            labels are in the library of X, and on its device. Otherwise they are a NumPy array.
        """
        decisions = self._decide(X)
        labels = self._targets_.labels(to_host(decisions))
        return to_device_of(decisions, labels) if self._rows_.labels_beside_rows else labels

    @in_one_state
    @completed_by(LABELS, SCORING)
    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted correctly."""
        check_is_fitted(self)
        owner = type(self).__name__
        with with_remedies(owner):
            y = self._scored(y)
            if isinstance(y, np.ndarray):
                y = spelled_as_classes(self.classes_, y)
            return super().score(X, y, scored_by(owner, y, sample_weight))

    @in_one_state
    @completed_by(PREDICTING)
    def predict_proba(self, X: MatrixLike) -> Any:
        """Predict probabilities of the classes.

        For online learners, and for the squared loss of Kitchen Sinks, they are
        ``softmax(decision / T)``. The temperature T is chosen by decision values of rows that the
        model has not learned [1]_. Kitchen Sinks leaves out up to 2,048 rows in turn. Online
        learners use the last 4,096 rows before they learn them, or the later half of fewer rows.
        For two classes there is a temperature for each sign of the decision value, with which
        probabilities average to the rate of the class. The most probable class is always the
        predicted class. For other learners, the logistic and softmax losses determine
        probabilities, and other losses have no ``predict_proba``.

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

    @in_one_state
    @completed_by(PREDICTING)
    def predict_log_proba(self, X: MatrixLike) -> Any:
        """Predict logarithms of the probabilities of the classes.

        Returns
        -------
        float64 array of shape (n_rows, n_classes), in the order of ``classes_``
            Logarithms of what ``predict_proba`` returns; -inf for a probability of 0.
        """
        decisions = self._decide(X)
        with np.errstate(divide="ignore"):
            logs = np.log(self._probabilities(to_host(decisions)))
        return to_device_of(decisions, logs)

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Return probabilities of the classes from decision values."""
        return self._link()(decisions)

    def _link(self) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function that makes probabilities of decision values."""
        n_classes, sets = len(self.classes_), isinstance(self._targets_, LabelSets)
        if n_classes == 1:
            return certain
        if (temperatures := self._temperatures()) is not None:
            return partial(each_apart if sets else probabilities, temperatures=temperatures)
        return self._loss(n_classes if sets or n_classes > 2 else 1).probability

    @in_one_state
    @completed_by(PREDICTING)
    def predict_set(
        self,
        X: MatrixLike,
        confidence: float = 0.9,
        *,
        weighted: bool = False,
        by_class: bool = False,
    ) -> Any:
        """Predict sets of classes that hold the true class with a probability of ``confidence``.

        A set holds the most likely classes, as many as are needed [1]_. How many follows from rows
        that the model had not learned from when it predicted them: Kitchen Sinks leaves out up to
        2,048 rows in turn, Doubly Stochastic holds rows out for early stopping, and online learners
        use the last rows before they learn them. For other learners, use
        :class:`trickless.conformal.SplitConformal` with a calibration set.

        Parameters
        ----------
        confidence : float, default=0.9
            The probability that the true class is in its set. It is an average over rows, which
            must come from the same source as the training rows. Sets are never empty, so they hold
            the true class more often if the most likely class alone does.
        weighted : bool, default=False
            Whether rows count by their ``sample_weight`` and the weights of their classes. By
            default each row counts once, and sets hold the classes of rows as they come, whatever
            their weights in the fit. With True and ``class_weight="balanced"``, sets of 90% hold
            nine of ten rows if all classes are equally frequent. In both cases, rows fade with a
            ``half_life``.
        by_class : bool, default=False
            Whether sets hold the true class with this probability in each class, and not on average
            over classes [2]_. A rare class needs it, since sets that miss all rows of a class of 1%
            still hold 99% of all classes. Each class needs enough rows.

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
        .. [2] V. Vovk, "Conditional validity of inductive conformal predictors", ACML 2012,
           Section 3.
        """
        check_is_fitted(self)
        check_confidence(type(self).__name__, confidence)
        check_value(type(self).__name__, "weighted", weighted, WEIGHTED)
        check_value(type(self).__name__, "by_class", by_class, BY_CLASS)
        return sets_of_classes(self, X, confidence, weighted, by_class)

    def _likely(self, decisions: np.ndarray) -> np.ndarray:
        """Return probabilities for sets of classes; without a link, by the softmax function."""
        if self._loss(1).has_link or self._calibrates():
            return self._probabilities(decisions)
        return probabilities(decisions, (1.0, 1.0))


@completed_by(GROWING, LEARNING)
def partial_fit_labels(self: Any, X: Any, y: Any, classes: Any = None) -> Any:
    """Continue to learn from more rows, in the order given."""
    return self._partial_fit(X, y, classes=classes)
