"""Sums over the rows that grow batch by batch, or by another model, for Kitchen Sinks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from trickless.arrays.places import check_on_host, place_of
from trickless.arrays.states import snapshot
from trickless.arrays.threads import linear_algebra
from trickless.errors import InvalidValueError
from trickless.learners.half_life_experts import is_ensemble, learn_rows
from trickless.learners.merging import check_mergeable, with_classes_of_both
from trickless.learners.neuron_learner import note_later_rows, see_later_rows
from trickless.learners.refusals import check_method
from trickless.learners.row_ages import Aged, age, merge_clocks, now_weights
from trickless.learners.training_copy import training_copy
from trickless.rows.rows import Batch
from trickless.solvers.clock import are_several
from trickless.solvers.least_squares.queue import FEW_AT_ONCE
from trickless.targets.batches import each_batch


def learn_batch(
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
        batch = _received(new, X, y, aged, classes)
        new._learn(batch, aged.of_batch(new, y, batch))


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
                    batch = _received(new, X, y, aged, classes)
                    new._learn(batch, aged.of_batch(new, y, batch))
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


def predict_and_learn(
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
        batch = _received(new, X, y, aged.unaged(sample_weight), classes)
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
    follower, before, start, found = new.sums_.fork(), 0.0, 0, []
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
        new._learn(batch, aged)
    else:
        new.sums_ = follower
    return np.concatenate(found)


def _received(new: Any, X: Any, y: Any, aged: Aged, classes: Any) -> Batch:
    """Receive a batch, and begin with it if it is the first."""
    if new.__sklearn_is_fitted__():
        batch = new._receive_later(X, y, aged.weight, classes, learned=True)
        if is_ensemble(new):
            return batch
        if (n := len(batch[1])) > FEW_AT_ONCE:
            see_later_rows(new, batch[0])
        elif n:  # whose activations are all looked at when they are learned
            note_later_rows(new, batch[0])
        new.sums_ = new.sums_.fork()
        return batch
    batch = new._receive_first(X, y, aged.weight, classes, stream=True)
    if not is_ensemble(new):
        new._begin_sums(*batch)
    return batch


def forget_rows(
    learner: Any, X: Any, y: Any, sample_weight: Any = None, timestamps: Any = None
) -> None:
    """Subtract rows from the sums of a learner, or raise an error that leaves it unchanged."""
    check_is_fitted(learner)
    check_streamable(learner)
    owner = type(learner).__name__
    with (
        training_copy(learner, type(learner)._is_model, resumes=True) as new,
        linear_algebra(learner.n_jobs),
    ):
        weight, targets = now_weights(new, X, sample_weight, timestamps), new.targets_
        new.targets_ = targets.settled()
        new.rows_, left = new.rows_.before(X, weight)
        batch = new._receive_later(X, y, weight)
        new.targets_, new.sums_, new.rows_ = targets, new.sums_.fork(), left
        if not len(batch[1]):
            return
        try:
            new.sums_.subtract(*batch, new._problem())
        except LookupError as error:
            raise _never_learned(owner, *error.args) from error


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


def merge_sums(learner: Any, other: Any) -> None:
    """Add the sums of another model, if both are about the same activations and targets."""
    check_is_fitted(learner)
    if isinstance(other, type(learner)):
        other = snapshot(other)
    with training_copy(learner, type(learner)._is_model, resumes=True) as new:
        other = with_classes_of_both(new, other)
        check_mergeable(new, other)
        check_method(other, "merge")
        check_streamable(new)
        check_statistics(other)
        if learner._numeric:
            new.targets_ = new.targets_.merged(other.targets_)
        new.rows_ = new.rows_.merged(other.rows_)
        new.sums_ = new.sums_.fork()
        new.sums_.merge(other.sums_, learner.n_jobs, merge_clocks(new, other))


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


def check_deviations(learner: Any) -> None:
    """Raise an error if a fitted model cannot give standard deviations."""
    if not learner.sums_.has_deviations:
        check_statistics(learner)


def check_left_out(learner: Any) -> None:
    """Raise an error if a fitted model cannot leave rows out."""
    if not learner.sums_.has_left_out:
        check_statistics(learner)


def check_leverage(learner: Any) -> None:
    """Raise an error if a model of passes only has errors at rows that it has learned from."""
    if learner._solution().leverage is None:
        raise InvalidValueError(
            f"{type(learner).__name__}: the model was solved in passes over the rows for alpha="
            f"{learner.alpha!r}, which does not tell how much its errors at these rows are too "
            "small for predict_interval",
            "error_bars=True, alpha='auto', or trickless.conformal.SplitConformal with rows of "
            "yours",
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
    if learner.__sklearn_is_fitted__() and not learner.sums_.has_statistics:
        raise InvalidValueError(
            f"{type(learner).__name__}: the model keeps no statistics, which partial_fit, merge, "
            "return_std, noise_variance_ and jackknife+ need, because it is solved in passes over "
            "all rows. solver='iterative' does that, and solver='auto' for many columns",
            "error_bars=True (for a regressor) or solver='direct', from the first fit on",
        )
