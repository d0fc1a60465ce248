"""Parameters of a doubly stochastic descent, and the sizes of its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from trickless.arrays.places import to_host
from trickless.arrays.stated import check_is, check_number, check_same
from trickless.arrays.threads import linear_algebra
from trickless.errors import InvalidValueError
from trickless.functions.stream import NeuronStream, Purpose, generator
from trickless.neurons import Neurons
from trickless.neurons.checks import check_finite_activations
from trickless.rules import warn
from trickless.solvers.losses import Loss

#: Rows, neurons and the most columns from which the largest stable step is estimated.
_PILOT_ROWS, _PILOT_NEURONS, _PILOT_COLUMNS = 1024, 256, 2**14
#: The noise that all steps together may add to the function, as a share of the targets' noise.
_NOISE = 0.25
#: Steps of a stream fall as this power of their number, once it has drawn all planned neurons.
_FADING = 0.75
#: Rows a step and neurons a step of plain steps whose sizes depend on the data.
PLAIN_ROWS, PLAIN_NEURONS = 512, 32
#: Rows from which steps are preconditioned, and the most in such a step.
_BLOCK_ROWS, MOST_ROWS = 1024, 16_384
#: The most rows of a Newton step on a tree.
ROWS_OF_TREES = 2**17
#: Newton steps on trees: the largest, the least, and a constant over the root of their number.
_LARGEST_NEWTON, _LEAST_NEWTON, _NEWTON = 0.5, 0.02, 3.0
#: The damping of preconditioned steps on blocks.
_DAMPING = 1e-4
#: Rows for each column of a block, and the least and the most columns of a block.
_ROWS_PER_COLUMN, _LEAST_COLUMNS, _MOST_COLUMNS = 16, 16, 1024
#: A fit takes at least this many preconditioned steps.
_LEAST_STEPS = 8
#: Share of the best step of a block that is taken, since blocks that follow it correct its noise.
_SHARE = 0.6
#: The flattest curvature along the slopes, as a share of the largest of the loss, and the longest
#: step in units of a Newton step.
_FLATTEST, _LONGEST = 0.5, 2.0
#: The regularisation strength of learners with a kernel, for targets of unit size.
_ALPHA = 1e-3
#: The least unit of targets; its inverse is finite.
_LEAST_UNIT = 1e-300


class DescentOptions(NamedTuple):
    """Parameters of the learner that may change between batches, and its name for messages."""

    owner: str
    loss: Loss
    alpha: float
    alpha_is_auto: bool
    step_size: float | str
    schedule: str
    decay: float | str
    preconditioner: str | None
    damping: float
    batch_size: int
    neurons_per_step: int
    n_neurons: int
    n_candidates: int
    learned_prior: bool
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    n_jobs: int | None

    @property
    def searches(self) -> bool:
        """Whether the length of each step is found by the fit of its block."""
        return self.preconditioner == "block" and isinstance(self.step_size, str)

    @property
    def newton(self) -> bool:
        """Whether steps are Newton steps on the leaves of trees."""
        return self.preconditioner == "newton"

    def of_blocks(self) -> DescentOptions:
        """The parameters for blocks of other neurons, which take turns with trees."""
        return self._replace(preconditioner="block", step_size="auto", damping=_DAMPING)


class Plan(NamedTuple):
    """The values that a learner uses for parameters that are "auto"."""

    preconditioner: str | None
    batch_size: int
    neurons_per_step: int
    n_neurons: int
    n_candidates: int
    alpha: float
    damping: float
    early_stopping: bool


#: Rows from which early stopping of trees is the default.
_WORTH_STOPPING = 40


def may_be_newton(preconditioner: str | None, schedule: str) -> bool:
    """Whether the parameters let a learner take Newton steps, if its neurons have trees."""
    return preconditioner == "newton" or (preconditioner == "auto" and schedule != "theorem")


def plan(
    given: dict[str, Any], plain: bool, n_rows: int, n_effective: float, neurons: Neurons
) -> Plan:
    """The values that a learner uses for parameters in ``given`` that are "auto".

    They depend on the number of rows, which is ``n_effective`` where their weights count. ``plain``
    says that steps must not be preconditioned unless the user asks for that.
    """
    newton = given["preconditioner"] == "newton" or (
        neurons.has_trees and may_be_newton(given["preconditioner"], given["schedule"])
    )
    usual = _of_trees(n_effective) if newton else _of_others(given, plain, n_rows, neurons.width)
    wanted = {name: given[name] for name in Plan._fields if name != "preconditioner"}
    return usual._replace(**{n: v for n, v in wanted.items() if not isinstance(v, str)})


def _of_trees(n_rows: float) -> Plan:
    """Newton steps on trees whose cuts are chosen, stopped early if there are rows to spare."""
    return Plan("newton", ROWS_OF_TREES, 1, 2000, 8, 0.0, 0.15, n_rows >= _WORTH_STOPPING)


def _of_others(given: dict[str, Any], plain: bool, n_rows: int, width: int) -> Plan:
    """Steps on neurons as they are drawn, plain or preconditioned."""
    n_neurons = 20_000 if _is_auto(given["n_neurons"]) else given["n_neurons"]
    of_step = given["preconditioner"], given["batch_size"], given["neurons_per_step"]
    chosen = sizes(*of_step, plain, n_rows, width, n_neurons)
    return Plan(*chosen, n_neurons, 1, 1e-6, _DAMPING, False)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str)


class Sizes(NamedTuple):
    """The preconditioner, rows and neurons of a step."""

    preconditioner: str | None
    batch_size: int
    neurons_per_step: int


def sizes(
    preconditioner: str | None,
    batch_size: int | str,
    neurons_per_step: int | str,
    plain: bool,
    n_rows: int,
    width: int,
    n_neurons: int,
) -> Sizes:
    """The preconditioner, rows and neurons of a step, where some are "auto".

    A block of c columns is fitted to b rows. It adds c/b times the variance of what it cannot
    explain. So b is 16 c if the data have as many rows. ``plain`` says that steps must not be
    preconditioned unless the user asks for that.
    """
    rows = MOST_ROWS if isinstance(batch_size, str) else batch_size
    rows = max(1, min(rows, n_rows))
    columns = min(max(rows // _ROWS_PER_COLUMN, _LEAST_COLUMNS), _MOST_COLUMNS)
    if not isinstance(neurons_per_step, str):
        columns = width * neurons_per_step
        rows = min(rows, max(_BLOCK_ROWS, _ROWS_PER_COLUMN * columns))
    if preconditioner == "auto":
        many = rows >= max(_BLOCK_ROWS, _ROWS_PER_COLUMN // 2 * columns)
        preconditioner = "block" if many and not plain else None
    neurons = max(1, min(columns // width, -(-n_neurons // _LEAST_STEPS)))
    if preconditioner is None:
        rows, neurons = PLAIN_ROWS, PLAIN_NEURONS
    return Sizes(
        preconditioner,
        rows if isinstance(batch_size, str) else batch_size,
        neurons if isinstance(neurons_per_step, str) else neurons_per_step,
    )


class Steps(NamedTuple):
    """Step sizes γ_i for i = 0, 1, 2, ..., and alpha.

    Numbers are common to all outputs, or a tuple with one for each.
    """

    schedule: str
    first: float | tuple[float, ...]
    decay: float | tuple[float, ...]
    alpha: float | tuple[float, ...]

    def check(self, n_outputs: int) -> None:
        """Raise a ValueError if these are not sizes of steps for so many outputs."""
        check_is("schedule of steps", self.schedule, str)
        for name in ("first", "decay", "alpha"):
            value = getattr(self, name)
            if isinstance(value, tuple):
                check_same(f"numbers of {name}", len(value), n_outputs)
            for number in value if isinstance(value, tuple) else (value,):
                check_number(name, number)

    def __call__(self, i: int | np.ndarray) -> np.ndarray:
        """Size of step i: the shape of i, followed by (1,) or (n_outputs,)."""
        i = np.asarray(i)[..., None]
        first, decay = np.atleast_1d(self.first), np.atleast_1d(self.decay)
        match self.schedule:
            case "constant":
                return first + 0.0 * i
            case "inverse":
                return first / (1 + decay * i)
            case "theorem":
                return first / (i + 1)  # θ / i, counted from 1
        raise ValueError(f"schedule={self.schedule!r} is not a known schedule")

    def kept(self, gamma: np.ndarray) -> np.ndarray:
        """By what a step of this size multiplies the earlier coefficients: the shape of gamma."""
        return 1 - gamma * np.atleast_1d(self.alpha)


def largest_eigenvalue(
    stream: NeuronStream,
    pick: Callable[[np.ndarray], Any],
    n_rows: int,
    weight: np.ndarray | None,
    n_jobs: int | None,
) -> float:
    """Estimate of the largest eigenvalue of the kernel operator, from some rows and neurons."""
    rows, family = np.arange(n_rows), stream.neurons
    n_neurons = max(1, min(_PILOT_NEURONS, _PILOT_COLUMNS // family.width))
    if n_rows > _PILOT_ROWS:
        rng = generator(stream.seed, Purpose.PILOT)
        rows = np.sort(rng.choice(rows, _PILOT_ROWS, replace=False))
    size = min(len(rows), n_neurons * family.width)
    with linear_algebra(n_jobs, size**3):
        some = pick(rows)
        Z = to_host(family(some, stream.between(0, n_neurons, some))).astype(np.float64)
        check_finite_activations(type(family).__name__, Z)
        if weight is not None:
            Z *= np.sqrt(weight[rows] / weight.mean())[:, None]
        square = Z.T @ Z if len(Z) > Z.shape[1] else Z @ Z.T
        top = linalg.eigvalsh(square, subset_by_index=[size - 1] * 2)
    return float(top[0]) / (len(Z) * n_neurons)


def steps_of(options: DescentOptions, spread: np.ndarray, eigenvalue: float, bound: float) -> Steps:
    """Step sizes from the parameters, for targets of this spread and neurons of this bound."""
    alpha = np.array(options.alpha, dtype=float)
    if options.alpha_is_auto and options.loss.piecewise_linear:
        alpha = alpha / unit_of(spread)  # alpha |f|² and the loss then have the same unit
    if not isinstance(options.step_size, str):
        first = np.array(options.step_size, dtype=float)
    elif options.schedule == "theorem":
        first = np.divide(1, alpha, out=np.full_like(alpha, np.inf), where=alpha > 0)
    else:
        first = np.asarray(automatic_step(options, alpha, spread, eigenvalue, bound))
    decay = first * alpha if options.alpha else np.zeros_like(first)
    if not isinstance(options.decay, str):
        decay = np.full_like(first, options.decay)
    return Steps(options.schedule, *map(_of_outputs, (first, decay, alpha)))


def _of_outputs(size: Any) -> float | tuple[float, ...]:
    """A size common to all outputs, or one for each, as plain numbers."""
    return tuple(size.tolist()) if np.size(size) > 1 else float(np.squeeze(size))


def automatic_step(
    options: DescentOptions, alpha: Any, spread: np.ndarray, eigenvalue: float, bound: float
) -> Any:
    """The first step of ``step_size="auto"``, common to all outputs or one for each."""
    if options.newton:
        return min(_LARGEST_NEWTON, max(_LEAST_NEWTON, _NEWTON / np.sqrt(options.n_neurons)))
    curvature: Any = options.loss.curvature
    if options.loss.piecewise_linear:  # a slope of ±1 moves f equally far in any unit of y
        curvature = curvature / unit_of(spread)
    if options.preconditioner == "block":
        return 1 / curvature
    # The best of M draws has at most M times the density of one, and so the operator.
    eigenvalue = min(options.n_candidates * eigenvalue, bound**2)
    b, k = options.batch_size, options.neurons_per_step
    return stable_step(curvature, alpha, eigenvalue, bound**2, b, k, options.n_neurons)


def unit_of(spread: np.ndarray) -> np.ndarray:
    """Units of the outputs, for losses whose slope is ±1 in any unit; 1 if the spread is 0."""
    return np.where(spread > 0, np.maximum(spread, _LEAST_UNIT), 1.0)


def automatic_alpha(loss: Loss, spread: np.ndarray) -> Any:
    """The regularisation strength of learners with a kernel, for targets of this spread.

    alpha |f|² has the unit of the loss. A loss with a slope of ±1 has the unit of y.
    """
    return _ALPHA / unit_of(spread) if loss.piecewise_linear else _ALPHA


def stable_step(
    curvature: Any,
    alpha: Any,
    eigenvalue: float,
    square: float,
    batch: int,
    k: int,
    n_neurons: int,
) -> Any:
    """The largest step size that is stable and keeps the noise of all steps small.

    Let the loss have curvature 1. A step on b rows (``batch``) and k fresh neurons moves f by −γ g.
    g is the mean over rows i and neurons j of e(xᵢ) ψⱼ(xᵢ) ψⱼ, where e is the error of f. On
    average g is T e. Let T be the kernel operator, λ its largest eigenvalue, and κ (``square``) the
    square of the neurons' bound, so that ‖ψ(x; w)‖² ≤ κ and k(x, x) ≤ κ. E‖g‖² is a sum over
    pairs (i, j), (i′, j′):

    - Pairs that differ in both give ‖T e‖².
    - Pairs with the same neuron give at most κ⟨e, T e⟩/k.
    - Pairs with the same row give at most κλ E e²/b.
    - Pairs with both the same give κ² E e²/(bk).

    So

        E e² ← E e² − 2γ ⟨e, T e⟩ + γ² ((λ + κ/k) ⟨e, T e⟩ + (κλ/b + κ²/(bk)) E e²).

    Along the first eigenfunction, ⟨e, T e⟩ is λ E e². An error there shrinks if
    γ (λ + κ/b + κ/k + κ²/(bkλ)) < 2. Half of that limit is fastest. EigenPro's step for a fixed
    kernel, b / (κ + (b − 1) λ) [1]_, is the same without the noise of the neurons.

    No step reduces the noise of the targets. For this noise, and along flat eigenfunctions, the
    last term only adds: γ² κ²/(bk) in each step. Over all n/k steps this may come to a quarter.
    (What one row adds by itself falls along T e, where later steps correct it.)

    References
    ----------
    .. [1] S. Ma and M. Belkin, "Kernel machines that adapt to GPUs for effective large batch
       training", MLSys 2019, Equation 6.
    """
    both = square / (batch * k * max(eigenvalue, square * np.finfo(float).eps))  # times κ/λ
    limit = eigenvalue + square * (1 / batch + 1 / k + both)
    fastest = 1 / (curvature * limit + alpha)
    quiet = np.sqrt(_NOISE * k * batch / max(n_neurons / k, 1)) / (curvature * square)
    return np.minimum(fastest, quiet)


def faded(taken: float, options: DescentOptions) -> float:
    """The factor of a step of a stream, after ``taken`` steps of a whole batch.

    It is 1 for the planned n/k steps. After that, steps fall as i^(-3/4). That is slow enough for
    the stream to keep learning. It is fast enough that all further steps together add at most twice
    the noise of the planned steps. Only steps that were not chosen by the user fall.
    """
    if not isinstance(options.step_size, str) or options.schedule != "inverse":
        return 1.0
    planned = max(options.n_neurons / options.neurons_per_step, 1.0)
    return min(1.0, (planned / max(taken, planned)) ** _FADING)


def searched(
    slope: np.ndarray,
    change: np.ndarray,
    squares: np.ndarray,
    columns: float,
    options: DescentOptions,
) -> np.ndarray:
    """The step along the fit of a block to the slopes of a batch, shape (n_outputs,).

    The fit p of a block to the slopes g also follows their noise, since it has seen it. If the
    block were fitted to the other rows, a row would get (p − h g)/(1 − h). Here h is the mean
    leverage, as in generalised cross-validation. Let r be the multiple of this value that fits g
    best. It is about 1 if the block explains the slopes, and 0 if it explains noise.

    The step is 0.6 √r Newton steps, with the curvature of the loss along the slopes. Why the root:
    rows that f has learned from have too small slopes. r is then too small, 1 is too large, and √r
    is between the two. A block with many columns for its rows is less reliable. So the step is in
    fact 0.6 r^((1 + h)/2) (1 − h)². With it, no sizes of blocks and batches diverge.

    ``slope`` are the means of p g, ``change`` those of p², and ``columns`` the effective number
    of columns. ``squares`` are sums over rows: of the shares, of their squares, of the slopes'
    squares, and the two of ``Loss.bend``; shape (5, n_outputs).
    """
    total, shares, square, steep, far = squares
    total = np.maximum(total, _LEAST_UNIT)
    leverage = np.minimum(columns * shares / total**2, 1.0)  # by the effective number of rows
    own = leverage * square / total
    gain = (slope - own) * (1 - leverage)
    cost = change - 2 * leverage * slope + leverage * own
    if options.loss.coupled:
        gain, cost, steep, far = (
            np.full_like(own, value.sum()) for value in (gain, cost, steep, far)
        )
    r = np.divide(gain, cost, out=np.zeros_like(gain), where=(gain > 0) & (cost > 0))
    flattest = _FLATTEST * options.loss.curvature * (not options.loss.piecewise_linear)
    bent = np.divide(steep, far, out=np.full_like(gain, np.inf), where=far > 0)
    share = _SHARE * (1 - leverage) ** 2 * np.minimum(r, _LONGEST) ** ((1 + leverage) / 2)
    return share / np.maximum(bent, flattest)


def check_premises(name: str, loss: Loss) -> None:
    """Warn if a loss lacks the bounded and Lipschitz slope that the theorem assumes."""
    missing = [
        what
        for what, holds in (
            ("a bounded slope", loss.bounded_slope),
            ("a slope that is Lipschitz continuous", loss.smooth),
        )
        if not holds
    ]
    if missing:
        warn(
            f"{name}: the theorem assumes {' and '.join(missing)}, which this loss does not have. "
            "The rate 1/i is then not proved, though it may be seen. Remedy: loss='huber' for "
            "regression, loss='log_loss' for classes."
        )


def check_steps(owner: str, steps: Steps, loss: Loss) -> None:
    """Raise an error for steps that reverse signs; warn if the theorem does not hold."""
    alpha = float(np.max(steps.alpha))
    name = f"{owner}: schedule={steps.schedule!r}"
    if steps.schedule == "theorem":
        if alpha == 0:
            raise InvalidValueError(
                f"{name} with alpha=0: its steps θ/i need θ alpha to be in (1, 2) or a positive "
                "integer",
                "an alpha above 0, or another schedule",
            )
        theta = float(np.max(steps.first))
        product = float(np.max(np.multiply(steps.first, steps.alpha)))
        if not (1 < product < 2 or (product > 0.5 and np.isclose(product, round(product)))):
            warn(
                f"{name}: θ alpha = {product:g}, with θ = step_size = {theta:g}, is neither "
                "in (1, 2) nor a positive integer, so that the theorem does not hold. Remedy: "
                f"step_size='auto', or one between {1 / alpha:g} and {2 / alpha:g}."
            )
        check_premises(name, loss)
    elif (kept := float(steps.kept(steps(1)).min())) <= 0:
        raise InvalidValueError(
            f"{name}: steps of {steps(1).max():g} with alpha={alpha!r} decay earlier coefficients "
            f"by 1 - step * alpha = {kept:g}, which must be above 0",
            f"a step_size below {1 / alpha:g}, or a smaller alpha",
        )
