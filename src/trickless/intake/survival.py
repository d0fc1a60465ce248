"""Targets of survival analysis: the time of each row, and whether its event was seen.

Inside, a time of censoring is negative, so that one number has both.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from trickless.arrays.stated import check_array
from trickless.errors import InvalidValueError
from trickless.intake.targets import Numbers
from trickless.solvers.cox import baseline_hazard

_FORMS = (
    "a structured array of a Boolean event and a time, as in scikit-survival, or an array of shape "
    "(n_rows, 2) with the columns (time, event)"
)


def as_times(y: Any) -> Any:
    """Return a structured array of (event, time) as columns (time, event); others are unchanged."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if not isinstance(y, np.ndarray) or names is None or len(names) != 2:
        return y
    event, time = sorted(names, key=lambda name: y.dtype[name].kind != "b")
    if y.dtype[event].kind != "b" or y.dtype[time].kind not in "fiu":
        return y
    return np.column_stack([y[time].astype(np.float64), y[event]])


class Survival(Numbers):
    """Times of events, or of censoring where no event was seen.

    Decision values are logarithms of hazard ratios. A larger value means an earlier event.

    Attributes
    ----------
    times, hazard : array of shape (n_times,), or None before the end of a fit
        Times of events, and the cumulative baseline hazard at these times.
    """

    times: np.ndarray | None = None
    hazard: np.ndarray | None = None

    def __init__(self, owner: str, y: np.ndarray, dtype: Any) -> None:
        super().__init__(owner, y[:, 0] if y.ndim == 2 else y, dtype)

    def check_state(self) -> None:
        super().check_state()
        if self.times is not None:
            check_array("times", self.times, "f8", (None,))
            check_array("hazard", self.hazard, "f8", self.times.shape)

    def with_baseline(self, f: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Survival:
        """Return the same with the baseline hazard of rows, given decision values and targets."""
        new = copy(self)
        new.times, new.hazard = baseline_hazard(f, y, weight)
        return new

    def baseline(self, times: np.ndarray) -> np.ndarray:
        """Return the cumulative baseline hazard at some times."""
        assert self.times is not None and self.hazard is not None
        return np.append(0.0, self.hazard)[np.searchsorted(self.times, times, side="right")]

    def check_shape(self, y: np.ndarray) -> None:
        if y.ndim != 2 or y.shape[1] != 2:
            raise InvalidValueError(
                f"{self.owner}: y has the shape {y.shape}, but loss='cox' needs the time of each "
                "row, and whether its event was seen",
                _FORMS,
            )

    def matrix(self, y: np.ndarray) -> np.ndarray:
        """Return signed times, (n_rows, 1): times of censoring are negative."""
        self.check_shape(y)
        time, event = np.asarray(y, dtype=np.float64).T
        if (wrong := (event != 0) & (event != 1)).any():
            row = int(wrong.argmax())
            raise InvalidValueError(
                f"{self.owner}: y[{row}, 1] is {event[row]:g}, but the second column tells whether "
                "the event was seen, by 1, or the row was censored, by 0",
                _FORMS,
            )
        if (wrong := time < 0).any():
            row = int(wrong.argmax())
            raise InvalidValueError(
                f"{self.owner}: y holds the time {time[row]:g} (row {row}), but times of "
                "loss='cox' are 0 or more",
                "times since the row came under observation, or leave these rows out",
            )
        if not event.any():
            raise InvalidValueError(
                f"{self.owner}: y has no events: all {len(time)} rows are censored, so there is "
                "nothing to learn from",
                "rows with events; in the second column of y, 1 is an event",
            )
        return self._checked(np.copysign(time, event - 0.5))

    def intercept(self, targets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        return np.zeros(1)

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return zeros, since a hazard ratio is no estimate of a time."""
        return np.zeros(len(decisions))

    def distances(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        raise InvalidValueError(
            f"{self.owner}: loss='cox' predicts hazards, which have no intervals of times",
            "predict_survival(X, times), whose values are probabilities of later events",
        )

    def score(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index: see :func:`concordance`."""
        time, event = np.asarray(y, dtype=np.float64).T
        return concordance(time, event > 0, np.asarray(predicted), sample_weight)


def concordance(
    time: np.ndarray, event: np.ndarray, risk: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the share of comparable pairs in which the row of higher risk has the earlier event.

    Two rows are comparable if one has an event, and the other is known to be without it for longer:
    its time is later, or the same and censored. Pairs with the same risk count half. The weight of
    a pair is the product of the weights of its rows [1]_.

    References
    ----------
    .. [1] F. E. Harrell, K. L. Lee and D. B. Mark, "Multivariable prognostic models", Statistics in
       Medicine 15(4), 1996.
    """
    weight = np.ones(len(time)) if weight is None else np.asarray(weight, dtype=np.float64)
    rank = np.unique(risk, return_inverse=True)[1].ravel().tolist()
    sums = [0.0] * (len(rank) + 1)  # a Fenwick tree of the weights by rank

    def below(n: int) -> float:
        """Sum the weights of rows of the first n ranks."""
        total = 0.0
        while n:
            total += sums[n]
            n &= n - 1
        return total

    seen = concordant = comparable = 0.0
    waiting: list[int] = []
    last = np.inf
    w, times = weight.tolist(), time.tolist()

    def enter(i: int) -> None:
        nonlocal seen
        seen += w[i]
        n = rank[i] + 1
        while n < len(sums):
            sums[n] += w[i]
            n += n & -n

    for i in np.lexsort((event, -time)).tolist():  # from the latest; censored rows first
        if times[i] != last:
            for j in waiting:  # events of one time are not comparable
                enter(j)
            waiting, last = [], times[i]
        if not event[i]:
            enter(i)
            continue
        less, same = below(rank[i]), below(rank[i] + 1)
        concordant += w[i] * (less + (same - less) / 2)
        comparable += w[i] * seen
        waiting.append(i)
    if comparable == 0:
        raise InvalidValueError(
            "concordance needs two rows of which one has an event and the other a later time",
            "more rows with events",
        )
    return concordant / comparable
