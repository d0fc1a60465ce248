"""Features with fewer columns, whose inner products are nearly those of the features."""

from __future__ import annotations

import numpy as np

from trickless.inference.covariances import principal, squared_norm

#: The most columns that are kept as they are.
_FEW = 128
#: How many principal directions are kept; the first that suits.
_PRINCIPAL = 16, 32, 64
#: By which share a sketch may raise the sum of the squares of the covariance matrix.
_RAISED = 0.02


def directions(covariance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Directions W, shape (n_columns, n_fewer), such that Z W has nearly the inner products of Z.

    The k principal directions of the features are kept. What is left of them is mapped to k columns
    by a random matrix, so that inner products keep their expectation and no direction is lost. The
    number k is the first of 16, 32 and 64 with which that adds little noise.

    Parameters
    ----------
    covariance : array of shape (n_columns, n_columns)
        Of the features, times any number.
    rng : Generator
    """
    n_columns = len(covariance)
    if n_columns <= _FEW:
        return np.eye(n_columns)
    values, vectors = principal(covariance, _PRINCIPAL[-1])
    total = np.trace(covariance)
    left = total - np.concatenate([[0.0], np.cumsum(values)])
    limit = _RAISED * squared_norm(covariance)
    k = next((k for k in _PRINCIPAL if left[k] ** 2 / k <= limit), _PRINCIPAL[-1])
    kept = vectors[:, :k]
    if left[k] <= n_columns * np.finfo(float).eps * total:
        return kept
    G = rng.standard_normal((n_columns, k)) / np.sqrt(k)
    return np.hstack([kept, G - kept @ (kept.T @ G)])
