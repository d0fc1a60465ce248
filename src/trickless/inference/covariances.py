"""Products of centred features: unbiased estimates, and the directions that matter in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from trickless.arrays.threads import linear_algebra, map_blocks, row_blocks, worth_products

#: Columns of a product that a thread computes at a time.
_COLUMNS = 256
#: The most columns that are kept unchanged, unless there is time for more.
FEW = 128
#: The least number of principal directions to keep.
_LEAST = 16
#: The share by which a sketch may increase the sum of the squares of the covariance matrix.
_RAISED = 0.02


def add_product(total: np.ndarray, left: np.ndarray, right: np.ndarray, n_jobs: Any) -> None:
    """Add the product leftᵀ right, in tiles that do not depend on the number of threads."""

    def tile(columns: slice) -> None:
        total[columns] += left[:, columns].T @ right

    jobs = worth_products(n_jobs, left.size * right.shape[1])
    map_blocks(tile, row_blocks(left.shape[1], _COLUMNS), jobs)


def row_squares(Z: np.ndarray) -> np.ndarray:
    """Compute the squared norm of each row."""
    return np.einsum("ij,ij->i", Z, Z)


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


def eigenvalues(covariance: np.ndarray) -> np.ndarray:
    """Compute the eigenvalues of a covariance matrix, none below 0."""
    with linear_algebra(1):  # so that the last digits do not depend on threads
        return np.maximum(scipy.linalg.eigvalsh(covariance, check_finite=False), 0)


def directions(covariance: np.ndarray, few: int, rng: np.random.Generator) -> np.ndarray | None:
    """Find directions W (n_columns, n_fewer) so that Z W keeps nearly the inner products of Z.

    None if Z has few columns. The ``covariance`` of Z may be multiplied by any number.
    """
    n_columns = len(covariance)
    if n_columns <= few:
        return None
    largest = (n_columns - few // 2, n_columns - 1)
    with linear_algebra(1):
        values, vectors = scipy.linalg.eigh(
            covariance, subset_by_index=largest, driver="evr", check_finite=False
        )
    values = np.maximum(values[::-1], 0)
    square = float(np.vdot(covariance, covariance))
    return sketched(values, vectors[:, ::-1], float(np.trace(covariance)), square, rng)


def sketched(
    values: np.ndarray, vectors: np.ndarray, total: float, square: float, rng: np.random.Generator
) -> np.ndarray:
    """Keep k principal directions, and draw k random combinations of all others.

    Inner products keep their expectation, and no direction is lost. The number k is the first of
    16, 32, 64, ... for which the random combinations add little noise. ``values`` are the largest
    eigenvalues in descending order, ``total`` is the sum of all, and ``square`` of their squares.
    """
    left, k = total - np.cumsum(values), min(_LEAST, len(values))
    while left[k - 1] ** 2 / k > _RAISED * square and k < len(values):
        k = min(2 * k, len(values))
    kept = vectors[:, :k]
    G = rng.standard_normal(kept.shape) / np.sqrt(k)
    return np.hstack([kept, G - kept @ (kept.T @ G)])
