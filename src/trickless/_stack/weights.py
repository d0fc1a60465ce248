r"""Weights of the parts of a stack, from predictions of rows that the parts had not learned.

The weights v are at least 0 and sum to 1. They minimise the mean loss of :math:`\sum_m v_m f_m`
over rows that no :math:`f_m` has learned from [1]_ [2]_ [3]_.

References
----------
.. [1] D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992.
.. [2] L. Breiman, "Stacked regressions", Machine Learning 24, 1996: weights of at least 0.
.. [3] M. J. van der Laan, E. C. Polley and A. E. Hubbard, "Super learner", Statistical Applications
   in Genetics and Molecular Biology 6(1), 2007: weights that sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

#: By how many standard errors several parts together must lose less than the best one, and by which
#: share of its loss at least, since rounding is no gain.
_GAIN, _ROUNDING = 0.5, 1e-9
#: Weights below this are 0; the least probability, and the least loss of a part.
_LEAST_WEIGHT, _LEAST, _TINY = 0.02, 1e-15, 1e-300


def _squared(values: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return ((values - goals) ** 2).mean(axis=1), 2 * (values - goals) / goals.shape[1]


def _absolute(values: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.abs(values - goals).mean(axis=1), np.sign(values - goals) / goals.shape[1]


def _log(values: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    true = np.maximum((values * goals).sum(axis=1), _LEAST)
    return -np.log(true), -goals / true[:, None]


#: Losses of numbers and of probabilities: they return the losses of rows, and their derivatives,
#: from values and goals (n_rows, n_outputs).
Form = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
OF_NUMBERS: dict[str, Form] = {"squared_error": _squared, "absolute_error": _absolute}
OF_CLASSES: dict[str, Form] = {"log_loss": _log, "squared_error": _squared}


class Loss:
    """A loss of some rows, whose shares in it sum to 1.

    Numbers are divided by the standard deviations of their outputs. Goals of classes are 1 for the
    true class, and 0 for others.
    """

    def __init__(self, form: Form, goals: np.ndarray, share: np.ndarray, scaled: bool) -> None:
        self.form, self.share, self.scale = form, share / share.sum(), np.ones(goals.shape[1])
        if scaled:
            spread = np.sqrt(self.share @ (goals - self.share @ goals) ** 2)
            self.scale[spread > 0] = spread[spread > 0]
        self.goals = goals / self.scale

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.form(values / self.scale, self.goals)[0]

    def mean(self, values: np.ndarray) -> float:
        """Return the mean loss."""
        return float(self.share @ self.of(values))

    def slope(self, values: np.ndarray) -> np.ndarray:
        """Return the derivatives of the mean loss by all values."""
        return self.share[:, None] * self.form(values / self.scale, self.goals)[1] / self.scale

    def of_constant(self) -> float:
        """Return the mean loss of the mean goal."""
        mean = self.share @ self.goals * self.scale
        return self.mean(np.broadcast_to(mean, self.goals.shape))


def weights_of(values: np.ndarray, loss: Loss) -> np.ndarray:
    """Return the weights of parts with values (n_parts, n_rows, n_outputs) at rows not learned.

    The best part alone has the weight 1, unless all together lose less by more than noise. At these
    rows, the stack therefore never loses more than its best part.
    """
    share, alone = loss.share, np.stack([loss.of(each) for each in values])
    best = int((alone @ share).argmin())
    unit = max(float(alone[best] @ share), _TINY)

    def objective(free: np.ndarray) -> tuple[float, np.ndarray]:
        weights = softmax(free)
        mixed = np.tensordot(weights, values, 1)
        slope = np.tensordot(values, loss.slope(mixed), 2)
        return loss.mean(mixed) / unit, weights * (slope - weights @ slope) / unit

    weights = softmax(minimize(objective, np.zeros(len(values)), jac=True, method="L-BFGS-B").x)
    weights[weights < _LEAST_WEIGHT] = 0
    weights /= weights.sum()
    gain = alone[best] - loss.of(np.tensordot(weights, values, 1))
    mean = share @ gain
    noise = np.sqrt(share @ (gain - mean) ** 2 * (share @ share))
    return weights if mean > _GAIN * noise + _ROUNDING * unit else np.eye(len(values))[best]
