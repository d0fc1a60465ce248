"""Experts that know only earlier answers."""

from __future__ import annotations

import numpy as np

#: What is left of counts after a row: of all labels, and of those that followed a label.
_FADE, _FADE_AFTER = 0.999, 0.995
_PRIOR = 0.1
#: What is left of absolute errors after a row.
_FADE_ERRORS = 0.99
#: An error counts as at most so many times the mean.
_CAP = 10.0
#: The largest target, and the least unit of errors: their ratio is within the range of floats.
LARGEST_TARGET, _LEAST_UNIT = 1e100, 1e-200


class Markov:
    """How frequent each label is, and how frequent after the last one, by faded counts."""

    n_experts = 2

    def __init__(self) -> None:
        self.counts = np.zeros((1, 0))  # the last row is that of all labels
        self.last = 0

    def grow(self) -> None:
        """Make room for a label."""
        n = self.counts.shape[1]
        self.counts = np.insert(np.pad(self.counts, ((0, 0), (0, 1))), n, 0.0, axis=0)

    def learn(self, label: int) -> None:
        """Count a label."""
        for row, fade in ((self.last, _FADE_AFTER), (-1, _FADE)):
            self.counts[row] *= fade
            self.counts[row, label] += 1.0
        self.last = label

    def probabilities(self) -> np.ndarray:
        """Return the probabilities of the next label, shape (2, n_labels)."""
        counts = self.counts[[self.last, -1]] + _PRIOR
        return counts / counts.sum(axis=1, keepdims=True)


class LastAndMean:
    """The last number, and a faded mean of all numbers."""

    n_experts = 2
    last: float | None = None
    mean: float | None = None

    def learn(self, number: float) -> None:
        """Add a number."""
        if self.mean is None:
            self.mean = number
        self.mean += (1 - _FADE) * (number - self.mean)
        self.last = number

    def predictions(self) -> np.ndarray:
        """Return both."""
        return np.array([self.last or 0.0, self.mean or 0.0])


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
