"""Losses of numbers that are the same in any unit."""

from __future__ import annotations

import numpy as np

from trickless._arrays.functions import at_least, clipped, factors, huber, sum_of_rows
from trickless._arrays.places import namespace
from trickless._solvers.losses import NEAR, Loss, Pair, Unit


class Squared(Loss):
    """½ (f − y)²; its minimiser at ±1 targets is 2p − 1."""

    bounded_slope = False
    for_numbers = True
    on_devices = True

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 0.5 * sum_of_rows((f - y) ** 2)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return f - y

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        return y - f, namespace(f).ones_like(f)


class EpsilonInsensitive(Loss):
    """max(0, |f − y| − ε), the loss of support vector regression."""

    piecewise_linear = True
    smooth = False
    for_numbers = True
    on_devices = True

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return sum_of_rows(at_least(namespace(f).abs(f - y) - self.epsilon, 0))

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        xp = namespace(f)
        return xp.sign(f - y) * factors(xp.abs(f - y) > self.epsilon, f)

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        xp = namespace(f)
        off, near = xp.abs(f - y), NEAR * unit
        below, above = (xp.maximum(xp.abs(off + e), near) for e in (self.epsilon, -self.epsilon))
        return -self.derivative(f, y), 0.5 / below + 0.5 / above


class Huber(Loss):
    """½ (f − y)² up to |f − y| = ε, and linear beyond: little moved by outliers."""

    for_numbers = True
    on_devices = True

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return sum_of_rows(huber(self.epsilon, f - y))

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return clipped(f - y, -self.epsilon, self.epsilon)

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        xp, short = namespace(f), y - f
        beyond = at_least(xp.abs(short), self.epsilon)
        return clipped(short, -self.epsilon, self.epsilon), self.epsilon / beyond
