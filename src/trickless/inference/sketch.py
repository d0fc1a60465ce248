"""Features with fewer columns that have nearly the same inner products."""

from __future__ import annotations

import numpy as np

from trickless.inference.covariances import principal, squared_norm

#: The most columns that are kept unchanged.
FEW = 128
#: Numbers of principal directions to keep. The first that adds little noise is used.
_PRINCIPAL = 16, 32, 64
#: The share by which a sketch may increase the sum of the squares of the covariance matrix.
_RAISED = 0.02


def directions(covariance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Find directions W (n_columns, n_fewer) so that Z W keeps nearly the inner products of Z.

    The k principal directions of the features are kept, and a random matrix maps the rest of the
    features to k columns. Inner products therefore keep their expectation, and no direction is
    lost. The number k is the first of 16, 32 and 64 for which the random matrix adds little noise.
    The ``covariance`` of the features may be multiplied by any number.
    """
    n_columns = len(covariance)
    if n_columns <= FEW:
        return np.eye(n_columns)
    values, vectors = principal(covariance, _PRINCIPAL[-1])
    total = np.trace(covariance)
    k, left = n_principal(values, total, squared_norm(covariance))
    kept = vectors[:, :k]
    if left <= n_columns * np.finfo(float).eps * total:
        return kept
    return np.hstack([kept, others(kept, rng)])


def n_principal(values: np.ndarray, total: float, square: float) -> tuple[int, float]:
    """Choose how many principal directions to keep, and return the variance that is left.

    ``values`` are the largest eigenvalues, in descending order. ``total`` is the sum of all
    eigenvalues, and ``square`` the sum of their squares.
    """
    left = total - np.concatenate([[0.0], np.cumsum(values)])
    k = next((k for k in _few(values) if left[k] ** 2 / k <= _RAISED * square), _few(values)[-1])
    return k, float(left[k])


def _few(values: np.ndarray) -> list[int]:
    """Return numbers of directions, of which there may be fewer."""
    return [min(k, len(values)) for k in _PRINCIPAL]


def others(kept: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw as many random combinations of the directions that are orthogonal to the kept ones."""
    G = rng.standard_normal(kept.shape) / np.sqrt(kept.shape[1])
    found: np.ndarray = G - kept @ (kept.T @ G)
    return found
