"""Probabilities from decision values by a temperature (Guo et al., ICML 2017).

They are softmax(f / T), or 1 / (1 + exp(−f / T)) for two classes with one decision value. The
temperature T does not change which class is the most probable.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

#: The range of log(1 / T).
_RANGE = -7.0, 7.0


def probabilities(f: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities of the classes, shape (n_rows, n_classes), from decision values."""
    return softmax(_by_class(f) / temperature, axis=1)


def find_temperature(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """The temperature of the least log loss on rows that the decision values do not know.

    One row of no known class is added. Without it, rows that are all decided rightly would have
    probabilities of exactly 0.

    Parameters
    ----------
    f, y : arrays of shape (n_rows, n_outputs)
        Decision values, and targets of ±1.
    weight : array of shape (n_rows,)
    """
    f, hit = _by_class(f), _by_class(y)
    hit = hit == hit.max(axis=1, keepdims=True)
    unknown = 1 / (1 + len(f))
    goal = weight[:, None] / weight.sum() * ((1 - unknown) * hit + unknown / f.shape[1])

    def log_loss(log_inverse: float) -> float:
        return -float((goal * log_softmax(np.exp(log_inverse) * f, axis=1)).sum())

    return float(np.exp(-minimize_scalar(log_loss, bounds=_RANGE, method="bounded").x))


def _by_class(f: np.ndarray) -> np.ndarray:
    """A decision value for each class."""
    return np.hstack([np.zeros_like(f), f]) if f.shape[1] == 1 else f
