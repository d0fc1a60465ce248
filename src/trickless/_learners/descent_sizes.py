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

from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidValueError
from trickless._functions.stream import Purpose
from trickless._learners.neuron_learner import begin_stream
from trickless._rules import warn
from trickless._selection.scores import Comparison
from trickless._solvers.ages import Memory
from trickless._solvers.clock import BATCH, SPAN
from trickless._solvers.constants import starting
from trickless._solvers.descent.descent import Descent
from trickless._solvers.descent.growing_network import USUAL_NOISE
from trickless._solvers.descent.options import (
    PLAIN_NEURONS,
    DescentOptions,
    Plan,
    plan,
)
from trickless._solvers.descent.step_sizes import SizeParameters
from trickless._solvers.descent.steps.block import Damping
from trickless._solvers.least_squares.paths import Path
from trickless._solvers.least_squares.ridge import squared_errors
from trickless.neurons.checks import check_independent

#: The least and the most columns of a block of a stream that forgets.
_LEAST_COLUMNS, _MOST_COLUMNS = 8, 2048
#: Rows and columns from which the noise is estimated.
_PILOT_ROWS, _PILOT_COLUMNS = 2**14, 1024
#: Fewer rows than these tell nothing of the noise, which is then the usual one.
_FEW_ROWS = 8
#: The time of a gradient flow that shrinks like ridge regression, in units of 1 / alpha.
_TIME = 0.6
#: Half-lives of neurons below which there is a warning that too few neurons are kept.
_FEW = 1.0


def begin_descent(learner: Any, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> Descent:
    """Return the solver of a learner with neurons, which starts from an intercept or from 0."""
    if learner.schedule == "theorem":  # neurons of one block may be drawn in different steps
        check_independent(type(learner).__name__, "schedule='theorem'", learner.neurons_)
    intercept = np.zeros(targets.shape[1])
    if learner.fit_intercept:
        loss = learner._loss(learner._targets_.n_outputs)
        intercept = starting(loss, targets, weight, learner._numeric)
    begin_stream(learner)
    descent = Descent(learner._stream_, intercept, learner._targets_)
    if _is_damped(learner):
        descent.noise = _noise(learner, X, targets, weight)
    return descent


def _noise(learner: Any, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Estimate the variance of the noise, relative to that of f per unit of the kernel.

    It is the ridge with which a few neurons predict rows best that are left out, times the number
    of rows, for each output. Classes have the geometric mean, since they belong together.
    """
    found = np.full(targets.shape[1], USUAL_NOISE)
    if len(targets) < _FEW_ROWS:
        return found
    n_neurons = max(1, _PILOT_COLUMNS // learner.neurons_.width)
    sample = Comparison(
        X,
        targets,
        weight,
        learner._seed_,
        Purpose.NOISE,
        0,
        _PILOT_ROWS,
        n_neurons,
        1,
        dtype=np.float64,  # whose rounding allows smaller ridges
    )
    moments, rows = sample.moments(learner.neurons_, sample.draw(learner.neurons_))
    with linear_algebra(1):
        path = Path(moments, 1)
        scores, losses = squared_errors(path, path.left_out(rows))
        ridge = path.grid[losses.choose(0, np.isfinite(scores))]
    varies = moments.y_variance > 0
    found[varies] = ridge[varies] / n_neurons * len(sample.targets)
    if not learner._numeric and varies.any():
        found[:] = np.exp(np.log(found[varies]).mean())
    return found


def continued(learner: Any) -> Descent:
    """Return a copy of the solver for a warm start; a fit that fails leaves the model unchanged."""
    n_drawn = len(learner._descent_.coef)
    planned = learner.n_neurons_ if isinstance(learner.n_neurons, str) else learner.n_neurons
    if planned <= n_drawn:
        raise InvalidValueError(
            f"{type(learner).__name__}: warm_start=True with n_neurons={planned!r}, but "
            f"the model has {n_drawn} neurons already, so there are none to add",
            "a larger n_neurons, or warm_start=False to start over",
        )
    return learner._descent_.copy()


def size_up(learner: Any, n_rows: int, stream: bool = False, **wanted: Any) -> DescentOptions:
    """Fix the parameters that are "auto" for rows that come together, and return all options.

    Values that are ``wanted`` replace parameters of the learner.
    """
    given = {name: getattr(learner, name) for name in Plan._fields} | wanted
    found = plan(given, _schedule(learner), n_rows, learner.neurons_)
    damping, loss = None, learner._loss(learner._targets_.n_outputs)
    if _is_damped(learner):
        damping, found = _damping(learner, found, n_rows, stream)
    for name, value in found._asdict().items():
        setattr(learner, f"{name}_", value)
    given_alpha = found.alpha, isinstance(learner.alpha, str)
    schedule = "inverse" if found.schedule == "block" else found.schedule
    sizes = SizeParameters(*given_alpha, learner.step_size, schedule)
    if damping is not None:  # which regularises instead of a decay
        sizes = SizeParameters(0.0, False, "auto", "constant")
    common = type(learner).__name__, loss, learner.n_jobs, damping
    return DescentOptions(found.step(*common, learner.fit_intercept), sizes)


def _schedule(learner: Any) -> str:
    """Return the schedule in use: of blocks, unless the user has decided the length of steps."""
    if learner.schedule != "auto":
        return str(learner.schedule)
    return "block" if isinstance(learner.step_size, str) else "inverse"


def _is_damped(learner: Any) -> bool:
    """Return whether steps are on blocks, whose damping decides how long they are."""
    return _schedule(learner) == "block" and isinstance(learner.step_size, str)


def _damping(learner: Any, found: Plan, n_rows: int, stream: bool) -> tuple[Damping, Plan]:
    """Return the damping of blocks, and the plan with the ``alpha`` that the data chose, if so.

    Blocks are N implicit steps of the gradient flow to a time t, with all K neurons. Ridge
    regression at alpha shrinks like one step to t = 1 / alpha, or like many to about 0.6 / alpha.
    """
    loss, k, n_neurons = learner._loss(learner._targets_.n_outputs), *found[2:4]
    time = _TIME + (1 - _TIME) * min(1.0, k / n_neurons)
    noise, is_auto = loss.settled * learner._descent_.noise, isinstance(learner.alpha, str)
    for_each_row = k / min(found.batch_size, n_rows) if stream else n_neurons / n_rows
    of_squares, of_loss = noise * for_each_row / time, found.alpha * n_neurons / time
    if is_auto:
        return Damping(of_squares, 0.0), found._replace(
            alpha=float(np.exp(np.log(noise).mean())) * loss.curvature / n_rows
        )
    # A stream meets rows once, so small batches follow noise without the damping for that.
    return Damping(of_squares if stream else 0.0, of_loss), found


def size_up_stream(
    learner: Any, n_rows: int, passed: np.ndarray | None
) -> tuple[DescentOptions, Memory | None]:
    """Return options for a batch of a stream, before which some half-lives have ``passed``.

    Return also how earlier neurons fade, if they do.
    """
    if passed is None:
        return size_up(learner, n_rows, True), None
    if len(passed) > n_rows:  # rows without weight have been left out
        passed = np.full(n_rows, passed.sum() / n_rows)
    span = float(passed.sum())
    per_row = _half_lives_per_row(learner._descent_, n_rows, span)
    rows = -(-n_rows // min(n_rows, max(1, int(np.ceil(span / BATCH)))))
    if not isinstance(learner.batch_size, str):
        rows = min(rows, learner.batch_size)
    options = size_up(learner, n_rows, True, **_wanted(learner, rows, per_row))
    planned = options.step
    most, k = planned.n_neurons, planned.neurons_per_step
    rows = min(rows, planned.batch_size)
    lasts = most / k * rows * per_row
    if lasts < _FEW and len(learner._descent_.coef) + k > most:
        warn(
            f"{type(learner).__name__}: half_life={learner.half_life!r} with n_neurons={most} and "
            f"{k} new neurons for every {rows} rows: neurons are dropped after {lasts:.2g} "
            "half-lives, so the model forgets faster. Remedy: batches of more rows, or a larger "
            "n_neurons."
        )
    kept = 2.0 ** -(rows * per_row)
    n_steps = min(1 / max(1 - kept**2, 1e-300), max(1.0, most / k))
    learner.batch_size_ = rows
    step = replace(planned, batch_size=rows, n_neurons=round(n_steps * k))
    sizes = options.sizes._replace(schedule="constant")
    levels = learner.fit_intercept and (step.loss.for_numbers or step.loss.has_link)
    return options._replace(step=step, sizes=sizes), Memory(passed, most, levels)


def _wanted(learner: Any, rows: int, per_row: float) -> dict[str, Any]:
    """Return values of parameters that are "auto", for steps on so many rows.

    Steps on blocks find more of what f has lost than plain ones do, if they have a column for each
    four rows. Fewer columns, down to an eighth of that, keep a long half-life within ``n_neurons``.
    """
    wanted: dict[str, Any] = {"batch_size": rows}
    width, blocks = learner.neurons_.width, _schedule(learner) == "block"
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
