"""Constants and bounds of Theorem 1 of Livni et al. 2017, for Shrinking Gradient."""

from __future__ import annotations

import math
from typing import NamedTuple

from trickless.errors import InvalidValueError
from trickless.rules import anything, check_value, integer, is_real, non_negative, positive
from trickless.theory.checks import ANY_INTEGER, in_range


class ShrinkingGradientConstants(NamedTuple):
    """The constants that Theorem 1 of Livni et al. 2017 prescribes.

    Attributes
    ----------
    step_size : float
        Step size η.
    n_samples : int
        Number m of draws of w in a round.
    gamma : float
        The constant γ.
    """

    step_size: float
    n_samples: int
    gamma: float


@in_range
def shrinking_gradient_constants(horizon: int, norm_bound: float) -> ShrinkingGradientConstants:
    r"""Compute the step size and the number of draws for the guarantee of Shrinking Gradient.

    .. math:: \eta = \frac{B}{2 \sqrt T}, \qquad m = ((16 B + 1) B)^2\, T \log \gamma, \qquad
        \gamma = \max\Big(\frac{((16 B + 1)\, \eta T + B)^2}{\eta^2},\; e\Big)

    With these constants, the expected regret against the ball of norm B is :math:`O(B \sqrt T)`.
    The number of draws is for the worst case, and the same for all rounds, whereas
    :func:`shrinking_gradient_draws` computes how many draws a single round needs.

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
        If η is not below 1/8, as the theorem requires. The message says which horizon is enough.

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
    r"""Compute the number of draws that a round of Shrinking Gradient needs for its guarantee.

    .. math:: m_t = \Big\lceil \|\alpha_t\|_1^2\,
        \max\Big(1, \frac{\log 2 \gamma}{32 B^2}\Big) \Big\rceil

    The m of [1]_ is for the largest possible :math:`\|\alpha_t\|_1`, but the learner knows the
    actual value. The proof is in the documentation, in the explanation of Shrinking Gradient.

    Parameters
    ----------
    one_norm : float
        Sum :math:`\|\alpha_t\|_1` of the absolute coefficients before the round.
    horizon : int
        Number of rounds T, known in advance.
    norm_bound : float
        Norm B of the functions competed with.

    Returns
    -------
    int
        Number of draws, at least 1.

    Notes
    -----
    A draw lies between :math:`-\|\alpha_t\|_1` and :math:`\|\alpha_t\|_1`, so with this number of
    draws, the variance of an estimate is at most 1. By Hoeffding's inequality, the probability of
    an error of 8 B or more is at most :math:`1 / \gamma`. The proof of Theorem 1 uses only these
    two properties of the draws.

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
    check_value(owner, "one_norm", one_norm, non_negative("one_norm is the sum of |alpha|"))
    _, gamma = _step_and_gamma(owner, horizon, norm_bound)
    certain = math.log(2 * gamma) / (32 * float(norm_bound) ** 2)
    return max(1, math.ceil(float(one_norm) ** 2 * max(1.0, certain)))


def _step_and_gamma(owner: str, horizon: int, norm_bound: float) -> tuple[float, float]:
    """Compute η and γ of Theorem 1."""
    check_value(owner, "horizon", horizon, integer(1, "it is the number of rounds", ANY_INTEGER))
    check_value(owner, "norm_bound", norm_bound, positive("norm_bound=1.0 is a good start"))
    T, B = float(horizon), float(norm_bound)
    eta = B / (2 * math.sqrt(T))
    if eta >= 1 / 8:
        raise InvalidValueError(
            f"{owner}: horizon={horizon} with norm_bound={norm_bound!r} gives a step of {eta:g}, "
            "but Theorem 1 needs a step below 1/8",
            f"a horizon of at least {math.floor(16 * B**2) + 1}, or a smaller norm_bound",
        )
    return eta, max(((16 * B + 1) * eta * T + B) ** 2 / eta**2, math.e)


@in_range
def shrinking_gradient_guarantee(horizon: int, norm_bound: float) -> float:
    r"""Bound the expected regret of Shrinking Gradient with the constants of Theorem 1.

    .. math:: R_T \le \frac{1}{1 - \eta} \Big( \frac{B^2}{2 \eta} + \eta T +
        \frac{T}{2 \eta \gamma} \Big(\frac{(16 B + 1)\, \eta T}{4} + B\Big)^2 \Big)
        \le \frac{7/4}{1 - \eta}\, B \sqrt T

    Here :math:`R_T = \sum_t \ell_t(f_t) - \min_{\|g\| \le B} \sum_t \ell_t(g)` is the regret with
    :math:`\ell_t(f) = \frac12 (\langle f, \Phi(x_t) \rangle - y_t)^2`. Rows and targets must not
    depend on the draws. The step and the number of draws come from
    :func:`shrinking_gradient_constants`. The number of draws may also come from
    :func:`shrinking_gradient_draws`. For B below 1/8 it must, since the bound is not proved for the
    fixed number there. The last term accounts for wrong shrinks. The other terms are the bound of
    :func:`shrinking_gradient_regret` for a variance of 1.

    Divided by T, the bound is on the expected excess risk :math:`E\, \frac12 (f(x) - y)^2` of the
    average over rounds on T independent rows, against the functions with a norm of at most B
    (Corollary 1 of [1]_). It falls below ε after about :math:`2.3\, B^2 / \varepsilon^2` rows. The
    corollary is about the expansion, with nothing taken from its rows: neither a length scale nor,
    with ``y_range="auto"``, the range of the targets. A frozen network of n neurons, which
    ``predict`` uses, adds at most :math:`\|f\|^2 / (2n)`.

    Parameters
    ----------
    horizon : int
        Number of rounds T.
    norm_bound : float
        Norm B of the functions competed with.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    ValueError
        If the step is not below 1/8. The message says which horizon is enough.

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
    eta, gamma = _step_and_gamma("shrinking_gradient_guarantee", horizon, norm_bound)
    T, B = float(horizon), float(norm_bound)
    wrong = T / (2 * eta * gamma) * ((16 * B + 1) * eta * T / 4 + B) ** 2
    return (B**2 / (2 * eta) + eta * T + wrong) / (1 - eta)


@in_range
def shrinking_gradient_regret(
    horizon: int,
    norm_bound: float,
    step_size: float,
    variance: float = 0.0,
    kernel_bound: float = 1.0,
) -> float:
    r"""Bound the expected regret of Shrinking Gradient if no round can shrink.

    .. math:: R_T \le \frac{1}{1 - \eta \kappa} \Big( \frac{B^2}{2 \eta} +
        \frac{\eta \kappa T}{2} (1 + V) \Big), \qquad \kappa \ge k(x_t, x_t)

    Here :math:`R_T = \sum_t \ell_t(f_t) - \min_{\|g\| \le B} \sum_t \ell_t(g)` is the regret with
    :math:`\ell_t(f) = \frac12 (\langle f, \Phi(x_t) \rangle - y_t)^2`. Coefficients shrink only in
    rounds with a large estimate. For a run that happened not to shrink, the bound is a guide, since
    the absence of shrinks depends on the draws too. With the step :math:`B / (2 \sqrt T)` of
    Theorem 1 and :math:`\kappa = 1`, the bound is about :math:`(1 + (1 + V) / 4) B \sqrt T`.

    Parameters
    ----------
    horizon : int
        Number of rounds T, of one row each, with targets in [-1, 1].
    norm_bound : float
        Norm B of the functions competed with.
    step_size : float
        The constant step :math:`\eta`, below :math:`1 / \kappa`.
    variance : float, default=0
        Upper bound V of the variance of each estimate :math:`E_t` given :math:`f_t`.
    kernel_bound : float, default=1.0
        Upper bound κ of all :math:`k(x_t, x_t) = \|\Phi(x_t)\|^2`. The paper assumes 1.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    If no round can shrink, the rounds are gradient descent with unbiased gradients
    :math:`(E_t - y_t) \Phi(x_t)`. By convexity, :math:`2 \eta (\ell_t(f_t) - \ell_t(g)) \le
    E\|f_t - g\|^2 - E\|f_{t+1} - g\|^2 + \eta^2 \kappa (2 \ell_t(f_t) + V)`. The bound is the sum
    over the rounds from :math:`f_1 = 0`, with :math:`\sum_t \ell_t(g) \le T/2` for the best g. It
    gives the constant of :math:`O(B \sqrt T)` in [1]_. The theorem also covers runs that shrink.

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
    check_value(owner, "kernel_bound", kernel_bound, positive("the paper has kernel_bound=1.0"))
    stable = anything(
        f"a number above 0 and below 1 / kernel_bound, {1 / kernel_bound:g}",
        "Theorem 1 has the step norm_bound / (2 * horizon ** 0.5)",
        lambda v: is_real(v) and 0 < v * kernel_bound < 1,
    )
    check_value(owner, "step_size", step_size, stable)
    check_value(owner, "variance", variance, non_negative("variance=0 is for exact kernels"))
    distance = norm_bound**2 / (2 * step_size)
    noise = step_size * kernel_bound
    return (distance + noise * horizon * (1 + variance) / 2) / (1 - noise)
