"""Regret of an online learner against the best function in a ball of its kernel's space."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import brentq

from trickless._errors import InvalidValueError
from trickless._solvers.rounds.coefficients import SHRINK_BY
from trickless._solvers.rounds.rounds import Kernel, Rounds
from trickless._solvers.rounds.schedules import Schedule
from trickless.theory import shrinking_gradient_regret

#: The most rows for which regret is computed.
_MOST_ROWS = 10_000
#: Points of the curve, and rows of kernel values that are held at a time.
_POINTS, _ROWS = 13, 512


def smallest_loss(K: np.ndarray, Y: np.ndarray, norm_bound: Any) -> np.ndarray:
    r"""Loss of the best function of a bounded norm, for each output; each may have its own bound.

    .. math:: \min_{\|g\| \le B} \tfrac12 \sum_t (\langle g, \Phi(x_t) \rangle - y_t)^2

    The minimiser is :math:`g = \sum_t a_t \Phi(x_t)` with :math:`a = (K + \lambda I)^{-1} y`, where
    the multiplier is the root of :math:`a^\top K a = B^2`, or nearly 0 if that is inside the ball.
    """
    s, U = scipy.linalg.eigh(K, driver="evd")
    s = np.maximum(s, 0)
    squares = (U.T @ Y) ** 2
    least = len(s) * np.finfo(float).eps * s[-1]
    if least == 0:  # the only function is 0
        return 0.5 * squares.sum(axis=0)
    losses = []
    for c, bound in zip(squares.T, np.broadcast_to(norm_bound, Y.shape[1]), strict=True):

        def excess(log: float, c: np.ndarray = c, bound: float = bound) -> float:
            return float(np.linalg.norm(np.sqrt(s * c) / (s + np.exp(log)))) - bound

        low = np.log(least)
        high = max(low, 0.5 * np.log(s[-1] * c.sum() + 1e-300) - np.log(bound))
        multiplier = np.exp(brentq(excess, low, high) if excess(low) > 0 else low)
        losses.append(0.5 * float((c * (multiplier / (s + multiplier)) ** 2).sum()))
    return np.array(losses)


def played_losses(rounds: Rounds, kernel: Kernel) -> np.ndarray:
    """Loss ½ (⟨f_t, Φ(x_t)⟩ − y_t)² of each row with the exact kernel: (n_rows, n_outputs)."""
    assert rounds.played is not None
    return 0.5 * (played_values(rounds, kernel) - rounds.played.rows[:, 1:]) ** 2


def played_values(rounds: Rounds, kernel: Kernel) -> np.ndarray:
    """Values ⟨f_t, Φ(x_t)⟩ of each row with the exact kernel: (n_rows, n_outputs)."""
    c, played = rounds.coefficients, rounds.played
    assert played is not None
    alpha, epochs = c.appended(), c.epochs()
    start, Y = played.rows[:, 0].astype(int), played.rows[:, 1:]
    values = np.zeros(Y.shape)  # f_1 = 0
    if not start.any():
        return values
    X = rounds.rows
    for first in range(int(np.argmax(start > 0)), len(Y), _ROWS):
        rows = slice(first, min(first + _ROWS, len(Y)))
        K = kernel(X[rows], X[: start[rows][-1]])
        K = K * (np.arange(K.shape[1]) < start[rows, None])
        for output in range(Y.shape[1]):
            now = epochs[start[rows] - 1, output]
            since = np.minimum(epochs[None, : K.shape[1], output] - now[:, None], 0)
            f = (K * float(SHRINK_BY) ** since) @ alpha[: K.shape[1], output]
            values[rows, output] = f
    return values


def largest_variances(rounds: Rounds, kernel: Kernel) -> np.ndarray | None:
    """Upper bound of the variances of estimates up to each round: (n_rows,), over outputs.

    It is r²/m for draws that lie between −r and r, or ‖f_t‖²/m for full sums if that is less. It is
    None if the noise of the estimates is not known, or if rows were not learned one by one.
    """
    assert rounds.played is not None
    start = rounds.played.rows[:, 0]
    n = len(start)
    if rounds.drawn is None or (start != np.arange(n)).any():
        return None
    if not len(rounds.drawn):
        return np.zeros(n)
    _, m, half_range, full = rounds.drawn.rows.T
    variance = half_range**2 / m
    first = n - len(m)  # the first round has no draws
    if full.any():
        squares = _square_norms(rounds, kernel)[first:].max(axis=1)
        variance = np.where(full > 0, np.minimum(variance, squares / m), variance)
    return np.maximum.accumulate(np.concatenate([np.zeros(first), variance]))


def _square_norms(rounds: Rounds, kernel: Kernel) -> np.ndarray:
    """‖f_t‖² before each round of one row: (n_rows, n_outputs)."""
    c = rounds.coefficients
    alpha, epochs = c.appended(), c.epochs()
    values, diagonal = played_values(rounds, kernel), _diagonal(rounds, kernel)
    shrunk = np.diff(epochs, axis=0, prepend=0)
    scale = float(SHRINK_BY) ** -shrunk
    added = 2 * scale * alpha * values + alpha**2 * diagonal[:, None]
    squares = np.zeros((len(alpha) + 1, alpha.shape[1]))
    for t in range(len(alpha)):  # f_{t+1} is scale · f_t + α_t Φ(x_t)
        squares[t + 1] = scale[t] ** 2 * squares[t] + added[t]
    return np.maximum(squares[:-1], 0)


def regret_bound(rounds: Rounds, kernel: Kernel | None, schedule: Schedule) -> np.ndarray | None:
    """Compute the bound on the expected regret at the rounds of ``regret_curve``, over all outputs.

    It is None if there is no theory for this run. Examples are steps that decay or are too long,
    several rows in a round, and estimates of unknown noise. Other examples are shrinks without the
    draws of the theorem, and the draws of "theorem-fixed" for a small ``norm_bound``.
    """
    until = _until(rounds, kernel, schedule.owner)
    assert kernel is not None
    assert rounds.played is not None
    shrinks = rounds.coefficients.epochs().any()
    if not (schedule.is_theorem or (schedule.name == "constant" and not shrinks)):
        return None
    B, eta = schedule.norm_bound, schedule.step(1, np.inf)
    square_bound = max(1.0, float(_diagonal(rounds, kernel).max()))
    variance = largest_variances(rounds, kernel)
    if variance is None or eta * square_bound >= 1:
        return None
    # The printed number of draws bounds the chance of a wrong shrink only from B = 1/8 on.
    if schedule.name == "theorem-fixed" and B < 1 / 8 and variance.any():
        return None
    wrong = 0.0
    if schedule.is_theorem:  # what shrinks that were wrong may add in all rounds
        T = schedule.horizon
        assert T is not None
        wrong = schedule.constants.regret - shrinking_gradient_regret(T, B, eta, 1.0)
    bounds = [
        shrinking_gradient_regret(t, B, eta, float(variance[t - 1]), square_bound) + wrong
        for t in until.tolist()
    ]
    n_outputs = rounds.played.rows.shape[1] - 1
    return np.array(bounds) * n_outputs


def regret_curve(
    rounds: Rounds, kernel: Kernel | None, norm_bound: float, owner: str
) -> np.ndarray:
    """Rounds and regret up to them, shape (n, 2), summed over outputs, with a ball for each.

    ``kernel`` is None if there is no closed form. It may also raise a NotImplementedError.
    """
    until = _until(rounds, kernel, owner)
    assert kernel is not None
    assert rounds.played is not None
    K = np.asarray(kernel(rounds.rows, rounds.rows), dtype=np.float64)
    losses = np.cumsum(played_losses(rounds, kernel).sum(axis=1))
    Y = rounds.played.rows[:, 1:]
    best = [smallest_loss(K[:t, :t], Y[:t], norm_bound).sum() for t in until]
    return np.column_stack([until, losses[until - 1] - best])


def _until(rounds: Rounds, kernel: Kernel | None, owner: str) -> np.ndarray:
    """Return the rounds at which regret is shown, if it can be computed."""
    n_rows = len(rounds.coefficients)
    if rounds.played is None:
        name = "max_support" if rounds.coefficients.n_counted == rounds.n_rounds else "half_life"
        raise InvalidValueError(
            f"{owner}: regret_ needs every row, but {name} has replaced some of them or faded them",
            f"{name}=None",
        )
    if n_rows > _MOST_ROWS:
        raise InvalidValueError(
            f"{owner}: regret_ of {n_rows:,} rows would need the eigenvalues of a kernel matrix of "
            f"that size, and it is computed for at most {_MOST_ROWS:,}",
            "a shorter stream; or online_error_, which has the error of any stream",
        )
    if not _is_known(kernel, rounds.rows[:1]):
        raise InvalidValueError(
            f"{owner}: regret_ compares with the best function of a kernel, but this kernel has no "
            "closed form",
            "online_error_, which has the error of the predictions",
        )
    n = len(rounds.played)
    return np.unique(np.geomspace(min(10, n), n, _POINTS).round().astype(int))


def _is_known(kernel: Kernel | None, row: Any) -> bool:
    """Return whether a kernel has a closed form."""
    with suppress(NotImplementedError):
        if kernel is not None:
            kernel(row, row)
            return True
    return False


def _diagonal(rounds: Rounds, kernel: Kernel) -> np.ndarray:
    """Return the values k(x, x) of all rows."""
    X = rounds.rows
    blocks = (X[first : first + _ROWS] for first in range(0, X.shape[0], _ROWS))
    return np.concatenate([np.asarray(kernel(rows, rows)).diagonal() for rows in blocks])
