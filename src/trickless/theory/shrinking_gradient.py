"""Constants and bounds of Theorem 1 of Livni et al. 2017, for Shrinking Gradient."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._rules import anything, check_value, is_real
from trickless.theory.checks import checked

#: What the functions share.
_SHARED = """
Parameters
----------
horizon : int
    Number of rounds T, of one row each, known in advance.
norm_bound : float
    Norm B of the functions competed with.

References
----------
.. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the kernel
   trick", ICML 2017, Theorem 1, with the proof in the explanation of Shrinking Gradient.
"""


class ShrinkingGradientConstants(NamedTuple):
    """The constants that Theorem 1 of Livni et al. 2017 prescribes, and what it guarantees."""

    step_size: float
    n_draws: int
    gamma: float
    regret: float


@checked()
@completed_by(_SHARED)
def shrinking_gradient_constants(horizon: int, norm_bound: float) -> ShrinkingGradientConstants:
    r"""Compute the step and the draws that the theorem of Shrinking Gradient prescribes.

    .. math:: \eta = \frac{B}{2 \sqrt T}, \qquad m = ((16 B + 1) B)^2\, T \log \gamma, \qquad
        \gamma = \max\Big(\frac{((16 B + 1)\, \eta T + B)^2}{\eta^2},\; e\Big)

    They guarantee [1]_ that the expected regret of :func:`shrinking_gradient_regret` is

    .. math:: R_T \le \frac{1}{1 - \eta} \Big( \frac{B^2}{2 \eta} + \eta T +
        \frac{T}{2 \eta \gamma} \Big(\frac{(16 B + 1)\, \eta T}{4} + B\Big)^2 \Big)
        \le \frac{7/4}{1 - \eta}\, B \sqrt T

    if rows and targets do not depend on the draws. The last term is for wrong shrinks, and the
    others are :func:`shrinking_gradient_regret` for a variance of 1. The number m is for the worst
    case. For B below 1/8, the bound is proved only for :func:`shrinking_gradient_draws`. Divided by
    T, it bounds the expected excess risk of the average over T independent rows (Corollary 1).

    Returns
    -------
    ShrinkingGradientConstants
        ``step_size`` η, ``n_draws`` m (rounded up), ``gamma`` γ, and the bound on the ``regret``.

    Raises
    ------
    ValueError
        If η is not below 1/8, as the theorem requires. The message says which horizon is enough.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_constants
    >>> constants = shrinking_gradient_constants(horizon=10_000, norm_bound=1.0)
    >>> constants.step_size, constants.n_draws, round(constants.regret, 1)
    (0.005, 69618537, 152.3)
    """
    eta, gamma = _step_and_gamma("shrinking_gradient_constants", horizon, norm_bound)
    T, B = float(horizon), float(norm_bound)
    m = ((16 * B + 1) * B) ** 2 * T * math.log(gamma)
    wrong = T / (2 * eta * gamma) * ((16 * B + 1) * eta * T / 4 + B) ** 2
    regret = (B**2 / (2 * eta) + eta * T + wrong) / (1 - eta)
    return ShrinkingGradientConstants(eta, math.ceil(m), gamma, regret)


@checked()
@completed_by(_SHARED)
def shrinking_gradient_draws(one_norm: float, horizon: int, norm_bound: float) -> int:
    r"""Compute the number of draws that a round of Shrinking Gradient needs for its guarantee.

    With the γ of :func:`shrinking_gradient_constants`, the guarantee of [1]_ needs

    .. math:: m_t = \Big\lceil \|\alpha_t\|_1^2\,
        \max\Big(1, \frac{\log 2 \gamma}{32 B^2}\Big) \Big\rceil

    draws. The m of that function is for the largest possible :math:`\|\alpha_t\|_1`, whereas the
    learner knows the actual value.

    Parameters
    ----------
    one_norm : float
        Sum :math:`\|\alpha_t\|_1` of the absolute coefficients before the round.

    Returns
    -------
    int
        Number of draws, at least 1.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_draws
    >>> shrinking_gradient_draws(2.5, horizon=10_000, norm_bound=1.0)
    7
    """
    _, gamma = _step_and_gamma("shrinking_gradient_draws", horizon, norm_bound)
    certain = math.log(2 * gamma) / (32 * float(norm_bound) ** 2)
    return max(1, math.ceil(float(one_norm) ** 2 * max(1.0, certain)))


def _step_and_gamma(owner: str, horizon: int, norm_bound: float) -> tuple[float, float]:
    """Compute η and γ of Theorem 1."""
    T, B = float(horizon), float(norm_bound)
    eta = B / (2 * math.sqrt(T))
    if eta >= 1 / 8:
        raise InvalidValueError(
            f"{owner}: horizon={horizon} with norm_bound={norm_bound!r} gives a step of {eta:g}, "
            "but Theorem 1 needs a step below 1/8",
            f"a horizon of at least {math.floor(16 * B**2) + 1}, or a smaller norm_bound",
        )
    return eta, max(((16 * B + 1) * eta * T + B) ** 2 / eta**2, math.e)


@checked()
@completed_by(_SHARED)
def shrinking_gradient_regret(
    horizon: int,
    norm_bound: float,
    step_size: float,
    variance: float = 0.0,
    kernel_bound: float = 1.0,
    half_life: float | None = None,
    distances: Any = 0.0,
) -> float:
    r"""Bound the expected regret of Shrinking Gradient [1]_ if no round can shrink.

    .. math:: R_T \le \frac{1}{1 - \eta \kappa} \Big( \frac{B^2}{2 \eta} +
        \frac{\eta \kappa T}{2} (1 + V) \Big), \qquad \kappa \ge k(x_t, x_t)

    Here :math:`R_T = \sum_t \ell_t(f_t) - \min_{\|g\| \le B} \sum_t \ell_t(g)` is the regret with
    :math:`\ell_t(f) = \frac12 (\langle f, \Phi(x_t) \rangle - y_t)^2` and targets in [-1, 1]. The
    losses of the functions competed with must sum to T / 2 at most, the most that the function 0
    can lose. For a run that happened not to shrink, the bound is a guide, since that depends on the
    draws too.

    With a half-life h, the regret is against any functions :math:`g_1, \dots, g_T` of norm up to B
    that do not depend on the draws, with the distances :math:`d_t = \|g_{t+1} - g_t\|`. With
    :math:`\rho = 1 - \varphi = 2^{-1/h}`, the first term becomes

    .. math:: \frac{B^2 (1 + \varphi T)}{2 \eta} + \frac{\rho}{2 \eta} \sum_t d_t
        \min\Big(2 (S + B), \frac{d_t}{\varphi}\Big), \qquad
        S^2 = (\eta + \eta^2 \kappa V) \min\Big(T, \frac1{1 - \rho^2}\Big).

    Parameters
    ----------
    step_size : float
        The constant step :math:`\eta`, below :math:`1 / \kappa`.
    variance : float, default=0.0
        Upper bound V of the variance of each estimate :math:`E_t` given :math:`f_t`.
    kernel_bound : float, default=1.0
        Upper bound κ of all :math:`k(x_t, x_t) = \|\Phi(x_t)\|^2`. The paper assumes 1.
    half_life : float, optional
        Rows h within which f fades to half.
    distances : float or array of shape (n_changes,), default=0.0
        Distances between successive functions, for a half-life. They are 2 B at most.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_regret
    >>> round(shrinking_gradient_regret(10_000, norm_bound=1.0, step_size=0.005), 1)
    125.6
    >>> round(shrinking_gradient_regret(10_000, 1.0, 0.05, half_life=500, distances=2.0))
    640
    """
    stable = anything(
        f"a number above 0 and below 1 / kernel_bound, {1 / kernel_bound:g}",
        "Theorem 1 has the step norm_bound / (2 * horizon ** 0.5), and "
        "norm_bound / (2 * (1.44 * half_life) ** 0.5) suits a stream that changes",
        lambda v: is_real(v) and 0 < v * kernel_bound < 1,
    )
    check_value("shrinking_gradient_regret", "step_size", step_size, stable)
    noise, distance = step_size * kernel_bound, norm_bound**2
    if half_life is not None:
        fade = -float(np.expm1(-np.log(2) / half_life))
        grows = step_size * (1 + noise * variance)
        reach = np.sqrt(grows * min(horizon, 1 / (fade * (2 - fade))))
        d = np.minimum(distances, 2 * norm_bound)
        changes = float(np.sum(d * np.minimum(2 * (reach + norm_bound), d / fade)))
        distance = distance * (1 + fade * horizon) + (1 - fade) * changes
    return (distance / (2 * step_size) + noise * horizon * (1 + variance) / 2) / (1 - noise)
