"""Products of centred features: unbiased estimates, and the directions that matter in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

#: The most columns that are kept unchanged, unless there is time for more.
FEW = 128
#: The least number of principal directions to keep.
_LEAST = 16
#: The share by which a sketch may increase the sum of the squares of the covariance matrix.
_RAISED = 0.02


def row_squares(Z: np.ndarray) -> np.ndarray:
    """Compute the squared norm of each row."""
    return np.einsum("ij,ij->i", Z, Z)


def unbiased(square: Any, a: np.ndarray, b: np.ndarray, ab: Any) -> Any:
    r"""Estimate HSIC without bias, from features x and y with mean 0.

    .. math:: \frac1{n (n - 3)} \Big( \big\| \sum_i x_i y_i^\top \big\|_F^2
        - \frac n{n - 2} \sum_i a_i b_i + \frac{\sum_i a_i \sum_i b_i}{(n - 1)(n - 2)} \Big),
        \qquad a_i = |x_i|^2, \; b_i = |y_i|^2

    This is the U-statistic of all quadruples of different rows, equation (4) of Song et al., the
    third reference of :func:`~trickless.inference.hsic_test`. If y is x, it estimates the sum of
    the squares of the covariance matrix. ``square`` is the squared norm of the product, and ``ab``
    the sum of a_i b_i; both may be arrays of several.
    """
    n = len(a)
    whole = square - n / (n - 2) * ab + a.sum() * b.sum() / ((n - 1) * (n - 2))
    return whole / (n * (n - 3))


def principal(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the eigenvalues of a covariance matrix, the largest first, and the eigenvectors."""
    values, vectors = scipy.linalg.eigh(covariance, driver="evd", check_finite=False)
    return np.maximum(values[::-1], 0), vectors[:, ::-1]


def sketched(
    values: np.ndarray, vectors: np.ndarray, few: int, rng: np.random.Generator
) -> np.ndarray:
    """Find at most ``few`` directions W of features Z so that Z W nearly has their inner products.

    Of principal directions, whose eigenvalues are ``values``, k are kept and k random combinations
    of all others are drawn. Inner products keep their expectation, and no direction is lost. The
    number k is the first of 16, 32, 64, ... for which the combinations add little noise.
    """
    most = few // 2
    left, k = values.sum() - np.cumsum(values), min(_LEAST, most)
    while left[k - 1] ** 2 / k > _RAISED * (values @ values) and k < most:
        k = min(2 * k, most)
    kept = vectors[:, :k]
    G = rng.standard_normal(kept.shape) / np.sqrt(k)
    return np.hstack([kept, G - kept @ (kept.T @ G)])
