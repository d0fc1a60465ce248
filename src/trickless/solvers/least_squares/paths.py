"""Solutions of ridge regression along a path of ridges, from one decomposition of the moments.

The centred Gram matrix is reduced once, to a tridiagonal matrix or to eigenvalues. That gives the
solution and its generalised cross-validation score at every ridge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from trickless.arrays.places import HOST, Place
from trickless.arrays.stated import check_array, check_count
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


def path_of(moments: Moments, n_jobs: int | None = 1) -> Path | Tridiagonal:
    """Return the solutions at all ridges. On the host, the covariance is overwritten."""
    if moments.rows is not None:
        return _OfRows(moments, n_jobs)
    return Tridiagonal(moments) if moments.place is HOST else Path(moments)


def path_scores(path: Path | Tridiagonal) -> np.ndarray:
    """Generalised cross-validation at each ridge of a path, shape (n_outputs, n_grid)."""
    variance = path.moments.y_variance[:, None]
    residual = np.maximum(path.residual(), CANCELLATION * variance)
    left = np.broadcast_to(path.freedom_left() / path.moments.n, residual.shape)
    return np.divide(residual, left**2, out=np.full_like(residual, np.inf), where=left > 0)


class Ridges(ABC):
    """Solutions at all ridges of a grid, from one decomposition of the moments.

    ``eigenvalues`` has the eigenvalues of the system that was decomposed.
    """

    moments: Moments
    eigenvalues: np.ndarray
    grid: np.ndarray

    @abstractmethod
    def at(self, ridge: np.ndarray) -> Solution:
        """Return the solution at a ridge of each output."""

    def best(self, scores: np.ndarray, shared: bool = False) -> Solution:
        """Return the solution at the least score of each output, or of all together."""
        grid, scores = self._worth_trying(scores)
        which = least(scores.sum(axis=0, keepdims=True) if shared else scores)
        ridge = np.broadcast_to(grid[which], len(scores)).copy()
        return self.at(ridge)._replace(grid=grid, scores=scores)

    def freedom_left(self) -> np.ndarray:
        """Rows minus degrees of freedom at each ridge, intercept included.

        It is a sum of positive terms if they are few.
        """
        kept = (self.grid / (self.eigenvalues[:, None] + self.grid)).sum(axis=0)
        return self.moments.n - self.moments.n_constants - len(self.eigenvalues) + kept

    def _coef(self, solved: np.ndarray) -> np.ndarray:
        """Coefficients, from the solutions of the system that was decomposed."""
        return solved

    def _worth_trying(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the grid and the scores, without small ridges if no output gains by them.

        Ridges below the rounding of single precision are for targets without noise. There they
        lower the score by orders of magnitude. With noise, a score that is a little lower is no
        reason to take them: solutions become large, and so do errors at rows unlike the others.
        """
        moments, grid = self.moments, self.grid
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


class _Eigenvectors(Ridges):
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

    def at(self, ridge: np.ndarray) -> Solution:
        along = self.rotated * (1 / (self.eigenvalues[:, None] + ridge))
        solved = self.place.times(along.T, self.vectors.T).T
        return with_intercept(self.moments, self._coef(solved), ridge)


class Path(_Eigenvectors):
    """Solutions at all ridges of a grid, from the eigenvectors of the covariance."""

    def __init__(self, moments: Moments) -> None:
        super().__init__(moments, moments.covariance, moments.cross, moments.place)

    def residual(self) -> np.ndarray:
        """Residual variance at each ridge, shape (n_outputs, n_grid)."""
        squares = 2 * self.shrunk - self.eigenvalues[:, None] * self.shrunk**2
        return self.moments.y_variance[:, None] - (self.rotated**2).T @ squares

    def energy(self, ridge: float) -> np.ndarray:
        """Residual variance plus ρ |β|² at a ridge, shape (n_outputs,)."""
        return self.moments.y_variance - (self.rotated**2).T @ (1 / (self.eigenvalues + ridge))


class Tridiagonal(Ridges):
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

    def at(self, ridge: np.ndarray) -> Solution:
        along = np.empty_like(self.rotated)
        for one in np.unique(ridge):
            along[:, ridge == one] = self._along(one)[:, ridge == one]
        return with_intercept(self.moments, self._coef(self._rotate(along, "N")), ridge)


class _OfRows(Tridiagonal):
    """Solutions at all ridges of a grid, from T = Qᵀ R Rᵀ Q, for A = Rᵀ R with few rows R.

    With the targets y of the rows, c = Rᵀ y and (A + ρ)⁻¹ c = Rᵀ (R Rᵀ + ρ)⁻¹ y.
    """

    def __init__(self, moments: Moments, n_jobs: int | None) -> None:
        assert moments.rows is not None
        self.moments, self._rows = moments, moments.rows.Z
        self._reduce(inner_products(self._rows, n_jobs), moments.rows.Y)

    def residual(self) -> np.ndarray:
        squares = [ridge**2 * (self._along(ridge) ** 2).sum(axis=0) for ridge in self.grid]
        return np.transpose(squares)

    def energy(self, ridge: float) -> np.ndarray:
        return ridge * (self._along(ridge) * self.rotated).sum(axis=0)

    def _coef(self, solved: np.ndarray) -> np.ndarray:
        return self._rows.T @ solved


class FewRows(_Eigenvectors):
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


def least(scores: np.ndarray) -> np.ndarray:
    """Index of each output's least score; of the largest ridge among equal scores."""
    return scores.shape[1] - 1 - np.argmin(scores[:, ::-1], axis=1)


def with_intercept(moments: Moments, coef: np.ndarray, ridge: np.ndarray) -> Solution:
    """Return the solution of coefficients, whose intercept follows from the means."""
    return Solution(coef, moments.y_mean - moments.z_mean @ coef, ridge)
