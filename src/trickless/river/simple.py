"""Experts that know only earlier answers."""

from __future__ import annotations

import math

import numpy as np

from trickless.solvers.moments import FAR

#: What is left of counts after a row: of all labels, and of those that followed a label.
_FADE, _FADE_AFTER = 0.999, 0.995
_PRIOR = 0.1
#: What is left of absolute errors after a row.
_FADE_ERRORS = 0.99
#: An error counts as at most so many times the mean.
_CAP = 10.0
#: What is left after a row of the squares of residuals, and of what a far one adds to the reach.
_FADE_SQUARES, _FADE_REACH = 0.5 ** (1 / 50), 0.5 ** (1 / 500)
#: A target is at most so many root mean square errors away from its prediction: so few that one
#: wrong number does little, and so many that a change of level is hardly held back.
_REACH = 20.0
#: The largest target, and the least unit of errors: their ratio is within the range of floats.
LARGEST_TARGET, _LEAST_UNIT = 1e100, 1e-200


class Markov:
    """How frequent each label is, and how frequent after the last one, by faded frequencies."""

    n_experts = 2

    def __init__(self) -> None:
        # The last row of a table is that of all labels.
        self.table, self.visits = np.zeros((1, 0)), [0.0]
        self.last = 0

    def grow(self) -> None:
        """Make room for a label, after which each label is equally frequent at first."""
        n = self.table.shape[1] + 1
        table = np.hstack([self.table, np.zeros((n, 1))])
        self.table = np.insert(table, n - 1, 1 / n, axis=0)
        if n == 1:
            self.table[:] = 1.0
        self.visits.insert(n - 1, _PRIOR * n)

    def learn(self, label: int) -> None:
        """Count a label."""
        for row, least in ((self.last, 1 - _FADE_AFTER), (-1, 1 - _FADE)):
            self.visits[row] += 1.0
            rate = max(1 / self.visits[row], least)
            self.table[row] *= 1 - rate
            self.table[row, label] += rate
        self.last = label

    def probabilities(self) -> np.ndarray:
        """Return the probabilities of the next label, shape (2, n_labels)."""
        return self.table[[self.last, -1]]


class LastAndMean:
    """The last number, and a faded mean of all numbers."""

    n_experts = 2

    def __init__(self) -> None:
        self.last = self.mean = 0.0
        self.weight = 0.0

    def learn(self, number: float) -> None:
        """Add a number."""
        self.weight = _FADE * self.weight + 1.0
        self.mean += (number - self.mean) / self.weight
        self.last = number

    def predictions(self) -> np.ndarray:
        """Return both."""
        return np.array([self.last, self.mean])


class AbsoluteErrors:
    """Exponential weights of experts by their absolute errors.

    The unit is the first quartile of the faded mean absolute errors of the experts, so that a jump
    of the stream, which no expert foresees, moves no weight.
    """

    def __init__(self, n_experts: int) -> None:
        self.means = np.zeros(n_experts)
        self.weight = 0.0

    def learn(self, errors: np.ndarray) -> np.ndarray:
        """Return the factor of each expert's weight, and add the errors to the means."""
        errors = np.abs(errors)
        means = self.means if self.weight else errors
        unit = np.sort(means)[len(means) // 4] + 1e-9 * means.max() + _LEAST_UNIT
        self.weight = _FADE_ERRORS * self.weight + 1.0
        capped = np.minimum(errors, _CAP * np.maximum(means, unit))
        self.means = self.means + (capped - self.means) / self.weight
        return np.exp(np.maximum((errors.min() - errors) / unit, -100.0))


class Reach:
    """How far targets may be from their predictions.

    A residual counts as at most 20 recent root mean squares. These are robust: for them it counts
    as at most ``FAR``, as in :mod:`trickless.solvers.moments`. The reach grows tenfold after each
    residual that is clipped, and returns with a half-life of 500 rows. It does not hold back what
    comes again and again, such as another level of the targets or a rare category.

    Attributes
    ----------
    weight, square, far : float
        Faded number and mean square of residuals, and what those beyond ``FAR`` add to it.
    factor : float
        The reach in root mean squares.
    """

    def __init__(self) -> None:
        self.weight = self.square = self.far = 0.0
        self.factor = _REACH

    def __call__(self, target: float, predicted: float) -> float:
        """Return a target, or the nearest number within reach of the prediction."""
        residual = target - predicted
        before = _FADE_SQUARES * self.weight
        self.weight = before + 1.0
        share = 1 / self.weight
        kept, rest = (1 - share) * self.square, 1 - FAR**2 * share
        self.far *= 1 - share
        self.square = kept + share * residual**2
        self.factor = _REACH + _FADE_REACH * (self.factor - _REACH)
        if not residual**2 > FAR**2 * self.square:
            return target
        if not (kept > 0 and rest * (1 - self.far / kept) > 1 / FAR**2):
            self.far += share * residual**2
            return target
        self.square = kept / rest
        self.far += share * FAR**2 * self.square
        most = self.factor * math.sqrt(self.square)
        if abs(residual) <= most:
            return target
        self.factor *= 10.0
        return predicted + math.copysign(most, residual)
