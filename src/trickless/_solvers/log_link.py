r"""Losses of counts and positive targets, whose mean is the exponential of the function.

They are half of the unit deviances of Tweedie's family [1]_, which has variance
:math:`\propto \mu^p` at mean :math:`\mu = e^f`: Poisson's for p = 1, the compound of Poisson and
gamma for 1 < p < 2, and the gamma distribution's for p = 2.

References
----------
.. [1] B. Jørgensen, "Exponential dispersion models", Journal of the Royal Statistical Society B
   49(2), 1987.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from trickless._errors import InvalidValueError
from trickless._solvers.losses import Loss

#: Exponents beyond which the loss is straight. No mean that double precision resolves is so large.
STRAIGHT = 300.0
#: How many times the mean curvature at the start the curvature may become in plain steps.
_STEEPER = 4.0


class LogLink(Loss):
    r"""Half of the unit deviance with variance :math:`\mu^p`, at mean :math:`\mu = e^f`.

    Its slope is :math:`\mu^{2-p} - y \mu^{1-p}` and its curvature
    :math:`(2 - p) \mu^{2-p} + (p - 1) y \mu^{1-p}`, which has no bound. The third derivative is at
    most max(p − 1, 2 − p) times the curvature, so Newton steps that are shortened accordingly
    descend. For Poisson's loss and one constant, the shortened step upwards is the exact minimiser,
    log(Σy / Σμ).
    """

    for_numbers = True
    bounded_slope = False
    bounded_curvature = False
    levels = True

    def __init__(self, power: float) -> None:
        self.power = power
        self.bending = max(power - 1, 2 - power)

    def constant(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the logarithm of the mean."""
        mean = np.average(y, axis=0, weights=weight)
        if (mean == 0).any():
            raise InvalidValueError(
                "y is 0 in every row, so the logarithm of its mean, with which a loss with a log "
                "link begins, is not finite",
                "rows with a positive target, in the first batch",
            )
        return np.log(mean)

    def value(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        p = self.power
        if p == 1:
            each = xlogy(y, y) - y - y * f + _exp(f)
        elif p == 2:
            each = y * _exp(-f) + f - np.log(y) - 1
        else:
            least = y ** (2 - p) / ((1 - p) * (2 - p))
            each = least - y * _exp((1 - p) * f) / (1 - p) + _exp((2 - p) * f) / (2 - p)
        return np.maximum(each, 0).sum(axis=1)  # it is 0 at f = log y, up to rounding

    def derivative(self, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        up, down = self._terms(f, y)
        return up - down

    def newton(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        up, down = self._terms(f, y)
        return down - up, (2 - self.power) * up + (self.power - 1) * down

    def scoring(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes −l′(f), and the curvatures of parabolas: both of the shape of f.

        The curvature is the larger of the expected one and that of the parabola that touches the
        loss at f and has its lowest point at the minimiser. A row whose mean is far too small has
        little curvature at f, and its parabola would end far beyond the target.
        """
        up, down = self._terms(f, y)
        with np.errstate(divide="ignore"):
            distance = np.abs(f - np.log(y))  # from the minimiser
        touching = np.divide(np.abs(down - up), distance, out=np.zeros_like(f), where=distance > 0)
        return down - up, np.maximum(up, touching)

    def bend(
        self, f: np.ndarray, y: np.ndarray, unit: np.ndarray | float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        slope, curvature = self.scoring(f, y)
        return slope**2 * np.maximum(curvature, self.newton(f, y)[1]), slope**2

    def spread(self, start: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the mean curvature at the start, the unit of the loss of each output."""
        curvature = self.newton(np.broadcast_to(start, y.shape), y)[1]
        return np.average(curvature, axis=0, weights=weight)

    def automatic(self, alpha: np.ndarray, spread: np.ndarray) -> np.ndarray:
        return alpha * spread

    def steepest(self, spread: np.ndarray) -> Any:
        """Return four times the mean curvature at the start: there is no bound."""
        return _STEEPER * spread

    def _terms(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """μ^(2 − p) and y μ^(1 − p), both limited."""
        p = self.power
        up = _exp(f) if p == 1 else np.ones_like(f) if p == 2 else _exp((2 - p) * f)
        return up, y if p == 1 else y * _exp((1 - p) * f)


def _exp(x: np.ndarray) -> np.ndarray:
    """Exponential function, which does not overflow."""
    return np.exp(np.minimum(x, STRAIGHT))
