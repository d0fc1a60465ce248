"""Squared distances that are accurate even for rows far from 0 or close to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist

from trickless._arrays.places import HOST, namespace, place_of
from trickless._arrays.threads import row_blocks

#: Columns up to which differences are faster than products.
_FEW_COLUMNS = 16
#: A distance whose square is below this share of the squared lengths of the rows has lost digits.
_LOST = 1e-5
#: The share of such distances above which all are computed by differences.
_MANY = 0.05
#: Numbers of differences that are held at a time.
_NUMBERS = 2**20


def distances(X: Any, Y: Any) -> Any:
    """Compute the sum of |x_j − y_j| for every row x of X and y of Y: (len(X), len(Y))."""
    if place_of(X) is HOST:
        return cdist(X, Y, "cityblock")
    xp = namespace(X)
    return xp.sum(xp.abs(X[:, None, :] - Y), axis=-1)


def squared_distances(X: Any, Y: Any) -> np.ndarray:
    """Compute |x − y|² for every row x of X and y of Y: (len(X), len(Y)), in double precision.

    With few columns, they are sums of squared differences. With many columns, they are |x|² + |y|²
    − 2⟨x, y⟩, where the mean of Y is subtracted from dense rows. If that loses digits, as between
    nearly equal rows, they are sums of squared differences as well. Arrays of other libraries are
    always multiplied.
    """
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(Y):
        X, Y = (scipy.sparse.csr_array(rows, dtype=np.float64) for rows in (X, Y))
        return _by_products(X, Y, (X @ Y.T).toarray(), *(_sums(M.multiply(M)) for M in (X, Y)))
    if place_of(X) is not HOST:
        xp, mean = namespace(X), Y.mean(axis=0)
        X, Y = X - mean, Y - mean
        lengths = xp.sum(X * X, axis=1)[:, None] + (Y * Y).sum(axis=1)
        return xp.clip(lengths - 2.0 * (X @ Y.T), 0.0, None)
    X, Y = (np.asarray(rows, dtype=np.float64) for rows in (X, Y))
    if X.shape[1] <= _FEW_COLUMNS or not len(Y):
        return cdist(X, Y, "sqeuclidean")
    mean = Y.mean(axis=0)
    X, Y = X - mean, Y - mean
    return _by_products(X, Y, X @ Y.T, *(np.einsum("ij,ij->i", M, M) for M in (X, Y)))


def _by_products(X: Any, Y: Any, products: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute squared distances from products, and from squared lengths x and y of rows."""
    lengths = x[:, None] + y
    squares = lengths - 2 * products
    i, j = np.nonzero(squares <= _LOST * lengths)
    sparse = scipy.sparse.issparse(X)
    if not sparse and len(i) > _MANY * squares.size:
        return cdist(X, Y, "sqeuclidean")
    for some in row_blocks(len(i), max(1, _NUMBERS // X.shape[1])):
        difference = X[i[some]] - Y[j[some]]
        square = difference.multiply(difference) if sparse else difference**2
        squares[i[some], j[some]] = _sums(square)
    return squares


def _sums(M: Any) -> np.ndarray:
    return np.asarray(M.sum(axis=1)).ravel()
