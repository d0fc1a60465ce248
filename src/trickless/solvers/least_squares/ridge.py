"""Ridge regression from the moments of the activations, at one ridge or along a path of ridges.

The centred Gram matrix is reduced once, to a tridiagonal matrix or to eigenvalues. That gives the
solution and its generalised cross-validation score at every ridge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from trickless.arrays.places import HOST, Place, to_host
from trickless.arrays.stated import check_array, check_count
from trickless.rules import warn
from trickless.solvers.least_squares.box import quadratic_within
from trickless.solvers.least_squares.gram import FLOOR, inner_products
from trickless.solvers.least_squares.statistics import Moments

GRID_PER_DECADE = 4

#: Ridges of at least this times the mean square of a row are above the rounding errors of products
#: in double precision, and of their decompositions. These are below half of it, whatever the
#: columns (``tests/solvers/least_squares/test_ridge.py``).
LOWEST = 64 * float(np.finfo(np.float64).eps)
#: A ridge below FLOOR must divide the least score of other ridges by this, and bring it below this
#: share of the variance of the targets.
_GAIN, _LITTLE_NOISE = 2.0, 1e-3
#: Scores that fall by this factor in the last decade of ridges, to a value between these shares of
#: the variance, ask for smaller ridges.
_FALLS, _ACCURATE, _PROMISING = 0.8, 1e-6, 1e-2
#: The grid of ridges ends at this times the largest eigenvalue.
_CEILING = 100.0

#: Rounding error of a residual variance, relative to the variance of the targets.
CANCELLATION = 1e-13


class Solution(NamedTuple):
    """Coefficients (n_columns, n_outputs), intercept (n_outputs,) and ridges (n_outputs,).

    If the ridge was chosen: the grid (n_grid,) and the scores (n_outputs, n_grid). ``n_iter`` is
    the number of iterations; 1 for a direct solver. An iterative solver may give the mean leverage
    of a row, for each output (n_outputs,).
    """

    coef: np.ndarray
    intercept: np.ndarray
    ridge: np.ndarray
    grid: np.ndarray | None = None
    scores: np.ndarray | None = None
    n_iter: int = 1
    leverage: np.ndarray | None = None

    def check(self, n_columns: int, n_outputs: int) -> None:
        """Raise a ValueError if this is not of so many columns and outputs."""
        check_array("coef", self.coef, "f4 f8", (n_columns, n_outputs))
        for name in ("intercept", "ridge"):
            check_array(name, getattr(self, name), "f8", (n_outputs,))
        if self.grid is not None:
            check_array("grid", self.grid, "f8", (None,))
            check_array("scores", self.scores, "f8", (n_outputs, len(self.grid)))
        check_count("n_iter", self.n_iter, 0)
        if self.leverage is not None:
            check_array("leverage", self.leverage, "f8", (n_outputs,))


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
        Z, Y = moments.rows
        matrix = HOST.plus_ridge(inner_products(Z, n_jobs), ridge, in_place=True)
        coef = Z.T @ HOST.cho_solve(HOST.cholesky(matrix), Y)
    return _with_intercept(moments, coef, np.full(coef.shape[1], ridge))


def solve_within(moments: Moments, solution: Solution, bound: float) -> Solution:
    """Minimise at the ridges of a solution, with every coefficient in [−bound, bound]."""
    coef = solution.coef.copy()
    begin = np.where(np.isfinite(coef), coef, 0.0)
    for output in np.flatnonzero(np.abs(coef).max(axis=0) > bound):
        matrix = HOST.plus_ridge(to_host(moments.covariance), solution.ridge[output])
        coef[:, output] = quadratic_within(
            matrix, moments.cross[:, output], begin[:, output], bound
        )
    return _with_intercept(moments, coef, solution.ridge)._replace(
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


def path_of(moments: Moments, n_jobs: int | None = 1) -> Path | Tridiagonal:
    """Return the solutions at all ridges. On the host, the covariance is overwritten."""
    if moments.rows is not None:
        return _OfRows(moments, n_jobs)
    return Tridiagonal(moments) if moments.place is HOST else Path(moments)


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


def path_scores(path: Path | Tridiagonal) -> np.ndarray:
    """Generalised cross-validation at each ridge of a path, shape (n_outputs, n_grid)."""
    variance = path.moments.y_variance[:, None]
    residual = np.maximum(path.residual(), CANCELLATION * variance)
    left = np.broadcast_to(path.freedom_left() / path.moments.n, residual.shape)
    return np.divide(residual, left**2, out=np.full_like(residual, np.inf), where=left > 0)


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
        few = _FewRows(moments, n_jobs)
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


class _Eigenvectors:
    """Solutions at all ridges of a grid, from one eigendecomposition."""

    def __init__(
        self, moments: Moments, matrix: Any, right: np.ndarray, place: Place = HOST
    ) -> None:
        self.moments, self.place = moments, place
        eigenvalues, self.vectors = place.eigh(matrix)
        self.eigenvalues = np.maximum(eigenvalues, 0)
        self.rotated = place.times(right.T, self.vectors).T
        self.grid = _grid(moments, eigenvalues)
        self.shrunk = 1 / (self.eigenvalues[:, None] + self.grid)

    def best(self, scores: np.ndarray, shared: bool = False) -> Solution:
        """Return the solution at the least score of each output, or of all together."""
        grid, scores = _worth_trying(self, scores)
        which = least(scores.sum(axis=0, keepdims=True) if shared else scores)
        ridge = np.broadcast_to(grid[which], len(scores)).copy()
        return self.at(ridge)._replace(grid=grid, scores=scores)

    def at(self, ridge: np.ndarray) -> Solution:
        """Return the solution at a ridge of each output."""
        along = self.rotated * (1 / (self.eigenvalues[:, None] + ridge))
        solved = self.place.times(along.T, self.vectors.T).T
        return _with_intercept(self.moments, self._coef(solved), ridge)

    def _coef(self, solved: np.ndarray) -> np.ndarray:
        """Coefficients, from the solutions of the system that was decomposed."""
        return solved


class Path(_Eigenvectors):
    """Solutions at all ridges of a grid, from the eigenvectors of the covariance."""

    def __init__(self, moments: Moments) -> None:
        super().__init__(moments, moments.covariance, moments.cross, moments.place)

    def freedom_left(self) -> np.ndarray:
        """Rows minus degrees of freedom at each ridge, intercept included."""
        return _freedom_left(self.moments, self.eigenvalues, self.grid)

    def residual(self) -> np.ndarray:
        """Residual variance at each ridge, shape (n_outputs, n_grid)."""
        squares = 2 * self.shrunk - self.eigenvalues[:, None] * self.shrunk**2
        return self.moments.y_variance[:, None] - (self.rotated**2).T @ squares

    def energy(self, ridge: float) -> np.ndarray:
        """Residual variance plus ρ |β|² at a ridge, shape (n_outputs,)."""
        return self.moments.y_variance - (self.rotated**2).T @ (1 / (self.eigenvalues + ridge))


class Tridiagonal:
    """Solutions at all ridges of a grid, from T = Qᵀ A Q, without eigenvectors.

    The covariance A is overwritten.
    """

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self._reduce(moments.covariance, moments.cross)

    def _reduce(self, matrix: np.ndarray, right: np.ndarray) -> None:
        # The transpose is the same matrix in LAPACK's order, so no copy is needed.
        self._reflectors, self.diagonal, self.off, self._scales, _ = lapack.dsytrd(
            matrix.T, lower=1, lwork=64 * len(matrix), overwrite_a=1
        )
        eigenvalues = linalg.eigvalsh_tridiagonal(self.diagonal, self.off)
        self.eigenvalues = np.maximum(eigenvalues, 0)
        self.grid = _grid(self.moments, eigenvalues)
        self.rotated = self._rotate(right, "T")

    def _rotate(self, columns: np.ndarray, transposed: str) -> np.ndarray:
        """Qᵀ ("T") or Q ("N") times some columns."""
        size = len(columns)
        if size == 1:
            return columns
        # Reflector i begins below the diagonal, so from the second number on, the same memory has
        # the layout of a QR factor.
        shifted = self._reflectors.ravel(order="K")[1 : 1 + size * (size - 1)]
        shifted = shifted.reshape((size, size - 1), order="F")
        rest, _, _ = lapack.dormqr(
            "L", transposed, shifted, self._scales, columns[1:], 64 * columns.shape[1]
        )
        return np.concatenate([columns[:1], rest])

    def _along(self, ridge: float) -> np.ndarray:
        """(T + ρ)⁻¹ Qᵀ c for the right side c, the covariances with the targets."""
        if not len(self.off):
            return self.rotated / (self.diagonal + ridge)
        *_, found, failed = lapack.dptsv(self.diagonal + ridge, self.off, self.rotated)
        if failed:
            raise linalg.LinAlgError(
                f"the covariance of the activations plus {ridge:g} is not positive definite to "
                "working precision. Remedy: dtype='float64', or activations of moderate size."
            )
        return found

    def freedom_left(self) -> np.ndarray:
        """Rows minus degrees of freedom at each ridge, intercept included."""
        return _freedom_left(self.moments, self.eigenvalues, self.grid)

    def residual(self) -> np.ndarray:
        """Residual variance at each ridge, shape (n_outputs, n_grid)."""
        explained = []
        for ridge in self.grid:
            x = self._along(ridge)
            explained.append((x * self.rotated).sum(axis=0) + ridge * (x**2).sum(axis=0))
        return self.moments.y_variance[:, None] - np.transpose(explained)

    def energy(self, ridge: float) -> np.ndarray:
        """Residual variance plus ρ |β|² at a ridge, shape (n_outputs,)."""
        return self.moments.y_variance - (self._along(ridge) * self.rotated).sum(axis=0)

    def best(self, scores: np.ndarray) -> Solution:
        """Return the solution at the least score of each output."""
        grid, scores = _worth_trying(self, scores)
        return self.at(grid[least(scores)])._replace(grid=grid, scores=scores)

    def at(self, ridge: np.ndarray) -> Solution:
        """Return the solution at a ridge of each output."""
        along = np.empty_like(self.rotated)
        for one in np.unique(ridge):
            along[:, ridge == one] = self._along(one)[:, ridge == one]
        return _with_intercept(self.moments, self._coef(self._rotate(along, "N")), ridge)

    def _coef(self, solved: np.ndarray) -> np.ndarray:
        """Coefficients, from (A + ρ)⁻¹ c."""
        return solved


class _OfRows(Tridiagonal):
    """Solutions at all ridges of a grid, from T = Qᵀ R Rᵀ Q, for A = Rᵀ R with few rows R.

    With the targets y of the rows, c = Rᵀ y and (A + ρ)⁻¹ c = Rᵀ (R Rᵀ + ρ)⁻¹ y.
    """

    def __init__(self, moments: Moments, n_jobs: int | None) -> None:
        assert moments.rows is not None
        self.moments, self._rows = moments, moments.rows.Z
        self._reduce(inner_products(self._rows, n_jobs), moments.rows.Y)

    def residual(self) -> np.ndarray:
        """Residual variance at each ridge, shape (n_outputs, n_grid)."""
        squares = [ridge**2 * (self._along(ridge) ** 2).sum(axis=0) for ridge in self.grid]
        return np.transpose(squares)

    def energy(self, ridge: float) -> np.ndarray:
        """Residual variance plus ρ |β|² at a ridge, shape (n_outputs,)."""
        return ridge * (self._along(ridge) * self.rotated).sum(axis=0)

    def _coef(self, solved: np.ndarray) -> np.ndarray:
        return self._rows.T @ solved


class _FewRows(_Eigenvectors):
    """Solutions at all ridges of a grid, from the eigenvectors of R Rᵀ, for few rows R.

    Let G = (R Rᵀ + ρ)⁻¹, and Y the targets times the roots of shares. The residuals are ρ G Y. With
    the leverages h, 1 − h = ρ diag G, without the part of the constant.
    """

    def __init__(self, moments: Moments, n_jobs: int | None) -> None:
        assert moments.rows is not None
        self._rows = moments.rows.Z
        products, self._constant = products_of_rows(moments, n_jobs)
        super().__init__(moments, products, moments.rows.Y)

    def left_out(self) -> np.ndarray:
        """Mean square leave-one-out errors, shape (n_outputs, n_grid)."""
        moments, kept = self.moments, self.grid * self.shrunk
        assert moments.share is not None
        of_constant = self.grid / (self._constant + self.grid)
        left = self.vectors**2 @ kept - np.outer(moments.share, of_constant)
        scores = np.empty((self.rotated.shape[1], len(self.grid)))
        for output, rotated in enumerate(self.rotated.T):
            residual = self.vectors @ (rotated[:, None] * kept)
            error = np.divide(residual, left, out=np.full_like(left, np.inf), where=left > 0)
            scores[output] = (error**2).sum(axis=0)
        return scores

    def _coef(self, solved: np.ndarray) -> np.ndarray:
        return self._rows.T @ solved


def products_of_rows(moments: Moments, n_jobs: int | None) -> tuple[np.ndarray, float]:
    """R Rᵀ of few rows R, and the eigenvalue along the roots √s of their shares.

    Centred rows have the eigenvalue 0 there. Differences of leverages would lose digits with that,
    so it becomes the mean of the eigenvalues. The targets, which are centred, have no part there.
    Without an intercept it is infinite, as nothing is subtracted.
    """
    assert moments.rows is not None and moments.share is not None
    products = inner_products(moments.rows.Z, n_jobs)
    if not moments.n_constants:
        return products, np.inf
    root, constant = np.sqrt(moments.share), float(np.trace(products)) / len(products) or 1.0
    return products + constant * np.outer(root, root), constant


def _freedom_left(moments: Moments, eigenvalues: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return the n − df(ρ) rows left at each ridge, a sum of positive terms if they are few."""
    kept = (grid / (eigenvalues[:, None] + grid)).sum(axis=0)
    return moments.n - moments.n_constants - len(eigenvalues) + kept


def _grid(moments: Moments, eigenvalues: np.ndarray) -> np.ndarray:
    """Ridges to choose from, for eigenvalues in ascending order.

    Eigenvalues below 0 are rounding errors, and ridges are well above them. All grids have the
    ridges above FLOOR times the mean square in common.
    """
    mean_square = moments.mean_square or 1.0
    lowest = max(LOWEST * mean_square, moments.least_ridge, -4 * eigenvalues[0])
    common = FLOOR * mean_square
    below = max(np.floor(GRID_PER_DECADE * np.log10(common / lowest)), 0)
    decades = np.log10(max(_CEILING * eigenvalues[-1] / common, 1))
    steps = np.arange(-below, 1 + np.ceil(GRID_PER_DECADE * decades))
    return common * 10 ** (steps / GRID_PER_DECADE)


def _worth_trying(
    path: _Eigenvectors | Tridiagonal, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the grid and the scores, without small ridges if no output gains by them.

    Ridges below the rounding of single precision are for targets without noise. There they lower
    the score by orders of magnitude. With noise, a score that is a little lower is no reason to
    take them: solutions become large, and so do errors at rows unlike the others.
    """
    moments, grid = path.moments, path.grid
    n_below = int(np.searchsorted(grid, FLOOR * (moments.mean_square or 1.0) * (1 - 1e-6)))
    if not n_below:
        return grid, scores
    below, above = scores[:, :n_below].min(axis=1), scores[:, n_below:].min(axis=1)
    gains = below < np.minimum(above / _GAIN, _LITTLE_NOISE * moments.y_variance)
    if not gains.any():
        return grid[n_below:], scores[:, n_below:]
    scores = scores.copy()
    scores[~gains, :n_below] = np.inf
    return grid, scores


def least(scores: np.ndarray) -> np.ndarray:
    """Index of each output's least score; of the largest ridge among equal scores."""
    return scores.shape[1] - 1 - np.argmin(scores[:, ::-1], axis=1)


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


def _with_intercept(moments: Moments, coef: np.ndarray, ridge: np.ndarray) -> Solution:
    return Solution(coef, moments.y_mean - moments.z_mean @ coef, ridge)
