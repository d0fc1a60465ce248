r"""How much the rows that least squares was solved for count at new rows.

With centred activations z, weights s that sum to 1 and the covariance A of the rows, the prediction
at x is a sum of :math:`s_i K(x, x_i)` times the targets, where

.. math:: K(x, x') = 1 + z(x)^\top (A + \rho I)^{-1} z(x').

Without row i, the prediction at x is less by :math:`s_i K(x, x_i)` times the row's error without
itself. All of these predictions take one solve and one product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from trickless.arrays.places import HOST, to_host
from trickless.solvers.least_squares.certainty import Posterior
from trickless.solvers.least_squares.paths import Left, products_of_rows
from trickless.solvers.least_squares.statistics import Moments


class OfSample:
    """K between new rows and a sample of the rows, from the covariance."""

    def __init__(self, moments: Moments, ridge: float, rows: Iterable[Left]) -> None:
        self._constant, self._place = moments.n_constants, moments.place
        self._posterior, self.mean = Posterior(moments, ridge), moments.z_mean
        self._rows = np.concatenate([to_host(self._posterior.along(each.Z)) for each in rows], 1)

    def __call__(self, Z: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return K of new rows with the rows, (len(Z), n_rows), and with themselves, (len(Z),)."""
        along = to_host(self._posterior.along(Z))
        return self._constant + along.T @ self._rows, self._constant + (along**2).sum(axis=0)


class OfFewRows:
    """K between new rows and all rows R, if they are few, from the matrix of their products.

    R are centred and multiplied by the roots of their shares. With G = (R Rᵀ + ρ)⁻¹,
    (RᵀR + ρ)⁻¹ Rᵀ = Rᵀ G, and ρ (RᵀR + ρ)⁻¹ = 1 − Rᵀ G R.
    """

    def __init__(
        self, moments: Moments, share: np.ndarray, ridge: float, n_jobs: int | None
    ) -> None:
        assert moments.rows is not None
        if ridge == 0:
            raise LinAlgError("few rows without a ridge")
        self._constant, self.mean, self._ridge = moments.n_constants, moments.z_mean, ridge
        self._rows, self._root = moments.rows.Z, np.sqrt(share)
        products = products_of_rows(moments, n_jobs)[0]
        self._factor = HOST.cholesky(HOST.plus_ridge(products, ridge))

    def __call__(self, Z: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return K of new rows with the rows, (len(Z), n_rows), and with themselves, (len(Z),)."""
        centred = HOST.double(to_host(Z)) - self.mean
        products = self._rows @ centred.T
        along = HOST.solve_lower(self._factor, products)
        solved = HOST.solve_lower(self._factor, along, transposed=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_rows = self._constant + np.where(self._root > 0, solved.T / self._root, 0.0)
        squares = (centred**2).sum(axis=1) - (along**2).sum(axis=0)
        return of_rows, self._constant + np.maximum(squares, 0) / self._ridge


def influence_of(
    moments: Moments, share: np.ndarray, ridge: float, rows: Iterable[Left], n_jobs: int | None
) -> OfSample | OfFewRows:
    """Return how much rows with these shares count at new rows."""
    if moments.rows is not None:
        return OfFewRows(moments, share, ridge, n_jobs)
    return OfSample(moments, ridge, rows)
