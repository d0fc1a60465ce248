r"""How a learner of Doubly Stochastic Gradients begins, resumes and sizes its steps.

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

from trickless.errors import InvalidValueError
from trickless.learners.neuron_learner import begin_stream
from trickless.neurons.checks import check_independent
from trickless.rules import warn
from trickless.solvers.ages import Memory
from trickless.solvers.clock import BATCH, SPAN
from trickless.solvers.constants import starting
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.options import (
    PLAIN_NEURONS,
    DescentOptions,
    Plan,
    plan,
)
from trickless.solvers.descent.step_sizes import SizeParameters

#: Rows from which steps are on blocks, and the least and the most columns of a block.
_BLOCK_ROWS, _LEAST_COLUMNS, _MOST_COLUMNS = 8, 8, 2048
#: Bytes of drawn weights to keep. The rest is drawn again when needed.
_CACHE_BYTES = 2**28
#: Half-lives of neurons below which there is a warning that too few neurons are kept.
_FEW = 1.0


def begin_descent(learner: Any, targets: np.ndarray, weight: np.ndarray | None) -> Descent:
    """Return the solver of a learner with neurons, which starts from an intercept or from 0."""
    if learner.schedule == "theorem":  # neurons of one block may be drawn in different steps
        check_independent(type(learner).__name__, "schedule='theorem'", learner.neurons_)
    intercept = np.zeros(targets.shape[1])
    if learner.fit_intercept:
        loss = learner._loss(learner.targets_.n_outputs)
        intercept = starting(loss, targets, weight, learner._numeric)
    begin_stream(learner, _CACHE_BYTES)
    return Descent(learner.stream_, intercept, learner.targets_)


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


def size_up(learner: Any, n_rows: int, **wanted: Any) -> DescentOptions:
    """Fix the parameters that are "auto" for rows that come together, and return all options.

    Values that are ``wanted`` replace parameters of the learner.
    """
    plain = learner.schedule == "theorem" or not isinstance(learner.step_size, str)
    given = {name: getattr(learner, name) for name in Plan._fields} | wanted
    for name, value in plan(given, plain, n_rows, learner.neurons_)._asdict().items():
        setattr(learner, f"{name}_", value)
    return options_of(learner)


def options_of(learner: Any) -> DescentOptions:
    """Return the parameters that the solver needs, with the values in use for those "auto"."""
    plan = Plan(*(getattr(learner, f"{name}_") for name in Plan._fields))
    alpha_is_auto = isinstance(learner.alpha, str)
    sizes = SizeParameters(plan.alpha, alpha_is_auto, learner.step_size, learner.schedule)
    loss = learner._loss(learner.targets_.n_outputs)
    common = type(learner).__name__, loss, learner.n_jobs, sizes, learner.fit_intercept
    return DescentOptions(plan.step(*common), sizes)


def size_up_stream(
    learner: Any, n_rows: int, passed: np.ndarray | None
) -> tuple[DescentOptions, Memory | None]:
    """Return options for a batch of a stream, before which some half-lives have ``passed``.

    Return also how earlier neurons fade, if they do.
    """
    if passed is None:
        return size_up(learner, n_rows), None
    if len(passed) > n_rows:  # rows without weight have been left out
        passed = np.full(n_rows, passed.sum() / n_rows)
    span = float(passed.sum())
    per_row = _half_lives_per_row(learner.descent_, n_rows, span)
    rows = -(-n_rows // min(n_rows, max(1, int(np.ceil(span / BATCH)))))
    if not isinstance(learner.batch_size, str):
        rows = min(rows, learner.batch_size)
    planned = size_up(learner, n_rows, **_wanted(learner, rows, per_row)).step
    most, k = planned.n_neurons, planned.neurons_per_step
    rows = min(rows, planned.batch_size)
    lasts = most / k * rows * per_row
    if lasts < _FEW and len(learner.descent_.coef) + k > most:
        warn(
            f"{type(learner).__name__}: half_life={learner.half_life!r} with n_neurons={most} and "
            f"{k} new neurons for every {rows} rows: neurons are dropped after {lasts:.2g} "
            "half-lives, so the model forgets faster. Remedy: batches of more rows, or a larger "
            "n_neurons."
        )
    kept = 2.0 ** -(rows * per_row)
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
    width, blocks = learner.neurons_.width, learner.preconditioner == "block"
    if learner.preconditioner == "auto":
        blocks = rows >= _BLOCK_ROWS and isinstance(learner.step_size, str)
        wanted["preconditioner"] = "block" if blocks else None
    if isinstance(learner.neurons_per_step, str):
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
