"""Rows that are held out from a fit: those of the user, and what callbacks see of them."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from trickless._errors import InvalidTypeError, InvalidValueError, cause_in, remedy_in
from trickless._learners.callbacks import is_watched, watch_rows
from trickless._learners.neuron_learner import receive_rows
from trickless._learners.refusals import check_method
from trickless._rows.rows import Batch
from trickless._rules import warn
from trickless._solvers.held_out import SHARE, Holding
from trickless._targets.batches import rows_that_count
from trickless._targets.groups import group_numbers


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


def warn_of_known_rows(learner: Any) -> None:
    """Warn that a warm start holds out rows that the model has learned from, if it may."""
    descent = learner._descent_
    if descent.unseen is None and len(descent.coef):
        warn(
            f"{type(learner).__name__}: warm_start=True with early_stopping: the model may have "
            "learned from the rows that are now held out, so their scores are too good, intervals "
            "too narrow, and more neurons seem to help less than they do. Remedy: X_val= and "
            "y_val= with rows of your own, or early_stopping=False."
        )


def rows_apart(learner: Any, X_val: Any, y_val: Any, weight: Any) -> Batch:
    """Receive the user's rows for early stopping, and leave no trace of them in the learner."""
    other = copy(learner)
    other._rows_ = learner._rows_.fork()
    other._rows_.new_categories = None  # those of rows apart are not learned
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


def hold_out(
    learner: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    targets: np.ndarray,
    groups: np.ndarray | None,
) -> np.ndarray:
    """Return the numbers of rows that are held out among those that count.

    Callbacks compute their scores on these rows.
    """
    loss, start = learner._loss(learner._targets_.n_outputs), learner._descent_.constant
    holding = Holding.of(type(learner).__name__, learner._seed_, SHARE, loss, start)
    held_out = holding.split(targets, groups)[0]
    watch_held_out(learner, X, y, sample_weight, held_out)
    return held_out


def watch_held_out(learner: Any, X: Any, y: Any, sample_weight: Any, held_out: np.ndarray) -> None:
    """Let callbacks compute their scores on rows that are held out, among those that count."""
    if is_watched(learner):
        some = np.flatnonzero(rows_that_count(learner, y, sample_weight))[held_out]
        watch_rows(learner, _safe_indexing(X, some), _safe_indexing(y, some))
