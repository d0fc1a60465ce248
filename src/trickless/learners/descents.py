"""How a learner of Doubly Stochastic Gradients begins, resumes and sizes its descent.

The rules of its parameters stand here as well, because the sizes that are "auto" follow them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from trickless.arrays.weighted import effective_rows
from trickless.errors import InvalidTypeError, InvalidValueError, cause_in, remedy_in
from trickless.learners.callbacks import is_watched, watch_rows
from trickless.learners.neuron_learner import begin_stream, receive_rows
from trickless.learners.refusals import check_method
from trickless.neurons import Neurons, Trees
from trickless.neurons.checks import check_independent
from trickless.rows.rows import Batch
from trickless.rules import (
    AUTO,
    NONE,
    Rule,
    boolean,
    choice,
    count,
    either,
    fraction,
    integer,
    non_negative,
    positive,
    warn,
)
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.held_out import split
from trickless.solvers.descent.options import (
    Candidates,
    DescentOptions,
    EarlyStopping,
    Plan,
    plan,
)
from trickless.solvers.descent.passes import FitRows
from trickless.solvers.descent.race import LAPS, MANY_ROWS, ROWS, SHAPE_LAPS, SHAPE_ROWS, winner
from trickless.solvers.descent.step_sizes import SizeParameters
from trickless.targets.batches import rows_that_count
from trickless.targets.groups import group_numbers

#: Rows below which each row is held out in one of a few folds, their number, and the most rows
#: that count as so few by their weights.
_FEW_ROWS, _FOLDS, _MOST_ROWS = 1000, 4, 10_000

RULES: dict[str, Rule] = {
    "n_neurons": either(count("n_neurons='auto' suits most data; it counts draws of w"), AUTO),
    "alpha": either(non_negative("alpha=1e-6 regularises lightly"), AUTO),
    "step_size": either(positive("step_size='auto' suits every loss and bounded family"), AUTO),
    "schedule": choice("inverse", "constant", "theorem", remedy="schedule='inverse' decays slowly"),
    "fit_intercept": boolean("fit_intercept=False starts from f = 0, as the paper does"),
    "decay": either(non_negative("decay='auto' is the product of step and alpha"), AUTO),
    "preconditioner": either(
        choice(
            "auto", "block", "newton", remedy="preconditioner=None is the algorithm of the paper"
        ),
        NONE,
    ),
    "damping": either(positive("damping='auto' suits batches of several rows a column"), AUTO),
    "batch_size": either(integer(1, "batch_size='auto' depends on the number of rows"), AUTO),
    "neurons_per_step": either(
        integer(1, "neurons_per_step='auto' depends on the number of rows"), AUTO
    ),
    "n_candidates": either(
        integer(1, "n_candidates=1 takes neurons as they are drawn", 1000), AUTO
    ),
    "learned_prior": boolean("learned_prior=False draws all columns equally often"),
    "early_stopping": either(
        boolean("early_stopping=True holds rows out and stops when their score no longer improves"),
        AUTO,
    ),
    "validation_fraction": fraction("validation_fraction=0.1 holds a tenth of the rows out"),
    "n_iter_no_change": integer(1, "n_iter_no_change=5 is the default"),
    "tol": non_negative("tol=1e-3 is the default"),
    "warm_start": boolean("warm_start=True lets fit add neurons to the fitted model"),
    "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
}


def is_model(learner: Any) -> bool:
    """Return whether a learner has taken steps."""
    return hasattr(learner, "descent_") and bool(learner.descent_.history)


def begin_descent(learner: Any, targets: np.ndarray, weight: np.ndarray | None) -> Descent:
    """Return the solver of a learner with neurons, which starts from an intercept or from 0."""
    if learner.schedule == "theorem":  # neurons of one block may be drawn in different steps
        check_independent(type(learner).__name__, "schedule='theorem'", learner.neurons_)
    loss = learner._loss(learner.targets_.n_outputs)
    intercept = np.zeros(targets.shape[1])
    if learner.fit_intercept and loss.for_numbers and learner._numeric:
        intercept = loss.constant(targets, weight)
    elif learner.fit_intercept and loss.has_link:
        intercept = loss.start(shares_of(targets, weight, loss.coupled))
    begin_stream(learner, learner.cache_bytes)
    return Descent(learner.stream_, intercept, learner.targets_)


def shares_of(targets: np.ndarray, weight: np.ndarray | None, coupled: bool) -> np.ndarray:
    """Return the shares of rows with the target +1, (n_outputs,).

    A class without rows has its share of one row of no known class, and no class has all rows.
    """
    least = (1 / targets.shape[1] if coupled else 0.5) / (effective_rows(len(targets), weight) + 1)
    return np.clip(np.average(targets > 0, axis=0, weights=weight), least, 1 - least)


def continued(learner: Any) -> Descent:
    """Return a copy of the solver for a warm start; a fit that fails leaves the model unchanged."""
    n_drawn = len(learner.descent_.coef)
    planned = learner.n_neurons_ if isinstance(learner.n_neurons, str) else learner.n_neurons
    if planned <= n_drawn:
        raise InvalidValueError(
            f"{type(learner).__name__}: warm_start=True with n_neurons={planned!r}, but "
            f"the model has {n_drawn} neurons already, so there are none to add",
            "a larger n_neurons, or warm_start=False to start over",
        )
    return learner.descent_.copy()


def size_up(
    learner: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    validated: bool = False,
    **wanted: Any,
) -> DescentOptions:
    """Fix the parameters that are "auto" for rows that come together, and return all options.

    ``validated`` says that there are rows of the user's for early stopping. Values that are
    ``wanted`` replace parameters of the learner.
    """
    n_rows, n_effective = len(targets), effective_rows(len(targets), weight)
    plain = learner.schedule == "theorem" or not isinstance(learner.step_size, str)
    given = {name: getattr(learner, name) for name in (*Plan._fields, "schedule")} | wanted
    planned = plan(given, plain, n_rows, n_effective, learner.neurons_)
    if planned.preconditioner == "newton" and isinstance(learner.damping, str):
        loss = learner._loss(learner.targets_.n_outputs)
        planned = planned._replace(damping=planned.damping * learner.descent_.rarity(loss))
    for name, value in planned._asdict().items():
        setattr(learner, f"{name}_", value)
    if validated:
        learner.early_stopping_ = True
    options, n_outputs = options_of(learner), learner.targets_.n_outputs
    few = n_effective < _FEW_ROWS and n_rows <= _MOST_ROWS
    if options.stopping is not None and few:
        options = options._replace(stopping=options.stopping._replace(n_folds=_FOLDS))
    options.step.check(learner.neurons_, n_outputs, learner.rows_.dtype.itemsize)
    return options


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


def take_family(
    learner: Any, family: Neurons, targets: np.ndarray, weight: np.ndarray | None
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
        take_family(learner, each, targets, weight)
        descents.append(learner.descent_)
    if not winner(descents, rows, options, n_neurons):
        take_family(learner, family, targets, weight)


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


def options_of(learner: Any) -> DescentOptions:
    """Return the parameters that the solver needs, with the values in use for those "auto"."""
    plan = Plan(*(getattr(learner, f"{name}_") for name in Plan._fields))
    sizes = SizeParameters(
        plan.alpha,
        isinstance(learner.alpha, str),
        learner.step_size,
        learner.schedule,
        learner.decay,
    )
    loss = learner._loss(learner.targets_.n_outputs)
    stopping = learner.validation_fraction, learner.n_iter_no_change, learner.tol
    return DescentOptions(
        plan.step(type(learner).__name__, loss, learner.n_jobs, sizes, learner.fit_intercept),
        sizes,
        Candidates(plan.n_candidates, learner.learned_prior, plan.damping),
        EarlyStopping(*stopping) if plan.early_stopping else None,
    )
