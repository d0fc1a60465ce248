"""Slopes and curvatures of losses at rows, compiled: what ``Loss.newton`` returns, in one pass.

Arrays are (n_outputs, n_rows), so that the rows of an output lie side by side.
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np

from trickless._solvers.boosting.compiled import compiled
from trickless._solvers.class_losses import Logistic, Softmax
from trickless._solvers.log_link import STRAIGHT, LogLink
from trickless._solvers.losses import NEAR, Loss, unit_of
from trickless._solvers.number_losses import Huber, Squared
from trickless._solvers.pinball import Pinball

#: The losses that compiled loops know.
_SQUARED, _LOGISTIC, _SOFTMAX, _PINBALL, _HUBER, _LOG_LINK = range(6)


class CompiledLoss(NamedTuple):
    """A loss as compiled loops take it.

    ``numbers`` has three parameters for each output, ``bending`` bounds the third derivative in
    units of the second, and ``coupled`` says that outputs share a unit.
    """

    kind: int
    numbers: np.ndarray
    bending: float
    coupled: bool

    @classmethod
    def of(cls, loss: Loss, spread: np.ndarray) -> CompiledLoss:
        """Return a loss for targets of this spread."""
        numbers = np.zeros((3, len(spread)))
        match loss:
            case Squared():
                kind = _SQUARED
            case Logistic():
                kind = _LOGISTIC
            case Softmax():
                kind = _SOFTMAX
            case Pinball():
                kind, numbers[0], numbers[1] = _PINBALL, loss.above, loss.below
                numbers[2] = NEAR * unit_of(spread)
            case Huber():
                kind, numbers[0] = _HUBER, loss.epsilon
            case LogLink():
                kind, numbers[0] = _LOG_LINK, loss.power
            case _:
                raise ValueError(f"{type(loss).__name__} is not compiled")
        return cls(kind, numbers, float(loss.bending), loss.coupled)


#: Powers of two by their exponent plus 1,100; the logarithm of two in two parts; and 1 / n!.
_POWERS = np.ldexp(1.0, np.arange(-1100, 1024))
_LN2, _HIGH, _LOW = 1 / np.log(2), 6.93147180369123816490e-01, 1.90821492927058770002e-10
_FACTORS = tuple(1 / float(factorial(n)) for n in range(13, -1, -1))


@compiled
def exp(x):  # type: ignore[no-untyped-def]
    """Exponential function, alike on all machines, for numbers that are limited to ±700.

    With x = k log 2 + r, it is 2^k times Taylor's polynomial of degree 13 at r, to 2e-16.
    """
    x = min(max(x, -700.0), 700.0)
    k = np.floor(x * _LN2 + 0.5)
    r = x - k * _HIGH - k * _LOW
    y = _FACTORS[0]
    for factor in _FACTORS[1:]:
        y = y * r + factor
    return y * _POWERS[np.intp(k) + 1100]


@compiled
def fill_slopes(kind, numbers, f, y, weight, g, h):  # type: ignore[no-untyped-def]
    """Fill slopes −l′ and curvatures, times the weights of rows."""
    n_outputs, n_rows = y.shape
    if kind == _SOFTMAX:
        spread = n_outputs / (n_outputs - 1)  # outputs have one sum too many
        for i in range(n_rows):
            largest, total = -np.inf, 0.0
            for k in range(n_outputs):
                largest = max(largest, f[k, i])
            for k in range(n_outputs):
                h[k, i] = exp(f[k, i] - largest)
                total += h[k, i]
            for k in range(n_outputs):
                p = h[k, i] / total
                g[k, i] = weight[i] * ((y[k, i] > 0) - p)
                h[k, i] = weight[i] * (p * (1 - p) * spread)
        return
    for k in range(n_outputs):
        first, second, third = numbers[0, k], numbers[1, k], numbers[2, k]
        for i in range(n_rows):
            w, short = weight[i], y[k, i] - f[k, i]
            if kind == _SQUARED:
                g[k, i], h[k, i] = w * short, w
            elif kind == _LOGISTIC:
                p = 1 / (1 + exp(y[k, i] * f[k, i]))
                g[k, i], h[k, i] = w * y[k, i] * p, w * p * (1 - p)
            elif kind == _PINBALL:
                slope = first if short > 0 else -second if short < 0 else 0.0
                g[k, i] = w * slope
                # Hunter and Lange 2000, Equation 3.2, with ε + |r| replaced by max(ε, |r|)
                h[k, i] = w * (first + second) / (2 * max(abs(short), third))
            elif kind == _HUBER:
                g[k, i] = w * min(max(short, -first), first)
                h[k, i] = w * first / max(abs(short), first)
            else:
                up = exp(min((2 - first) * f[k, i], STRAIGHT))
                down = y[k, i] * exp(min((1 - first) * f[k, i], STRAIGHT))
                g[k, i] = w * (down - up)
                h[k, i] = w * ((2 - first) * up + (first - 1) * down)
