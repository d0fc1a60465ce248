"""Learners of f = Σ αᵢ k(xᵢ, ·) with a kernel in closed form, and what they share.

The kernel and its rules, sums over support points, and rows of a kernel matrix within a budget of
memory. Kernel values are worked out in blocks of at most 256 rows and 16 MiB (but one row at
least), a block a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import sklearn
from scipy.sparse import issparse
from sklearn.base import is_regressor
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.threads import map_blocks, row_blocks
from trickless.checks.kernels import (
    check_diagonal,
    check_kernel_function,
    check_kernel_params,
    check_kernel_values,
)
from trickless.learners.old_base import Learner
from trickless.neurons.histograms import check_non_negative
from trickless.rules import anything, either, is_none, positive
from trickless.solvers.losses import Loss, make_loss

#: The most rows of kernel values, and bytes of them, that are worked out at once.
BLOCK_ROWS, BLOCK_BYTES = 256, 2**24
#: Kernels of rows that hold no negative number.
_OF_HISTOGRAMS = "chi2", "additive_chi2"
#: Rows whose k(x, x) are taken from one square of the kernel matrix.
_SQUARE = 16


def rows_at_once(n_columns: int) -> int:
    """How many rows of so many kernel values make a block."""
    return max(1, min(BLOCK_ROWS, BLOCK_BYTES // (8 * max(1, n_columns))))


class Expanded(Learner):
    """A learner of f = Σ αᵢ k(xᵢ, ·), which keeps its support points.

    Subclasses set ``_support``, rows that grow, and implement ``_alpha``, the coefficients that
    predict, shape (t, n_outputs).
    """

    _support: Any
    _alpha: Callable[[], np.ndarray]

    @property
    def support_vectors_(self) -> Any:
        """Support points, shape (t, n_features)."""
        check_is_fitted(self)
        return self._support.rows

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients that predict, shape (t, n_outputs)."""
        check_is_fitted(self)
        return self._alpha()


#: Names of scikit-learn's kernels.
KERNELS = (
    "additive_chi2",
    "chi2",
    "cosine",
    "laplacian",
    "linear",
    "poly",
    "polynomial",
    "rbf",
    "sigmoid",
)


class KernelLearner(Expanded):
    """A learner of an expansion in a kernel that can be evaluated."""

    _fixed = ("kernel", "kernel_params", *Learner._fixed)

    kernel: Any
    kernel_params: dict[str, Any] | None

    _rules = Learner._rules | {
        "kernel": anything(
            f"a callable or one of {', '.join(KERNELS)}",
            "kernel='rbf' is the Gaussian kernel",
            lambda v: callable(v) or (isinstance(v, str) and v in KERNELS),
        ),
        "kernel_params": either(
            anything("a dictionary", "kernel_params={'gamma': 0.5}", lambda v: isinstance(v, dict)),
            anything("None", "", is_none),
        ),
    }

    def _check_kind(self, X: Any) -> None:
        """Refuse rows and parameters that the kernel cannot take, before any row meets it."""
        if isinstance(self.kernel, str) and self.kernel in _OF_HISTOGRAMS:
            check_non_negative(type(self).__name__, float(X.min()))
        if not isinstance(self.kernel, str) and not issparse(X):
            check_kernel_function(type(self).__name__, self.kernel, self.kernel_params or {}, X)
        if isinstance(self.kernel, str) and self.kernel_params is not None:
            function = sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS[self.kernel]
            known = list(signature(function).parameters)[2:]
            check_kernel_params(type(self).__name__, self.kernel, self.kernel_params, known)

    def _in_precision(self, X: Any) -> Any:
        X = super()._in_precision(X)
        wide = issparse(X) and X.indices.dtype != np.int32
        if wide and max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:  # some kernels take no others
            indices = [part.astype(np.int32) for part in (X.indices, X.indptr)]
            X = type(X)((X.data, *indices), shape=X.shape)
        return X

    def _kernel(self, X: Any, Y: Any) -> np.ndarray:
        """k(x, x') for every row x of X and x' of Y."""
        begun = self._begun_with  # a model keeps the kernel that it was begun with
        params = begun["kernel_params"] or {}
        with np.errstate(all="ignore"):  # what overflows or is not a number is refused below
            K = sklearn.metrics.pairwise.pairwise_kernels(X, Y, metric=begun["kernel"], **params)
        check_kernel_values(type(self).__name__, K)
        return K

    def _diagonal(self, X: Any) -> np.ndarray:
        """k(x, x) of each row."""
        squares = [self._kernel(X[rows], X[rows]) for rows in row_blocks(X.shape[0], _SQUARE)]
        diagonal = np.concatenate([np.diag(square) for square in squares])
        check_diagonal(type(self).__name__, diagonal)
        return diagonal

    def _matrix(self, X: Any, Y: Any) -> np.ndarray:
        """The kernel as ``_kernel`` has it, a block of rows a thread."""
        if 0 in (X.shape[0], Y.shape[0]):
            return np.zeros((X.shape[0], Y.shape[0]))
        blocks = row_blocks(X.shape[0], _SQUARE * 4)
        return np.concatenate(map_blocks(lambda r: self._kernel(X[r], Y), blocks, self.n_jobs))

    def _sum(self, X: Any, alpha: np.ndarray) -> np.ndarray:
        """Σᵢ αᵢ k(xᵢ, x) for each row."""
        if len(self._support) == 0:
            return np.zeros((X.shape[0], alpha.shape[1]))
        support = self._support.rows

        def some(rows: slice) -> np.ndarray:
            return self._kernel(X[rows], support) @ alpha

        blocks = row_blocks(X.shape[0], rows_at_once(support.shape[0]))
        return np.concatenate(map_blocks(some, blocks, self.n_jobs))

    def _values(self, X: Any) -> np.ndarray:
        return self._sum(X, self._alpha())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel in ("rbf", "linear", "poly", "sigmoid", "cosine")
        return tags


class RegularisedLoss(KernelLearner):
    """A learner that minimises (alpha/2) ‖f‖² + mean loss, of targets less their mean."""

    _fixed = ("loss", "epsilon", *KernelLearner._fixed)

    loss: str
    epsilon: float = 0.0
    alpha: float

    _rules: ClassVar = KernelLearner._rules | {
        "alpha": positive("alpha=1e-3 regularises as an SVM with C = 1 does for 1,000 rows"),
    }

    def _loss(self, n_outputs: int) -> Loss:
        # Before fit there are only the parameters; after it, what the model was begun with counts.
        begun = getattr(self, "_begun_with", {"loss": self.loss, "epsilon": self.epsilon})
        return make_loss(begun["loss"], n_outputs, begun["epsilon"])

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """A regressor starts from the mean of the first targets, a classifier from 0."""
        mean = np.average(targets, axis=0, weights=weight)
        self.intercept_ = mean if is_regressor(self) else np.zeros(targets.shape[1])

    def _values(self, X: Any) -> np.ndarray:
        return super()._values(X) + self.intercept_


class KernelRows:
    """Rows of the kernel matrix of a learner's rows, some of them kept in memory.

    The first rows that are asked for are kept, since every pass asks for all of them alike. What
    does not fit is worked out again when needed, with the same values but for rounding.

    Parameters
    ----------
    learner : KernelLearner
        Whose kernel it is.
    X : array or CSR matrix of shape (n_rows, n_features)
    cache_bytes : int
        How many bytes of kernel values may be kept.
    """

    def __init__(self, learner: KernelLearner, X: Any, cache_bytes: int) -> None:
        n = X.shape[0]
        self._learner, self._X = learner, X
        self._kept = np.empty((min(n, cache_bytes // (8 * n)), n))
        self._n_kept = 0
        self._place = np.full(n, -1)

    def __getitem__(self, index: np.ndarray) -> np.ndarray:
        """Rows of the matrix, shape (len(index), n_rows)."""
        place = self._place[index]
        known = place >= 0
        if known.all():
            return self._kept[place]
        rows = np.empty((len(index), self._X.shape[0]))
        rows[known] = self._kept[place[known]]
        rows[~known] = self._learner._matrix(self._X[index[~known]], self._X)
        room = len(self._kept) - self._n_kept
        new = np.flatnonzero(~known)
        new = new[np.unique(index[new], return_index=True)[1]][:room]
        places = self._n_kept + np.arange(len(new))
        self._kept[places], self._place[index[new]] = rows[new], places
        self._n_kept += len(new)
        return rows
