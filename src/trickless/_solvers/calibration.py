"""Probabilities from decision values by temperatures (Guo et al., ICML 2017).

They are softmax(f / T). For two classes with one decision value they are 1 / (1 + exp(−f / T)),
with a temperature for f < 0 and another for f > 0. With one for both, the probabilities of a rare
class would not average to its rate. Temperatures do not change which class is the most probable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_expit, log_softmax

from trickless._arrays.functions import expit, softmax
from trickless._arrays.growing import Growing
from trickless._arrays.stated import Within, check_array
from trickless.conformal.unseen import Unseen

#: The range of log(1 / T).
_RANGE = -7.0, 7.0
#: The most rows on which an online learner is calibrated: the last rows, from the later half.
_RECENT = 4096
#: The temperatures of decision values below 0 and above; for several classes, the same twice.
Temperatures = tuple[Annotated[float, Within(1e-6)], Annotated[float, Within(1e-6)]]


def tempered(f: np.ndarray, temperatures: Temperatures) -> np.ndarray:
    """Decision values divided by their temperatures."""
    return f / np.where(f < 0, *temperatures)


def probabilities(f: np.ndarray, temperatures: Temperatures) -> np.ndarray:
    """Probabilities of the classes, shape (n_rows, n_classes), from decision values."""
    f = tempered(f, temperatures)
    return softmax(np.hstack([np.zeros_like(f), f]) if f.shape[1] == 1 else f)


def each_apart(f: np.ndarray, temperatures: Temperatures) -> np.ndarray:
    """Probabilities of labels that are independent, from decision values of each."""
    return expit(tempered(f, temperatures))


def certain(f: np.ndarray) -> np.ndarray:
    """Probabilities of a single class."""
    return np.ones_like(f[:, :1])


def find_temperatures(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Temperatures:
    """Return temperatures with the least log loss on rows from which the function was not learned.

    One row of no known class is added. Without it, rows that are all classified correctly would
    lead to probabilities of exactly 0. For one decision value, the temperatures are those at which
    the probabilities average to the rate of the class. A difference of their logarithms counts as
    if it were normal, of variance 1, which decides where only few rows are on a side.

    Parameters
    ----------
    f, y : arrays of shape (n_rows, n_outputs)
        Decision values, and targets of ±1.
    weight : array of shape (n_rows,)
    """
    unknown, weight = 1 / (1 + len(f)), weight / weight.sum()
    hit = y > 0 if f.shape[1] == 1 else y == y.max(axis=1, keepdims=True)
    goal = (1 - unknown) * hit + unknown / max(f.shape[1], 2)
    if f.shape[1] == 1:
        return _two_temperatures(f[:, 0], goal[:, 0], weight)

    def log_loss(log_inverse: float) -> float:
        return -float(weight @ (goal * log_softmax(np.exp(log_inverse) * f, axis=1)).sum(axis=1))

    temperature = float(np.exp(-_least(log_loss)))
    return temperature, temperature


def _two_temperatures(f: np.ndarray, goal: np.ndarray, weight: np.ndarray) -> Temperatures:
    """Return temperatures with the least log loss for which probabilities average to the goal."""
    many = (f > 0) == (weight @ (f > 0) > weight @ (f < 0))
    few, rate = ~many, float(weight @ goal)

    def mean(log_inverse: float, side: np.ndarray) -> float:
        return float(weight[side] @ expit(np.exp(log_inverse) * f[side]))

    def log_inverse_of_many(log_inverse: float) -> float:
        """For the side with more rows, from that for the other side."""
        wanted = rate - mean(log_inverse, few)
        ends = [mean(end, many) - wanted for end in _RANGE]
        if ends[0] * ends[1] >= 0:  # the nearest
            return _RANGE[int(abs(ends[1]) < abs(ends[0]))]
        return float(brentq(lambda each: mean(each, many) - wanted, *_RANGE, xtol=1e-6))

    def log_loss(log_inverse: float) -> float:
        other = log_inverse_of_many(log_inverse)
        g = f * np.exp(np.where(many, other, log_inverse))
        loss = weight @ (goal * log_expit(g) + (1 - goal) * log_expit(-g))
        return (log_inverse - other) ** 2 / (2 * len(f)) - float(loss)

    least = _least(log_loss)
    found = float(np.exp(-log_inverse_of_many(least))), float(np.exp(-least))
    return found if many[f < 0].any() else found[::-1]


def _least(function: Callable[[float], float]) -> float:
    return float(minimize_scalar(function, bounds=_RANGE, method="bounded").x)


def in_shares(weight: np.ndarray, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Weights with which the classes of a sample have their shares of all rows.

    Parameters
    ----------
    weight : array of shape (n_rows,)
        Weights of the sample.
    y : array of shape (n_rows, n_outputs)
        Targets of ±1, of the sample.
    mean : array of shape (n_outputs,)
        The mean of the targets of all rows.
    """
    if y.shape[1] == 1:
        y, mean = np.hstack([-y, y]), np.append(-mean, mean)
    hit = y > 0
    share = weight @ hit / weight.sum()
    return weight * (hit @ np.divide(1 + mean, 2 * share, out=np.ones_like(share), where=share > 0))


def note_rows(recent: Growing, f: np.ndarray, y: np.ndarray) -> None:
    """Keep decision values of rows before they were learned, and targets; old rows are dropped."""
    recent.append(np.hstack([f, y])[-_RECENT:])
    if len(recent) > 2 * _RECENT:
        recent.keep(np.arange(len(recent) - _RECENT, len(recent)))


def check_noted(name: str, noted: Growing | None, n_columns: int) -> None:
    """Check that rows that a solver has noted, if any, have so many columns."""
    if noted is not None and len(noted):
        check_array(name, noted.rows, "f4 f8", (None, n_columns))


def recent_rows(
    recent: Growing | None, n_rounds: int, shown: Callable[[np.ndarray], np.ndarray]
) -> Unseen | None:
    """Return the last of ``n_rounds`` rows, before they were learned, if a solver has noted them.

    Outputs that are not shown are left out.
    """
    if recent is None:
        return None
    n = min(_RECENT, -(-n_rounds // 2))
    f, y = np.split(recent.rows[-n:], 2, axis=1)
    rows = Unseen.of(f, y, None)
    return rows._replace(decisions=shown(rows.decisions), targets=shown(rows.targets))
