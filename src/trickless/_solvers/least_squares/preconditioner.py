"""A preconditioner of least squares on many columns: the covariance of some of the rows.

That covariance plus the ridge is inverted through the m × m matrix of inner products of m rows, as
in [1]_.

References
----------
.. [1] A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method",
   NIPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import issparse, vstack

from trickless._arrays.places import HOST

#: Ridges within this factor of each other share a preconditioner.
_SHARED = 10.0


def preconditioner(
    rows: ChosenRows, share: np.ndarray, ridges: np.ndarray, fit_intercept: bool
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function that applies the inverse of the rows' covariance plus a ridge to vectors.

    With the centred and weighted rows C the inverse is (I − Cᵀ (ρ I + C Cᵀ)⁻¹ C) / ρ, by Woodbury.
    Ridges within a factor of ten are replaced by the one in their middle. ``rows`` is used up.
    """
    centred = rows.centred(share / share.sum(), fit_intercept)
    inner = centred.inner()
    middles: dict[float, float] = {}
    distinct = np.unique(ridges)
    while distinct.size:
        group = distinct[distinct <= _SHARED * distinct[0]]
        middles |= dict.fromkeys(group.tolist(), float(np.sqrt(group[0] * group[-1])))
        distinct = distinct[len(group) :]
    factors = {}
    for ridge in set(middles.values()):
        matrix = inner.copy()
        matrix.flat[:: len(inner) + 1] += ridge
        factors[ridge] = HOST.cholesky(matrix)

    def apply(residual: np.ndarray, ridges: np.ndarray) -> np.ndarray:
        middle = np.array([middles[ridge] for ridge in ridges.tolist()])
        along = centred.times(residual)
        for ridge in np.unique(middle):
            same = middle == ridge
            factor = (factors[ridge], True)
            along[:, same] = linalg.cho_solve(factor, along[:, same], check_finite=False)
        return (residual - centred.transposed(along)) / middle

    return apply


class ChosenRows:
    """The chosen rows: a dense matrix, or sparse parts of one."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._dense = np.empty((0, 0))
        self._sparse: list[Any] = []

    def add(self, some: slice, Z: Any) -> None:
        """Add the next of the rows."""
        if issparse(Z):
            self._sparse.append(Z)
            return
        if not self._dense.size:
            self._dense = np.empty((self._n, Z.shape[1]))
        self._dense[some] = Z

    def centred(self, share: np.ndarray, fit_intercept: bool) -> Any:
        """Return the rows minus their mean, times the roots of shares. A dense matrix is reused."""
        root = np.sqrt(share)[:, None]
        if self._sparse:
            Z = vstack(self._sparse, format="csr")
            return _CentredSparse(Z, share @ Z * fit_intercept, root)
        if fit_intercept:
            self._dense -= share @ self._dense
        self._dense *= root
        return _CentredDense(self._dense)


class _CentredDense:
    """Rows C as a matrix."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows

    def inner(self) -> np.ndarray:
        """Return C Cᵀ."""
        return self._rows @ self._rows.T

    def times(self, values: np.ndarray) -> np.ndarray:
        """Return C times values of the columns."""
        return self._rows @ values

    def transposed(self, values: np.ndarray) -> np.ndarray:
        """Return Cᵀ times values of the rows."""
        return (values.T @ self._rows).T


class _CentredSparse:
    """Rows C = S (Z − 1 mᵀ) with a sparse matrix Z, a mean m and a diagonal matrix S."""

    def __init__(self, Z: Any, mean: np.ndarray, root: np.ndarray) -> None:
        self._Z, self._mean, self._root = Z, mean, root

    def inner(self) -> np.ndarray:
        along = self._Z @ self._mean
        inner = (self._Z @ self._Z.T).toarray()
        inner += self._mean @ self._mean - along[:, None] - along
        return self._root * inner * self._root.T

    def times(self, values: np.ndarray) -> np.ndarray:
        return self._root * (self._Z @ values - self._mean @ values)

    def transposed(self, values: np.ndarray) -> np.ndarray:
        scaled = self._root * values
        return self._Z.T @ scaled - np.outer(self._mean, scaled.sum(axis=0))
