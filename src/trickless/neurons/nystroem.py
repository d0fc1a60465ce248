"""Fixed landmarks, and the triangular matrix that makes kernels at them orthonormal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import linalg

from trickless._arrays.sparse import Matrix
from trickless._arrays.stated import Amount, Array, stated
from trickless._arrays.threads import row_blocks

#: The kernel between rows of two matrices, in double precision.
Kernel = Callable[[Any, Any], np.ndarray]

#: This share of the mean of the kernel's diagonal is added to it, far above rounding.
_JITTER = 1e-10
#: Pivots that are proposed together.
_TOGETHER = 64
#: Selection ends when less than this share of the kernel's trace is left.
_NOTHING_LEFT = 1e-10


@stated
class Basis(NamedTuple):
    """Landmarks z_1, ..., z_m, and L⁻¹ for the Cholesky factor L of their kernel matrix.

    The functions L⁻¹ (k(z_1, x), ..., k(z_m, x)) are orthonormal in the space of the kernel. They
    are a rotation of the columns of Nyström's method, whose matrix is the inverse root. Function j
    depends on the first j landmarks only.

    Attributes
    ----------
    points : array or CSR matrix of shape (m, n_features)
    inverse : array of shape (m, m)
        Lower triangular.
    jitter : float
        What was added to the diagonal of the kernel matrix.
    """

    points: Annotated[Any, Matrix("size", "n_features_in_")]
    inverse: Annotated[np.ndarray, Array("f8", "size", "size")]
    jitter: Amount

    @property
    def size(self) -> int:
        """Number of landmarks."""
        return len(self.inverse)

    @classmethod
    def of(cls, points: Any, kernel: Kernel) -> Basis:
        """Return the basis of some landmarks, in their order."""
        matrix = kernel(points.astype(np.float64), points.astype(np.float64))
        jitter = _JITTER * float(np.trace(matrix)) / len(matrix)
        matrix.flat[:: len(matrix) + 1] += jitter
        factor = linalg.cholesky(matrix, lower=True, overwrite_a=True)
        inverse = linalg.solve_triangular(factor, np.eye(len(factor)), lower=True)
        return cls(points, inverse, jitter)

    def __call__(self, X: Any, index: np.ndarray, kernel: Kernel) -> np.ndarray:
        """Evaluate some of the functions on rows, shape (n_rows, len(index))."""
        n = int(index.max(initial=-1)) + 1
        return kernel(X, self.points[:n].astype(np.float64)) @ self.inverse[index, :n].T


def random_pivots(
    X: Any, weight: np.ndarray, m: int, kernel: Kernel, rng: np.random.Generator
) -> np.ndarray:
    """Choose m landmarks by randomly pivoted Cholesky, and return their indices in order.

    A pivot is drawn in proportion to the weight of the row times what the landmarks so far leave of
    k(x, x) [1]_. Pivots are proposed many at a time, and rejected so that they have the same
    distribution as one by one [2]_. Fewer than m are returned if they leave nothing.

    References
    ----------
    .. [1] Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky:
       practical approximation of a kernel matrix with few entry evaluations", Communications on
       Pure and Applied Mathematics 78, 2025, Algorithm 1.
    .. [2] E. N. Epperly, J. A. Tropp and R. J. Webber, "Embrace rejection: kernel matrix
       approximation by accelerated randomly pivoted Cholesky", 2024, Algorithm 2.
    """
    n, X = X.shape[0], X.astype(np.float64)
    blocks = row_blocks(n, _TOGETHER)
    left = np.concatenate([kernel(X[b], X[b]).diagonal() for b in blocks])
    trace, m = float(weight @ left), min(m, n)
    F, pivots = np.empty((m, n)), np.empty(0, dtype=int)
    while len(pivots) < m and weight @ left > _NOTHING_LEFT * trace:
        chance = weight * left
        proposed = rng.choice(n, min(_TOGETHER, n), p=chance / chance.sum())  # [2], Alg. 2, line 4
        some = F[: len(pivots)]
        rest = kernel(X[proposed], X[proposed]) - some[:, proposed].T @ some[:, proposed]
        accepted = _accepted(rest, left[proposed], rng)[: m - len(pivots)]  # line 5
        new = proposed[accepted]
        factor = linalg.cholesky(rest[np.ix_(accepted, accepted)], lower=True)
        columns = kernel(X[new], X) - some[:, new].T @ some  # line 6
        found = linalg.solve_triangular(factor, columns, lower=True, overwrite_b=True)
        F[len(pivots) : len(pivots) + len(new)] = found
        left = np.maximum(left - (found**2).sum(axis=0), 0)  # line 8
        pivots = np.append(pivots, new)
        left[pivots] = 0
    return pivots


def _accepted(rest: np.ndarray, bound: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Accept proposals with the chance that what is left of them has after earlier ones.

    This is rejection sampling from the submatrix of the proposals ([2], Algorithm 3).
    """
    rest, accepted = rest.copy(), []
    for i, threshold in enumerate(rng.random(len(rest)) * bound):
        if rest[i, i] > max(threshold, 1e-10 * bound[i]):
            accepted.append(i)
            column = rest[:, i] / np.sqrt(rest[i, i])
            rest -= np.outer(column, column)
    return np.array(accepted, dtype=int)
