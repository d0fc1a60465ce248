r"""The posterior of the coefficients of least squares, from the smaller of two matrices.

With the covariance A of the activations, a ridge ρ and noise of variance 1, the coefficients have
the covariance (A + ρ)⁻¹ / n about the solution, if the prior of each is 𝒩(0, 1 / (n ρ)). All
answers are lengths and products in the metric of (A + ρ)⁻¹. A is c × c for c columns. If n rows R
are fewer, then A = RᵀR, and with G = (R Rᵀ + ρ)⁻¹,

.. math:: (A + \rho)^{-1} = \frac{1 - R^\top G R}{\rho}, \qquad
    z^\top (A + \rho)^{-1} z = |a|^2 + \frac{|z - R^\top a|^2}{\rho}, \quad a = G R z.

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT Press
   2006, Equations 2.8 and 2.12.
.. [2] J. T. Wilson, V. Borovitskiy, A. Terenin, P. Mostowsky and M. P. Deisenroth, "Efficiently
   sampling functions from Gaussian process posteriors", ICML 2020, Equations 10 to 12.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from trickless._arrays.places import HOST, to_host
from trickless._solvers.least_squares.paths import Left
from trickless._solvers.least_squares.statistics import Moments


class Influence(NamedTuple):
    """K of new rows of activations with rows that were learned, and with themselves.

    ``mean`` are the mean activations, where K is the number of constants.
    """

    mean: np.ndarray
    of_new: Callable[[Any], tuple[np.ndarray, np.ndarray]]

    def __call__(self, Z: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return K with the learned rows, (len(Z), n_rows), and with themselves, (len(Z),)."""
        return self.of_new(Z)


class Posterior(ABC):
    """The Gaussian posterior of the coefficients at a ridge, for noise of variance 1."""

    def __init__(self, moments: Moments, ridge: float, n_normal: int) -> None:
        self.n, self.n_constants, self.mean = moments.n, moments.n_constants, moments.z_mean
        self.ridge, self.n_normal = ridge, n_normal

    def variance(self, Z: Any) -> np.ndarray:
        """Variance of f at rows of activations, shape (len(Z),)."""
        return (self.n_constants + self.squares(Z)) / self.n

    @abstractmethod
    def squares(self, Z: Any) -> np.ndarray:
        """Squared lengths of rows of activations about the mean, in the metric of the inverse."""

    @abstractmethod
    def along(self, Z: Any) -> np.ndarray:
        """Rows of activations about the mean, as rows whose products are in that metric."""

    @abstractmethod
    def drawn(self, normal: np.ndarray) -> np.ndarray:
        """Map standard normal numbers (n_normal, n) to vectors (c, n) of covariance (A + ρ)⁻¹."""

    @abstractmethod
    def freedom(self) -> float:
        """Residual degrees of freedom, n − df(ρ), without cancellation where they are few.

        They are a sum of positive terms, plus n less the number of rows or columns.
        """

    @abstractmethod
    def log_widths(self) -> float:
        """Σ log (1 + λ / ρ) over the eigenvalues λ of the covariance."""

    @abstractmethod
    def influence(self, rows: Iterable[Left], share: np.ndarray) -> Influence:
        r"""Return how much learned rows, which have shares s of all weights, count at new rows.

        The prediction at x is a sum of :math:`s_i K(x, x_i)` times the targets, where

        .. math:: K(x, x') = 1 + z(x)^\top (A + \rho)^{-1} z(x').

        Without row i, the prediction at x is less by :math:`s_i K(x, x_i)` times the row's error
        without itself. All of these predictions take one solve and one product. ``rows`` are not
        needed if the moments have all rows.
        """


class OfColumns(Posterior):
    """The posterior from the Cholesky factor of A + ρ."""

    def __init__(self, moments: Moments, ridge: float) -> None:
        super().__init__(moments, ridge, len(moments.z_mean))
        self._place = place = moments.place
        self._factor = place.cholesky(place.plus_ridge(moments.covariance, ridge))

    def squares(self, Z: Any) -> np.ndarray:
        return to_host(self._place.xp.sum(self._along(Z) ** 2, axis=0))

    def along(self, Z: Any) -> np.ndarray:
        return to_host(self._along(Z)).T

    def _along(self, Z: Any) -> Any:
        centred = self._place.double(Z) - self._place.put(self.mean)
        return self._place.solve_lower(self._factor, centred.T)

    def drawn(self, normal: np.ndarray) -> np.ndarray:
        right = self._place.put(normal)
        return to_host(self._place.solve_lower(self._factor, right, transposed=True))

    def freedom(self) -> float:
        place, size = self._place, len(self.mean)
        inverse = place.solve_lower(self._factor, place.eye(size, self._factor.dtype))
        squares = float(place.xp.sum(inverse**2))
        return self.n - self.n_constants - size + self.ridge * squares

    def log_widths(self) -> float:
        logs = self._place.xp.log(self._place.xp.linalg.diagonal(self._factor))
        return float(self._place.xp.sum(2 * logs)) - len(self.mean) * np.log(self.ridge)

    def influence(self, rows: Iterable[Left], share: np.ndarray) -> Influence:
        learned = np.concatenate([self.along(each.Z) for each in rows])

        def of_new(Z: Any) -> tuple[np.ndarray, np.ndarray]:
            along = self.along(Z)
            return self.n_constants + along @ learned.T, self.n_constants + (along**2).sum(axis=1)

        return Influence(self.mean, of_new)


class OfRows(Posterior):
    """The posterior from the inverse Cholesky factor of R Rᵀ + ρ, for fewer rows R than columns.

    If there is a constant, the eigenvalue 0 along the roots of the shares is another number, which
    changes no answer, since Rᵀ is 0 there; see ``Moments.products``.
    """

    def __init__(self, moments: Moments, ridge: float, n_jobs: int | None) -> None:
        if ridge == 0:
            raise LinAlgError("few rows without a ridge")
        assert moments.rows is not None
        rows = self._rows = moments.rows.Z
        super().__init__(moments, ridge, rows.shape[1] + len(rows))
        products, constant = moments.products(n_jobs)
        self._of_constant = self.n_constants / (constant + ridge)  # in G, along the shares
        factor = HOST.cholesky(HOST.plus_ridge(products, ridge))
        self._inverse = HOST.solve_lower(factor, np.eye(len(rows)))

    def squares(self, Z: Any) -> np.ndarray:
        return self._by_rows(Z)[2]

    def along(self, Z: Any) -> np.ndarray:
        centred, a, _ = self._by_rows(Z)
        return np.hstack([a, (centred - a @ self._rows) / np.sqrt(self.ridge)])

    def _by_rows(self, Z: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return centred rows z, their coefficients a = G R z, and their squared lengths.

        |z − Rᵀa|² is |z|² less what a explains, up to rounding errors of |z|². Relative to the
        squared length, these are errors of (R Rᵀ + ρ) / ρ times the precision at most, as they
        are with a factor of A + ρ.
        """
        centred = HOST.double(to_host(Z))
        centred -= self.mean
        half = centred @ self._rows.T @ self._inverse.T
        a = half @ self._inverse
        square, explained, of_rows = (np.einsum("ij,ij->i", x, x) for x in (centred, half, a))
        rest = square - explained - self.ridge * of_rows
        return centred, a, of_rows + np.maximum(rest, 0) / self.ridge

    def drawn(self, normal: np.ndarray) -> np.ndarray:
        # [2], Equation 12: a draw from the prior, less its fit to its own noisy values at the rows.
        prior, noise = np.split(normal, [self._rows.shape[1]])
        values = self._rows @ prior + np.sqrt(self.ridge) * noise
        fit = self._rows.T @ (self._inverse.T @ (self._inverse @ values))
        return (prior - fit) / np.sqrt(self.ridge)

    @cached_property
    def _diagonal(self) -> np.ndarray:
        """The diagonal of the inverse of R Rᵀ + ρ."""
        return (self._inverse**2).sum(axis=0)

    def freedom(self) -> float:
        left = self.ridge * (self._diagonal.sum() - self._of_constant)
        return self.n - len(self._rows) + float(left)

    def log_widths(self) -> float:
        logs = 2 * np.log(np.diag(self._inverse)).sum() + len(self._rows) * np.log(self.ridge)
        return float(np.log(self.ridge * self._of_constant or 1.0) - logs)

    def left(self, share: np.ndarray) -> np.ndarray:
        """1 − h of each row, for its leverage h: the diagonal of ρ G, less the constant's part."""
        return self.ridge * (self._diagonal - share * self._of_constant)

    def left_of(self, fold: np.ndarray, share: np.ndarray) -> np.ndarray:
        """I − H of the rows of a fold, times the roots of their shares on both sides."""
        half, root = self._inverse[:, fold], np.sqrt(share[fold])
        return self.ridge * (half.T @ half - self._of_constant * np.outer(root, root))

    def influence(self, rows: Iterable[Left], share: np.ndarray) -> Influence:
        root = np.sqrt(share)

        def of_new(Z: Any) -> tuple[np.ndarray, np.ndarray]:
            _, a, squares = self._by_rows(Z)
            of_old = np.divide(a, root, out=np.zeros_like(a), where=root > 0)
            return self.n_constants + of_old, self.n_constants + squares

        return Influence(self.mean, of_new)


def posterior_at(moments: Moments, ridge: float, n_jobs: int | None = 1) -> Posterior:
    """Return the posterior at a ridge, computed at the first call for these moments.

    Raises
    ------
    scipy.linalg.LinAlgError
        If the covariance plus the ridge is not positive definite to working precision.
    """
    known = moments.posteriors
    if ridge not in known and moments.rows is not None:
        known[ridge] = OfRows(moments, ridge, n_jobs)
    elif ridge not in known:
        known.clear()  # a matrix of all columns may be large
        known[ridge] = OfColumns(moments, ridge)
    posterior: Posterior = known[ridge]
    return posterior
