"""How certain least squares is: the noise of the targets, and what a posterior needs."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from trickless._arrays.places import to_host
from trickless._arrays.stated import (
    Amount,
    Array,
    Within,
    stated,
)
from trickless._errors import InvalidValueError
from trickless._solvers.least_squares.paths import CANCELLATION, Solution
from trickless._solvers.least_squares.posterior import posterior_at
from trickless._solvers.least_squares.statistics import KeptRows, Moments

#: Residual degrees of freedom must be this many times their rounding error.
_RESOLVED = 100


@stated
class Certainty(NamedTuple):
    """The part of the statistics that standard deviations need, in half of the memory.

    Attributes
    ----------
    noise : array of shape (n_outputs,)
        Variance of the noise.
    z_mean : array of shape (n_columns,)
    n : float
        Effective number of rows.
    n_constants : int
        1 if there is an intercept, else 0.
    rows : array of shape (n_rows, n_columns) or None
        Centred rows R whose products RᵀR are the covariance, if there are few.
    triangle : array of shape (n_columns * (n_columns + 1) / 2,) or None
        The lower triangle of the covariance, if there are many.
    """

    noise: Annotated[np.ndarray, Array("f8", "n_outputs")]
    z_mean: Annotated[np.ndarray, Array("f8", "n_columns")]
    n: Amount
    n_constants: Annotated[int, Within(0, 1)]
    rows: Annotated[np.ndarray, Array("f4 f8", None, "n_columns")] | None
    triangle: Annotated[np.ndarray, Array("f4 f8", "n_pairs")] | None

    @property
    def n_pairs(self) -> int:
        """Number of entries of the lower triangle."""
        return len(self.z_mean) * (len(self.z_mean) + 1) // 2

    @classmethod
    def of(cls, moments: Moments, noise: np.ndarray) -> Certainty:
        """Return the part of some moments that is needed."""
        rows = triangle = None
        if moments.rows is not None:
            rows = moments.rows.Z
        else:
            triangle = to_host(moments.covariance)[np.tril_indices(len(moments.z_mean))]
        return cls(noise, moments.z_mean, moments.n, moments.n_constants, rows, triangle)

    def moments(self, share: np.ndarray) -> Moments:
        """Moments without the targets, for the shares of the rows of all weights."""
        size, none = len(self.z_mean), np.empty(0)
        moments = Moments(none, none, self.z_mean, none, self.n, 0, 0.0)
        moments.n_constants = self.n_constants
        if self.rows is not None:
            moments.rows, moments.share = KeptRows(self.rows, none, none), share
        else:
            covariance = np.zeros((size, size))
            below = np.tril_indices(size)
            covariance[below] = covariance.T[below] = self.triangle
            moments.covariance = covariance
        return moments


def noise_variance(
    owner: str, moments: Moments, solution: Solution, alpha: np.ndarray
) -> np.ndarray:
    """Residual sum of squares over residual degrees of freedom, shape (n_outputs,).

    This is for rows of equal weight. As alpha goes to 0, both do, but their ratio does not.
    """
    ridges, which = np.unique(solution.ridge, return_inverse=True)
    left = np.array([posterior_at(moments, ridge).freedom() for ridge in ridges])[which]
    squares = residual_variance(moments, solution) * moments.n
    _check_freedom(owner, alpha, left, moments, ridges[which])
    return squares / left


def residual_variance(moments: Moments, solution: Solution) -> np.ndarray:
    """Mean square residual of each output."""
    coef = solution.coef
    if moments.rows is not None:
        return ((moments.rows.Y - moments.rows.Z @ coef) ** 2).sum(axis=0)
    explained = 2 * (coef * moments.cross).sum(axis=0)
    explained -= (coef * moments.place.times(coef.T, moments.covariance).T).sum(axis=0)
    return np.maximum(moments.y_variance - explained, CANCELLATION * moments.y_variance)


def _check_freedom(
    owner: str, alpha: np.ndarray, left: np.ndarray, moments: Moments, ridge: np.ndarray
) -> None:
    """Raise an error if no residual degrees of freedom are left to estimate the noise.

    If there are at most as many rows as columns, sums of products have residual degrees of freedom
    only at large alphas.
    """
    size = len(moments.z_mean)
    rounding = 0.0
    if moments.rows is None and size >= moments.n - moments.n_constants:
        rounding = _RESOLVED * size * np.finfo(float).eps * moments.mean_square
    if ((left <= 0) | (left * ridge < rounding)).any():
        raise InvalidValueError(
            f"{owner}: with alpha={float(alpha[0]) if len(alpha) == 1 else alpha!r}, "
            f"{moments.n:,.0f} rows leave {left.min():.2g} degrees of freedom, too few to "
            "estimate the noise",
            "a larger alpha, or one fit of all rows",
        )
