"""Constants that the papers prescribe and bounds that the package relies on, as functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from trickless.rules import (
    anything,
    check_value,
    fraction,
    integer,
    is_real,
    non_negative,
    positive,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Formulas take integers of any size.
_ANY = math.inf
_DELTA = fraction("delta=0.05 is usual")


def _are_sizes(values: Any) -> bool:
    if not is_real(values) and not (isinstance(values, np.ndarray) and values.dtype.kind in "iuf"):
        return False
    return bool(np.all((values >= 0) & (values < np.inf)))


_SIZES = anything(
    "a finite number of at least 0, or an array of them", "take the absolute value", _are_sizes
)


def _in_range(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Refuse arguments for which the result overflows double precision or is undefined."""

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                answer: Any = function(*args, **kwargs)
                parts = answer if isinstance(answer, tuple) else (answer,)
                if not all(np.isfinite(np.asarray(part, dtype=float)).all() for part in parts):
                    raise OverflowError("the result is not finite")
        except ArithmeticError as error:
            raise ValueError(
                f"{function.__name__}: no result for {[*args, *kwargs.values()]!r} in double "
                f"precision: {error}. Remedy: arguments that are neither as large nor as small."
            ) from error
        return answer

    return checked


class ShrinkingGradientConstants(NamedTuple):
    """The constants that Theorem 1 of Livni et al. 2017 prescribes."""

    step_size: float
    n_samples: int
    gamma: float


@_in_range
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


@_in_range
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
    check_value(owner, "horizon", horizon, integer(1, "it is the number of rounds", _ANY))
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


@_in_range
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


@_in_range
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


@_in_range
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
    check_value(owner, "horizon", horizon, integer(1, "it is the number of rounds", _ANY))
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


class KitchenSinksBound(NamedTuple):
    """What constrained Kitchen Sinks may lose, and the two errors that this is made of."""

    excess_risk: float
    estimation: float
    approximation: float


@_in_range
def kitchen_sinks_bound(
    n_rows: int,
    n_neurons: int,
    weight_bound: float,
    lipschitz: float,
    delta: float,
    *,
    width: int = 1,
    bound: float = 1.0,
) -> KitchenSinksBound:
    r"""Bound on the excess risk of Random Kitchen Sinks with constrained weights.

    Let β minimise the mean loss over n rows with :math:`|\beta_{kc}| \le C / K` for the p numbers
    of each of K neurons, with neither ridge nor intercept. With probability at least
    :math:`1 - 2 \delta` over the rows and the neurons, its risk exceeds that of any function
    :math:`E_w \langle f(w), \psi(x; w) \rangle` with :math:`|f_c(w)| \le C` by at most
    :math:`2 \varepsilon_{est} + \varepsilon_{app}`, where

    .. math:: \varepsilon_{est} = \frac{L S (1 + \sqrt{2 \log(2/\delta)})}{\sqrt n}, \qquad
        \varepsilon_{app} = \frac{L S (1 + \sqrt{2 \log(1/\delta)})}{\sqrt K}, \qquad
        S = C \sqrt p \, \sup \|\psi\|_2

    Parameters
    ----------
    n_rows : int
        Number of rows n, drawn independently.
    n_neurons : int
        Number of neurons K, drawn independently.
    weight_bound : float
        The constant C.
    lipschitz : float
        Lipschitz constant L of the loss as a function of decision values in [-S, S]: 1 for the
        hinge and the logistic loss; 2 (1 + S) for :math:`(f - y)^2` with y in [-1, 1], and for the
        squared hinge; :math:`e^S` for the exponential loss.
    delta : float
        Probability, in (0, 1/2), with which each of the two errors may exceed its bound. From 1/2
        on nothing would be promised.
    width : int, default=1
        How many numbers p a neuron gives: 2 for cosines and sines. Use 1 where at most one of
        them is not 0, as for a fern.
    bound : float, default=1.0
        Supremum of the Euclidean norm of a neuron's numbers.

    Returns
    -------
    KitchenSinksBound
        ``excess_risk``, and the ``estimation`` and ``approximation`` errors it is made of.

    Raises
    ------
    ValueError
        If ``delta`` is not below 1/2, or another argument is out of its range.

    Notes
    -----
    This is Theorem 1 of [1]_ with the constants of a complete proof, which is written out on the
    page "Random Kitchen Sinks" of the documentation. The paper prints
    :math:`(4 L C + 2 |c(0)| + L C \sqrt{\tfrac12 \log(1/\delta)}) / \sqrt n` for the estimation
    error. There the largest change of McDiarmid's inequality is taken as :math:`L C / n`, but it is
    :math:`2 L C / n`, which doubles the last term; and a bound that holds on one side with
    probability :math:`1 - \delta` is used on two, hence :math:`\log(2/\delta)` here. With
    contraction by 2 L, without absolute values, the other two terms become L C.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Theorem 1.

    Examples
    --------
    >>> from trickless.theory import kitchen_sinks_bound
    >>> bound = kitchen_sinks_bound(10**6, 10**4, 1.0, 1.0, delta=0.05)
    >>> round(bound.excess_risk, 4)
    0.0419
    """
    owner = "kitchen_sinks_bound"
    check_value(owner, "n_rows", n_rows, integer(1, "it is the number of training rows", _ANY))
    check_value(owner, "n_neurons", n_neurons, integer(1, "it counts draws of w", _ANY))
    steepness = _steepness(owner, weight_bound, lipschitz, delta, width, bound)
    estimation = steepness * _deviation(delta / 2) / math.sqrt(n_rows)
    approximation = steepness * _deviation(delta) / math.sqrt(n_neurons)
    return KitchenSinksBound(2 * estimation + approximation, estimation, approximation)


@_in_range
def kitchen_sinks_neurons(
    excess_risk: float,
    n_rows: int,
    weight_bound: float,
    lipschitz: float,
    delta: float,
    *,
    width: int = 1,
    bound: float = 1.0,
) -> int:
    r"""The number of neurons for which :func:`kitchen_sinks_bound` promises an excess risk.

    Parameters
    ----------
    excess_risk : float
        The excess risk that is wanted.
    n_rows, weight_bound, lipschitz, delta, width, bound
        See :func:`kitchen_sinks_bound`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If no number of neurons will do with so few rows; the message names how many would.

    Examples
    --------
    >>> from trickless.theory import kitchen_sinks_neurons
    >>> kitchen_sinks_neurons(0.05, 10**6, 1.0, 1.0, delta=0.05)
    6561
    """
    owner = "kitchen_sinks_neurons"
    check_value(owner, "excess_risk", excess_risk, positive("excess_risk=0.1 is a start"))
    check_value(owner, "n_rows", n_rows, integer(1, "it is the number of training rows", _ANY))
    steepness = _steepness(owner, weight_bound, lipschitz, delta, width, bound)
    estimation = steepness * _deviation(delta / 2) / math.sqrt(n_rows)
    left = excess_risk - 2 * estimation
    if left <= 0:
        enough = math.floor(n_rows * (2 * estimation / excess_risk) ** 2) + 1
        raise ValueError(
            f"{owner}: excess_risk={excess_risk!r} cannot be promised for n_rows={n_rows}: the "
            f"estimation error alone takes {2 * estimation:.3g}, however many neurons there are. "
            f"Remedy: more than {enough} rows, or a larger excess_risk."
        )
    return math.ceil((steepness * _deviation(delta) / left) ** 2)


_BELOW_HALF = anything(
    "a number above 0 and below 1/2, since the bound holds with probability 1 - 2 delta",
    "delta=0.05 is usual",
    lambda v: is_real(v) and 0 < v < 0.5,
)


def _steepness(
    owner: str, weight_bound: Any, lipschitz: Any, delta: Any, width: Any, bound: Any
) -> float:
    """L times the largest decision value, C √p sup |ψ|."""
    check_value(owner, "weight_bound", weight_bound, positive("weight_bound=1.0 is a start"))
    check_value(owner, "lipschitz", lipschitz, positive("lipschitz=1.0 is that of the hinge"))
    check_value(owner, "delta", delta, _BELOW_HALF)
    check_value(owner, "width", width, integer(1, "width=2 is that of cosines and sines"))
    check_value(owner, "bound", bound, positive("bound=1.0 is that of most families"))
    return float(lipschitz) * float(weight_bound) * math.sqrt(width) * float(bound)


def _deviation(delta: float) -> float:
    """Expectation and deviation of a norm by McDiarmid's inequality, for n = 1 and radius 1."""
    return 1 + math.sqrt(2 * math.log(1 / delta))


@_in_range
def hoeffding_radius(n: int, half_range: Any, delta: float) -> Any:
    r"""Bound on how far the mean of n independent values in [-r, r] is from its expectation.

    .. math:: P\Big( |\bar Z - E \bar Z| \ge r \sqrt{2 \log(2 / \delta) / n} \Big) \le \delta

    Livni et al.'s Lemma 4 states it for index sampling, where r is :math:`\|\alpha\|_1`, without
    the constants.

    Parameters
    ----------
    n : int
        Number of values.
    half_range : float or array
        Half the length of the range, r.
    delta : float
        Probability of being wrong, in (0, 1).

    Returns
    -------
    float or array like ``half_range``
    """
    check_value("hoeffding_radius", "n", n, integer(1, "it is the number of values", _ANY))
    check_value("hoeffding_radius", "delta", delta, _DELTA)
    check_value("hoeffding_radius", "half_range", half_range, _SIZES)
    return half_range * math.sqrt(2 * math.log(2 / delta) / n)


@_in_range
def empirical_bernstein_radius(n: int, variance: Any, half_range: Any, delta: float) -> Any:
    r"""Like :func:`hoeffding_radius`, from the sample variance of identically distributed values.

    .. math:: P\Big( |\bar Z - E Z| \ge \sqrt{2 \hat V L / n} + \frac{14\, r L}{3 (n - 1)} \Big)
        \le \delta, \qquad L = \log(3 / \delta)

    where :math:`\hat V` is the sample variance (with n - 1). It is smaller than
    Hoeffding's radius where the variance is small compared to r².

    Parameters
    ----------
    n : int
        Number of values, at least 2.
    variance : float or array
        Sample variance of the values.
    half_range : float or array
        Half the length of the range, r: the values are in [-r, r].
    delta : float
        Probability of being wrong, in (0, 1).

    Returns
    -------
    float or array

    Notes
    -----
    Theorem 4 of [1]_ for a range of 2r, with Bennett's inequality on both sides: three events of
    probability :math:`\delta / 3` each, hence 3 in the place of 2.

    References
    ----------
    .. [1] A. Maurer and M. Pontil, "Empirical Bernstein bounds and sample variance penalization",
       COLT 2009.
    """
    owner = "empirical_bernstein_radius"
    check_value(owner, "n", n, integer(2, "a sample variance needs two values", _ANY))
    check_value(owner, "delta", delta, _DELTA)
    check_value(owner, "variance", variance, _SIZES)
    check_value(owner, "half_range", half_range, _SIZES)
    L = math.log(3 / delta)
    return np.sqrt(2 * variance * L / n) + 14 * half_range * L / (3 * (n - 1))
