"""Probabilities from decision values by a temperature (Guo et al., ICML 2017).

They are softmax(f / T), or 1 / (1 + exp(−f / T)) for two classes with one decision value. The
temperature T does not change which class is the most probable.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from trickless.arrays.growing import Growing
from trickless.arrays.stated import check_array, check_is

#: The range of log(1 / T).
_RANGE = -7.0, 7.0
#: The most rows on which an online learner is calibrated: the last rows, from the later half.
_RECENT = 1024


def probabilities(f: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities of the classes, shape (n_rows, n_classes), from decision values."""
    return softmax(_by_class(f) / temperature, axis=1)


def find_temperature(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """The temperature with the least log loss on rows from which the function was not learned.

    One row of no known class is added. Without it, rows that are all classified correctly would
    lead to probabilities of exactly 0.

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


def note_rows(recent: Growing, f: np.ndarray, y: np.ndarray) -> None:
    """Keep decision values of rows before they were learned, and targets; old rows are dropped."""
    recent.append(np.hstack([f, y])[-_RECENT:])
    if len(recent) > 2 * _RECENT:
        recent.keep(np.arange(len(recent) - _RECENT, len(recent)))


def check_noted(name: str, noted: Growing | None, n_columns: int) -> None:
    """Check that rows that a solver has noted, if any, have so many columns."""
    check_is(name, noted, Growing | None)
    if noted is not None and len(noted):
        check_array(name, noted.rows, "f4 f8", (None, n_columns))


def recent_temperature(recent: Growing, n_rounds: int) -> float:
    """The temperature for the last of ``n_rounds`` rows, before they were learned."""
    n = min(_RECENT, -(-n_rounds // 2))
    f, y = np.split(recent.rows[-n:], 2, axis=1)
    return find_temperature(f, y, np.ones(len(f)))


def _by_class(f: np.ndarray) -> np.ndarray:
    """A decision value for each class."""
    return np.hstack([np.zeros_like(f), f]) if f.shape[1] == 1 else f
