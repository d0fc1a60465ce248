r"""Cox's proportional hazards: the partial likelihood, with ties by Efron's method.

A row has the hazard :math:`h_0(t)\, e^{f(x)}` at time t. The partial likelihood [1]_ asks which of
the rows at risk has the event, so it needs no :math:`h_0`. Where d events happen at one time, their
order is unknown, and Efron [2]_ lets the events leave the risk set in d equal parts:

.. math:: \sum_{i \in D} w_i f_i - \bar w \sum_{l=0}^{d-1} \log\Big(
    \sum_{j \in R} w_j e^{f_j} - \frac{l}{d} \sum_{j \in D} w_j e^{f_j} \Big),

with the risk set R, the events D, weights w and the mean weight :math:`\bar w` of the events.

Sums over risk sets are cumulative sums in the order of times, so slopes and curvatures of all rows
take n log n operations.

References
----------
.. [1] D. R. Cox, "Regression models and life-tables", Journal of the Royal Statistical Society B
   34(2), 1972.
.. [2] B. Efron, "The efficiency of Cox's likelihood function for censored data", JASA 72(359),
   1977.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from trickless.solvers.log_link import Exponentiated, larger

#: The least hazard of a risk set, relative to the largest of a row. Its inverse square is finite.
_VANISHING = 1e-140


class RiskSets(NamedTuple):
    """Sums at the times of events, in increasing order, for some rows and their decision values.

    The terms of Efron's sum at a time are φ_l = S − (l/d) D, where S sums w e^f over the risk set,
    and D over the events. Each array has one value for each time, and is relative to
    e^``largest``, the largest decision value.

    Attributes
    ----------
    times : array
        The times of events.
    log_mean : array
        Mean of log φ_l.
    first, first_own : arrays
        w̄ Σ 1/φ_l, and w̄ Σ (l/d)/φ_l, by which the events of that time have less hazard.
    second, second_own : arrays
        The same for squares: w̄ Σ 1/φ_l², and w̄ Σ (1 − (1 − l/d)²)/φ_l².
    share : array of shape (n_rows,)
        e^f of each row.
    place : array of shape (n_rows,)
        How many times of events each row reaches.
    """

    times: np.ndarray
    log_mean: np.ndarray
    first: np.ndarray
    first_own: np.ndarray
    second: np.ndarray
    second_own: np.ndarray
    share: np.ndarray
    place: np.ndarray
    largest: float

    @classmethod
    def of(cls, f: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Self:
        """Return the sums for decision values f and signed times y, both of shape (n_rows,)."""
        time, event = np.abs(y), ~np.signbit(y)
        largest = float(f.max(initial=-np.inf))
        share = np.exp(f - largest)
        mass = share if weight is None else weight * share
        times, d = np.unique(time[event], return_counts=True)
        if not len(times):
            none = np.empty(0)
            place = np.zeros(len(f), dtype=np.intp)
            return cls(times, none, none, none, none, none, share, place, largest)
        place = np.searchsorted(times, time, side="right")  # a row reaches times[:place]
        at = place[event] - 1
        risk = np.bincount(place, mass, minlength=len(times) + 1)[::-1].cumsum()[::-1][1:]
        own = np.bincount(at, mass[event], minlength=len(times))
        weights = np.ones(len(at)) if weight is None else weight[event]
        mean_weight = np.bincount(at, weights, minlength=len(times)) / d
        begin = np.append(0, d.cumsum()[:-1])
        which = np.repeat(np.arange(len(times)), d)
        part = (np.arange(len(which)) - begin[which]) / d[which]  # l / d
        term = risk[which] - part * own[which]
        term = np.maximum(term, _VANISHING)
        inverse, log = 1 / term, np.log(term)

        def sums(values: np.ndarray) -> np.ndarray:
            return np.add.reduceat(values, begin)

        return cls(
            times,
            sums(log) / d,
            mean_weight * sums(inverse),
            mean_weight * sums(part * inverse),
            mean_weight * sums(inverse**2),
            mean_weight * sums((1 - (1 - part) ** 2) * inverse**2),
            share,
            place,
            largest,
        )

    def expected(self, event: np.ndarray) -> np.ndarray:
        """Return the expected number of events of each row, e^f times the cumulative hazard."""
        return self.share * self._summed(self.first, self.first_own, event)

    def squared(self, event: np.ndarray) -> np.ndarray:
        """Return what the curvature of each row lacks of the expected number of events."""
        return self.share**2 * self._summed(self.second, self.second_own, event)

    def _summed(self, each: np.ndarray, own: np.ndarray, event: np.ndarray) -> np.ndarray:
        total = np.append(0, each.cumsum())[self.place]
        total[event] -= own[self.place[event] - 1]
        return total


class Cox(Exponentiated):
    """Minus the log of the partial likelihood, as a mean over the rows that it is computed for.

    Targets are times, and times of censoring are negative. The rows that come together make the
    risk sets, with their weights: see :meth:`among`.
    """

    by_rows = False

    def __init__(self, weight: np.ndarray | None = None) -> None:
        self._weight = weight

    def among(self, weight: np.ndarray | None) -> Cox:
        """Return the loss of rows with these weights, of which only the ratios matter."""
        return Cox(None if weight is None else weight / weight.mean())

    def constant(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return 0: a constant changes nothing, since the baseline hazard takes it up."""
        return np.zeros(y.shape[1])

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        f, y = f[:, 0], y[:, 0]
        sets, event = RiskSets.of(f, y, self._weight), ~np.signbit(y)
        value = np.zeros(len(f))
        value[event] = sets.log_mean[sets.place[event] - 1] + sets.largest - f[event]
        return value

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        event = ~np.signbit(y[:, 0])
        return (RiskSets.of(f[:, 0], y[:, 0], self._weight).expected(event) - event)[:, None]

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slopes −l′(f), which are martingale residuals, and the diagonal of the Hessian."""
        event, weight = ~np.signbit(y[:, 0]), self._weight
        sets = RiskSets.of(f[:, 0], y[:, 0], weight)
        expected, square = sets.expected(event), sets.squared(event)
        curvature = expected - (square if weight is None else weight * square)
        return (event - expected)[:, None], np.maximum(curvature, 0)[:, None]

    def scoring(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes, and curvatures of Poisson's loss with the same baseline hazard.

        The partial likelihood is Poisson's likelihood of the events, maximised over the baseline
        hazard [1]_. Poisson's curvature is a bound of the Hessian.

        References
        ----------
        .. [1] J. Whitehead, "Fitting Cox's regression model to survival data using GLIM", Applied
           Statistics 29(3), 1980.
        """
        event = ~np.signbit(y[:, 0])
        expected = RiskSets.of(f[:, 0], y[:, 0], self._weight).expected(event)[:, None]
        slope = event[:, None] - expected
        with np.errstate(divide="ignore"):
            distance = np.where(event[:, None], np.abs(np.log(expected)), np.inf)
        return slope, larger(expected, slope, distance)


def baseline_hazard(
    f: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of events, and the cumulative hazard of a row with f = 0 at these times.

    Efron's form of Breslow's estimate, as in the survival package of R.
    """
    sets = RiskSets.of(f, y, weight)
    return sets.times, sets.first.cumsum() * np.exp(-sets.largest)
