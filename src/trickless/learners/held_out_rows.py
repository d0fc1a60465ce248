"""Rows that are held out from a fit by steps: which they are, and which trees they choose."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from trickless.errors import InvalidTypeError, InvalidValueError, cause_in, remedy_in
from trickless.learners.callbacks import is_watched, watch_rows
from trickless.learners.descent_sizes import begin_descent, size_up
from trickless.learners.neuron_learner import receive_rows
from trickless.learners.refusals import check_method
from trickless.neurons import Trees
from trickless.rows.rows import Batch
from trickless.rules import warn
from trickless.solvers.descent.held_out import split
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.passes import FitRows
from trickless.solvers.descent.race import LAPS, MANY_ROWS, ROWS, SHAPE_LAPS, SHAPE_ROWS, winner
from trickless.targets.batches import rows_that_count
from trickless.targets.groups import group_numbers


def check_validation(learner: Any, X_val: Any, y_val: Any, weight: Any) -> None:
    """Check that rows for early stopping have targets, and are wanted."""
    owner, given = type(learner).__name__, {"X_val": X_val, "y_val": y_val}
    lacks = [name for name, value in given.items() if value is None]
    given["sample_weight_val"] = weight
    there = [name for name, value in given.items() if value is not None]
    if lacks and there:
        raise InvalidValueError(
            f"{owner}: {there[0]} is given without {' and '.join(lacks)}, but rows for early "
            "stopping need both X_val and y_val",
            f"{' and '.join(lacks)}; or leave {there[0]} out, and a share of X is held out",
        )
    if X_val is not None:
        check_method(learner, "X_val")


def warn_of_known_rows(learner: Any, options: DescentOptions) -> None:
    """Warn that a warm start holds out rows that the model has learned from, if it may.

    Trees learn from all rows in the end, and other neurons if no rows were held out before.
    """
    descent = learner.descent_
    may = options.step.keeps_best or descent.unseen is None
    if options.stopping is not None and may and len(descent.coef):
        warn(
            f"{type(learner).__name__}: warm_start=True with early_stopping: the model may have "
            "learned from the rows that are now held out, so their scores are too good, intervals "
            "too narrow, and more neurons seem to help less than they do. Remedy: X_val= and "
            "y_val= with rows of your own, or early_stopping=False."
        )


def rows_apart(learner: Any, X_val: Any, y_val: Any, weight: Any) -> Batch:
    """Receive the user's rows for early stopping, and leave no trace of them in the learner."""
    other = copy(learner)
    other.rows_ = learner.rows_.fork()
    other.rows_.new_categories = None  # those of rows apart are not learned
    try:
        batch = receive_rows(other, X_val, y_val, weight, stream=False)
    except (TypeError, ValueError) as error:
        cause = cause_in(error).removeprefix(f"{type(learner).__name__}: ")
        kind = InvalidTypeError if isinstance(error, TypeError) else InvalidValueError
        raise kind(
            f"{type(learner).__name__}: X_val, y_val or sample_weight_val: {cause}",
            remedy_in(error)
            or "rows for early stopping of the same form as X, y and sample_weight",
        ) from error
    if not len(batch[1]):
        raise InvalidValueError(
            f"{type(learner).__name__}: class_weight={learner.class_weight!r} leaves out every row "
            "of X_val",
            "rows of other classes as well, or leave X_val and y_val out",
        )
    return batch


def groups_of(learner: Any, groups: Any, y: Any, sample_weight: Any) -> np.ndarray:
    """Return the numbers, from 0 on, of the groups of all rows with a positive weight."""
    kept = rows_that_count(learner, y, sample_weight)
    numbers = group_numbers(type(learner).__name__, groups, len(kept))
    return np.unique(numbers[kept], return_inverse=True)[1].ravel()


def watch_held_out(
    learner: Any, X: Any, y: Any, sample_weight: Any, rows: FitRows, options: DescentOptions
) -> None:
    """Let callbacks compute their scores on the held-out rows of X, if they are always the same."""
    if options.stopping is None or not is_watched(learner):
        return
    if options.stopping.n_folds == 1 or not options.step.keeps_best:
        held_out = split(learner.descent_, rows.targets, options, rows.groups)[0]
        held_out = np.flatnonzero(rows_that_count(learner, y, sample_weight))[held_out]
        watch_rows(learner, _safe_indexing(X, held_out), _safe_indexing(y, held_out))


def _take_family(
    learner: Any, family: Trees, targets: np.ndarray, weight: np.ndarray | None
) -> None:
    """Begin again with another family, which has been fitted to rows with these targets."""
    learner.neurons_ = family
    learner.descent_ = begin_descent(learner, targets, weight)


def race(
    learner: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    options: DescentOptions,
    some: Callable[[int], FitRows],
    validated: bool = False,
) -> DescentOptions:
    """Take linear leaves, or binary trees, if their first steps lose less on held-out rows.

    ``some`` returns so many of the rows. Return the options of the trees that were taken. Several
    outputs have constant leaves, since each would need slopes of its own.
    """
    if not _may_race(learner, options):
        return options
    family = learner.neurons_
    if learner.targets_.n_outputs == 1 and (linear := family.with_linear_leaves()) is not None:
        _race_with(linear, learner, targets, weight, options, some(ROWS))
    many = family.shape == "auto" and len(targets) >= MANY_ROWS
    if many and (binary := family.as_binary(len(targets))) is not None:
        # As if there were no more trees. If steps were small, deep trees would lead at first.
        laps = min(SHAPE_LAPS, options.step.n_neurons)
        few = size_up(learner, targets, weight, validated, n_neurons=laps)
        _race_with(binary, learner, targets, weight, few, some(SHAPE_ROWS), laps)
        return size_up(learner, targets, weight, validated)
    return options


def _may_race(learner: Any, options: DescentOptions) -> bool:
    """Return whether there are trees, and held-out rows that decide for the best number of them."""
    judged = options.stopping is not None and options.step.keeps_best
    return judged and isinstance(learner.neurons_, Trees)


def _race_with(
    other: Trees,
    learner: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    options: DescentOptions,
    rows: FitRows,
    n_neurons: int = LAPS,
) -> None:
    """Take the other trees if they are better on held-out rows after a few steps."""
    if rows.groups is not None and rows.apart is None and not rows.groups.any():
        return  # all belong to one group, so none can be held out
    descents, family = [], learner.neurons_
    for each in (family, other):
        _take_family(learner, each, targets, weight)
        descents.append(learner.descent_)
    if not winner(descents, rows, options, n_neurons):
        _take_family(learner, family, targets, weight)
