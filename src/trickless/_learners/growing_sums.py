"""Sums over the rows of Kitchen Sinks that grow batch by batch, and from which rows are forgotten.

The first functions, and ``forget``, are methods of the estimators.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._learners.arguments import LABELS, LEARNING, NUMBERS
from trickless._learners.half_life_experts import is_ensemble, learn_rows
from trickless._learners.neuron_learner import note_later_rows, see_later_rows
from trickless._learners.row_ages import Aged, age, now_weights
from trickless._learners.training_copy import training_copy
from trickless._rows.rows import Batch
from trickless._solvers.clock import are_several
from trickless._solvers.least_squares.queue import FEW_AT_ONCE
from trickless._targets.batches import each_batch


@completed_by(LEARNING)
def fit_stream_numbers(self: Any, batches: Iterable[tuple[Any, ...]]) -> Any:
    """Start a new model, and learn from all batches of an iterable.

    Parameters
    ----------
    batches : iterable of (X, y), (X, y, sample_weight) or (X, y, sample_weight, timestamps)
        Batches, each as for ``partial_fit``.

    Notes
    -----
    If the iterable or a batch raises an error, the model has learned from all earlier batches.
    ``partial_fit`` can add other batches.
    """
    learn_stream(self, batches)
    return self


@completed_by(NUMBERS, LEARNING)
def partial_fit_numbers(
    self: Any,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    timestamps: ArrayLike | None = None,
) -> Any:
    """Learn from a batch.

    If the family estimates nothing from the data, the model is the same as after one ``fit`` to
    all rows, up to rounding. It does not matter how the rows are grouped and ordered. Median
    length scales and the cuts of stumps come from the first batch, so make it representative,
    or pass ``Gaussian(length_scale=...)``. The coefficients are solved for when they are first
    needed.
    """
    _learn_batch(self, X, y, sample_weight, timestamps=timestamps)
    return self


@completed_by(LEARNING)
def fit_stream_labels(self: Any, batches: Iterable[tuple[Any, ...]], classes: Any = None) -> Any:
    """Start a new model, and learn from all batches of an iterable.

    This needs ``loss="squared_error"``.

    Parameters
    ----------
    batches : iterable of (X, y), (X, y, sample_weight) or (X, y, sample_weight, timestamps)
        Batches, each as for ``partial_fit``.
    classes : array of shape (n_classes,) or "grow", optional
        All labels that may occur, or "grow" if new ones may appear, as for ``partial_fit``.
        Default: the labels of the first batch.
    """
    learn_stream(self, batches, classes)
    return self


@completed_by(LABELS, LEARNING)
def partial_fit_labels(
    self: Any,
    X: MatrixLike,
    y: ArrayLike,
    classes: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    timestamps: ArrayLike | None = None,
) -> Any:
    """Learn from a batch.

    This needs ``loss="squared_error"``. It does not matter how rows are grouped and ordered.
    See :meth:`KitchenSinksRegressor.partial_fit`.

    Parameters
    ----------
    classes : array of shape (n_classes,) or "grow", optional
        All labels that may occur, for the first call. With "grow", new labels may appear in
        this batch and later ones. The model is then the same as if they had been declared from
        the beginning. ``classes_`` and the columns of probabilities stay sorted, and a first
        batch may hold a single class, which is then predicted. With several half-lives, "grow"
        is for the first call as well, and only the weights of the experts were learned without
        the new classes. Default: the labels of the first batch.
    """
    _learn_batch(self, X, y, sample_weight, classes, timestamps)
    return self


def _learn_batch(
    learner: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    timestamps: Any = None,
) -> None:
    """Add a batch to the sums of a learner, which begins with it if it is not fitted."""
    check_streamable(learner)
    with (
        training_copy(learner, type(learner)._is_model, resumes=True) as new,
        linear_algebra(learner.n_jobs),
    ):
        aged = age(new, X, sample_weight, timestamps)
        batch = received(new, X, y, aged, classes)
        add_to_sums(new, batch, aged.of_batch(new, y, batch))


def learn_stream(learner: Any, batches: Iterable[tuple[Any, ...]], classes: Any = None) -> None:
    """Start a new model, and add all batches of an iterable to its sums."""
    owner = type(learner).__name__
    with training_copy(learner, type(learner)._is_model, kept=(Exception,)) as new:
        check_streamable(new)
        n_batches, learned = 0, dict(vars(new))
        try:
            for X, y, weight, timestamps in each_batch(owner, batches):
                with linear_algebra(learner.n_jobs):
                    aged = age(new, X, weight, timestamps)
                    batch = received(new, X, y, aged, classes)
                    add_to_sums(new, batch, aged.of_batch(new, y, batch))
                n_batches, learned = n_batches + 1, dict(vars(new))
        except Exception as error:
            new.__dict__ = learned  # without a class that only this batch has
            error.add_note(f"This was at batch {n_batches}, counted from 0.")
            raise
        if not new.__sklearn_is_fitted__():
            raise InvalidValueError(
                f"{owner}: batches held nothing to learn from",
                "an iterable of (X, y) that has not been used up",
            )


def received(new: Any, X: MatrixLike, y: ArrayLike, aged: Aged, classes: Any) -> Batch:
    """Receive a batch, and begin with it if it is the first."""
    if new.__sklearn_is_fitted__():
        batch = new._receive_later(X, y, aged.weight, classes, learned=True)
        if is_ensemble(new):
            return batch
        if (n := len(batch[1])) > FEW_AT_ONCE:
            see_later_rows(new, batch[0])
        elif n:  # whose activations are all looked at when they are learned
            note_later_rows(new, batch[0])
        new._sums_ = new._sums_.fork()
        return batch
    batch = new._receive_first(X, y, aged.weight, classes, stream=True)
    if not is_ensemble(new):
        new._begin_sums(*batch)
    return batch


def add_to_sums(learner: Any, batch: Batch, aged: Aged) -> None:
    """Add a batch to the sums, if it has rows."""
    if is_ensemble(learner):
        if len(batch[1]):
            learn_rows(learner, batch, aged)
    elif not len(batch[1]):
        learner._sums_.fade(aged.fade)
    elif _follows(learner, batch, aged):
        X, targets, weight, passed = *batch, aged.passed
        assert weight is not None and passed is not None
        weight = weight * np.exp2(passed[-1] - passed)  # the weights that they had at first
        arrived = None if aged.arrival is None else aged.arrival.first
        learner._sums_.follow(X, targets, weight, learner._problem(), passed, arrived)
    else:
        how: Any = {"fade": aged.fade, "arrival": aged.arrival}
        with learner._progress(len(batch[1]), "row") as bar:
            learner._sums_.learn(*batch, learner._problem(), bar.update, **how)


def _follows(learner: Any, batch: Batch, aged: Aged) -> bool:
    """Return whether a batch of a stream that forgets is learned row by row."""
    return (
        aged.passed is not None
        and len(batch[1]) == len(aged.passed)
        and learner._sums_.may_follow(batch[0], learner._problem())
    )


@completed_by(LEARNING)
def forget(
    self: Any,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    timestamps: ArrayLike | None = None,
) -> Any:
    """Subtract rows that were learned, as if they had never been.

    The model is then the model of the other rows, up to rounding, with its error bars and
    intervals. What the family took from the first batch, such as a length scale, stays, as do
    categories, classes and the latest time stamp. Later rows are not compared with the first batch
    any more. ``partial_fit`` with new rows and ``forget`` with old ones make a window that slides.

    Rows that were never learned raise an error, and leave the model unchanged. The model keeps
    up to 2,048 rows to compare with. Among n > 2,048 rows, a row that was never learned raises
    an error with probability 2,048 / n, or if without it the sums would not be sums over rows.
    With a ``half_life`` and more than 2,048 rows, only the sums can tell. Forget rows of the
    first batch before later ones, if they have rare categories that appeared again.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows to forget.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Targets or labels with which the rows were learned.
    sample_weight : array of shape (n_rows,), optional
        Weights with which they were learned.
    timestamps : array of shape (n_rows,), optional
        Their times. They are needed with a ``half_life``.
    """
    check_is_fitted(self)
    check_streamable(self)
    owner = type(self).__name__
    with (
        training_copy(self, type(self)._is_model, resumes=True) as new,
        linear_algebra(self.n_jobs),
    ):
        weight, targets = now_weights(new, X, sample_weight, timestamps), new._targets_
        new._targets_ = targets.settled()
        new._rows_, left = new._rows_.before(X, weight)
        batch = new._receive_later(X, y, weight)
        new._targets_, new._sums_, new._rows_ = targets, new._sums_.fork(), left
        if not len(batch[1]):
            return self
        try:
            new._sums_.subtract(*batch, new._problem())
        except LookupError as error:
            raise _never_learned(owner, *error.args) from error
        new._first_batch_ = None  # whose ranges are values of rows
    return self


def _never_learned(owner: str, row: int | None) -> InvalidValueError:
    remedy = "the same rows, targets and sample weights as were learned, each of them once"
    if row is not None:
        return InvalidValueError(
            f"{owner}: forget: row {row} is not among the rows that this model has learned, or "
            "not with this target and weight",
            remedy,
        )
    return InvalidValueError(
        f"{owner}: forget: these rows cannot be a part of the rows that this model has learned: "
        "without them, there would be no rows left, or sums that no rows have",
        f"{remedy}; fit to start over",
    )


def check_streamable(learner: Any) -> None:
    """Raise an error if a model needs more than the sums over the rows of a stream."""
    if not is_ensemble(learner):
        check_statistics(learner)
        if are_several(learner.half_life):
            raise InvalidValueError(
                f"{type(learner).__name__}: half_life={learner.half_life!r}, but the model was "
                "begun with a single half-life, or with none",
                "set half_life back, or call fit to start over",
            )


def check_statistics(learner: Any) -> None:
    """Raise an error if a fitted model has no sums over the rows."""
    if getattr(learner, "compacted_", False):
        raise InvalidValueError(
            f"{type(learner).__name__}: compact() has left out the sums over the rows, which "
            "partial_fit, merge, return_std, predict_interval and noise_variance_ need",
            "use the model from before compact(), or compact(error_bars=True) of this version for "
            "standard deviations and intervals",
        )
    if learner.__sklearn_is_fitted__() and not learner._sums_.has_statistics:
        raise InvalidValueError(
            f"{type(learner).__name__}: the model keeps no statistics, which partial_fit, merge, "
            "return_std, noise_variance_ and jackknife+ need, because it is solved in passes over "
            "all rows. solver='iterative' does that, and solver='auto' for many columns",
            "error_bars=True (for a regressor) or solver='direct', from the first fit on",
        )
