"""Parameters of a doubly stochastic descent, and the sizes of its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from trickless.arrays.devices import to_host
from trickless.arrays.threads import linear_algebra
from trickless.functions.stream import NeuronStream, Purpose, generator
from trickless.neurons.checks import check_finite_activations
from trickless.rules import warn
from trickless.solvers.losses import Loss

#: Rows and neurons from which the largest stable step is estimated.
_PILOT_ROWS, _PILOT_NEURONS = 1024, 256
#: The noise that all steps together may add to the function, as a share of the targets' noise.
_NOISE = 0.25
#: The least unit of targets; its inverse is finite.
_LEAST_UNIT = 1e-300


class Options(NamedTuple):
    """Parameters of the learner that may change between batches, and its name for messages."""

    owner: str
    loss: Loss
    alpha: float
    step_size: float | str
    schedule: str
    decay: float | str
    preconditioner: str | None
    damping: float
    batch_size: int
    neurons_per_step: int
    n_neurons: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    n_jobs: int | None


class Steps(NamedTuple):
    """Step sizes γ_i for i = 0, 1, 2, ..., common to all outputs or a tuple with one for each."""

    schedule: str
    first: float | tuple[float, ...]
    decay: float | tuple[float, ...]

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


def largest_eigenvalue(
    stream: NeuronStream,
    pick: Callable[[np.ndarray], Any],
    n_rows: int,
    weight: np.ndarray | None,
    n_jobs: int | None,
) -> float:
    """Estimate of the largest eigenvalue of the kernel operator, from some rows and neurons."""
    rows, family = np.arange(n_rows), stream.neurons
    if n_rows > _PILOT_ROWS:
        rng = generator(stream.seed, Purpose.PILOT)
        rows = np.sort(rng.choice(rows, _PILOT_ROWS, replace=False))
    size = min(len(rows), _PILOT_NEURONS * family.width)
    with linear_algebra(n_jobs, size**3):
        some = pick(rows)
        Z = to_host(family(some, stream.between(0, _PILOT_NEURONS, some))).astype(np.float64)
        check_finite_activations(type(family).__name__, Z)
        if weight is not None:
            Z *= np.sqrt(weight[rows] / weight.mean())[:, None]
        square = Z.T @ Z if len(Z) > Z.shape[1] else Z @ Z.T
        top = linalg.eigvalsh(square, subset_by_index=[size - 1] * 2)
    return float(top[0]) / (len(Z) * _PILOT_NEURONS)


def steps_of(options: Options, spread: np.ndarray, eigenvalue: float, bound: float) -> Steps:
    """Step sizes by the parameters, for targets of this spread and neurons of this bound."""
    if not isinstance(options.step_size, str):
        first = np.array(options.step_size, dtype=float)
    elif options.schedule == "theorem":
        first = np.array(1 / options.alpha if options.alpha else np.inf)
    else:
        first = np.asarray(automatic_step(options, spread, eigenvalue, bound))
    decay = first * options.alpha if options.alpha else np.zeros_like(first)
    if not isinstance(options.decay, str):
        decay = np.full_like(first, options.decay)
    return Steps(options.schedule, _of_outputs(first), _of_outputs(decay))


def _of_outputs(size: Any) -> float | tuple[float, ...]:
    """A size common to all outputs, or one for each, as plain numbers."""
    return tuple(size.tolist()) if np.size(size) > 1 else float(np.squeeze(size))


def automatic_step(options: Options, spread: np.ndarray, eigenvalue: float, bound: float) -> Any:
    """The first step of ``step_size="auto"``, common to all outputs or one for each."""
    curvature: Any = options.loss.curvature
    if options.loss.piecewise_linear:  # a slope of ±1 moves f equally far in any unit of y
        curvature = curvature / unit_of(spread)
    if options.preconditioner == "block":
        return 1 / curvature
    b, k = options.batch_size, options.neurons_per_step
    return stable_step(curvature, options.alpha, eigenvalue, bound**2, b, k, options.n_neurons)


def unit_of(spread: np.ndarray) -> np.ndarray:
    """Units of the outputs, for losses whose slope is ±1 in any unit; 1 if the spread is 0."""
    return np.where(spread > 0, np.maximum(spread, _LEAST_UNIT), 1.0)


def stable_step(
    curvature: Any,
    alpha: float,
    eigenvalue: float,
    square: float,
    batch: int,
    k: int,
    n_neurons: int,
) -> Any:
    """The largest step size that is stable and keeps the noise of all steps small.

    For a loss of curvature 1, a step on b rows (``batch``) and k fresh neurons multiplies the error
    of f along an eigenfunction of the kernel operator by 1 − γλ on average, and adds noise. The
    mean square error shrinks if γ (λ + κ/b + κ/k) < 2, with κ = sup k(x, x) (``square``) and λ the
    largest eigenvalue. Half of that limit is fastest. EigenPro's step for a fixed kernel, b / (κ +
    (b − 1) λ) [1]_, is the same without the noise of the neurons. In addition, each step adds
    γ²/(kb) times the noise of the targets. Over all n/k steps this is limited to a quarter of that
    noise.

    References
    ----------
    .. [1] S. Ma and M. Belkin, "Kernel machines that adapt to GPUs for effective large batch
       training", MLSys 2019, Equation 6.
    """
    fastest = 1 / (curvature * (eigenvalue + square / batch + square / k) + alpha)
    quiet = np.sqrt(_NOISE * k * batch / max(n_neurons / k, 1)) / (curvature * square)
    return np.minimum(fastest, quiet)


def check_steps(owner: str, steps: Steps, alpha: float) -> None:
    """Refuse steps that reverse the signs of coefficients; warn if the theorem does not hold."""
    name = f"{owner}: schedule={steps.schedule!r}"
    if steps.schedule == "theorem":
        if alpha == 0:
            raise ValueError(
                f"{name} with alpha=0: its steps θ/i need θ alpha to be in (1, 2) or a positive "
                "integer. Remedy: an alpha above 0, or another schedule."
            )
        theta = float(np.max(steps.first))
        product = theta * alpha
        if not (1 < product < 2 or (product > 0.5 and np.isclose(product, round(product)))):
            warn(
                f"{name}: θ alpha = {product:g}, with θ = step_size = {theta:g}, is neither "
                "in (1, 2) nor a positive integer, so that the theorem does not hold. Remedy: "
                f"step_size='auto', or one between {1 / alpha:g} and {2 / alpha:g}."
            )
    elif (second := steps(1).max()) * alpha >= 1:
        raise ValueError(
            f"{name}: steps of {second:g} with alpha={alpha!r} decay earlier coefficients by "
            f"1 - step * alpha = {1 - second * alpha:g}, which must be above 0. Remedy: a "
            f"step_size below {1 / alpha:g}, or a smaller alpha."
        )
