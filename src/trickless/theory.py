"""Constants that the papers prescribe, as functions."""

from __future__ import annotations

import math
from typing import NamedTuple

from trickless._validation import check_value, integer, positive


class ShrinkingGradientConstants(NamedTuple):
    """What Theorem 1 of Livni et al. 2017 prescribes."""

    step_size: float
    n_samples: int
    gamma: float


def shrinking_gradient_constants(horizon: int, norm_bound: float) -> ShrinkingGradientConstants:
    r"""Step size and number of draws for which Shrinking Gradient has its regret guarantee.

    .. math:: \eta = \frac{B}{2 \sqrt T}, \qquad m = ((16 B + 1) B)^2\, T \log \gamma, \qquad
        \gamma = \max\Big(\frac{((16 B + 1)\, \eta T + B)^2}{\eta^2},\; e\Big)

    With them the expected regret against the ball of norm B is :math:`O(B \sqrt T)`.

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
    owner = "shrinking_gradient_constants"
    check_value(owner, "horizon", horizon, integer(1, "it is the number of rounds"))
    check_value(owner, "norm_bound", norm_bound, positive("norm_bound=1.0 is a good start"))
    T, B = float(horizon), float(norm_bound)
    eta = B / (2 * math.sqrt(T))
    if eta >= 1 / 8:
        raise ValueError(
            f"{owner}: horizon={horizon} with norm_bound={norm_bound!r} gives a step of {eta:g}, "
            f"and Theorem 1 holds for steps below 1/8. Remedy: a horizon of at least "
            f"{math.floor(16 * B**2) + 1}, or a smaller norm_bound."
        )
    gamma = max(((16 * B + 1) * eta * T + B) ** 2 / eta**2, math.e)
    m = ((16 * B + 1) * B) ** 2 * T * math.log(gamma)
    return ShrinkingGradientConstants(eta, math.ceil(m), gamma)
