"""Features with fewer columns that have nearly the same inner products."""

from __future__ import annotations

import numpy as np

from trickless.inference.covariances import principal, squared_norm

#: The most columns that are kept unchanged.
_FEW = 128
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
