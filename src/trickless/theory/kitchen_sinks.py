"""Bounds of Theorem 1 of Rahimi and Recht 2008, for bounded coefficients."""

from __future__ import annotations

import math
from typing import NamedTuple

from trickless.rules import anything, check_value, integer, is_real, positive
from trickless.theory.checks import ANY_INTEGER, in_range


class KitchenSinksBound(NamedTuple):
    """Excess risk of constrained Kitchen Sinks, and the two errors that it consists of.

    Attributes
    ----------
    excess_risk : float
        Bound on the excess risk: twice the estimation error, plus the approximation error.
    estimation : float
        Bound on the estimation error, which falls with the number of rows.
    approximation : float
        Bound on the approximation error, which falls with the number of neurons.
    """

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
    r"""Bound the excess risk of Random Kitchen Sinks with bounded coefficients.

    Let β minimise the mean loss over n rows under the constraint :math:`|\beta_{kc}| \le C / K`,
    for the p values of each of K neurons, with neither ridge nor intercept. Compare its risk with
    the risk of any function :math:`E_w \langle f(w), \psi(x; w) \rangle` with
    :math:`|f_c(w)| \le C`. With probability at least :math:`1 - 2 \delta` over the rows and the
    neurons, the difference is at most :math:`2 \varepsilon_{est} + \varepsilon_{app}`, where

    .. math:: \varepsilon_{est} = \frac{L S (1 + \sqrt{2 \log(2/\delta)})}{\sqrt n}, \qquad
        \varepsilon_{app} = \frac{L S (1 + \sqrt{2 \log(1/\delta)})}{\sqrt K}, \qquad
        S = C \sqrt p \, \sup \|\psi\|_2

    Parameters
    ----------
    n_rows : int
        Number of rows n, drawn independently.
    n_neurons : int
        Number of neurons K, drawn independently of each other and of the rows.
    weight_bound : float
        Bound C on the coefficients, in units of 1 / K.
    lipschitz : float
        Lipschitz constant L of the loss as a function of decision values in [-S, S].

        - It is 1 for the hinge and the logistic loss.
        - It is 2 (1 + S) for the squared hinge, and for :math:`(f - y)^2` with y in [-1, 1].
    delta : float
        Probability that each of the two errors exceeds its bound. It must be above 0 and below 1/2,
        because the bound holds with probability 1 - 2 delta.
    width : int, default=1
        Number p of values of a neuron: 2 for cosines and sines, 1 for a stump or a fern, and the
        number of leaves for :class:`~trickless.neurons.Trees`. Only one leaf is not 0, so for trees
        the bound is larger than needed: the documentation has a better one.
    bound : float, default=1.0
        Largest Euclidean norm of a neuron's values.

    Returns
    -------
    KitchenSinksBound
        ``excess_risk``, and the ``estimation`` and ``approximation`` errors that it consists of.

    Raises
    ------
    ValueError
        If ``delta`` is not below 1/2, or another argument is out of its range.

    Notes
    -----
    This is Theorem 1 of [1]_ with the constants of a complete proof, which the documentation gives
    in the explanation of Kitchen Sinks. For the estimation error, the paper prints :math:`(4 L C +
    2 |c(0)| + L C \sqrt{\tfrac12 \log(1/\delta)}) / \sqrt n`. The proof changes three things:

    - The paper uses :math:`L C / n` as the largest change in McDiarmid's inequality. It is
      :math:`2 L C / n`, which doubles the last term.
    - The paper uses on both sides a bound that holds on one side with probability
      :math:`1 - \delta`, so here it is :math:`\log(2/\delta)`.
    - The one-sided comparison theorem, which needs neither absolute values nor c(0) = 0, turns the
      other two terms into L C.

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
    check_value(owner, "n_rows", n_rows, integer(1, "it counts training rows", ANY_INTEGER))
    check_value(owner, "n_neurons", n_neurons, integer(1, "it counts draws of w", ANY_INTEGER))
    check_value(owner, "weight_bound", weight_bound, positive("weight_bound=1.0 is a start"))
    check_value(owner, "lipschitz", lipschitz, positive("lipschitz=1.0 is for the hinge"))
    check_value(owner, "delta", delta, _BELOW_HALF)
    check_value(owner, "width", width, integer(1, "width=2 is for cosines and sines"))
    check_value(owner, "bound", bound, positive("bound=1.0 is for most families"))
    steepness = float(lipschitz) * float(weight_bound) * math.sqrt(width) * float(bound)
    estimation = steepness * _deviation(delta / 2) / math.sqrt(n_rows)
    approximation = steepness * _deviation(delta) / math.sqrt(n_neurons)
    return KitchenSinksBound(2 * estimation + approximation, estimation, approximation)


_BELOW_HALF = anything(
    "a number above 0 and below 1/2, since the bound holds with probability 1 - 2 delta",
    "delta=0.05 is usual",
    lambda v: is_real(v) and 0 < v < 0.5,
)


def _deviation(delta: float) -> float:
    """Bound a norm by McDiarmid's inequality, with its expectation, for n = 1 and radius 1."""
    return 1 + math.sqrt(2 * math.log(1 / delta))
