"""Ridge regression from the moments of the activations, at a given ridge or at the best one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trickless._arrays.places import HOST, to_host
from trickless._rules import warn
from trickless._solvers.least_squares.box import quadratic_within
from trickless._solvers.least_squares.gram import FLOOR
from trickless._solvers.least_squares.paths import (
    CANCELLATION,
    GRID_PER_DECADE,
    LOWEST,
    Left,
    Losses,
    Path,
    Solution,
    WithoutRow,
    with_intercept,
)
from trickless._solvers.least_squares.statistics import Moments

#: Scores that fall by this factor in the last decade of ridges, to a value between these shares of
#: the variance, ask for smaller ridges.
_FALLS, _ACCURATE, _PROMISING = 0.8, 1e-6, 1e-2


def solve(moments: Moments, ridge: float, n_jobs: int | None = 1) -> Solution:
    """Minimise mean (y − b − ⟨z, β⟩)² + ridge · |β|² at a given ridge.

    The covariance is overwritten. If rows are few, ``n_jobs`` threads compute their products.

    Raises
    ------
    scipy.linalg.LinAlgError
        If the covariance plus the ridge is not positive definite to working precision.
    """
    if moments.rows is None or ridge == 0:
        place = moments.place
        matrix = place.plus_ridge(moments.covariance, ridge, in_place=True)
        coef = to_host(place.cho_solve(place.cholesky(matrix), moments.cross))
    else:  # see Path
        Z, Y = moments.rows.Z, moments.rows.Y
        matrix = HOST.plus_ridge(moments.products(n_jobs)[0], ridge)
        coef = Z.T @ HOST.cho_solve(HOST.cholesky(matrix), Y)
    return with_intercept(moments, coef, np.full(coef.shape[1], ridge))


def solve_within(moments: Moments, solution: Solution, bound: float) -> Solution:
    """Minimise at the ridges of a solution, with every coefficient in [−bound, bound]."""
    coef = solution.coef.copy()
    begin = np.where(np.isfinite(coef), coef, 0.0)
    covariance = to_host(moments.covariance)
    for output in np.flatnonzero(np.abs(coef).max(axis=0) > bound):
        matrix = HOST.plus_ridge(covariance, solution.ridge[output])
        coef[:, output] = quadratic_within(
            matrix, moments.cross[:, output], begin[:, output], bound
        )
    return with_intercept(moments, coef, solution.ridge)._replace(
        grid=solution.grid, scores=solution.scores
    )


def at_rounding_of_single(moments: Moments) -> Moments:
    """Return the moments, whose grid of ridges now begins at the rounding of single precision."""
    moments.least_ridge = FLOOR * (moments.mean_square or 1.0)
    return moments


def solve_by_left_out(
    moments: Moments,
    rows: Iterable[Left],
    n_jobs: int | None = 1,
    shared: bool = False,
    folds: list[np.ndarray] | None = None,
) -> Solution:
    r"""Minimise at the ridge with the least squared error at rows that are left out one by one.

    .. math:: LOO(ρ) = \frac{\sum_i w_i (y_i - f_{-i}(x_i))^2}{\sum_i w_i}

    ``rows`` are a sample of the rows, or all of them, some at a time; see :meth:`Path.left_out`.
    The solutions without the row are of *all* other rows, so a sample is enough to tell ridges
    apart: its mean error is an unbiased estimate of that of all rows. Each output gets its own
    ridge, unless it is ``shared``. Then all get the ridge with the least sum of errors. With
    ``folds``, rows are left out together with all rows of their fold.

    Generalised cross-validation [1]_ replaces each leverage by the mean leverage, and would need no
    rows. Where the noise is larger at rows of large leverage, its least score is at solutions that
    follow the noise.

    The grid of ridges begins at the rounding errors of the covariance: 1.4e-14 times the mean
    square of a row, or 1.2e-7 times if products were in single precision. It ends well above the
    largest eigenvalue, where the solution for pure noise is nearly constant.

    References
    ----------
    .. [1] G. H. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for
       choosing a good ridge parameter", Technometrics 21, 1979.
    """
    path = Path(moments, n_jobs)
    apart = path.left_out(rows) if folds is None else path.left_out_groups(rows, folds)
    return path.best(*squared_errors(path, apart, shared))


def squared_errors(
    path: Path, rows: Iterable[WithoutRow], shared: bool = False
) -> tuple[np.ndarray, Losses]:
    """Return mean squared errors at rows left out, of each output at each ridge, and losses."""
    variance = path.moments.y_variance
    unit = np.where(variance > 0, variance, 1.0)
    unit = np.full_like(unit, unit.mean()) if shared else unit
    losses, scores = Losses(shared), np.zeros((len(variance), len(path.grid)))
    total = 0.0
    for y, f, weight in rows:
        squares = np.maximum((y[:, :, None] - f) ** 2, CANCELLATION * variance[:, None])
        scores += np.einsum("r,rog->og", weight, squares)
        total += weight.sum()
        losses.add(weight, squares / unit[:, None])
    return scores / total, losses


def wants_less(solution: Solution, moments: Moments) -> np.ndarray:
    """Return whether ridges below rounding errors would predict each output better.

    That may be so for targets with little noise. The least score must be in the last decade, since
    rounding may lift those after it, and lower by a fifth than a decade before. Its root must be
    above a thousandth of the standard deviation, and below a tenth.
    """
    grid, scores, variance = solution.grid, solution.scores, moments.y_variance
    assert grid is not None and scores is not None
    lowest = max(LOWEST * moments.mean_square, moments.least_ridge)
    if len(grid) <= GRID_PER_DECADE or grid[0] > 2 * lowest:
        return np.zeros(len(scores), dtype=bool)
    best, outputs = scores.argmin(axis=1), np.arange(len(scores))
    before = np.minimum(best + GRID_PER_DECADE, len(grid) - 1)
    falls = scores[outputs, best] < _FALLS * scores[outputs, before]
    score = scores[outputs, best]
    little = (_ACCURATE * variance < score) & (score < _PROMISING * variance)
    return (best < GRID_PER_DECADE) & falls & little


def warn_of_end(owner: str, what: str, remedy: str) -> None:
    """Warn that the ridge which suits the targets best is below the grid."""
    warn(
        f"{owner}: the targets have little noise, and the best alpha is below the least value that "
        f"{what} allows, so predictions are less accurate than they could be. Remedy: {remedy}."
    )
