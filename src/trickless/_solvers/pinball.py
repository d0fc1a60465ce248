r"""The pinball loss of quantile regression.

With r = y − f, the pinball loss is q r for r > 0 and (q − 1) r for r < 0 [1]_. Where it is least on
average, a share q of the targets lies below f. The absolute error is twice the loss of q = ½.

Newton steps need a curvature, which this loss does not have. They take that of the parabola that
touches the loss at f and lies above it [2]_. Its slope is the slope of the loss, so that steps end
where the share of the rows of a leaf below f is q. Its curvature is 1 / (2 |r|), or that at a tenth
of the typical distance where |r| is smaller, and so it has the unit of 1 / y.

References
----------
.. [1] R. Koenker and G. Bassett, "Regression quantiles", Econometrica 46(1), 1978.
.. [2] D. R. Hunter and K. Lange, "Quantile regression via an MM algorithm", Journal of
   Computational and Graphical Statistics 9(1), 2000.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickless._arrays.weighted import quantile
from trickless._solvers.losses import NEAR, Loss

#: A quantile, or several in increasing order.
Quantile = float | Sequence[float] | np.ndarray

#: Steps on blocks look at the curvature this much nearer to the targets, as a share of ``NEAR``:
#: where the noise is unequal, most rows are much nearer to f than a typical row.
_NEARER = 0.25


class Pinball(Loss):
    """The loss of slopes −``above`` where y is above f, and ``below`` where it is below.

    Both are numbers, or arrays with one for each output.
    """

    piecewise_linear = True
    smooth = False
    for_numbers = True
    levels = True  # so that a share q of the rows is below f

    def __init__(self, above: np.ndarray | float, below: np.ndarray | float) -> None:
        self.above, self.below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)

    @classmethod
    def of(cls, quantile: Quantile) -> Pinball:
        """Return the loss of one quantile, or of one for each output."""
        q = np.asarray(quantile, dtype=float)
        return cls(q, 1 - q)

    @property
    def quantiles(self) -> np.ndarray:
        """The share of the targets below the minimiser: a number, or one for each output."""
        return self.above / (self.above + self.below)

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        r = y - f
        return np.maximum(self.above * r, -self.below * r).sum(axis=1)

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(f > y, self.below, 0.0) - np.where(f < y, self.above, 0.0)

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        distance = np.maximum(np.abs(y - f), NEAR * unit)
        # Hunter and Lange 2000, Equation 3.2, with ε + |r| replaced by max(ε, |r|)
        return -self.derivative(f, y), (self.above + self.below) / (2 * distance)

    def bend(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        slope, curvature = self.newton(f, y, _NEARER * unit)
        square = slope**2
        return curvature * square, square

    def constant(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the quantiles of the outputs, the least of all minimisers: (n_outputs,)."""
        shares = np.broadcast_to(self.quantiles, y.shape[1])
        return np.array([quantile(each, q, weight) for each, q in zip(y.T, shares, strict=True)])
