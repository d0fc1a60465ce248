"""Kernels in closed form: their values, sums over support points, and rows kept in memory.

Kernel values are computed in blocks of at most 256 rows and 16 MiB, but at least one row, and each
block runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sklearn
from scipy.sparse import issparse

from trickless.arrays.distances import squared_distances
from trickless.arrays.threads import map_blocks, row_blocks
from trickless.errors import InvalidValueError

#: The most rows of kernel values, and the most bytes, that are computed at once.
BLOCK_ROWS, BLOCK_BYTES = 256, 2**24
#: Rows whose k(x, x) come from one square of the kernel matrix, and rows of a block of the matrix.
_SQUARE, _ROWS_OF_MATRIX = 16, 64


def rows_at_once(n_columns: int) -> int:
    """Return the number of rows in a block, for ``n_columns`` kernel values in each row."""
    return max(1, min(BLOCK_ROWS, BLOCK_BYTES // (8 * max(1, n_columns))))


class ExactKernel:
    """A kernel in closed form: one of scikit-learn's by name, or a function of two rows.

    With the metric "precomputed", a row holds its kernel values with all training rows, and then
    its own number among them, or -1.
    """

    def __init__(
        self,
        metric: str | Callable[..., float],
        params: dict[str, Any] | None = None,
        owner: str = "ExactKernel",
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.params = params
        self.owner = owner
        self.n_jobs = n_jobs

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        """Compute k(x, x') for every row x of X and x' of Y, in one block."""
        with np.errstate(all="ignore"):  # values that are not finite raise an error below
            K = self._values(X, Y)
        check_kernel_values(self.owner, K)
        return K

    def _values(self, X: Any, Y: Any) -> np.ndarray:
        params = self.params or {}
        if self.metric == "rbf":  # scikit-learn's distances lose digits far from 0
            gamma = params.get("gamma")
            return np.exp(-(1 / X.shape[1] if gamma is None else gamma) * squared_distances(X, Y))
        if self.metric == "precomputed":
            numbers = row_numbers(f"{self.owner}: support points", Y)
            return X[:, numbers].astype(np.float64, copy=False)
        function = partial(sklearn.metrics.pairwise.pairwise_kernels, metric=self.metric, **params)
        if not callable(self.metric):
            return function(X, Y)
        return np.block([[function(x, y) for y in _dense(Y)] for x in _dense(X)])

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


def row_numbers(name: str, rows: np.ndarray) -> np.ndarray:
    """Return the numbers of training rows, which follow their precomputed kernel values."""
    values = rows[:, -1]
    if not ((values >= 0) & (values < rows.shape[1] - 1) & (values % 1 == 0)).all():
        raise InvalidValueError(
            f"{name} are not numbered as training rows",
            "pass the kernel values of training rows to fit, which numbers them",
        )
    return values.astype(np.int64)


def _dense(X: Any) -> Iterator[np.ndarray]:
    """Yield rows as dense arrays for a function of two rows, blocks of sparse rows at a time."""
    if not issparse(X):
        yield X
        return
    for rows in row_blocks(X.shape[0], max(1, BLOCK_BYTES // (8 * max(1, X.shape[1])))):
        yield X[rows].toarray()


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


class KernelRows:
    """Rows of a kernel matrix, of which as many are kept as a budget of memory allows.

    The first rows that are used are kept, because every pass uses all rows equally. The others are
    recomputed when needed, with the same values except for rounding.
    """

    def __init__(self, kernel: ExactKernel, X: Any, cache_bytes: int) -> None:
        n = X.shape[0]
        self._kernel, self._X = kernel, X
        self._kept = np.empty((min(n, cache_bytes // (8 * n)), n))
        self._n_kept = 0
        self._slot = np.full(n, -1)

    def __getitem__(self, index: np.ndarray) -> np.ndarray:
        """Return rows of the matrix, shape (len(index), n_rows)."""
        slot = self._slot[index]
        known = slot >= 0
        if known.all():
            return self._kept[slot]
        rows = np.empty((len(index), self._X.shape[0]))
        rows[known] = self._kept[slot[known]]
        rows[~known] = self._kernel.matrix(self._X[index[~known]], self._X)
        room = len(self._kept) - self._n_kept
        new = np.flatnonzero(~known)
        new = new[np.unique(index[new], return_index=True)[1]][:room]
        slots = self._n_kept + np.arange(len(new))
        self._kept[slots], self._slot[index[new]] = rows[new], slots
        self._n_kept += len(new)
        return rows
