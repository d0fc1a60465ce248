"""Losses of classes, whose targets are ±1."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from trickless._arrays.functions import (
    at_least,
    expit,
    factors,
    log_softmax,
    softmax,
    softplus,
    sum_of_rows,
)
from trickless._arrays.places import namespace
from trickless._solvers.losses import NEAR, Loss, Pair, Unit

#: Iterations of Newton's method for one dual variable of the logistic loss, and their accuracy.
_NEWTON, _ACCURACY = 40, 1e-13


class Hinge(Loss):
    """max(0, 1 − y f), the loss of support vector machines."""

    smooth = False
    on_devices = True

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return sum_of_rows(at_least(1 - y * f, 0))

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * factors(y * f < 1, f)

    def distance(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return namespace(f).abs(1 - y * f)

    def smoothed(self, width: float) -> Loss:
        return SmoothHinge(width)

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        xp, short = namespace(f), 1 - y * f
        return y * factors(short > 0, f), 0.5 / xp.maximum(xp.abs(short), NEAR * unit)


class SmoothHinge(Loss):
    """The hinge with its corner smoothed by a parabola of a width, at most width/2 below it."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.curvature = 1 / width

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        short = 1 - y * f  # of the margin
        near = np.clip(short, 0, self.width)
        return (near**2 / (2 * self.width) + np.maximum(short - self.width, 0)).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * np.clip((1 - y * f) / self.width, 0, 1)

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        short = 1 - y * f
        bent = (short > 0) & (short < self.width)
        return -self.derivative(f, y), np.where(bent, self.curvature, 0.0)

    def typical_curvature(self, at_constant: np.ndarray) -> np.ndarray:
        return np.ones_like(at_constant)  # over distances of 1, whatever the width is

    def corner(self, f: np.ndarray, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        # By Fenchel's inequality, with the conjugate y · slope of the hinge.
        return (np.maximum(1 - y * f, 0) + slope * (y - f)).sum(axis=1)


class SquaredHinge(Loss):
    """max(0, 1 − y f)²; its minimiser is 2p − 1."""

    curvature = 2.0
    bounded_slope = False
    on_devices = True

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return sum_of_rows(at_least(1 - y * f, 0) ** 2)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -2 * y * at_least(1 - y * f, 0)

    def distance(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return namespace(f).abs(1 - y * f)

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        short = at_least(1 - y * f, 0)
        return 2 * y * short, 2.0 * factors(short > 0, f)


class Logistic(Loss):
    """log(1 + exp(−y f)); its minimiser is log(p / (1 − p))."""

    curvature = 0.25
    has_link = True
    settled = 0.07
    bending = 1.0
    on_devices = True

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return sum_of_rows(softplus(-y * f))

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * expit(-y * f)

    def bend(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        p = expit(-y * f)
        return p**3 * (1 - p), p**2

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        p = expit(-y * f)
        return y * p, p * (1 - p)

    def _positive(self, f: np.ndarray) -> np.ndarray:
        return expit(f)

    def start(self, shares: np.ndarray) -> np.ndarray:
        return logit(shares)


class Softmax(Loss):
    """−log softmax(f) at the one class whose target is +1."""

    curvature = 0.5
    has_link = True
    settled = 0.07
    coupled = True
    bending = 1.0
    on_devices = True

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -sum_of_rows(log_softmax(f) * factors(y > 0, f))

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return softmax(f) - factors(y > 0, f)

    def bend(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        p = softmax(f)
        square = (p - factors(y > 0, f)) ** 2
        return p * (1 - p) * square, square

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        # The diagonal of the curvature, times k / (k - 1), as the outputs have one sum too many.
        p, k = _softmax_of_columns(f), f.shape[1]
        return factors(y > 0, f) - p, p * (1 - p) * (k / (k - 1))

    def probability(self, f: np.ndarray) -> np.ndarray:
        return softmax(f)

    def start(self, shares: np.ndarray) -> np.ndarray:
        return np.log(shares) - np.log(shares).mean()


def _softmax_of_columns(f: np.ndarray) -> np.ndarray:
    """Return ``softmax(f)``, on the host with columns side by side, which suits few of them."""
    if not isinstance(f, np.ndarray):
        return softmax(f)
    by_output = np.ascontiguousarray(f.T)
    share = np.exp(by_output - by_output.max(axis=0))
    share /= share.sum(axis=0)
    return share.T
