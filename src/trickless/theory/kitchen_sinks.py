"""What Theorem 1 of Rahimi and Recht 2008 promises for Kitchen Sinks with bounded coefficients."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from trickless.rules import anything, check_value, integer, is_real, positive
from trickless.theory.checks import ANY_INTEGER, in_range


class KitchenSinksBound(NamedTuple):
    """What constrained Kitchen Sinks may lose, and the two errors that this is made of."""

    excess_risk: float
    estimation: float
    approximation: float


@in_range
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
    check_value(
        owner, "n_rows", n_rows, integer(1, "it is the number of training rows", ANY_INTEGER)
    )
    check_value(owner, "n_neurons", n_neurons, integer(1, "it counts draws of w", ANY_INTEGER))
    steepness = _steepness(owner, weight_bound, lipschitz, delta, width, bound)
    estimation = steepness * _deviation(delta / 2) / math.sqrt(n_rows)
    approximation = steepness * _deviation(delta) / math.sqrt(n_neurons)
    return KitchenSinksBound(2 * estimation + approximation, estimation, approximation)


@in_range
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
    check_value(
        owner, "n_rows", n_rows, integer(1, "it is the number of training rows", ANY_INTEGER)
    )
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
