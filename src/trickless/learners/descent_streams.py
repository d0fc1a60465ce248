r"""Doubly stochastic steps along a stream, which may forget by a half-life.

Coefficients fade by ρ = 2^(−b / h) before a batch of b rows, with a half-life of h rows, and steps
have a constant size γ. For a batch on which they find T e of the error e, f at rest is the solution
of (T + (1 − ρ)/γ) f = T f*: forgetting regularises like a ridge of (1 − ρ)/γ, and the longer the
steps are, the less it takes. Their noise at rest, Σ γ² ρ^(2i), equals the noise of 1 / (1 − ρ²)
steps without forgetting. The step is therefore sized as for a fit of so many steps, which is the
longest that is stable and adds little noise. What f loses on average is added to the intercept, so
that forgetting pulls f to its present mean and not to the mean of the first rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trickless.arrays.threads import linear_algebra
from trickless.learners.descents import (
    begin_descent,
    is_model,
    options_of,
    size_up,
)
from trickless.learners.neuron_learner import choose_neurons, receive_rows
from trickless.learners.row_ages import lapses
from trickless.learners.training_copy import training_copy
from trickless.rows.rows import Batch
from trickless.rules import warn
from trickless.solvers.clock import BATCH, SPAN
from trickless.solvers.descent.ages import Memory
from trickless.solvers.descent.options import PLAIN_NEURONS, DescentOptions

#: Rows from which steps are on blocks, and the least and the most columns of a block.
_BLOCK_ROWS, _LEAST_COLUMNS, _MOST_COLUMNS = 8, 8, 2048
#: Half-lives of neurons below which there is a warning that too few neurons are kept.
_FEW = 1.0


def learn_rows(
    learner: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    timestamps: Any = None,
) -> None:
    """Take steps on a batch of a stream, with which the learner begins if it is not fitted."""
    with training_copy(learner, is_model, resumes=True) as new, linear_algebra(learner.n_jobs):
        passed = lapses(new, X, timestamps)
        batch: Batch
        if new.__sklearn_is_fitted__():
            batch = receive_rows(new, X, y, sample_weight, classes, learned=True)
            new.descent_ = new.descent_.copy()
        else:
            batch = new._receive_first(X, y, sample_weight, classes, stream=True)
            choose_neurons(new, *batch, in_turn=new._may_be_newton)
            new.descent_ = begin_descent(new, *batch[1:])
        _take_steps(new, *batch, passed)


def _take_steps(
    learner: Any,
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    passed: np.ndarray | None,
) -> None:
    """Take steps on the rows that count, before which some half-lives have passed."""
    descent, n_rows = learner.descent_, len(targets)
    if not n_rows:
        if passed is not None:
            descent.fade(float(passed.sum()), len(descent.coef))
        return
    if passed is None:
        options, memory = size_up(learner, targets, weight), None
    else:
        if len(passed) > n_rows:  # rows without weight have been left out
            passed = np.full(n_rows, passed.sum() / n_rows)
        options, memory = _size_up_to_forget(learner, targets, weight, passed)
    with learner._progress(n_rows, "row") as bar:
        descent.learn(X, targets, weight, options, bar.update, memory)


def _size_up_to_forget(
    learner: Any, targets: np.ndarray, weight: np.ndarray | None, passed: np.ndarray
) -> tuple[DescentOptions, Memory]:
    """Return options for steps whose earlier neurons fade, and how they fade."""
    n_rows, span = len(targets), float(passed.sum())
    per_row = _half_lives_per_row(learner.descent_, n_rows, span)
    rows = -(-n_rows // min(n_rows, max(1, int(np.ceil(span / BATCH)))))
    if not isinstance(learner.batch_size, str):
        rows = min(rows, learner.batch_size)
    planned = size_up(learner, targets, weight, **_wanted(learner, rows, per_row)).step
    most, k = planned.n_neurons, planned.neurons_per_step
    rows = min(rows, planned.batch_size)
    per_step = rows / max(1, rows // planned.usual_rows)  # rows
    lasts = most / k * per_step * per_row
    if lasts < _FEW and len(learner.descent_.coef) + k > most:
        warn(
            f"{type(learner).__name__}: half_life={learner.half_life!r} with n_neurons={most} and "
            f"{k} new neurons for every {per_step:.0f} rows: neurons are dropped after {lasts:.2g} "
            "half-lives, so the model forgets faster. Remedy: batches of more rows, or a larger "
            "n_neurons."
        )
    kept = 2.0 ** -(per_step * per_row)
    n_steps = min(1 / max(1 - kept**2, 1e-300), max(1.0, most / k))
    learner.batch_size_ = rows
    options = options_of(learner)
    step = replace(options.step, n_neurons=round(n_steps * k))
    sizes = options.sizes._replace(schedule="constant")
    levels = learner.fit_intercept and (step.loss.for_numbers or step.loss.has_link)
    return options._replace(step=step, sizes=sizes), Memory(passed, most, levels)


def _wanted(learner: Any, rows: int, per_row: float) -> dict[str, Any]:
    """Return values of parameters that are "auto", for steps on so many rows.

    Steps on blocks find more of what f has lost than plain ones do, if they have a column for each
    four rows. Fewer columns, down to an eighth of that, keep a long half-life within ``n_neurons``.
    """
    wanted: dict[str, Any] = {"batch_size": rows}
    width, has_trees = learner.neurons_.width, learner.neurons_.has_trees
    blocks = learner.preconditioner == "block"
    if learner.preconditioner == "auto" and not has_trees:
        blocks = rows >= _BLOCK_ROWS and isinstance(learner.step_size, str)
        wanted["preconditioner"] = "block" if blocks else None
    if isinstance(learner.neurons_per_step, str) and not (has_trees and learner._may_be_newton):
        least, most = 1, PLAIN_NEURONS * width
        if blocks:
            least, most = (max(_LEAST_COLUMNS, rows // each) for each in (32, 4))
        fitting = learner._planned_neurons * width * rows * per_row / SPAN
        columns = int(min(max(fitting, least), most, _MOST_COLUMNS))
        wanted["neurons_per_step"] = max(1, min(columns // width, learner._planned_neurons))
    return wanted


def _half_lives_per_row(descent: Any, n_rows: int, span: float) -> float:
    """Return the time between two rows, in half-lives, averaged with the half-life.

    Within a half-lives of r rows each, the rows that still count are r (1 − 2^(−a)) / log 2.
    """
    before = 0.0 if descent.ages is None else descent.ages.now
    log = np.log(2)
    counted = n_rows if span == 0 else n_rows * -np.expm1(-span * log) / (span * log)
    counted += descent.n_rows * 2.0**-span
    return float(-np.expm1(-(before + span) * log) / (counted * log))
