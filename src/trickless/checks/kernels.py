"""Checks of kernels: their parameters, their values and estimates of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator


def check_diagonal(owner: str, diagonal: np.ndarray) -> None:
    """No k(x, x) may be negative: it is a squared norm."""
    if diagonal.min() < 0:
        row = int(diagonal.argmin())
        raise ValueError(
            f"{owner}: the kernel gives k(x, x) = {diagonal[row]:g} for row {row}, but it is the "
            "squared norm of a feature vector, which cannot be negative. Remedy: a positive "
            "semi-definite kernel, or other kernel_params."
        )


def check_kernel_values(owner: str, values: np.ndarray) -> None:
    """Values of a kernel must be finite."""
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise ValueError(
            f"{owner}: the kernel gives k(x, x') = {values[i, j]} for two rows that are finite, "
            "but its values must be finite. Remedy: scale X (StandardScaler), another kernel, or "
            "other kernel_params."
        )


def check_kernel_function(owner: str, kernel: Any, params: Mapping[str, Any], X: Any) -> None:
    """A kernel that is a function must give a number for two rows; tried on two."""
    if isinstance(kernel, BaseEstimator):
        raise TypeError(
            f"{owner}: kernel={kernel!r} is a family of neurons, and not its kernel. Remedy: "
            "ShrinkingGradient learns from its neurons; or name the kernel, such as kernel='rbf' "
            "with kernel_params={'gamma': 0.5}."
        )
    try:
        with np.errstate(all="ignore"):
            sklearn.metrics.pairwise.pairwise_kernels(X[:2], X[:2], metric=kernel, **params)
    except (TypeError, ValueError) as error:
        cause = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"{owner}: kernel={getattr(kernel, '__name__', kernel)} must be a function of two rows "
            f"that returns a number, but for two 1-d arrays of {X.shape[1]} numbers it gave "
            f"{type(error).__name__}: {cause}. Remedy: write it for two rows; scikit-learn's "
            "functions of matrices go by name, as kernel='rbf'."
        ) from error


def check_kernel_params(owner: str, kernel: str, params: Mapping[str, Any], known: list) -> None:
    """A kernel's parameters must be among those that it has."""
    unknown = [name for name in params if name not in known]
    if unknown:
        raise ValueError(
            f"{owner}: kernel_params={dict(params)!r}, but kernel={kernel!r} has no parameter "
            f"{unknown[0]!r}. Remedy: it takes {', '.join(known) or 'none'}."
        )


def check_positive_semidefinite(owner: str, squares: np.ndarray, scale: np.ndarray) -> None:
    """No ‖f‖² of an output may be negative, up to rounding of the terms that it is summed from."""
    if (squares < -1e-6 * scale).any():
        raise ValueError(
            f"{owner}: the kernel gives a function of squared norm {squares.min():g}, so it is not "
            "positive semi-definite, and there is no optimum to approach. Remedy: another kernel "
            "(the 'sigmoid' kernel is one that is not), or other kernel_params."
        )
