"""Bounds of Theorem 1 of Rahimi and Recht 2008, for bounded coefficients."""

from __future__ import annotations

import math
from typing import NamedTuple

from trickless.theory.checks import checked, probability


class KitchenSinksBound(NamedTuple):
    """Excess risk of constrained Kitchen Sinks, and the two errors that it consists of."""

    excess_risk: float
    estimation: float
    approximation: float


@checked(delta=probability(2))
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
    r"""Bound the excess risk of Random Kitchen Sinks with bounded coefficients [1]_.

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
        Lipschitz constant L of the loss as a function of decision values in [-S, S]. It is 1 for
        the hinge and the logistic loss, and 2 (1 + S) for the squared hinge, and for
        :math:`(f - y)^2` with y in [-1, 1].
    delta : float
        Probability that each of the two errors exceeds its bound, above 0 and below 1/2.
    width : int, default=1
        Number p of values of a neuron: 2 for cosines and sines, 1 for a stump or a fern, and the
        number of leaves for trees, for which the explanation has a smaller bound.
    bound : float, default=1.0
        Largest Euclidean norm of a neuron's values.

    Returns
    -------
    KitchenSinksBound
        ``excess_risk``, and the ``estimation`` error, which falls with the rows, and the
        ``approximation`` error, which falls with the neurons.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Theorem 1,
       with the constants of the proof in the explanation of Kitchen Sinks.

    Examples
    --------
    >>> from trickless.theory import kitchen_sinks_bound
    >>> bound = kitchen_sinks_bound(10**6, 10**4, 1.0, 1.0, delta=0.05)
    >>> round(bound.excess_risk, 4)
    0.0419
    """
    steepness = float(lipschitz) * float(weight_bound) * math.sqrt(width) * float(bound)
    estimation = steepness * (1 + math.sqrt(2 * math.log(2 / delta))) / math.sqrt(n_rows)
    approximation = steepness * (1 + math.sqrt(2 * math.log(1 / delta))) / math.sqrt(n_neurons)
    return KitchenSinksBound(2 * estimation + approximation, estimation, approximation)
