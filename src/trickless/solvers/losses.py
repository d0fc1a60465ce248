"""Losses: value, derivative, link and convex conjugate.

Decision values f and targets y have shape (n_rows, n_outputs). Targets of a classifier are ±1: one
column for two classes, one column a class otherwise. The names are scikit-learn's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import exp
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr, expit, huber, log_softmax, logit, softmax

#: Iterations of Newton's method for one dual variable of the logistic loss, and their accuracy.
_NEWTON, _ACCURACY = 40, 1e-13
#: The least unit of targets; its inverse is finite.
LEAST_UNIT = 1e-300
#: Distance from the minimiser, in units, within which a parabola that touches a loss is no steeper.
NEAR = 0.1


def unit_of(spread: np.ndarray) -> np.ndarray:
    """Return units of the outputs, for losses whose slope is ±1 in any unit; 1 if spread is 0."""
    return np.where(spread > 0, np.maximum(spread, LEAST_UNIT), 1.0)


class LossUnits(NamedTuple):
    """Units of a risk, each a number or one for each output.

    The loss of f and y is ``value`` times the loss of (f − ``level``) / ``f`` and y / ``target``.
    """

    target: np.ndarray | float = 1.0
    f: np.ndarray | float = 1.0
    value: np.ndarray | float = 1.0
    level: np.ndarray | float = 0.0


class Loss(ABC):
    """A convex loss.

    ``curvature`` is an upper bound of the second derivative. It is 1 for piecewise linear losses,
    whose derivative is 0 or ±1 at all scales of the targets. Steps up to 1 / curvature are stable
    for neurons bounded by 1. A link turns decision values into probabilities. ``coupled`` says
    that the slope of one output depends on the others. ``bounded_slope`` says that the derivative
    is bounded, and ``smooth`` that it is Lipschitz continuous. ``bending`` bounds the third
    derivative, in units of the second. Targets are ±1, unless the loss is ``for_numbers``.
    ``bounded_curvature`` says that ``curvature`` is a bound. ``by_rows`` says that the loss of a
    row does not depend on other rows.
    """

    curvature: float = 1.0
    has_link: bool = False
    piecewise_linear: bool = False
    coupled: bool = False
    bounded_slope: bool = True
    smooth: bool = True
    bending: float = 0.0
    for_numbers: bool = False
    bounded_curvature: bool = True
    by_rows: bool = True

    def among(self, weight: np.ndarray | None) -> Loss:
        """Return the loss of rows with these weights, if the loss of a row depends on others."""
        return self

    @property
    def levels(self) -> bool:
        """Whether steps move the intercept as well."""
        return self.has_link

    @abstractmethod
    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Loss of each row, summed over outputs: shape (n_rows,)."""

    @abstractmethod
    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Derivative with respect to f: shape (n_rows, n_outputs)."""

    def bend(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Two arrays whose sums over rows have the curvature along the slopes as their ratio.

        ``unit`` is the scale of each output.

        Both have the shape of f. By default they belong to the parabola that touches the loss at f
        and has its lowest point at the nearest minimiser. They are |l'(f)| and the distance from f
        to that minimiser, each times |l'(f)|.
        """
        slope = np.abs(self.derivative(f, y))
        return slope**2, slope * self.distance(f, y)

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slopes −l′(f) and curvatures for Newton steps, both of the shape of f.

        By default the curvature belongs to the parabola that touches the loss at f and has its
        lowest point at the minimiser. It is at most 10 / ``unit`` times the slope, where ``unit``
        is the scale of each output.
        """
        slope = -self.derivative(f, y)
        return slope, np.abs(slope) / np.maximum(self.distance(f, y), NEAR * unit)

    def distance(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Distance from f to the target, where the loss has a slope: the shape of f."""
        return np.abs(f - y)

    def probability(self, f: np.ndarray) -> np.ndarray:
        """Link: the probability of each class at decision values f, shape (n_rows, n_classes).

        One output means two classes. Several outputs are classes against the rest, normalised.
        """
        positive = self._positive(f)
        if f.shape[1] == 1:
            return np.hstack([1 - positive, positive])
        total = positive.sum(axis=1, keepdims=True)
        uniform = np.full_like(positive, 1 / f.shape[1])
        return np.divide(positive, total, out=uniform, where=total > 0)

    def _positive(self, f: np.ndarray) -> np.ndarray:
        """P(y = +1) where f minimises the expected loss."""
        raise NotImplementedError

    def start(self, shares: np.ndarray) -> np.ndarray:
        """Return the constant whose probabilities of +1 are these shares of rows: (n_outputs,)."""
        raise NotImplementedError

    def constant(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the constant from which to learn numbers, (n_outputs,): by default their mean."""
        return np.average(y, axis=0, weights=weight)

    def spread(self, start: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the scale of each output: by default the mean distance of targets from a start."""
        return np.average(np.abs(y - start), axis=0, weights=weight)

    def steepest(self, spread: np.ndarray) -> Any:
        """Return the curvature of each output for steps along the gradient, given the spread.

        A slope of ±1 moves f equally far in any unit of y.
        """
        return self.curvature / unit_of(spread) if self.piecewise_linear else self.curvature

    def response(
        self, y: np.ndarray, weight: np.ndarray | None, f: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return targets and weights of a problem of least squares that is like the risk near f.

        By default f is the best constant, and the targets of least squares are y.
        """
        return y, weight

    def typical_curvature(self, at_constant: np.ndarray) -> np.ndarray:
        """Return the curvature of each output by which to scale it, given that at a constant."""
        return at_constant

    def relative_curvature(
        self, f: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> np.ndarray | float:
        """Return the curvature of the risk near f, where that of the squared loss is 1.

        An alpha that was chosen for the squared loss is multiplied by it.
        """
        return min(self.curvature, 1.0)

    def smoothed(self, width: float) -> Loss:
        """Return the loss with its corners smoothed over a width."""
        return self

    def units(self, y: np.ndarray, weight: np.ndarray | None, n_constants: int) -> LossUnits:
        """Return the units in which a risk with 0 or 1 intercepts is minimised."""
        return LossUnits()

    def automatic(self, alpha: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Return alpha, given in units in which alpha |f|² has the unit of the loss."""
        return alpha / unit_of(spread) if self.piecewise_linear else alpha

    def corner(self, f: np.ndarray, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return how far a loss that this one smooths is above its tangents of slopes: (n_rows,).

        It proves the error from smoothing, and is 0 for a loss that smooths none.
        """
        return np.zeros(len(f))


class DualLoss(Loss):
    """A loss with a known convex conjugate, as dual coordinate ascent needs it.

    Each row has a dual variable a for each output, and −a is a slope of the loss.
    """

    @abstractmethod
    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Conjugate l*(−a), elementwise, where it is finite."""

    @abstractmethod
    def best_dual(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        """Best dual variables of one row, with the other rows fixed: shape (n_outputs,).

        ``a`` are the row's dual variables so far, and f the decision values with them. f grows by q
        if a dual variable grows by 1. Returns the b that maximises −l*(−b) − f (b − a) −
        (q/2) (b − a)².
        """


class Squared(DualLoss):
    """½ (f − y)²; its minimiser at ±1 targets is 2p − 1."""

    bounded_slope = False
    for_numbers = True

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 0.5 * ((f - y) ** 2).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return f - y

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        return y - f, np.ones_like(f)

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return a * a / 2 - a * y

    def best_dual(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return (y - f + q * a) / (1 + q)


class EpsilonInsensitive(DualLoss):
    """max(0, |f − y| − ε), the loss of support vector regression."""

    piecewise_linear = True
    smooth = False
    for_numbers = True

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(np.abs(f - y) - self.epsilon, 0).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.sign(f - y) * (np.abs(f - y) > self.epsilon)

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        off, near = np.abs(f - y), NEAR * unit
        below, above = (np.maximum(np.abs(off + e), near) for e in (self.epsilon, -self.epsilon))
        return -self.derivative(f, y), 0.5 / below + 0.5 / above

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.epsilon * np.abs(a) - a * y

    def best_dual(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        free = y - f + q * a
        return np.sign(free) * np.clip((np.abs(free) - self.epsilon) / q, 0, 1)


class Huber(DualLoss):
    """½ (f − y)² up to |f − y| = ε, and linear beyond: little moved by outliers."""

    for_numbers = True

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = epsilon

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return huber(self.epsilon, f - y).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.clip(f - y, -self.epsilon, self.epsilon)

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        short = y - f
        beyond = np.maximum(np.abs(short), self.epsilon)
        return np.clip(short, -self.epsilon, self.epsilon), self.epsilon / beyond

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return a * a / 2 - a * y

    def best_dual(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return np.clip((y - f + q * a) / (1 + q), -self.epsilon, self.epsilon)


class Hinge(DualLoss):
    """max(0, 1 − y f), the loss of support vector machines."""

    smooth = False

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(1 - y * f, 0).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * (y * f < 1)

    def distance(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.abs(1 - y * f)

    def smoothed(self, width: float) -> Loss:
        return SmoothHinge(width)

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        short = 1 - y * f
        return y * (short > 0), 0.5 / np.maximum(np.abs(short), NEAR * unit)

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -a * y

    def best_dual(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return y * np.clip((1 - y * f + q * y * a) / q, 0, 1)


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

    def typical_curvature(self, at_constant: np.ndarray) -> np.ndarray:
        return np.ones_like(at_constant)  # over distances of 1, whatever the width is

    def corner(self, f: np.ndarray, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        # By Fenchel's inequality, with the conjugate y · slope of the hinge.
        return (np.maximum(1 - y * f, 0) + slope * (y - f)).sum(axis=1)


class SquaredHinge(DualLoss):
    """max(0, 1 − y f)²; its minimiser is 2p − 1."""

    curvature = 2.0
    bounded_slope = False

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (np.maximum(1 - y * f, 0) ** 2).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -2 * y * np.maximum(1 - y * f, 0)

    def distance(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.abs(1 - y * f)

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        short = np.maximum(1 - y * f, 0)
        return 2 * y * short, 2.0 * (short > 0)

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return a * a / 4 - a * y

    def best_dual(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return y * np.maximum((1 - y * f + q * y * a) / (0.5 + q), 0)


class Logistic(DualLoss):
    """log(1 + exp(−y f)); its minimiser is log(p / (1 − p))."""

    curvature = 0.25
    has_link = True
    bending = 1.0

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, -y * f).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * expit(-y * f)

    def bend(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        p = expit(-y * f)
        return p**3 * (1 - p), p**2

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        p = expit(-y * f)
        return y * p, p * (1 - p)

    def _positive(self, f: np.ndarray) -> np.ndarray:
        return expit(f)

    def start(self, shares: np.ndarray) -> np.ndarray:
        return logit(shares)

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -entr(a * y) - entr(1 - a * y)

    def best_dual(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        pairs = zip((y * a).tolist(), (y * f).tolist(), strict=True)
        return y * np.array([logistic_dual(share, margin, q) for share, margin in pairs])


def logistic_dual(share: float, margin: float, q: float) -> float:
    """Root s in (0, 1) of logit(s) + margin + q (s − share) = 0.

    It is found by Newton's method for z = logit(s). If a step would leave the interval that has the
    root, or is more than half of the step before, the interval is halved instead.
    """
    low, high = -margin - q * (1 - share), -margin + q * share
    z, before = (low + high) / 2, high - low
    for _ in range(_NEWTON):
        s = _sigmoid(z)
        value = z + margin + q * (s - share)
        if abs(value) <= _ACCURACY * (1 + q):
            break
        low, high = (low, z) if value > 0 else (z, high)
        step = value / (1 + q * s * (1 - s))
        if not low < z - step < high or abs(step) > before / 2:
            step = z - (low + high) / 2
        z, before = z - step, abs(step)
    return s


def _sigmoid(z: float) -> float:
    small = exp(-abs(z))
    return 1 / (1 + small) if z > 0 else small / (1 + small)


#: Margins beyond which the exponential loss is straight. No minimiser has a row that wrong.
_STRAIGHT = 30.0


class Exponential(Loss):
    """exp(−y f), the loss of AdaBoost; its minimiser is half of log(p / (1 − p)).

    Its curvature has no bound. It is 1 at f = 0. Where −y f is above 30, the loss continues as a
    straight line, so a step that is too long has a finite loss, from which a shorter step is found.
    """

    has_link = True
    bending = 1.0

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        wrong = -y * f
        bent = np.minimum(wrong, _STRAIGHT)
        return (np.exp(bent) * (1 + wrong - bent)).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * np.exp(np.minimum(-y * f, _STRAIGHT))

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        slope = np.exp(np.minimum(-y * f, _STRAIGHT))
        return y * slope, slope

    def _positive(self, f: np.ndarray) -> np.ndarray:
        return expit(2 * f)


class Softmax(Loss):
    """−log softmax(f) at the one class whose target is +1."""

    curvature = 0.5
    has_link = True
    coupled = True
    bending = 1.0

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -(log_softmax(f, axis=1) * (y > 0)).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return softmax(f, axis=1) - (y > 0)

    def bend(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        p = softmax(f, axis=1)
        square = (p - (y > 0)) ** 2
        return p * (1 - p) * square, square

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        # The diagonal of the curvature, times k / (k - 1), as the outputs have one sum too many.
        by_output = np.ascontiguousarray(f.T)  # few outputs are best summed side by side
        share = np.exp(by_output - by_output.max(axis=0))
        share /= share.sum(axis=0)
        p, k = share.T, f.shape[1]
        return (y > 0) - p, p * (1 - p) * (k / (k - 1))

    def probability(self, f: np.ndarray) -> np.ndarray:
        return softmax(f, axis=1)

    def start(self, shares: np.ndarray) -> np.ndarray:
        return np.log(shares) - np.log(shares).mean()
