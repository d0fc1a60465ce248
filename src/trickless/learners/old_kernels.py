"""Learners of f = Σ αᵢ k(xᵢ, ·) on the old base, which goes when Kernel Gradient leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trickless.functions.exact_kernel import ExactKernel
from trickless.learners import kernel_learner
from trickless.learners.kernel_learner import RowsOfKernel
from trickless.learners.old_base import Learner


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


class KernelLearner(Expanded):
    """A learner of an expansion in a kernel that can be evaluated."""

    kernel: Any
    kernel_params: dict[str, Any] | None

    _fixed = ("kernel", "kernel_params", *Learner._fixed)
    _rules = kernel_learner.KernelLearner._rules

    def _check_kind(self, X: Any) -> None:
        RowsOfKernel(self.kernel, self.kernel_params).check(type(self).__name__, X)

    def _in_precision(self, X: Any) -> Any:
        return RowsOfKernel(self.kernel, self.kernel_params).converted(super()._in_precision(X))

    def _exact(self) -> ExactKernel:
        metric, params = self._begun_with["kernel"], self._begun_with["kernel_params"]
        return ExactKernel(metric, params, type(self).__name__, self.n_jobs)

    def _kernel(self, X: Any, Y: Any) -> np.ndarray:
        return self._exact()(X, Y)

    def _diagonal(self, X: Any) -> np.ndarray:
        return self._exact().diagonal(X)

    def _matrix(self, X: Any, Y: Any) -> np.ndarray:
        return self._exact().matrix(X, Y)

    def _sum(self, X: Any, alpha: np.ndarray) -> np.ndarray:
        if len(self._support) == 0:
            return np.zeros((X.shape[0], alpha.shape[1]))
        return self._exact().sums(X, self._support.rows, alpha)

    def _values(self, X: Any) -> np.ndarray:
        return self._sum(X, self._alpha())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel in ("rbf", "linear", "poly", "sigmoid", "cosine")
        return tags
