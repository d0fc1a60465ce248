"""Constants: those that learning starts from, and Newton steps that are sure to descend."""

from __future__ import annotations

import numpy as np

from trickless._arrays.weighted import effective_rows
from trickless._solvers.losses import Loss

#: The most Newton steps for a constant, and their accuracy.
_ITERATIONS, _ACCURACY = 100, 1e-6


def starting(
    loss: Loss, targets: np.ndarray, weight: np.ndarray | None, numeric: bool
) -> np.ndarray:
    """Return the constant that learning starts from, (n_outputs,).

    It is the mean of numbers or the like, or the log-odds of classes. Losses without probabilities
    start from 0.
    """
    if loss.for_numbers and numeric:
        return loss.constant(targets, weight)
    if not loss.has_link:
        return np.zeros(targets.shape[1])
    # A class without rows has its share of one row of no known class, and no class has all rows.
    n_rows, apart = effective_rows(len(targets), weight), targets.shape[1] if loss.coupled else 2
    least = 1 / (apart * (n_rows + 1))
    shares = np.average(targets > 0, axis=0, weights=weight)
    return loss.start(np.clip(shares, least, 1 - least))


def damped(step: np.ndarray, loss: Loss) -> np.ndarray:
    r"""Return a Newton step of a constant, if need be shortened so that it is sure to descend.

    If the curvature changes along f by no more than M times itself, a move by
    :math:`\log(1 + M |c|) / M` descends, with c the whole Newton step [1]_.

    References
    ----------
    .. [1] T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions: a recipe for Newton-type
       methods", Mathematical Programming 178, 2019.
    """
    if not loss.bending:
        return step
    return np.sign(step) * np.log1p(loss.bending * np.abs(step)) / loss.bending


def constant_of(
    loss: Loss, f: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, prior: float = 0.0
) -> np.ndarray:
    """Return what to add to f for the least loss, (n_outputs,), of inverse variance ``prior``."""
    added, n = np.zeros(f.shape[1]), effective_rows(len(f), weight)
    share = np.full(len(f), n / len(f)) if weight is None else weight * (n / weight.sum())
    for _ in range(_ITERATIONS):
        g, h = (share @ values for values in loss.newton(f + added, targets))
        step = damped((g - prior * added) / (h + prior), loss)
        added = added + step
        if np.abs(step).max() < _ACCURACY:
            break
    return added
