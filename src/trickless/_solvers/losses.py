"""Losses: value, derivative and link.

Decision values f and targets y have shape (n_rows, n_outputs). Targets of a classifier are ±1: one
column for two classes, one column a class otherwise. The names are scikit-learn's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from trickless._arrays.places import namespace

#: The least unit of targets; its inverse is finite.
LEAST_UNIT = 1e-300
#: Distance from the minimiser, in units, within which a parabola that touches a loss is no steeper.
NEAR = 0.1

#: Units of the outputs, (n_outputs,) or one for all; two arrays of the shape of decision values.
Unit = np.ndarray | float
Pair = tuple[np.ndarray, np.ndarray]


def unit_of(spread: np.ndarray) -> np.ndarray:
    """Return units of the outputs, for losses whose slope is ±1 in any unit; 1 if spread is 0."""
    return np.where(spread > 0, np.maximum(spread, LEAST_UNIT), 1.0)


class Loss(ABC):
    """A convex loss.

    ``curvature`` is an upper bound of the second derivative. It is 1 for piecewise linear losses,
    whose derivative is 0 or ±1 at all scales of the targets. Steps up to 1 / curvature are stable
    for neurons bounded by 1. A link turns decision values into probabilities. It is the logistic
    function of f, or the softmax function if the loss is ``coupled``, which
    says that the slope of one output depends on the others. ``bounded_slope`` says that the
    derivative is bounded, and ``smooth`` that it is Lipschitz continuous. ``bending`` bounds the
    third derivative, in units of the second. Targets are ±1, unless the loss is ``for_numbers``.
    ``bounded_curvature`` says that ``curvature`` is a bound. ``on_devices`` says that ``value``,
    ``derivative``, ``bend`` and ``newton`` also work on arrays of a device. ``settled`` is
    about the mean curvature at a solution, as a share of that along the slopes before.
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
    on_devices: bool = False
    settled: float = 1.0

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

    def bend(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        """Two arrays whose sums over rows have the curvature along the slopes as their ratio.

        ``unit`` is the scale of each output.

        Both have the shape of f. By default they belong to the parabola that touches the loss at f
        and has its lowest point at the nearest minimiser. They are |l'(f)| and the distance from f
        to that minimiser, each times |l'(f)|.
        """
        slope = namespace(f).abs(self.derivative(f, y))
        return slope**2, slope * self.distance(f, y)

    def newton(self, f: np.ndarray, y: np.ndarray, unit: Unit = 1.0) -> Pair:
        """Slopes −l′(f) and curvatures for Newton steps, both of the shape of f.

        By default the curvature belongs to the parabola that touches the loss at f and has its
        lowest point at the minimiser. It is at most 10 / ``unit`` times the slope, where ``unit``
        is the scale of each output.
        """
        xp, slope = namespace(f), -self.derivative(f, y)
        return slope, xp.abs(slope) / xp.maximum(self.distance(f, y), NEAR * unit)

    def distance(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Distance from f to the target, where the loss has a slope: the shape of f."""
        return namespace(f).abs(f - y)

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

    def typical_curvature(self, at_constant: np.ndarray) -> np.ndarray:
        """Return the curvature of each output by which to scale it, given that at a constant."""
        return at_constant

    def smoothed(self, width: float) -> Loss:
        """Return the loss with its corners smoothed over a width."""
        return self

    def automatic(self, alpha: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Return alpha, given in units in which alpha |f|² has the unit of the loss."""
        return alpha / unit_of(spread) if self.piecewise_linear else alpha

    def corner(self, f: np.ndarray, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return how far a loss that this one smooths is above its tangents of slopes: (n_rows,).

        It proves the error from smoothing, and is 0 for a loss that smooths none.
        """
        return np.zeros(len(f))
