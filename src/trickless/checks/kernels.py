"""Checks of kernels: their bound, their values and estimates of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_kernel_bound(owner: str, diagonal: np.ndarray, bound: float) -> None:
    """Every k(x, x) must be at most the bound that the steps are sized for."""
    if bound <= 0:
        raise ValueError(
            f"{owner}: the kernel gives k(x, x) = 0 for every row of the first batch, but steps "
            "are sized for the largest, which must be positive. Remedy: another kernel, or other "
            "kernel_params."
        )
    if diagonal.max() > bound * (1 + 1e-6):
        row = int(diagonal.argmax())
        raise ValueError(
            f"{owner}: k(x, x) is {diagonal[row]:g} for row {row}, above the kernel_bound of "
            f"{bound:g} that the steps are sized for. Remedy: kernel_bound={diagonal[row]:.3g} "
            "from the start, or a kernel with k(x, x) = 1."
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


def check_estimates(values: Any, X: Any, Y: Any) -> np.ndarray:
    """A user's estimates of a kernel must be one finite number a pair."""
    values = np.asarray(values)
    wanted = X.shape[0], Y.shape[0]
    if values.shape != wanted:
        raise ValueError(
            f"estimate(X, Y, rng) returned an array of shape {values.shape} for {wanted[0]} rows "
            f"of X and {wanted[1]} of Y, but it must have the shape {wanted}. Remedy: one estimate "
            "of k(x, x') for every pair."
        )
    if not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
        raise TypeError(
            f"estimate(X, Y, rng) returned values of type {values.dtype}, but they must be real "
            "numbers. Remedy: return a float array."
        )
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise ValueError(
            f"estimate(X, Y, rng) returned {values[i, j]} for row {i} of X and row {j} of Y, but "
            "estimates must be finite. Remedy: repeat a measurement that fails."
        )
    return values
