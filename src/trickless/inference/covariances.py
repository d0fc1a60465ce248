"""Products of centred features, and unbiased estimates from their sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from trickless.arrays.threads import linear_algebra, map_blocks, row_blocks, worth_products

#: Columns of a product that a thread computes at a time.
_COLUMNS = 256


def add_product(total: np.ndarray, left: np.ndarray, right: np.ndarray, n_jobs: Any) -> None:
    """Add the product leftᵀ right, in tiles that do not depend on the number of threads."""

    def tile(columns: slice) -> None:
        total[columns] += left[:, columns].T @ right

    jobs = worth_products(n_jobs, left.size * right.shape[1])
    map_blocks(tile, row_blocks(left.shape[1], _COLUMNS), jobs)


def row_squares(Z: np.ndarray) -> np.ndarray:
    """Compute the squared norm of each row."""
    return np.einsum("ij,ij->i", Z, Z)


def squared_norm(matrix: np.ndarray) -> float:
    """Compute the squared Frobenius norm."""
    return float(np.vdot(matrix, matrix))


def unbiased(square: Any, a: np.ndarray, b: np.ndarray, ab: Any) -> Any:
    r"""Estimate HSIC without bias [1]_, from features x and y with mean 0.

    .. math:: \frac1{n (n - 3)} \Big( \big\| \sum_i x_i y_i^\top \big\|_F^2
        - \frac n{n - 2} \sum_i a_i b_i + \frac{\sum_i a_i \sum_i b_i}{(n - 1)(n - 2)} \Big),
        \qquad a_i = |x_i|^2, \; b_i = |y_i|^2

    This is the U-statistic of all quadruples of different rows. If y is x, it is an unbiased
    estimate of the sum of the squares of the covariance matrix. ``square`` is the squared norm of
    the product, and ``ab`` the sum of a_i b_i; both may be arrays of several.

    References
    ----------
    .. [1] L. Song, A. Smola, A. Gretton, J. Bedo and K. Borgwardt, "Feature selection via
       dependence maximization", JMLR 13, 2012, equation (4).
    """
    n = len(a)
    whole = square - n / (n - 2) * ab + a.sum() * b.sum() / ((n - 1) * (n - 2))
    return whole / (n * (n - 3))


def eigenvalues(matrix: np.ndarray) -> np.ndarray:
    """Compute the eigenvalues of a covariance matrix, none below 0."""
    with linear_algebra(1):  # so that the last digits do not depend on threads
        return np.maximum(scipy.linalg.eigvalsh(matrix, check_finite=False), 0)


def principal(matrix: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the n largest eigenvalues of a covariance matrix, and eigenvectors as columns."""
    size = len(matrix)
    with linear_algebra(1):
        values, vectors = scipy.linalg.eigh(
            matrix, subset_by_index=(size - n, size - 1), driver="evr", check_finite=False
        )
    return np.maximum(values[::-1], 0), vectors[:, ::-1]
