r"""Convex functions on a box: coefficients of which none exceeds a bound.

For a convex function F with gradient g at β, no point of the box is lower than F(β) by more than

.. math:: \max_{|\gamma_j| \le B} \langle g, \beta - \gamma \rangle =
    \sum_j \big(B\, |g_j| + g_j \beta_j\big),

which is 0 exactly where the conditions of Karush, Kuhn and Tucker hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize

#: Pairs of steps and gradients that L-BFGS-B remembers. With 30, smooth risks take about half of
#: the passes that they take with the usual 10.
_MEMORY = 30
#: The most starts of L-BFGS-B, since a line search may fail by rounding.
_BEGINNINGS = 5
#: Iterations of L-BFGS-B and then of Newton's method for a quadratic function.
_FIRST, _NEWTON = 500, 100
#: Newton's method stops where no entry of the gradient that matters is larger than this, relative
#: to the linear term.
_SOLVED = 1e-13
#: Smallest ridge of a Newton step, relative to the mean diagonal; smallest step along the path.
_DAMPING, _SHORTEST = 1e-14, 1e-9
#: The largest bound whose square is far from the largest number.
_LARGEST = 1e100


class Reached(NamedTuple):
    """A point, the number of iterations, and whether it is where the caller wanted to stop."""

    point: np.ndarray
    n_iter: int
    is_done: bool
    is_exhausted: bool


def excess_within(gradient: np.ndarray, coef: np.ndarray, bound: np.ndarray | float) -> float:
    """Return how far a convex function may be above its minimum on the box; never below 0."""
    return max(0.0, float((bound * np.abs(gradient) + gradient * coef).sum()))


def descend_within(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    bounds: np.ndarray,
    max_iter: int,
    is_done: Callable[[np.ndarray], bool],
) -> Reached:
    """Minimise a smooth convex function with |x_j| <= bounds_j by L-BFGS-B.

    ``function`` gives value and gradient. After each iteration ``is_done`` is asked about the point
    at which ``function`` was last called. If need be, ``function`` is called there once more.
    """
    last = np.full_like(start, np.nan)

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        last[:] = x
        return function(x)

    def is_there(x: np.ndarray) -> bool:
        if not np.array_equal(last, x):
            evaluate(x)
        return is_done(x)

    def stop(x: np.ndarray) -> None:
        if is_there(x):
            raise StopIteration

    point, n_iter = start, 0
    for _ in range(_BEGINNINGS):
        result = optimize.minimize(
            evaluate,
            point,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([-bounds, bounds]),
            callback=stop,
            options={
                "maxiter": max_iter - n_iter,
                "maxfun": 2 * max_iter,
                "maxcor": _MEMORY,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        point, n_iter = result.x, n_iter + int(result.nit)
        is_over = is_there(point)
        if is_over or n_iter >= max_iter or not result.nit:
            break  # else a line search failed: begin again without the memory
    return Reached(point, n_iter, is_over, result.status == 1)


def quadratic_within(
    matrix: np.ndarray, wanted: np.ndarray, start: np.ndarray, bound: float
) -> np.ndarray:
    """Minimise ½ ⟨x, A x⟩ − ⟨c, x⟩ with |x_j| <= bound, for a positive semidefinite matrix A.

    L-BFGS-B finds nearly all coordinates that are at the bound. Projected Newton steps [1]_ solve
    for the others, so the conditions of Karush, Kuhn and Tucker hold to rounding.

    References
    ----------
    .. [1] D. P. Bertsekas, "Projected Newton methods for optimization problems with simple
       constraints", SIAM Journal on Control and Optimization 20, 1982.
    """
    bound = min(bound, _LARGEST)
    small = _SOLVED * np.abs(wanted).max()

    def scaled(u: np.ndarray) -> tuple[float, np.ndarray]:
        product = matrix @ u * bound
        return bound * float(u @ (product / 2 - wanted)), bound * (product - wanted)

    def is_solved(u: np.ndarray) -> bool:
        return _violation(matrix @ u * bound - wanted, u, 1.0) <= small

    begin = np.clip(start / bound, -1, 1)
    x = bound * descend_within(scaled, begin, np.ones_like(begin), _FIRST, is_solved).point
    diagonal = matrix.diagonal()
    diagonal = np.maximum(diagonal, _DAMPING * diagonal.max() or 1.0)
    for _ in range(_NEWTON):
        gradient = matrix @ x - wanted
        if _violation(gradient, x, bound) <= small:
            break
        move = _along_path(
            matrix, gradient, x, bound, _newton(matrix, gradient, x, bound, diagonal)
        )
        if move is None:
            break
        x = np.clip(x + move, -bound, bound)
    return x


def _violation(gradient: np.ndarray, x: np.ndarray, bound: float) -> float:
    """Return the largest entry of the gradient along which a coordinate may move downwards."""
    free = ~((x <= -bound) & (gradient > 0) | (x >= bound) & (gradient < 0))
    return float(np.abs(gradient[free]).max(initial=0.0))


def _newton(
    matrix: np.ndarray, gradient: np.ndarray, x: np.ndarray, bound: float, diagonal: np.ndarray
) -> np.ndarray:
    """Return a Newton step for all coordinates except those that go to, or stay at, the bound."""
    step = -gradient / diagonal
    near = np.minimum(1e-3 * bound, np.abs(x - np.clip(x + step, -bound, bound)))
    stays = (x <= near - bound) & (gradient > 0) | (x >= bound - near) & (gradient < 0)
    free = np.flatnonzero(~stays)
    inner = matrix[np.ix_(free, free)]
    ridge = _DAMPING * diagonal.mean()
    while free.size:
        damped = inner.copy()
        damped.flat[:: len(free) + 1] += ridge
        try:
            factor = linalg.cho_factor(damped, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            ridge *= 10
            continue
        step[free] = -linalg.cho_solve(factor, gradient[free], check_finite=False)
        break
    return step


def _along_path(
    matrix: np.ndarray, gradient: np.ndarray, x: np.ndarray, bound: float, step: np.ndarray
) -> np.ndarray | None:
    """Return the longest part of a step on the box that lowers the function; None if none."""
    length = 1.0
    while length > _SHORTEST:
        move = np.clip(x + length * step, -bound, bound) - x
        slope = float(gradient @ move)
        if slope < 0 and slope + 0.5 * float(move @ (matrix @ move)) <= 1e-4 * slope:
            return move
        length /= 2
    return None
