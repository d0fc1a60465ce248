"""Bounds of the theorems of Dai et al. 2014, for Doubly Stochastic Gradients."""

from __future__ import annotations

import math
from typing import NamedTuple

from trickless._rules import anything, check_value, is_real
from trickless.theory.checks import checked, probability


class DoublyStochasticBound(NamedTuple):
    """Bounds on how far the function of Doubly Stochastic Gradients is from the minimiser."""

    distance: float
    neurons: float
    rows: float
    excess_risk: float
    norm: float


@checked(delta=probability(3))
def doubly_stochastic_bound(
    n_steps: int,
    alpha: float,
    lipschitz: float,
    smoothness: float,
    *,
    delta: float | None = None,
    batch_size: int = 1,
    neurons_per_step: int = 1,
    step_size: float | None = None,
    bound: float = 1.0,
    risk_of_zero: float | None = None,
) -> DoublyStochasticBound:
    r"""Bound the distance of Doubly Stochastic Gradients from the minimiser of its objective.

    With ``schedule="theorem"``, step i = 1, ..., t has the size θ/i, and takes b new rows and k new
    neurons, from f = 0. Let f* minimise :math:`E\, l(f(x), y) + \frac\alpha2 \|f\|^2`. With
    :math:`\kappa \ge \|\psi\|^2`, in expectation over the rows and the neurons,

    .. math:: E (f(x) - f_*(x))^2 \le \frac{(\sigma \theta + \sqrt\kappa\, Q)^2}{t}, \qquad
        \sigma = \frac{M \kappa}{\sqrt k}, \qquad
        Q^2 = 2 \sqrt\kappa\, L \sigma \theta^2 Q + \kappa M^2 \theta^2 (1 + \theta \alpha)^2

    and the excess risk is at most M times the root [1]_. None of this depends on the minimiser.

    Parameters
    ----------
    n_steps : int
        Number of steps t.
    alpha : float
        Regularisation strength α.
    lipschitz : float
        Largest absolute slope M of the loss. It is 1 for the logistic loss and ε for Huber's.
    smoothness : float
        Lipschitz constant L of the slope. It is 1/4 for the logistic loss and 1 for Huber's.
    delta : float, optional
        If given, the bounds hold with probability 1 - 3 delta, on the distance for one x at a time.
        It must be above 0 and below 1/3. Default: they hold in expectation.
    batch_size : int, default=1
        Number b of rows in a step.
    neurons_per_step : int, default=1
        Number k of neurons in a step.
    step_size : float, optional
        The constant θ, from 1 / alpha to 2 / alpha. Default: 1 / alpha, as for the learner.
    bound : float, default=1.0
        Largest Euclidean norm of a neuron's values, the root of κ.
    risk_of_zero : float, optional
        The risk :math:`E\, l(0, y)` of f = 0, such as log 2 for the logistic loss, by which the
        ``norm`` is at most :math:`\sqrt{2 E\, l(0, y) / \alpha}`.

    Returns
    -------
    DoublyStochasticBound
        The bounds on the ``distance`` :math:`(f(x) - f_*(x))^2` at any x, on the ``excess_risk``,
        and on the ``norm`` of f*. The root of the distance is at most the sum of the roots of what
        the ``neurons`` and the ``rows`` add.

    Notes
    -----
    The risk of the minimiser may exceed that of a function of norm B by :math:`\frac\alpha2 B^2`.
    The bounds are for one output. For the softmax loss they hold in expectation, with the Euclidean
    norm over the outputs, ``lipschitz`` :math:`\sqrt 2` and ``smoothness`` 1/2.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Section 5, with the constants of the proofs in the explanation of this learner.

    Examples
    --------
    >>> from trickless.theory import doubly_stochastic_bound
    >>> bound = doubly_stochastic_bound(10**6, 0.1, 1.0, 0.25, neurons_per_step=32)
    >>> round(bound.distance, 5), round(bound.excess_risk, 3)
    (0.00071, 0.027)
    """
    least = 1 / float(alpha)
    theta = least if step_size is None else step_size
    allowed = anything(
        f"a number from 1 / alpha = {least:g} to 2 / alpha = {2 * least:g}",
        "step_size=None is 1 / alpha",
        lambda v: is_real(v) and abs(v / least - 1.5) <= 0.5 + 1e-12,
    )
    check_value("doubly_stochastic_bound", "step_size", theta, allowed)
    M, L, kappa, t = float(lipschitz), float(smoothness), float(bound) ** 2, float(n_steps)
    gradient = math.sqrt(kappa) * M * (1 + theta * alpha)  # the largest ‖ξ + αh‖
    sigma = M * kappa / math.sqrt(neurons_per_step)
    if delta is None:
        neurons = (sigma * theta) ** 2 / t
        half = math.sqrt(kappa) * L * sigma * theta**2
        rows = kappa * (half + math.hypot(half, theta * gradient)) ** 2 / t
        everywhere = neurons
    else:
        neurons = 2 * math.log(2 / delta) * (sigma * theta) ** 2 / t
        everywhere = 8 * math.log(2 * t / delta) * (sigma * theta) ** 2 / t
        grown = (gradient**2 + 2 * kappa * L**2 * everywhere * t) * (1 + math.log(t))
        luck = 4 * kappa * M**2 / batch_size * math.log(1 / delta)
        rows = kappa * theta**2 * (grown + luck) / t
    distance = (math.sqrt(neurons) + math.sqrt(rows)) ** 2
    risk = M * (math.sqrt(everywhere) + math.sqrt(rows))
    norm = math.sqrt(kappa) * M / alpha
    if risk_of_zero is not None:
        norm = min(norm, math.sqrt(2 * risk_of_zero / alpha))
    return DoublyStochasticBound(distance, neurons, rows, risk, norm)
