"""What experts think of the next answer of a stream, some of which know only earlier answers."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from trickless._solvers.experts.reach import Reach
from trickless._solvers.moments import FAR, ColumnMoments

#: The name of the last answer among the features.
LAST = b"last target"
#: The least probability that an expert gives to a class, times the number of classes.
_LEAST = 0.02
#: What is left of counts after a row: of all labels, and of those that followed a label.
_FADE, _FADE_AFTER = 0.999, 0.995
#: What the count of each label begins with.
_PRIOR = 0.1
#: The prior weight of the last target.
_LAST_WEIGHT = 0.5
#: What is left of absolute errors after a row.
_FADE_ERRORS = 0.99
#: An error counts as at most so many times the mean.
_CAP = 10.0
#: The largest target, and the least unit of errors: their ratio is within the range of floats.
LARGEST_TARGET, _LEAST_UNIT = 1e100, 1e-200


class LabelOpinions:
    """Probabilities of labels, which are numbered in the order in which they appear.

    Machines predict which label it is. Two more experts are how frequent each label is after the
    last one, and how frequent it is at all.

    Attributes
    ----------
    numbers : dict
        Number of each label.
    counts : array of shape (n_labels + 1, n_labels)
        Faded counts of labels after each label, and of all labels.
    """

    def __init__(self, n_machines: int) -> None:
        self.prior = np.full(n_machines + 2, 1 / (n_machines + 2))
        self.numbers: dict[Hashable, int] = {}
        self.counts = np.zeros((1, 0))
        self.last = 0

    @property
    def n_outputs(self) -> int:
        """Number of outputs of each machine."""
        return len(self.numbers)

    def of(self, outputs: np.ndarray) -> np.ndarray:
        """Return the probabilities of all experts for a row, shape (n_experts, n_labels)."""
        counts = self.counts[[self.last, -1]]
        opinions = np.concatenate([outputs, counts / counts.sum(axis=1, keepdims=True)])
        opinions = np.maximum(opinions, _LEAST / max(1, outputs.shape[1]))
        return opinions / opinions.sum(axis=1, keepdims=True)

    def judge(
        self, label: Hashable, opinions: np.ndarray, weights: np.ndarray
    ) -> tuple[int, np.ndarray | None]:
        """Return the number of a label, and the factors of the experts' weights if it is known."""
        n = self.n_outputs
        number = self.numbers.setdefault(label, n)
        if number == n:
            self.counts = np.insert(np.insert(self.counts, n, _PRIOR, axis=0), n, _PRIOR, axis=1)
        return number, opinions[:, number] if number < opinions.shape[1] else None

    def learn(self, label: int) -> None:
        """Count a label."""
        for row, fade in ((self.last, _FADE_AFTER), (-1, _FADE)):
            self.counts[row] *= fade
            self.counts[row, label] += 1.0
        self.last = label

    def targets(self, labels: list[int]) -> np.ndarray:
        """Return the targets of machines for a label, or for all labels so far."""
        return np.eye(self.n_outputs)[labels]

    def as_input(self, label: int) -> tuple[tuple[tuple[Hashable, ...], float]]:
        """Return what a label is as an input of later rows."""
        return (((LAST, label), 1.0),)


class NumberOpinions:
    """Predictions of numbers, and exponential weights by their absolute errors.

    Machines predict both a target and the one before, and so there are experts of targets and of
    changes. Two more are the last target and a faded mean. The unit of errors is the first quartile
    of the experts' faded mean errors, so that a jump, which no expert foresees, moves no weight.

    Attributes
    ----------
    origin : float
        What is subtracted from the targets of machines.
    errors, weight : array of shape (n_experts,), float
        Faded mean errors, and the number of rows among them.
    """

    n_outputs = 2

    def __init__(self, n_machines: int) -> None:
        self.prior = np.full(2 * n_machines + 2, (1 - _LAST_WEIGHT) / (2 * n_machines + 1))
        self.prior[-2] = _LAST_WEIGHT
        self.errors, self.weight, self.reach = np.zeros(len(self.prior)), 0.0, Reach()
        self.last = self.mean = self.origin = 0.0

    def of(self, outputs: np.ndarray) -> np.ndarray:
        """Return the predictions of all experts for a row, shape (n_experts,)."""
        ours, lasts = outputs.T
        return np.concatenate(
            [ours + self.origin, self.last + ours - lasts, [self.last, self.mean]]
        )

    def judge(
        self, target: float, opinions: np.ndarray, weights: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return a target, clipped to within reach, and the factors of the experts' weights."""
        target, predicted = float(target), float(weights @ opinions)
        near = self.reach(target - predicted)
        if near != target - predicted:
            target = predicted + near
        errors = np.abs(target - opinions)
        means = self.errors if self.weight else errors
        unit = np.sort(means)[len(means) // 4] + 1e-9 * means.max() + _LEAST_UNIT
        self.weight = _FADE_ERRORS * self.weight + 1.0
        capped = np.minimum(errors, _CAP * np.maximum(means, unit))
        self.errors = self.errors + (capped - self.errors) / self.weight
        return target, np.exp(np.maximum((errors.min() - errors) / unit, -100.0))

    def learn(self, target: float) -> None:
        """Add a target to the mean."""
        self.mean += (1.0 if self.weight == 1.0 else 1 - _FADE) * (target - self.mean)
        self.last = target

    def targets(self, targets: list[float]) -> np.ndarray:
        """Return a target and the one before, or all so far, of which the first has none."""
        several = len(targets) > 1
        found = np.array([*zip(targets, [self.last, *targets], strict=False)])
        if several or self.weight == 1.0:
            found[0, 1] = targets[0]
        if several:  # the machines start over
            moments = ColumnMoments.none(2).after(found)
            reach = FAR * moments.scale
            found = np.clip(found, moments.mean - reach, moments.mean + reach)
            self.origin = self.mean = float(moments.mean[0])
        return found - self.origin

    def as_input(self, target: float) -> tuple[tuple[tuple[Hashable, ...], float]]:
        """Return what a target is as an input of later rows."""
        return (((LAST,), target),)
