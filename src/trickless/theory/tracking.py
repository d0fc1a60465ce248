"""Tracking regret of Shrinking Gradient whose function fades, against comparators that change."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.rules import anything, check_value, integer, is_real, non_negative, positive
from trickless.theory.checks import ANY_INTEGER, SIZES, in_range


@in_range
def shrinking_gradient_tracking_regret(
    horizon: int,
    norm_bound: float,
    step_size: float,
    half_life: float,
    distances: Any,
    variance: float = 0.0,
    kernel_bound: float = 1.0,
) -> float:
    r"""Bound the expected tracking regret of Shrinking Gradient with a half-life.

    .. math:: R_T \le \frac{1}{1 - \eta \kappa} \Big( \frac{B^2 (1 + \varphi T)}{2 \eta} +
        \frac{\rho}{2 \eta} \sum_t d_t \min\Big(2 (S + B), \frac{d_t}{\varphi}\Big) +
        \frac{\eta \kappa T}{2} (1 + V) \Big)

    with :math:`\rho = 1 - \varphi = 2^{-1/h}` and :math:`S^2 = (\eta + \eta^2 \kappa V) / (1 -
    \rho^2)`, or T times the numerator if that is less. Here :math:`R_T = \sum_t \ell_t(f_t) -
    \sum_t \ell_t(g_t)` is the regret against any functions :math:`g_1, \dots, g_T` of norm up to B,
    which do not depend on the draws, and :math:`\ell_t(f) = \frac12 (\langle f, \Phi(x_t) \rangle -
    y_t)^2`. Their distances are :math:`d_t = \|g_{t+1} - g_t\|`, and 2 B at most. The losses of all
    :math:`g_t` together must be at most T / 2, the most that the function 0 can lose.

    Parameters
    ----------
    horizon : int
        Number of rounds T, of one row each, with targets in [-1, 1].
    norm_bound : float
        Norm B of the functions competed with.
    step_size : float
        The constant step :math:`\eta`, below :math:`1 / \kappa`.
    half_life : float
        Rows h within which f fades to half.
    distances : float or array of shape (n_changes,)
        Distances between successive functions. Those of 0 may be left out.
    variance : float, default=0
        Upper bound V of the variance of each estimate :math:`E_t` given :math:`f_t`.
    kernel_bound : float, default=1.0
        Upper bound κ of all :math:`k(x_t, x_t) = \|\Phi(x_t)\|^2`.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    If no round can shrink, the rounds are :math:`h_t = f_t - \eta \bar\nabla_t` and :math:`f_{t+1}
    = \rho h_t` with unbiased gradients :math:`\bar\nabla_t = (E_t - y_t) \Phi(x_t)`. By convexity,
    for any g that does not depend on the draws,

    .. math:: E\|h_t - g\|^2 \le E\|f_t - g\|^2 - 2 \eta\, (\ell_t(f_t) - \ell_t(g))
        + \eta^2 \kappa\, (2 \ell_t(f_t) + V).

    With g = 0, this gives :math:`E\|h_t\|^2 \le \rho^2 E\|h_{t-1}\|^2 + \eta + \eta^2 \kappa V`, so
    :math:`E\|h_t\| \le S`. The square is convex, so

    .. math:: \|\rho h_t - g_{t+1}\|^2 \le \rho \|h_t - g_{t+1}\|^2 + \varphi B^2,

    and the first term is at most :math:`\rho\, (\|h_t - g_t\|^2 + 2 (\|h_t\| + B)\, d_t)`. It is
    also at most :math:`\|h_t - g_t\|^2 + (\rho / \varphi)\, d_t^2`, by :math:`\|a + b\|^2 \le (1 +
    c) \|a\|^2 + (1 + 1/c) \|b\|^2` with :math:`c = \varphi / \rho`. The bound is the sum over the
    rounds from :math:`f_1 = 0`. Fading keeps f bounded, so that no projection is needed as in [1]_,
    and no restarts [2]_. It is the dynamical model :math:`f \mapsto \rho f` of [3]_.

    A long half-life suits comparators that change rarely. For one function and h → ∞, the bound
    equals :func:`shrinking_gradient_regret`.

    References
    ----------
    .. [1] M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent",
       ICML 2003, Theorem 2.
    .. [2] M. Herbster and M. K. Warmuth, "Tracking the best linear predictor", JMLR 1, 2001.
    .. [3] E. C. Hall and R. M. Willett, "Dynamical models and tracking regret in online convex
       programming", ICML 2013, Theorem 4.

    Examples
    --------
    >>> from trickless.theory import shrinking_gradient_tracking_regret
    >>> round(shrinking_gradient_tracking_regret(10_000, 1.0, 0.05, half_life=500, distances=2.0))
    640
    """
    owner = "shrinking_gradient_tracking_regret"
    check_value(owner, "horizon", horizon, integer(1, "it is the number of rounds", ANY_INTEGER))
    check_value(owner, "norm_bound", norm_bound, positive("norm_bound=1.0 is a good start"))
    check_value(owner, "half_life", half_life, positive("half_life=1000 is a number of rows"))
    check_value(owner, "kernel_bound", kernel_bound, positive("the paper has kernel_bound=1.0"))
    stable = anything(
        f"a number above 0 and below 1 / kernel_bound, {1 / kernel_bound:g}",
        "norm_bound / (2 * (1.44 * half_life) ** 0.5) suits a stream that changes",
        lambda v: is_real(v) and 0 < v * kernel_bound < 1,
    )
    check_value(owner, "step_size", step_size, stable)
    check_value(owner, "distances", distances, SIZES)
    check_value(owner, "variance", variance, non_negative("variance=0 is for exact kernels"))
    fade = -float(np.expm1(-np.log(2) / half_life))
    noise = step_size * kernel_bound
    grows = step_size * (1 + noise * variance)
    reach = np.sqrt(grows * min(horizon, 1 / (fade * (2 - fade))))
    d = np.minimum(distances, 2 * norm_bound)
    changes = float(np.sum(d * np.minimum(2 * (reach + norm_bound), d / fade)))
    distance = norm_bound**2 * (1 + fade * horizon) + (1 - fade) * changes
    return (distance / (2 * step_size) + noise * horizon * (1 + variance) / 2) / (1 - noise)
