"""Predictions of the rows of a stream, each before it is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.places import check_on_host, place_of
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._learners.arguments import LABELS, LEARNING, NUMBERS
from trickless._learners.growing_sums import add_to_sums, check_streamable, received
from trickless._learners.half_life_experts import is_ensemble, learn_rows
from trickless._learners.refusals import check_method
from trickless._learners.row_ages import Aged, age
from trickless._learners.training_copy import training_copy
from trickless._rows.rows import Batch


@completed_by(NUMBERS, LEARNING)
def predict_then_learn_numbers(
    self: Any,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    timestamps: ArrayLike | None = None,
    return_std: bool = False,
) -> Any:
    """Predict each row by the rows before it, then learn it.

    This is the same as a loop over the rows of ``predict`` and ``partial_fit``, up to rounding,
    but takes a fraction of the time. Only the first row of a category that appears later may
    be predicted otherwise, since the model knows the categories of the whole batch.

    Parameters
    ----------
    sample_weight : array of shape (n_rows,), optional
        Weights of the rows, all above 0.
    return_std : bool, default=False
        Whether to return standard deviations of the targets as well. They need a ``half_life``
        of "auto" or a list.

    Returns
    -------
    y_pred : float64 array of the shape of y
        Predictions. The first row of a new model cannot be predicted, and has NaN.
    std : array of the same shape, if ``return_std``
        Standard deviations of the targets.

    Notes
    -----
    With a single ``half_life``, or none, the model must have learned some rows before. Its
    predictions use the alpha that was chosen last. It is chosen again when there are twice as many
    rows, or after 1,024 rows. In between, the ridge fades like the rows, and is restored before it
    is 30% too small for the present weight of all rows. A loop of ``predict`` and ``partial_fit``
    over single rows does the same if there is a ``half_life``. Without one, each ``predict`` solves
    again.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.sin(X[:, 0]) * np.where(np.arange(500) < 250, 1, -1)  # an abrupt change
    >>> model = KitchenSinksRegressor(n_neurons=100, half_life="auto", random_state=0)
    >>> predicted = model.predict_then_learn(X, y)
    >>> bool(np.abs(predicted - y)[-100:].mean() < 0.2)
    True
    """
    if return_std:
        check_method(self, "predict_then_learn(return_std=True)")
    decisions, std, new = _predict_and_learn(self, X, y, sample_weight, None, timestamps)
    mean = new._targets_.shaped(decisions)
    return (mean, new._targets_.shaped(std)) if return_std else mean


@completed_by(LABELS, LEARNING)
def predict_then_learn_labels(
    self: Any,
    X: MatrixLike,
    y: ArrayLike,
    classes: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    timestamps: ArrayLike | None = None,
    return_proba: bool = False,
) -> Any:
    """Predict each row by the rows before it, then learn it.

    This is the same as a loop over the rows of ``predict`` and ``partial_fit``, up to rounding,
    but takes a fraction of the time. See :meth:`KitchenSinksRegressor.predict_then_learn`.

    Parameters
    ----------
    classes : array of shape (n_classes,), optional
        All labels that may occur, for the first call. Default: the labels of the first batch.
    sample_weight : array of shape (n_rows,), optional
        Weights of the rows, all above 0.
    return_proba : bool, default=False
        Whether to return probabilities of the classes as well.

    Returns
    -------
    labels : array of the shape of y
        Predicted labels. For the first row of a new model, all classes are equally likely.
    probabilities : array of shape (n_rows, n_classes), if ``return_proba``
        Probabilities of the classes, in the order of ``classes_``.
    """
    if return_proba:
        check_method(self, "predict_then_learn(return_proba=True)")
    decisions, _, new = _predict_and_learn(self, X, y, sample_weight, classes, timestamps)
    labels = new._targets_.labels(decisions)
    return (labels, new._probabilities(decisions)) if return_proba else labels


def _predict_and_learn(
    learner: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    timestamps: Any = None,
) -> tuple[np.ndarray, Any, Any]:
    """Predict each row of a batch before it is learned.

    Returns decision values, standard deviations of new targets if they are known, and the learner
    with all rows.
    """
    check_streamable(learner)
    with (
        training_copy(learner, type(learner)._is_model, resumes=True) as new,
        linear_algebra(learner.n_jobs),
    ):
        begun, several = new.__sklearn_is_fitted__(), is_ensemble(new)
        if not several and not begun:
            raise InvalidValueError(
                f"{type(learner).__name__}: predict_then_learn: half_life={learner.half_life!r}, "
                "and the model has not learned any rows",
                "partial_fit with some rows, from which a family may take its length scale",
            )
        aged = age(new, X, sample_weight, timestamps)
        batch = received(new, X, y, aged.unaged(sample_weight), classes)
        if len(batch[1]) != _num_samples(X):
            raise InvalidValueError(
                f"{type(learner).__name__}: predict_then_learn: some rows have the weight 0, and "
                "are not learned",
                "predict these rows, and leave them out",
            )
        if not several:
            return _predicted_in_blocks(new, batch, aged), None, new
        predicted = learn_rows(new, batch, aged, one_by_one=True)
        if not begun and learner._numeric:
            predicted.decisions[0] = predicted.deviations[0] = np.nan
    return predicted.decisions, predicted.deviations, new


def _predicted_in_blocks(new: Any, batch: Batch, aged: Aged) -> np.ndarray:
    """Learn rows of a learner with one half-life or none, and predict each before that.

    The weights of the batch are those that the rows have when they come.
    """
    X, targets, weight = batch
    check_on_host(f"{type(new).__name__}, predict_then_learn", place_of(X), "rows in NumPy arrays")
    problem, n = new._problem(), len(targets)
    passed = np.zeros(n) if aged.passed is None else aged.passed
    weight = np.ones(n) if weight is None else weight
    follower, before, start, found = new._sums_.fork(), 0.0, 0, []
    follower.drop_if_changed(problem)
    while start < n:
        if not follower.follows:
            follower.solution(problem)
        stop = start + follower.rows_to_follow(problem, weight[start:], passed[start:] - before)
        part = slice(start, stop)
        since, arrival = passed[part] - before, aged.arrival
        arrived = None if arrival is None else arrival.first + start
        predicted = follower.follow(X[part], targets[part], weight[part], problem, since, arrived)
        if predicted is None:
            raise InvalidValueError(
                f"{type(new).__name__}: predict_then_learn: alpha={new.alpha!r} is too small to "
                "update the solution row by row",
                "a larger alpha, or alpha='auto'",
            )
        found.append(predicted)
        start, before = stop, float(passed[stop - 1])
    if aged.arrival is None:  # as partial_fit learns them
        add_to_sums(new, batch, aged)
    else:
        new._sums_ = follower
    return np.concatenate(found)
