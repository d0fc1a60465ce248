"""The sizes of steps: schedules, and the largest step that is stable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import linalg

from trickless._arrays.places import to_host
from trickless._arrays.stated import Finite, Length, stated
from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidValueError
from trickless._functions.stream import NeuronStream, Purpose, generator
from trickless._rules import warn
from trickless._solvers.losses import Loss
from trickless._solvers.outputs import NewOutputs
from trickless.neurons.checks import check_finite_activations

#: Rows, neurons and the most columns from which the largest stable step is estimated.
_PILOT_ROWS, _PILOT_NEURONS, _PILOT_COLUMNS = 1024, 256, 2**14
#: The noise that all steps together may add to the function, as a share of the targets' noise.
_NOISE = 0.25
#: Steps of a stream fall as this power of their number, once it has drawn all planned neurons.
_FADING = 0.75


class SizeParameters(NamedTuple):
    """Parameters of a learner that decide the sizes of its steps."""

    alpha: float
    alpha_is_auto: bool
    step_size: float | str
    schedule: str

    def steps(self, loss: Loss, spread: np.ndarray, first_size: Callable[[Any], Any]) -> Steps:
        """Return the sizes for targets of this spread.

        ``first_size`` returns the first one for a given alpha, if it is "auto".
        """
        alpha = np.array(self.alpha, dtype=float)
        if self.alpha_is_auto:
            alpha = loss.automatic(alpha, spread)
        if not isinstance(self.step_size, str):
            first = np.array(self.step_size, dtype=float)
        elif self.schedule == "theorem":
            first = np.divide(1, alpha, out=np.full_like(alpha, np.inf), where=alpha > 0)
        else:
            first = np.asarray(first_size(alpha))
        return Steps(self.schedule, *map(_of_outputs, (first, alpha)))

    def fading(self, taken: float, planned: float) -> float:
        """Return the factor of a step of a stream, after ``taken`` steps of a whole batch.

        It is 1 for the ``planned`` steps. After that, steps fall as i^(-3/4). That is slow enough
        for the stream to keep learning, and fast enough that all further steps together add at most
        twice the noise of the planned ones. Only steps that the user did not choose fall.
        """
        if not isinstance(self.step_size, str) or self.schedule != "inverse":
            return 1.0
        planned = max(planned, 1.0)
        return min(1.0, (planned / max(taken, planned)) ** _FADING)


@stated
class Steps(NamedTuple):
    """Step sizes γ_i for i = 0, 1, 2, ..., and alpha.

    Numbers are common to all outputs, or a tuple with one for each.
    """

    schedule: str
    first: Annotated[tuple[Finite, ...], Length("n_outputs")] | Finite
    alpha: Annotated[tuple[Finite, ...], Length("n_outputs")] | Finite

    def with_outputs(self, new: NewOutputs) -> Steps:
        """Return the sizes for other outputs."""
        sizes = (np.asarray(value) for value in (self.first, self.alpha))
        return Steps(self.schedule, *(_of_outputs(new.of_each(size)) for size in sizes))

    def __call__(self, i: int | np.ndarray) -> np.ndarray:
        """Return the size of step i: the shape of i, followed by (1,) or (n_outputs,)."""
        i = np.asarray(i)[..., None]
        first, alpha = np.atleast_1d(self.first), np.atleast_1d(self.alpha)
        match self.schedule:
            case "constant":
                return first + 0.0 * i
            case "inverse":
                return first / (1 + first * alpha * i)
            case "theorem":
                return first / (i + 1)  # θ / i, counted from 1
        raise ValueError(f"schedule={self.schedule!r} is not a known schedule")

    def kept(self, gamma: np.ndarray) -> np.ndarray:
        """Return what a step of size gamma multiplies the earlier coefficients by."""
        return 1 - gamma * np.atleast_1d(self.alpha)


def _of_outputs(size: Any) -> float | tuple[float, ...]:
    """Return a size common to all outputs, or one for each, as plain numbers."""
    return tuple(size.tolist()) if np.size(size) > 1 else float(np.squeeze(size))


def largest_eigenvalue(
    stream: NeuronStream,
    pick: Callable[[np.ndarray], Any],
    n_rows: int,
    weight: np.ndarray | None,
    n_jobs: int | None,
) -> float:
    """Estimate the largest eigenvalue of the kernel operator from some rows and neurons."""
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


def stable_step(
    curvature: Any,
    alpha: Any,
    eigenvalue: float,
    square: float,
    batch: int,
    k: int,
    n_neurons: int,
) -> Any:
    """Return the largest step size that is stable and keeps the noise of all steps small.

    Let the loss have curvature 1. A step on b rows (``batch``) and k fresh neurons moves f by −γ g.
    g is the mean over rows i and neurons j of e(xᵢ) ψⱼ(xᵢ) ψⱼ, where e is the error of f. On
    average g is T e. Let T be the kernel operator, λ its largest eigenvalue, and κ (``square``) the
    square of the neurons' bound, so that ‖ψ(x; w)‖² ≤ κ and k(x, x) ≤ κ. E‖g‖² is a sum over
    pairs (i, j), (i′, j′):

    - Pairs that differ in both give ‖T e‖².
    - Pairs with the same neuron give at most κ⟨e, T e⟩/k.
    - Pairs with the same row give at most κλ E e²/b.
    - Pairs with both the same give κ² E e²/(bk).

    Hence

        E e² ← E e² − 2γ ⟨e, T e⟩ + γ² ((λ + κ/k) ⟨e, T e⟩ + (κλ/b + κ²/(bk)) E e²).

    Along the first eigenfunction, ⟨e, T e⟩ is λ E e². An error there shrinks if
    γ (λ + κ/b + κ/k + κ²/(bkλ)) < 2. This says nothing of other directions, for which the
    documentation has a weaker statement with a condition of its own. Half of that limit is fastest.
    EigenPro's step for a fixed kernel, b / (κ + (b − 1) λ) [1]_, is the same without the noise of
    the neurons.

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


def check_premises(name: str, loss: Loss) -> None:
    """Warn if a loss lacks the bounded and Lipschitz slope that the theorem assumes."""
    missing = [
        what
        for what, holds in (
            ("a bounded slope", loss.bounded_slope),
            ("a slope that is Lipschitz continuous", loss.smooth and loss.bounded_curvature),
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
