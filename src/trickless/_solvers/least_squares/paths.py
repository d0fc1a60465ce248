"""Solutions of ridge regression along a path of ridges, from one decomposition of the moments.

The eigenvalues and eigenvectors of the centred Gram matrix give the solution at every ridge, and
what each of these solutions would be at a row that had been left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from trickless._arrays.places import to_host
from trickless._arrays.stated import Array, Count, stated
from trickless._arrays.threads import row_blocks
from trickless._solvers.least_squares.gram import FLOOR
from trickless._solvers.least_squares.groups import LEAST_LEFT, errors_without
from trickless._solvers.least_squares.statistics import Moments

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
#: Decision values that are held at a time.
_NUMBERS = 2**22
#: Standard errors by which the mean loss at a larger ridge may be above the least; the largest loss
#: whose square is summed.
SLACK, _MOST_LOSS = 0.5, 1e100

#: Rounding error of a residual variance, relative to the variance of the targets.
CANCELLATION = 1e-13


@stated
class Solution(NamedTuple):
    """Coefficients (n_columns, n_outputs), intercept (n_outputs,) and ridges (n_outputs,).

    If the ridge was chosen: the grid (n_grid,) and the scores (n_outputs, n_grid). ``n_iter`` is
    the number of iterations; 1 for a direct solver. An iterative solver may give the mean leverage
    of a row, for each output (n_outputs,).
    """

    coef: Annotated[np.ndarray, Array("f4 f8", "n_columns", "n_outputs")]
    intercept: Annotated[np.ndarray, Array("f8", "n_outputs")]
    ridge: Annotated[np.ndarray, Array("f8", "n_outputs")]
    grid: Annotated[np.ndarray, Array("f8", "n_grid")] | None = None
    scores: Annotated[np.ndarray, Array("f8", "n_outputs", "n_grid")] | None = None
    n_iter: Count = 1
    leverage: Annotated[np.ndarray, Array("f8", "n_outputs")] | None = None

    def explained(self, targets: np.ndarray, weight: np.ndarray | None) -> float | None:
        """Return the share of the variance that is explained at rows that are left out.

        The output that is explained best counts. The share is None if no rows were left out, and
        for targets that do not vary.
        """
        shares = self.shares_explained(targets, weight)
        return float(shares.max()) if shares.size else None

    def shares_explained(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return that share of each output that varies; of none if no rows were left out."""
        if self.scores is None or self.grid is None:
            return np.empty(0)
        mean = np.average(targets, axis=0, weights=weight)
        variance = np.average((targets - mean) ** 2, axis=0, weights=weight)
        which = np.abs(np.log(self.grid[:, None] / self.ridge)).argmin(axis=0)
        error = np.take_along_axis(self.scores, which[:, None], axis=1)[:, 0]
        varies = variance > 0
        return np.asarray(1 - error[varies] / variance[varies])


class Left(NamedTuple):
    """Rows to leave out one by one: activations, targets, copies, and shares of weights.

    ``share`` is the weight of one copy over the sum of all weights.
    """

    Z: Any
    y: np.ndarray
    copies: np.ndarray
    share: np.ndarray


class Path:
    """Solutions at all ridges of a grid, from one eigendecomposition.

    The covariance is decomposed or, while the moments have few rows R, the products R Rᵀ. With the
    targets Y of these rows, the solutions are Rᵀ (R Rᵀ + ρ)⁻¹ Y.

    Attributes
    ----------
    eigenvalues : array of shape (n_directions,)
    grid : array of shape (n_grid,)
        The ridges, in increasing order.
    """

    def __init__(self, moments: Moments, n_jobs: int | None = 1) -> None:
        self.moments, self.place, rows = moments, moments.place, moments.rows
        if rows is None:
            matrix, right = moments.covariance, moments.cross
        else:
            (matrix, _), right = moments.products(n_jobs), rows.Y
        eigenvalues, vectors = self.place.eigh(matrix)
        self.grid = _grid(moments, eigenvalues)
        if rows is not None and moments.n_constants:  # without the direction of the constant
            assert moments.share is not None
            which = np.abs(np.sqrt(moments.share) @ vectors).argmax()
            eigenvalues, vectors = np.delete(eigenvalues, which), np.delete(vectors, which, axis=1)
        self.eigenvalues, self.vectors = np.maximum(eigenvalues, 0), vectors
        self.rotated = self.place.times(right.T, vectors).T
        self.shrunk = 1 / (self.eigenvalues[:, None] + self.grid)

    def at(self, ridge: np.ndarray) -> Solution:
        """Return the solution at a ridge of each output."""
        along = self.rotated * (1 / (self.eigenvalues[:, None] + ridge))
        coef = self.place.times(along.T, self.vectors.T).T
        if self.moments.rows is not None:
            coef = self.moments.rows.Z.T @ coef
        return with_intercept(self.moments, coef, ridge)

    def energy(self, ridge: float) -> np.ndarray:
        """Residual variance plus ρ |β|² at a ridge, shape (n_outputs,)."""
        squares = self.rotated**2
        if self.moments.rows is not None:
            return squares.T @ (ridge / (self.eigenvalues + ridge))
        return self.moments.y_variance - squares.T @ (1 / (self.eigenvalues + ridge))

    def left_out(self, rows: Iterable[Left]) -> Iterator[WithoutRow]:
        r"""Yield the solutions at all ridges for rows that are left out one by one.

        .. math:: y_i - f_{-i}(x_i) = \frac{y_i - f_ρ(x_i)}{1 - h_i(ρ)}, \qquad
            h_i(ρ) = s_i \Big(1 + \sum_j \frac{u_{ij}^2}{λ_j + ρ}\Big)

        where u_i are the centred activations of row i along the eigenvectors. s_i is its weight
        divided by the sum of all weights. ``rows`` are all rows or a sample, some at a time. They
        are not needed if the moments have the rows.
        """
        moments = self.moments
        if moments.rows is not None:
            yield from self._all_rows()
            return
        n_outputs, n_grid = self.rotated.shape[1], len(self.grid)
        effects = (self.rotated[:, :, None] * self.shrunk[:, None]).reshape(len(self.rotated), -1)
        effects, shrunk, mean, constant = (
            self.place.put(each)
            for each in (effects, self.shrunk, moments.z_mean, moments.y_mean[:, None])
        )
        for Z, y, copies, share in rows:
            along = (self.place.put(Z) - mean) @ self.vectors
            leverage = share[:, None] * (moments.n_constants + to_host(along**2 @ shrunk))
            weight = copies * share
            for some in row_blocks(len(y), max(1, _NUMBERS // (n_outputs * n_grid))):
                fitted = to_host(along[some, :] @ effects).reshape(-1, n_outputs, n_grid)
                errors = y[some, :, None] - fitted - to_host(constant)
                yield WithoutRow.of(y[some], errors, 1 - leverage[some], weight[some])

    def _all_rows(self) -> Iterator[WithoutRow]:
        """Leave out few rows. With G = (R Rᵀ + ρ)⁻¹, residuals are ρ G Y, and 1 − h = ρ diag G."""
        moments, kept = self.moments, self.grid * self.shrunk
        assert moments.rows is not None and moments.share is not None
        root = np.sqrt(moments.share)[:, None]
        inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        y = moments.rows.Y * inverse + moments.y_mean
        for rows in row_blocks(len(y), max(1, _NUMBERS // (y.shape[1] * len(self.grid)))):
            vectors, back = self.vectors[rows], inverse[rows, None]
            residuals = np.stack([vectors @ (r[:, None] * kept) for r in self.rotated.T], 1) * back
            yield WithoutRow.of(y[rows], residuals, vectors**2 @ kept, moments.share[rows])

    def left_out_groups(
        self, rows: Iterable[Left], folds: list[np.ndarray]
    ) -> Iterator[WithoutRow]:
        """Yield the solutions at all ridges for rows that are left out with all of their group.

        ``folds`` are the numbers of the rows of each group. The errors of a group are
        (I − H)⁻¹ r, for its part of the hat matrix H and its residuals r.
        """
        moments, grid, n_outputs = self.moments, self.grid, self.rotated.shape[1]
        if moments.rows is not None:
            assert moments.share is not None
            share, along, scale = moments.share, self.vectors, self.grid * self.shrunk
            root = np.sqrt(share)[:, None]
            inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
            y = moments.rows.Y * inverse + moments.y_mean
        else:
            parts = [(to_host(Z), y, copies * share) for Z, y, copies, share in rows]
            Z, y, share = (np.concatenate(part) for part in zip(*parts, strict=True))
            root = np.sqrt(share)[:, None]
            inverse = 1 / root
            along = (
                root
                * (to_host(self.place.put(Z) - self.place.put(moments.z_mean)))
                @ to_host(self.vectors)
            )
            scale, start = self.shrunk, root * (y - moments.y_mean)
            weights = np.vstack([scale, np.full(len(grid), moments.n_constants)]).T
        errors = np.empty((len(y), n_outputs, len(grid)))
        coefficients = self.rotated * scale.T[:, :, None]
        for fold in folds:
            a = along[fold]
            fitted = a @ coefficients
            if moments.rows is None:
                beside = np.hstack([a, root[fold]])
                found = errors_without(beside, weights, start[fold] - fitted)
            else:  # these are residuals, since H is I − left
                one, most = LEAST_LEFT * np.eye(len(fold)), max(1, _NUMBERS // a.size)
                found = np.concatenate(
                    [
                        np.linalg.solve(one + (a * scale.T[some, None, :]) @ a.T, fitted[some])
                        for some in row_blocks(len(grid), most)
                    ]
                )
            errors[fold] = found.transpose(1, 2, 0)
        yield WithoutRow(y, y[:, :, None] - errors * inverse[:, None], share)

    def best(self, scores: np.ndarray, losses: Losses) -> Solution:
        """Return the solution at the ridge that the losses choose, of each output or of all."""
        grid, scores = self._worth_trying(scores)
        n_left = len(self.grid) - len(grid)
        allowed = np.isfinite(scores).any(axis=0) if losses.shared else np.isfinite(scores)
        which = losses.choose(n_left, allowed)
        ridge = np.broadcast_to(grid[which], len(scores)).copy()
        return self.at(ridge)._replace(grid=grid, scores=scores)

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


class Losses:
    """Losses of rows that are left out, at all ridges, of each output or summed if ``shared``.

    The ridge with the least mean loss may owe that to a few rows. Among ridges whose mean is higher
    by less than half a standard error of the difference, the largest is chosen: a function that
    varies less, for an error that may as well be smaller [1]_.

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone, "Classification and regression
       trees", Wadsworth 1984, Section 3.4.3, where it is one standard error.
    """

    def __init__(self, shared: bool) -> None:
        self.shared, self._total = shared, 0.0
        self._sums: Any = 0.0
        self._products: Any = 0.0

    def add(self, weight: np.ndarray, losses: np.ndarray) -> None:
        """Add rows, with losses of shape (n_rows, n_outputs, n_grid), in units near 1."""
        if self.shared:
            losses = losses.sum(axis=1, keepdims=True)
        weighted = weight[:, None, None] * np.minimum(losses, _MOST_LOSS)
        by_output = weighted.transpose(1, 2, 0)
        self._total += float(weight.sum())
        self._sums = self._sums + by_output.sum(axis=2)
        self._products = self._products + by_output @ by_output.transpose(0, 2, 1)

    @property
    def mean(self) -> np.ndarray:
        """Mean losses, (n_outputs, n_grid)."""
        return np.asarray(self._sums / self._total)

    def choose(self, first: int, allowed: np.ndarray) -> np.ndarray:
        """Return the numbers of the chosen ridges in the grid that begins at ``first``."""
        mean, products = self.mean[:, first:], self._products[:, first:, first:]
        known = np.where(allowed, mean, np.inf)
        best, outputs = known.argmin(axis=1), np.arange(len(mean))
        squares = np.diagonal(products, axis1=1, axis2=2)
        square = squares + squares[outputs, best, None] - 2 * products[outputs, best]
        slack = SLACK * np.sqrt(np.maximum(square, 0)) / self._total
        as_good = known <= known[outputs, best, None] + slack
        return as_good.shape[1] - 1 - as_good[:, ::-1].argmax(axis=1)


class WithoutRow(NamedTuple):
    """Rows with the decision values of solutions without the row, at all ridges.

    Targets (n_rows, n_outputs), decisions (n_rows, n_outputs, n_grid) and weights (n_rows,). A
    decision value is infinite where only the row itself tells it.
    """

    targets: np.ndarray
    decisions: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(
        cls, y: np.ndarray, residuals: np.ndarray, left: np.ndarray, weight: np.ndarray
    ) -> WithoutRow:
        """Return rows with residuals (n_rows, n_outputs, n_grid) and 1 − h (n_rows, n_grid)."""
        left = left[:, None]
        errors = np.divide(residuals, left, out=np.full_like(residuals, np.inf), where=left > 0)
        return cls(y, y[:, :, None] - errors, weight)


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
