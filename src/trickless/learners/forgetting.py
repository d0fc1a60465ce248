"""Learners whose rows lose their weight as later rows come, by a half-life."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from trickless.arrays.places import to_host
from trickless.errors import InvalidValueError
from trickless.intake.weights import check_weights
from trickless.rules import with_remedies
from trickless.solvers.clock import Clock, in_units


class Aged(NamedTuple):
    """The weights of a batch, as the clock makes them.

    Attributes
    ----------
    weight : array of shape (n_rows,) or None
        Sample weights, times the factors of their ages.
    fade : float
        The factor of the weights of all earlier rows.
    arrived : int or None
        The number of earlier rows. None if the learner has never forgotten any.
    """

    weight: Any
    fade: float = 1.0
    arrived: int | None = None


def age(learner: Any, X: Any, sample_weight: Any, timestamps: Any) -> Aged:
    """Move the clock of a learner by the rows of a batch, and return their weights."""
    clock: Clock | None = learner.clock_
    forgets = in_units(learner.half_life) < np.inf
    if not forgets and clock is None and timestamps is None:
        return Aged(sample_weight)
    owner = type(learner).__name__
    with with_remedies(owner):
        n_rows = _num_samples(X)
    clock = Clock() if clock is None else clock
    learner.clock_, ages = clock.after(owner, n_rows, timestamps, learner.half_life)
    arrived = clock.n_rows if forgets or clock.forgets else None
    if ages.weights is None:
        return Aged(sample_weight, ages.fade, arrived)
    weight = check_weights(owner, to_host(sample_weight), n_rows, may_be_empty=True)
    return Aged(ages.weights if weight is None else weight * ages.weights, ages.fade, arrived)


def lapses(learner: Any, X: Any, timestamps: Any) -> np.ndarray | None:
    """Move the clock of a learner by the rows of a batch, and return the half-lives before each.

    It is None if the learner forgets nothing.
    """
    clock: Clock | None = learner.clock_
    forgets = in_units(learner.half_life) < np.inf
    if not forgets and clock is None and timestamps is None:
        return None
    owner = type(learner).__name__
    with with_remedies(owner):
        n_rows = _num_samples(X)
    clock = Clock() if clock is None else clock
    learner.clock_, passed = clock.lapses(owner, n_rows, timestamps, learner.half_life)
    return passed if forgets else None


def now_weights(learner: Any, X: Any, sample_weight: Any, timestamps: Any) -> Any:
    """Return the weights that rows of earlier batches have now."""
    clock: Clock | None = learner.clock_
    if clock is None or not clock.forgets:
        return sample_weight
    owner = type(learner).__name__
    with with_remedies(owner):
        n_rows = _num_samples(X)
    factors = clock.factors(owner, n_rows, timestamps, learner.half_life)
    weight = check_weights(owner, to_host(sample_weight), n_rows)
    return factors if weight is None else weight * factors


def merge_clocks(learner: Any, other: Any) -> tuple[float, float]:
    """Set the clock of a learner with the rows of another, and return the fade of each."""
    mine, theirs = learner.clock_, other.clock_
    if not any(clock is not None and clock.forgets for clock in (mine, theirs)):
        learner.clock_ = None if mine is None or theirs is None else mine
        return 1.0, 1.0
    owner = type(learner).__name__
    if in_units(learner.half_life) != in_units(other.half_life):
        raise InvalidValueError(
            f"{owner}: half_life={learner.half_life!r} here and {other.half_life!r} in other, but "
            "models that are merged must forget alike",
            "the same half_life in both models",
        )
    mine, theirs = mine or Clock(), theirs or Clock()
    learner.clock_, *fades = mine.together(owner, theirs, learner.half_life)
    return fades[0], fades[1]
