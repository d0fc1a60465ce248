"""What Theorem 1 of Livni et al. 2017 prescribes and promises for Shrinking Gradient."""

from __future__ import annotations

import math
from typing import NamedTuple

from trickless.rules import anything, check_value, integer, is_real, non_negative, positive
from trickless.theory.checks import ANY_INTEGER, in_range


class ShrinkingGradientConstants(NamedTuple):
    """The constants that Theorem 1 of Livni et al. 2017 prescribes."""

    step_size: float
    n_samples: int
    gamma: float


@in_range
def shrinking_gradient_constants(horizon: int, norm_bound: float) -> ShrinkingGradientConstants:
    r"""Step size and number of draws for which Shrinking Gradient has its regret guarantee.

    .. math:: \eta = \frac{B}{2 \sqrt T}, \qquad m = ((16 B + 1) B)^2\, T \log \gamma, \qquad
        \gamma = \max\Big(\frac{((16 B + 1)\, \eta T + B)^2}{\eta^2},\; e\Big)

    With them the expected regret against the ball of norm B is :math:`O(B \sqrt T)`. The number of
    draws is that of the worst case, fixed for all rounds; :func:`shrinking_gradient_draws` gives
    as many as a round needs.

    Parameters
    ----------
    horizon : int
        Number of rounds T, known in advance.
    norm_bound : float
        Norm B of the functions competed with.

    Returns
    -------
    ShrinkingGradientConstants
        ``step_size`` η, ``n_samples`` m (rounded up) and ``gamma`` γ.

    Raises
    ------
    ValueError
        If η is not below 1/8, as the theorem asks; the message names the horizon that would do.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Theorem 1. The step is that of the proof; the statement omits the
       factor 1/2.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_constants
    >>> constants = shrinking_gradient_constants(horizon=10_000, norm_bound=1.0)
    >>> constants.step_size, constants.n_samples
    (0.005, 69618537)
    """
    eta, gamma = _step_and_gamma("shrinking_gradient_constants", horizon, norm_bound)
    B = float(norm_bound)
    m = ((16 * B + 1) * B) ** 2 * float(horizon) * math.log(gamma)
    return ShrinkingGradientConstants(eta, math.ceil(m), gamma)


@in_range
def shrinking_gradient_draws(one_norm: float, horizon: int, norm_bound: float) -> int:
    r"""Number of draws that a round of Shrinking Gradient needs for its regret guarantee.

    .. math:: m_t = \Big\lceil \|\alpha_t\|_1^2\,
        \max\Big(1, \frac{\log 2 \gamma}{32 B^2}\Big) \Big\rceil

    The m of [1]_ is for the largest :math:`\|\alpha_t\|_1` that may be, and the learner knows what
    it is. The docs have the proof, in "Shrinking Gradient".

    Parameters
    ----------
    one_norm : float
        The sum :math:`\|\alpha_t\|_1` of the absolute coefficients before the round.
    horizon : int
        Number of rounds T, known in advance.
    norm_bound : float
        Norm B of the functions competed with.

    Returns
    -------
    int
        The number of draws, at least 1.

    Notes
    -----
    With so many draws (i) the variance of an estimate is at most 1, and (ii) the probability that
    it is wrong by 8 B or more is at most :math:`1 / \gamma`, by Hoeffding's inequality: a draw lies
    between :math:`-\|\alpha_t\|_1` and :math:`\|\alpha_t\|_1`. The proof of Theorem 1 needs
    nothing else of the draws.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Theorem 1 and Lemma 4.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_draws
    >>> shrinking_gradient_draws(2.5, horizon=10_000, norm_bound=1.0)
    7
    """
    owner = "shrinking_gradient_draws"
    check_value(owner, "one_norm", one_norm, non_negative("it is the sum of |alpha|"))
    _, gamma = _step_and_gamma(owner, horizon, norm_bound)
    certain = math.log(2 * gamma) / (32 * float(norm_bound) ** 2)
    return max(1, math.ceil(float(one_norm) ** 2 * max(1.0, certain)))


def _step_and_gamma(owner: str, horizon: int, norm_bound: float) -> tuple[float, float]:
    """The step η and γ of Theorem 1."""
    check_value(owner, "horizon", horizon, integer(1, "it is the number of rounds", ANY_INTEGER))
    check_value(owner, "norm_bound", norm_bound, positive("norm_bound=1.0 is a good start"))
    T, B = float(horizon), float(norm_bound)
    eta = B / (2 * math.sqrt(T))
    if eta >= 1 / 8:
        raise ValueError(
            f"{owner}: horizon={horizon} with norm_bound={norm_bound!r} gives a step of {eta:g}, "
            f"and Theorem 1 holds for steps below 1/8. Remedy: a horizon of at least "
            f"{math.floor(16 * B**2) + 1}, or a smaller norm_bound."
        )
    return eta, max(((16 * B + 1) * eta * T + B) ** 2 / eta**2, math.e)


@in_range
def shrinking_gradient_guarantee(horizon: int, norm_bound: float) -> float:
    r"""Bound on the expected regret of Shrinking Gradient as Theorem 1 prescribes it.

    .. math:: R_T \le \frac{1}{1 - \eta} \Big( \frac{B^2}{2 \eta} + \eta T +
        \frac{T}{2 \eta \gamma} \Big(\frac{(16 B + 1)\, \eta T}{4} + B\Big)^2 \Big)
        \le \frac{7/4}{1 - \eta}\, B \sqrt T

    for :math:`R_T = \sum_t \ell_t(f_t) - \min_{\|g\| \le B} \sum_t \ell_t(g)` with
    :math:`\ell_t(f) = \frac12 (\langle f, \Phi(x_t) \rangle - y_t)^2`, rows and targets that do
    not depend on the draws, and the step and the draws of :func:`shrinking_gradient_constants` or
    :func:`shrinking_gradient_draws`. The last term is for shrinks that were wrong; the others are
    those of :func:`shrinking_gradient_regret` for a variance of 1.

    Parameters
    ----------
    horizon : int
        Number of rounds T.
    norm_bound : float
        Norm B of the functions competed with.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the step is not below 1/8; the message names the horizon that would do.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Theorem 1, with the constants of its proof.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_guarantee
    >>> round(shrinking_gradient_guarantee(10_000, norm_bound=1.0), 1)
    152.3
    """
    return _guarantee("shrinking_gradient_guarantee", horizon, norm_bound)


def _guarantee(owner: str, horizon: int, norm_bound: float) -> float:
    eta, gamma = _step_and_gamma(owner, horizon, norm_bound)
    T, B = float(horizon), float(norm_bound)
    wrong = T / (2 * eta * gamma) * ((16 * B + 1) * eta * T / 4 + B) ** 2
    return (B**2 / (2 * eta) + eta * T + wrong) / (1 - eta)


@in_range
def shrinking_gradient_horizon(excess_risk: float, norm_bound: float) -> int:
    r"""The number of rounds after which the average of Shrinking Gradient has a small excess risk.

    It is the least T for which :func:`shrinking_gradient_guarantee` is at most
    :math:`\varepsilon T`, about :math:`2.3\, B^2 / \varepsilon^2`. By Corollary 1 of [1]_ the
    average :math:`\frac1T \sum_t f_t` over rounds on T independent rows then has an expected risk
    :math:`E\, \frac12 (f(x) - y)^2` at most :math:`\varepsilon` above that of the best function
    whose norm is at most B.

    Parameters
    ----------
    excess_risk : float
        The excess risk ε that is wanted.
    norm_bound : float
        Norm B of the functions competed with.

    Returns
    -------
    int

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Corollary 1. One version prints :math:`T = O(B / \varepsilon^2)`.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_horizon
    >>> shrinking_gradient_horizon(0.05, norm_bound=1.0)
    950
    """
    owner = "shrinking_gradient_horizon"
    check_value(owner, "excess_risk", excess_risk, positive("excess_risk=0.1 is a start"))
    check_value(owner, "norm_bound", norm_bound, positive("norm_bound=1.0 is a good start"))
    low = math.floor(16 * float(norm_bound) ** 2)  # T must be larger for the step to be below 1/8
    high = low + 1
    while _guarantee(owner, high, norm_bound) > excess_risk * high:
        low, high = high, 2 * high
    while high - low > 1:  # the bound over T falls with T
        middle = (low + high) // 2
        if _guarantee(owner, middle, norm_bound) > excess_risk * middle:
            low = middle
        else:
            high = middle
    return high


@in_range
def shrinking_gradient_regret(
    horizon: int,
    norm_bound: float,
    step_size: float,
    variance: float = 0.0,
    kernel_bound: float = 1.0,
) -> float:
    r"""Bound on the expected regret of Shrinking Gradient while no estimate is large.

    .. math:: R_T \le \frac{1}{1 - \eta \kappa} \Big( \frac{B^2}{2 \eta} +
        \frac{\eta \kappa T}{2} (1 + V) \Big), \qquad \kappa \ge k(x_t, x_t)

    for :math:`R_T = \sum_t \ell_t(f_t) - \min_{\|g\| \le B} \sum_t \ell_t(g)` with
    :math:`\ell_t(f) = \frac12 (\langle f, \Phi(x_t) \rangle - y_t)^2`. With the step
    :math:`B / (2 \sqrt T)` of Theorem 1 and :math:`\kappa = 1` it is about
    :math:`(1 + (1 + V) / 4) B \sqrt T`.

    Parameters
    ----------
    horizon : int
        Number of rounds T, of one row each, with targets in [-1, 1].
    norm_bound : float
        Norm B of the functions competed with.
    step_size : float
        The constant step :math:`\eta`, below :math:`1 / \kappa`.
    variance : float, default=0
        Largest variance V of the estimates :math:`E_t` given :math:`f_t`.
    kernel_bound : float, default=1.0
        Upper bound κ of all :math:`k(x_t, x_t) = \|\Phi(x_t)\|^2`. The paper assumes 1.

    Returns
    -------
    float

    Notes
    -----
    As long as nothing shrinks, the rounds are gradient descent with unbiased gradients
    :math:`(E_t - y_t) \Phi(x_t)`, so by convexity
    :math:`2 \eta (\ell_t(f_t) - \ell_t(g)) \le E\|f_t - g\|^2 - E\|f_{t+1} - g\|^2 +
    \eta^2 \kappa (2 \ell_t(f_t) + V)`. Summed over the rounds from :math:`f_1 = 0`, with
    :math:`\sum_t \ell_t(g) \le T/2` for the best g, this is the bound. It makes the constant of
    [1]_'s :math:`O(B \sqrt T)` explicit; the theorem covers runs that shrink as well.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Theorem 1 and its proof.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_regret
    >>> round(shrinking_gradient_regret(10_000, norm_bound=1.0, step_size=0.005), 1)
    125.6
    """
    owner = "shrinking_gradient_regret"
    check_value(owner, "horizon", horizon, integer(1, "it is the number of rounds", ANY_INTEGER))
    check_value(owner, "norm_bound", norm_bound, positive("norm_bound=1.0 is a good start"))
    check_value(owner, "kernel_bound", kernel_bound, positive("the paper's is kernel_bound=1.0"))
    stable = anything(
        f"a number above 0 and below 1 / kernel_bound, {1 / kernel_bound:g}",
        "norm_bound / (2 * horizon ** 0.5) is the step of Theorem 1",
        lambda v: is_real(v) and 0 < v * kernel_bound < 1,
    )
    check_value(owner, "step_size", step_size, stable)
    check_value(owner, "variance", variance, non_negative("variance=0 is that of exact kernels"))
    distance = norm_bound**2 / (2 * step_size)
    noise = step_size * kernel_bound
    return (distance + noise * horizon * (1 + variance) / 2) / (1 - noise)
