"""Kernels in closed form: their values, and sums over support points.

Kernel values are in double precision, whatever the precision of rows, as in exported models. They
are computed in blocks of at most 256 rows and 16 MiB, but at least one row, and each block runs on
one thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn

from trickless._arrays.distances import squared_distances
from trickless._arrays.stated import Stated
from trickless._arrays.threads import map_blocks, row_blocks
from trickless._errors import InvalidValueError

#: The most rows of kernel values, and the most bytes, that are computed at once.
BLOCK_ROWS, BLOCK_BYTES = 256, 2**24
#: Rows whose k(x, x) come from one square of the kernel matrix, and rows of a block of the matrix.
_SQUARE, _ROWS_OF_MATRIX = 16, 64


def rows_at_once(n_columns: int) -> int:
    """Return the number of rows in a block, for ``n_columns`` kernel values in each row."""
    return max(1, min(BLOCK_ROWS, BLOCK_BYTES // (8 * max(1, n_columns))))


@dataclass(eq=False)
class ExactKernel(Stated):
    """A kernel in closed form: one of scikit-learn's by name."""

    metric: str
    params: dict[str, Any] | None = None
    owner: str = "ExactKernel"
    n_jobs: int | None = None

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        """Compute k(x, x') for every row x of X and x' of Y, in one block."""
        with np.errstate(all="ignore"):  # values that are not finite raise an error below
            K = self._values(X, Y)
        check_kernel_values(self.owner, K)
        return K

    def _values(self, X: Any, Y: Any) -> np.ndarray:
        params = self.params or {}
        X, Y = (rows.astype(np.float64, copy=False) for rows in (X, Y))
        if self.metric == "rbf":  # scikit-learn's distances lose digits far from 0
            gamma = params.get("gamma")
            return np.exp(-(1 / X.shape[1] if gamma is None else gamma) * squared_distances(X, Y))
        values: np.ndarray = sklearn.metrics.pairwise.pairwise_kernels(
            X, Y, metric=self.metric, **params
        )
        return values

    def matrix(self, X: Any, Y: Any) -> np.ndarray:
        """Compute k(x, x') for every row x of X and x' of Y, a block of rows on each thread."""
        if 0 in (X.shape[0], Y.shape[0]):
            return np.zeros((X.shape[0], Y.shape[0]))
        blocks = row_blocks(X.shape[0], _ROWS_OF_MATRIX)
        return np.concatenate(map_blocks(lambda rows: self(X[rows], Y), blocks, self.n_jobs))

    def diagonal(self, X: Any) -> np.ndarray:
        squares = [self(X[rows], X[rows]) for rows in row_blocks(X.shape[0], _SQUARE)]
        diagonal = np.concatenate([np.diag(square) for square in squares])
        if diagonal.min() < 0:
            row = int(diagonal.argmin())
            raise InvalidValueError(
                f"{self.owner}: the kernel gives k(x, x) = {diagonal[row]:g} for row {row}, but "
                "k(x, x) is a squared norm, which cannot be negative",
                "a positive semi-definite kernel, or other kernel_params",
            )
        return diagonal

    def sums(self, X: Any, support: Any, alpha: np.ndarray) -> np.ndarray:
        """Sum Σᵢ αᵢ k(xᵢ, x) over support points, for each row x: (n_rows, n_outputs)."""
        if support.shape[0] == 0:
            return np.zeros((X.shape[0], alpha.shape[1]))
        blocks = row_blocks(X.shape[0], rows_at_once(support.shape[0]))
        sums = map_blocks(lambda rows: self(X[rows], support) @ alpha, blocks, self.n_jobs)
        return np.concatenate(sums)


def check_kernel_values(owner: str, values: np.ndarray) -> None:
    """Check that the values of a kernel are finite."""
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise InvalidValueError(
            f"{owner}: the kernel gives k(x, x') = {values[i, j]} for two finite rows, but its "
            "values must be finite",
            "scale X (StandardScaler), or choose another kernel or other kernel_params",
        )
