"""Ridge regression from the moments of the activations, at a given ridge or at the best one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.places import HOST, to_host
from trickless.rules import warn
from trickless.solvers.least_squares.box import quadratic_within
from trickless.solvers.least_squares.gram import FLOOR, inner_products
from trickless.solvers.least_squares.paths import (
    CANCELLATION,
    GRID_PER_DECADE,
    LOWEST,
    FewRows,
    Path,
    Solution,
    path_of,
    path_scores,
    with_intercept,
)
from trickless.solvers.least_squares.statistics import Moments

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
    else:  # see _OfRows
        Z, Y = moments.rows.Z, moments.rows.Y
        matrix = HOST.plus_ridge(inner_products(Z, n_jobs), ridge, in_place=True)
        coef = Z.T @ HOST.cho_solve(HOST.cholesky(matrix), Y)
    return with_intercept(moments, coef, np.full(coef.shape[1], ridge))


def solve_within(moments: Moments, solution: Solution, bound: float) -> Solution:
    """Minimise at the ridges of a solution, with every coefficient in [−bound, bound]."""
    coef = solution.coef.copy()
    begin = np.where(np.isfinite(coef), coef, 0.0)
    for output in np.flatnonzero(np.abs(coef).max(axis=0) > bound):
        matrix = HOST.plus_ridge(to_host(moments.covariance), solution.ridge[output])
        coef[:, output] = quadratic_within(
            matrix, moments.cross[:, output], begin[:, output], bound
        )
    return with_intercept(moments, coef, solution.ridge)._replace(
        grid=solution.grid, scores=solution.scores
    )


def solve_by_gcv(moments: Moments, n_jobs: int | None = 1) -> Solution:
    r"""Minimise at the ridge with the least generalised cross-validation score.

    On the host, the covariance is overwritten. If rows are few, ``n_jobs`` threads compute their
    products.

    .. math:: GCV(ρ) = \frac{RSS(ρ) / n}{(1 - df(ρ) / n)^2}, \qquad
        df(ρ) = 1 + \sum_j λ_j / (λ_j + ρ)

    Each output gets its own ridge. All solutions come from one tridiagonal matrix [2]_, whose size
    is the number of activations or of rows, whichever is smaller. On a device they come from one
    eigendecomposition.

    Notes
    -----
    The grid of ridges begins at the rounding errors of the covariance: 1.4e-14 times the mean
    square of a row, or 1.2e-7 times if products were in single precision. Activations in single
    precision set no limit. Their rounding errors are part of the rows that the score is computed
    from, so the score rises where they would decide the solution. The grid ends well above the
    largest eigenvalue, where the solution for pure noise is nearly constant.

    References
    ----------
    .. [1] G. H. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for
       choosing a good ridge parameter", Technometrics 21, 1979.
    .. [2] L. Eldén, "A note on the computation of the generalized cross-validation function for
       ill-conditioned least squares problems", BIT 24, 1984. There rows are reduced, here their
       covariance.
    """
    path = path_of(moments, n_jobs)
    return path.best(path_scores(path))


def solve_by_cross_validation(moments: Moments, n_jobs: int | None = 1) -> Solution:
    """Minimise at the ridge that cross-validation chooses, from the moments alone.

    While the moments have the rows, there are at most as many rows as columns, and solutions may
    interpolate them. Then some rows have far larger leverages than others. The generalised score
    uses their mean, and may be least where new rows are predicted worst, so the rows are left out
    one by one, exactly. With more rows than columns, the generalised score is used.
    """
    if moments.rows is not None:
        return solve_by_loo(moments, (), n_jobs)
    return solve_by_gcv(moments, n_jobs)


def at_rounding_of_single(moments: Moments) -> Moments:
    """Return the moments, whose grid of ridges now begins at the rounding of single precision."""
    moments.least_ridge = FLOOR * (moments.mean_square or 1.0)
    return moments


class Left(NamedTuple):
    """Rows to leave out one by one: activations, targets, copies, and shares of weights.

    ``share`` is the weight of one copy over the sum of all weights.
    """

    Z: Any
    y: np.ndarray
    copies: np.ndarray
    share: np.ndarray


def solve_by_loo(
    moments: Moments, rows: Iterable[Left], n_jobs: int | None = 1, shared: bool = False
) -> Solution:
    r"""Minimise at the ridge with the least leave-one-out error.

    .. math:: LOO(ρ) = \sum_i s_i \Big(\frac{y_i - f_ρ(x_i)}{1 - h_i(ρ)}\Big)^2, \qquad
        h_i(ρ) = s_i \Big(1 + \sum_j \frac{u_{ij}^2}{λ_j + ρ}\Big)

    where u_i are the centred activations of row i along the eigenvectors. s_i is its weight divided
    by the sum of all weights. ``rows`` are all rows or a sample, some at a time. They are not
    needed if the moments have the rows.

    Each output gets its own ridge, unless it is ``shared``. Then all get the ridge with the least
    sum of errors.
    """
    if moments.rows is not None:
        few = FewRows(moments, n_jobs)
        return few.best(few.left_out(), shared)
    path, place = Path(moments), moments.place
    n_grid, n_outputs = len(path.grid), len(moments.y_mean)
    effects = (path.rotated[:, :, None] * path.shrunk[:, None]).reshape(len(path.rotated), -1)
    scores, total = np.zeros((n_outputs, n_grid)), 0.0
    variance = moments.y_variance[:, None]
    for Z, y, copies, share in rows:
        along = (place.put(Z) - place.put(moments.z_mean)) @ path.vectors
        fitted = to_host(along @ place.put(effects)).reshape(len(y), n_outputs, n_grid)
        fitted = fitted + moments.y_mean[:, None]
        length = to_host(along**2 @ place.put(path.shrunk))
        leverage = share[:, None] * (moments.n_constants + length)
        left = np.maximum(1 - leverage, 0)[:, None]
        squares = np.maximum((y[:, :, None] - fitted) ** 2, CANCELLATION * variance)
        errors = np.divide(squares, left**2, out=np.full_like(fitted, np.inf), where=left > 0)
        scores += np.einsum("r,rog->og", copies * share, errors)
        total += copies @ share
    return path.best(scores / total, shared)


def wants_less(solution: Solution, moments: Moments) -> np.ndarray:
    """Return whether ridges below rounding errors would predict each output better.

    That may be so for targets with little noise. The score must still fall by a fifth in the last
    decade. Its root must be above a thousandth of the standard deviation, and below a tenth.
    """
    grid, scores, variance = solution.grid, solution.scores, moments.y_variance
    assert grid is not None and scores is not None
    lowest = max(LOWEST * moments.mean_square, moments.least_ridge)
    if len(grid) <= GRID_PER_DECADE or grid[0] > 2 * lowest:
        return np.zeros(len(scores), dtype=bool)
    falls = scores[:, 0] < _FALLS * scores[:, GRID_PER_DECADE]
    little = (_ACCURATE * variance < scores[:, 0]) & (scores[:, 0] < _PROMISING * variance)
    return (solution.ridge == grid[0]) & falls & little


def warn_of_end(owner: str, what: str, remedy: str) -> None:
    """Warn that the ridge which suits the targets best is below the grid."""
    warn(
        f"{owner}: the targets have little noise, and the best alpha is below the least value that "
        f"{what} allows, so predictions are less accurate than they could be. Remedy: {remedy}."
    )
