"""Learners of f = Σ αᵢ k(xᵢ, ·) with a kernel in closed form: their rows, and what they predict."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import sklearn
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from trickless.arrays.stated import check_array, check_is, check_same
from trickless.arrays.states import in_one_state
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.functions.exact_kernel import ExactKernel, row_numbers
from trickless.intake.kinds import Matrix
from trickless.learners.base import Learner
from trickless.neurons.histograms import check_non_negative
from trickless.neurons.layouts import Grids, Layout
from trickless.rules import NONE, anything, check_value, either, positive

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
#: Kernels of rows that hold no negative number, and kernels that take sparse rows.
_OF_HISTOGRAMS = "chi2", "additive_chi2"
_OF_SPARSE = "rbf", "linear", "poly", "sigmoid", "cosine"

#: Rows hold kernel values; and how far they may be from symmetric, as a share of the largest.
PRECOMPUTED, _ASYMMETRY = "precomputed", 1e-4
#: What a kernel and its parameters must be.
_KERNEL = {
    "kernel": anything(
        f"a callable, 'precomputed' or one of {', '.join(KERNELS)}",
        "kernel='rbf' is the Gaussian kernel",
        lambda v: callable(v) or (isinstance(v, str) and v in (*KERNELS, PRECOMPUTED)),
    ),
    "kernel_params": either(
        anything("a dictionary", "kernel_params={'gamma': 0.5}", lambda v: isinstance(v, dict)),
        NONE,
    ),
}

#: What the regularisation strength of a solver must be.
ALPHA = positive("alpha=1e-3 regularises as an SVM with C = 1 does for 1,000 rows")


class RowsOfKernel(Matrix):
    """Rows that a kernel with these parameters takes."""

    plain = False

    def __init__(self, kernel: Any, params: dict[str, Any] | None) -> None:
        self.kernel = kernel
        self.params = params
        self.layout = Layout() if self._are_values else Grids()

    def check_state(self) -> None:
        super().check_state()
        for name, value in (("kernel", self.kernel), ("kernel_params", self.params)):
            check_value("RowsOfKernel", name, value, _KERNEL[name])

    def check(self, owner: str, X: Any) -> None:
        """Raise an error for rows and parameters that the kernel cannot take."""
        if not isinstance(self.kernel, str):
            self._try_function(owner, X[:2].toarray() if issparse(X) else X[:2])
            return
        known: list[str] = []
        if self.kernel in _OF_HISTOGRAMS:
            check_non_negative(owner, float(X.min()))
        if self.params is not None:
            if self.kernel != PRECOMPUTED:
                function = sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS[self.kernel]
                known = list(signature(function).parameters)[2:]
            self._check_params(owner, known)

    def check_stored(self, name: str, X: Any, n_rows: int | None, n_features: int) -> None:
        """Check that rows of a state are rows, or kernel values with the numbers of their rows."""
        if not self._are_values:
            super().check_stored(name, X, n_rows, n_features)
            return
        check_array(name, X, "f4 f8", (n_rows, n_features + 1))
        row_numbers(name, X)

    @property
    def _are_values(self) -> bool:
        """Whether rows hold kernel values."""
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    def check_later(self, owner: str) -> None:
        """Raise an error for a later batch of kernel values, which lacks those of earlier rows."""
        if self._are_values:
            raise InvalidValueError(
                f"{owner}: kernel='precomputed' needs all kernel values at once, so no batch can "
                "follow another",
                "fit; or pass the rows, and the kernel as a function of two rows",
            )

    def points(self, owner: str, X: Any, first: bool) -> Any:
        """Kernel values of rows, with the number of the row behind them, or -1 for other rows."""
        if not self._are_values:
            return X
        X = X.toarray() if issparse(X) else X
        if first:
            _check_matrix(owner, X)
        numbers = np.arange(len(X)) if first else np.full(len(X), -1)
        return np.column_stack([X, numbers])

    def _try_function(self, owner: str, X: Any) -> None:
        """Check on two dense rows that a kernel function gives a number."""
        kernel, params = self.kernel, self.params or {}
        if isinstance(kernel, BaseEstimator):
            raise InvalidTypeError(
                f"{owner}: kernel={kernel!r} is a family of neurons, not a kernel",
                "ShrinkingGradient, which learns from neurons; or the name of a kernel, such as "
                "kernel='rbf' with kernel_params={'gamma': 0.5}",
            )
        try:
            with np.errstate(all="ignore"):
                sklearn.metrics.pairwise.pairwise_kernels(X, X, metric=kernel, **params)
        except (TypeError, ValueError) as error:
            cause = str(error).partition("\n")[0].rstrip(".")
            raise InvalidValueError(
                f"{owner}: kernel={getattr(kernel, '__name__', kernel)} must be a function of two "
                f"rows that returns a number, but for two 1-d arrays of {X.shape[1]} numbers it "
                f"gave {type(error).__name__}: {cause}",
                "write it for two rows; "
                "for scikit-learn's functions of matrices, pass the name, such as kernel='rbf'",
            ) from error

    def _check_params(self, owner: str, known: list[str]) -> None:
        """Raise an error for parameters that the kernel does not have."""
        assert self.params is not None
        unknown = [name for name in self.params if name not in known]
        if unknown:
            raise InvalidValueError(
                f"{owner}: kernel_params={self.params!r}, but kernel={self.kernel!r} has no "
                f"parameter {unknown[0]!r}",
                f"it takes {', '.join(known) or 'none'}",
            )


def _check_matrix(owner: str, K: np.ndarray) -> None:
    """Check that precomputed values are the kernel matrix of some rows."""
    remedy = "X = k(X_train, X_train) for fit, and k(X_new, X_train) for predict"
    if K.shape[0] != K.shape[1]:
        raise InvalidValueError(
            f"{owner}: X has the shape {K.shape}, but kernel='precomputed' needs the kernel matrix "
            "of the training rows, which is square",
            remedy,
        )
    far = np.abs(K - K.T)
    if far.max() > _ASYMMETRY * np.abs(K).max():
        i, j = np.unravel_index(far.argmax(), far.shape)
        raise InvalidValueError(
            f"{owner}: X is no kernel matrix, since X[{i}, {j}] = {K[i, j]:g} and X[{j}, {i}] = "
            f"{K[j, i]:g} differ",
            remedy,
        )


class KernelLearner(Learner):
    """A learner of f = Σ αᵢ k(xᵢ, ·) with a kernel in closed form.

    ``support_vectors_`` are the support points xᵢ, and ``dual_coef_`` their coefficients αᵢ.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of one of scikit-learn's kernels, or a function of two rows that returns a number.
        See :func:`sklearn.metrics.pairwise.pairwise_kernels`. Rows of more dimensions, such as
        images, are flattened for it. With "precomputed", X holds kernel values with the training
        rows: it is square in ``fit``.
    kernel_params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.5}``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows. The same integer gives the same model.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that are passed to the kernel.

    Attributes
    ----------
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points x_i: rows whose coefficients are not all 0.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients α_i.
    """

    kernel: Any
    kernel_params: dict[str, Any] | None

    _fixed = ("kernel", "kernel_params", *Learner._fixed)
    _rules = Learner._rules | _KERNEL

    @property
    @in_one_state
    def kernel_(self) -> ExactKernel:
        """The kernel that the model was begun with."""
        metric, params = self.fixed_["kernel"], self.fixed_["kernel_params"]
        return ExactKernel(metric, params, type(self).__name__, self.n_jobs)

    def check_state(self) -> None:
        super().check_state()
        if hasattr(self, "rows_"):
            kind: Any = self.rows_.kind
            check_is("kind of rows_", kind, RowsOfKernel)
            check_same("kernel of rows_", kind.kernel, self.fixed_["kernel"])
        if "dual_coef_" in vars(self):
            model: Any = self
            self._check_stored("support_vectors_", model.support_vectors_)
            shape = model.support_vectors_.shape[0], self.targets_.n_outputs
            check_array("dual_coef_", model.dual_coef_, "f4 f8", shape)
        if hasattr(self, "intercept_"):
            check_array("intercept_", self.intercept_, "f8", (self.targets_.n_outputs,))

    def _kind_of_rows(self) -> Matrix:
        return RowsOfKernel(self.fixed_["kernel"], self.fixed_["kernel_params"])

    def _function(self, X: Any) -> np.ndarray:
        model: Any = self  # a learner sets its support points, or works them out
        return self.kernel_.sums(X, model.support_vectors_, model.dual_coef_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = callable(self.kernel) or self.kernel in _OF_SPARSE
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        tags.input_tags.three_d_array = not tags.input_tags.pairwise
        return tags


def is_solved(learner: Learner) -> bool:
    """Return whether a learner has coefficients to predict with, which are found all at once."""
    return hasattr(learner, "dual_coef_")
