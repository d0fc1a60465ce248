"""Sizes of the steps of a doubly stochastic descent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless.rules import warn

#: The noise that all steps together may add to the function, as a share of the targets' noise.
_NOISE = 0.25
#: The least unit of targets; its inverse is finite.
_LEAST_UNIT = 1e-300


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
                f"step_size='auto', or one between {1 / alpha:g} and {2 / alpha:g}.",
            )
    elif (second := steps(1).max()) * alpha >= 1:
        raise ValueError(
            f"{name}: steps of {second:g} with alpha={alpha!r} decay earlier coefficients by "
            f"1 - step * alpha = {1 - second * alpha:g}, which must be above 0. Remedy: a "
            f"step_size below {1 / alpha:g}, or a smaller alpha."
        )
