"""Leave-one-out: the solution's value at a row if that row had been left out of the fit.

The leverage h of a row is how much its own target counts in its fitted value. With it, the error at
the row of the solution without the row is the residual divided by 1 − h.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple

import numpy as np
from scipy import linalg

from trickless._arrays.places import to_host
from trickless._arrays.stated import Array, stated
from trickless._solvers.least_squares.groups import errors_without
from trickless._solvers.least_squares.paths import Left, Solution
from trickless._solvers.least_squares.posterior import OfRows, posterior_at
from trickless._solvers.least_squares.statistics import Moments
from trickless.conformal.unseen import Counted, Unseen


@stated
class LeftOut(NamedTuple):
    """Rows that were left out one by one.

    Attributes
    ----------
    targets, decisions : arrays of shape (n_rows, n_outputs)
        Their targets, and the decision values of the solution without the row.
    left : array of shape (n_rows, n_outputs)
        1 − h, with the leverage h of the row.
    copies, share : arrays of shape (n_rows,)
        How many rows have this content, and the weight of one of them over the sum of all weights.
    fresh : array of shape (n_rows,)
        How much of one of them is left after fading.
    """

    targets: Annotated[np.ndarray, Array("f4 f8", "n", "n_outputs")]
    decisions: Annotated[np.ndarray, Array("f4 f8", "n", "n_outputs")]
    left: Annotated[np.ndarray, Array("f4 f8", "n", "n_outputs")]
    copies: Annotated[np.ndarray, Array("f8", "n", least=0)]
    share: Annotated[np.ndarray, Array("f8", "n", least=0)]
    fresh: Annotated[np.ndarray, Array("f8", "n", least=0)]

    @property
    def weight(self) -> np.ndarray:
        """Weights of the rows, which sum to 1."""
        weight = self.copies * self.share
        return weight / weight.sum()

    @property
    def counted(self) -> Counted:
        """How much the rows count for new ones."""
        return Counted.of(self.copies, self.fresh, self.share)

    @property
    def n_effective(self) -> float:
        """Kish's effective number of rows, (Σ w)² / Σ w²."""
        return float((self.copies @ self.share) ** 2 / (self.copies @ self.share**2))

    def unseen(self) -> Unseen:
        """Return the rows without what was needed to leave them out."""
        return Unseen(self.decisions, self.targets, self.counted)

    def of_output(self, output: int) -> LeftOut:
        """Return the rows with one output, in vectors."""
        return self._replace(
            targets=self.targets[:, output],
            decisions=self.decisions[:, output],
            left=self.left[:, output],
        )

    def noise_variance(self) -> np.ndarray:
        """Variance of the noise of each output: the mean of residual times error."""
        squares = self.left * (self.targets - self.decisions) ** 2
        return self.weight @ squares

    def noise_of_new(self) -> np.ndarray:
        """Variance of the noise of rows as they come, over that of rows by weight, of each output.

        It differs from 1 if weights depend on the noise, as when they are its inverse. The noise of
        a row is its squared error, less the part that the function has, h / (n s (1 − h)) for a
        row of share s.
        """
        once, by_weight = self.counted
        of_one = np.divide(by_weight, self.copies, out=np.zeros_like(once), where=self.copies > 0)
        kept = of_one[:, None] * self.left
        part = np.divide(kept, kept + 1 - self.left, out=np.zeros_like(kept), where=kept > 0)
        squares = part * (self.targets - self.decisions) ** 2
        new, old = (counts @ squares / counts.sum() for counts in (once, by_weight))
        return np.divide(new, old, out=np.ones_like(old), where=old > 0)


def leave_out(
    moments: Moments, solution: Solution, rows: Iterable[Left], n_jobs: int | None = 1
) -> LeftOut:
    """Leave out some rows one by one; all rows, if the moments have them."""
    if moments.rows is not None:
        return _leave_out_few(moments, solution, n_jobs)
    ridges, which = np.unique(solution.ridge, return_inverse=True)
    posteriors = [posterior_at(moments, ridge) for ridge in ridges]
    parts = []
    for Z, y, copies, share in rows:
        squares = np.stack([posterior.squares(Z) for posterior in posteriors], axis=1)
        left = 1 - share[:, None] * (moments.n_constants + squares)[:, which]
        fitted = to_host(Z) @ solution.coef + solution.intercept
        decisions = _without(y, fitted, left, moments.y_mean)
        parts.append(LeftOut(y, decisions, left, copies, share, np.ones(len(y))))
    return LeftOut(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _leave_out_few(moments: Moments, solution: Solution, n_jobs: int | None) -> LeftOut:
    """Return all rows, from the matrix of their products."""
    assert moments.rows is not None and moments.share is not None
    Z, Y, fresh = moments.rows
    root = np.sqrt(moments.share)[:, None]
    left = np.empty_like(Y)
    for ridge in np.unique(solution.ridge):
        posterior = posterior_at(moments, ridge, n_jobs)
        assert isinstance(posterior, OfRows)
        left[:, solution.ridge == ridge] = posterior.left(moments.share)[:, None]
    targets, fitted = (part / root + moments.y_mean for part in (Y, Z @ solution.coef))
    decisions = _without(targets, fitted, left, moments.y_mean)
    return LeftOut(targets, decisions, left, np.ones(len(Z)), moments.share, fresh)


def leave_out_folds(
    moments: Moments, solution: Solution, rows: Iterable[Left], folds: list[np.ndarray]
) -> Unseen:
    """Leave out rows, each with all rows of its fold, which are numbers of these rows."""
    ridges, parts = np.unique(solution.ridge), []
    posteriors = [posterior_at(moments, ridge) for ridge in ridges]
    for Z, y, _, share in rows:
        fitted = to_host(Z) @ solution.coef + solution.intercept
        parts.append((y, share, y - fitted, *(each.along(Z) for each in posteriors)))
    y, share, residuals, *along = (np.concatenate(part) for part in zip(*parts, strict=True))
    root = np.sqrt(share)[:, None]
    errors = root * residuals
    for ridge, a in zip(ridges, along, strict=True):
        for fold in folds:
            there, half = np.ix_(fold, solution.ridge == ridge), root[fold] * a[fold]
            beside = np.hstack([half, root[fold]])
            weights = np.append(np.ones(half.shape[1]), moments.n_constants)[None]
            errors[there] = errors_without(beside, weights, errors[there][None])[0]
    return Unseen.of(y - errors / root, y, share)


def leave_out_folds_of_few(
    moments: Moments, solution: Solution, folds: list[np.ndarray], n_jobs: int | None
) -> Unseen:
    """Leave out all rows, while they are kept, each with all rows of its fold.

    The errors of a fold F are (I − H)⁻¹ r, for its part of the hat matrix and its residuals.
    """
    assert moments.rows is not None and moments.share is not None
    Z, Y, _ = moments.rows
    root, errors = np.sqrt(moments.share)[:, None], Y - Z @ solution.coef
    for ridge in np.unique(solution.ridge):
        posterior = posterior_at(moments, ridge, n_jobs)
        assert isinstance(posterior, OfRows)
        for fold in folds:
            there = np.ix_(fold, np.flatnonzero(solution.ridge == ridge))
            errors[there] = linalg.solve(
                posterior.left_of(fold, moments.share), errors[there], assume_a="pos"
            )
    targets, decisions = (part / root + moments.y_mean for part in (Y, Y - errors))
    return Unseen.of(decisions, targets, moments.share)


def _without(
    targets: np.ndarray, fitted: np.ndarray, left: np.ndarray, mean: np.ndarray
) -> np.ndarray:
    """Decision values without the row, or the mean where only the row tells its value."""
    error = np.divide(targets - fitted, left, out=np.zeros_like(fitted), where=left > 0)
    return np.where(left > 0, targets - error, mean)
