"""Learners whose rows lose their weight as later rows come, by a half-life."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from trickless._arrays.places import to_host
from trickless._errors import InvalidValueError
from trickless._rows.rows import Batch
from trickless._rows.weights import check_weights
from trickless._rules import with_remedies
from trickless._solvers.clock import Clock, are_several, as_times, in_units
from trickless._solvers.least_squares.row_sample import Arrival
from trickless._targets.batches import rows_that_count


class Aged(NamedTuple):
    """The weights of a batch, as the clock makes them.

    Attributes
    ----------
    weight : array of shape (n_rows,) or None
        Sample weights, times the factors of their ages.
    fade : float
        The factor of the weights of all earlier rows.
    arrival : Arrival or None
        When the rows came. None if the learner has never forgotten any.
    passed : array of shape (n_rows,) or None
        Half-lives between the latest earlier row and each row.
    times : array of shape (n_rows,) or None
        Time stamps of the rows with a weight above 0, if several half-lives are in use.
    """

    weight: Any
    fade: float = 1.0
    arrival: Arrival | None = None
    passed: np.ndarray | None = None
    times: np.ndarray | None = None

    def unaged(self, sample_weight: Any) -> Aged:
        """Return the same with the weights that the rows have when they come."""
        return self._replace(weight=sample_weight)

    def of_batch(self, learner: Any, y: Any, batch: Batch) -> Aged:
        """Return the same for the rows of a batch that count, without those of weight 0."""
        arrival, n_rows = self.arrival, len(batch[1])
        if arrival is None or n_rows in (0, len(arrival.fresh)):
            return self
        kept = rows_that_count(learner, y, self.weight)
        return self._replace(arrival=arrival._replace(fresh=arrival.fresh[kept]))


def age(learner: Any, X: Any, sample_weight: Any, timestamps: Any) -> Aged:
    """Move the clock of a learner by the rows of a batch, and return their weights."""
    if are_several(learner.half_life):
        return _timed(learner, X, sample_weight, timestamps)
    forgets = in_units(learner.half_life) < np.inf
    if not forgets and learner._clock_ is None and timestamps is None:
        return Aged(sample_weight)
    owner, n_rows, clock = _begun(learner, X)
    learner._clock_, ages = clock.after(owner, n_rows, timestamps, learner.half_life)
    fresh = np.ones(n_rows) if ages.weights is None else ages.weights
    arrival = Arrival(clock.n_rows, fresh) if forgets or clock.forgets else None
    if ages.weights is None:
        return Aged(sample_weight, ages.fade, arrival)
    weight = check_weights(owner, to_host(sample_weight), n_rows, may_be_empty=True)
    weight = fresh if weight is None else weight * fresh
    return Aged(weight, ages.fade, arrival, ages.passed)


def _begun(learner: Any, X: Any) -> tuple[str, int, Clock]:
    """Return the name of a learner, the number of rows, and the clock, new if there is none.

    Rows that were learned without a clock had no time stamps.
    """
    owner = type(learner).__name__
    clock = learner._clock_ or Clock(stamped=False if learner.__sklearn_is_fitted__() else None)
    with with_remedies(owner):
        return owner, _num_samples(X), clock


def _timed(learner: Any, X: Any, sample_weight: Any, timestamps: Any) -> Aged:
    """Move the clock of a learner of several half-lives, which weights rows by itself."""
    owner, n_rows, clock = _begun(learner, X)
    for each in () if isinstance(learner.half_life, str) else learner.half_life:
        clock.after(owner, n_rows, timestamps, each)  # checks whether they go together
    learner._clock_, _ = clock.after(owner, n_rows, timestamps, None)
    if timestamps is None:
        return Aged(sample_weight)
    if isinstance(learner.half_life, str):
        raise InvalidValueError(
            f"{owner}: half_life='auto' counts in rows, but there are time stamps",
            "half_life=[60, 600, 6000], for instance, in the unit of the time stamps",
        )
    times = as_times(owner, timestamps, n_rows)
    weight = check_weights(owner, to_host(sample_weight), n_rows, may_be_empty=True)
    return Aged(sample_weight, times=times if weight is None else times[weight > 0])


def lapses(learner: Any, X: Any, timestamps: Any) -> np.ndarray | None:
    """Move the clock of a learner by the rows of a batch, and return the half-lives before each.

    It is None if the learner forgets nothing.
    """
    forgets = in_units(learner.half_life) < np.inf
    if not forgets and learner._clock_ is None and timestamps is None:
        return None
    owner, n_rows, clock = _begun(learner, X)
    learner._clock_, passed = clock.lapses(owner, n_rows, timestamps, learner.half_life)
    return passed if forgets else None


def now_weights(learner: Any, X: Any, sample_weight: Any, timestamps: Any) -> Any:
    """Return the weights that rows of earlier batches have now."""
    if learner._clock_ is None or not learner._clock_.forgets:
        return sample_weight
    owner, n_rows, clock = _begun(learner, X)
    if in_units(learner.half_life) == np.inf:
        raise InvalidValueError(
            f"{owner}: half_life={learner.half_life!r}, but earlier rows have faded by another "
            "half-life, so the weight that a row still has is unknown",
            "the half_life with which the rows were learned",
        )
    factors = clock.factors(owner, n_rows, timestamps, learner.half_life)
    weight = check_weights(owner, to_host(sample_weight), n_rows)
    return factors if weight is None else weight * factors


def merge_clocks(learner: Any, other: Any) -> tuple[float, float]:
    """Set the clock of a learner with the rows of another, and return the fade of each."""
    mine, theirs = learner._clock_, other._clock_
    if not any(clock is not None and clock.forgets for clock in (mine, theirs)):
        learner._clock_ = None if mine is None or theirs is None else mine
        return 1.0, 1.0
    owner = type(learner).__name__
    if in_units(learner.half_life) != in_units(other.half_life):
        raise InvalidValueError(
            f"{owner}: half_life={learner.half_life!r} here and {other.half_life!r} in other, but "
            "models that are merged must forget alike",
            "the same half_life in both models",
        )
    mine, theirs = mine or Clock(), theirs or Clock()
    learner._clock_, *fades = mine.together(owner, theirs, learner.half_life)
    return fades[0], fades[1]
