r"""Length scales of greatest evidence, under which the targets are the most likely.

The prior of f has the kernel :math:`s^2 K` with :math:`K_{il} = \exp(-\frac{1}{2} \sum_j a_j^2
(x_{ij} - x_{lj})^2)`, and rows have noise of the variance :math:`s^2 ρ / w_i`. With :math:`A = K +
ρ W^{-1}` and the best s of each of m outputs, the log marginal likelihood is up to a constant

.. math:: L = -\frac{n}{2} \sum_k \log(y_k^T A^{-1} y_k) - \frac{m}{2} \log |A|, \qquad
    dL = \operatorname{tr}(M \, dA), \quad
    M = \frac{n}{2} \sum_k \frac{α_k α_k^T}{y_k^T α_k} - \frac{m}{2} A^{-1}, \quad
    α_k = A^{-1} y_k

To this a prior of the length scales is added. Without it, a few columns of noise among many would
get short length scales by chance.

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press
   2006, Equations 5.8 and 5.9.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.linalg import blas, lapack

#: The most iterations, and the limits of ρ and of standard deviations over length scales.
_ITERATIONS, _NOISE, _WEIGHTS = 60, (1e-8, 1e3), (1e-3, 1e1)
#: The ρ from which to start, and the standard deviation of the logarithms of length scales.
_START, PRIOR = 0.1, 1.0


def weights_of_greatest_evidence(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray | None,
    start: np.ndarray,
    prior: float = PRIOR,
) -> np.ndarray:
    """Return the most likely inverse length scales (n_features,), which are near a start.

    X are rows in units of standard deviations, and Y (n_rows, n_outputs) targets that vary. The
    ``prior`` is the standard deviation of the logarithms of length scales around the start.
    """
    count = np.ones(len(X)) if weight is None else weight / weight.mean()
    X, Y, count = X[count > 0], Y[count > 0], count[count > 0]
    Y = Y - np.average(Y, axis=0, weights=count)
    Y = Y / np.abs(Y).max(axis=0)  # so that no square overflows; L does not depend on units
    bounds = [np.log(_WEIGHTS)] * X.shape[1] + [np.log(_NOISE)]
    begin = np.clip(np.log([*start, _START]), *np.transpose(bounds))
    precision = np.append(np.full(X.shape[1], Y.shape[1] / prior**2), 0.0)

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = log_evidence(X, Y, count, np.exp(at[:-1]), np.exp(at[-1]))
        away = precision * (at - begin)
        return away @ (at - begin) / 2 - value, away - slopes

    options = {"maxiter": _ITERATIONS}
    found = optimize.minimize(
        loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.exp(found.x[:-1])


def log_evidence(
    X: np.ndarray, Y: np.ndarray, count: np.ndarray, weights: np.ndarray, noise: float
) -> tuple[float, np.ndarray]:
    """Return L, and its slopes in the logarithms of the inverse length scales and of ρ."""
    n_rows, n_outputs = Y.shape
    Z = X * weights
    squares = np.einsum("ij,ij->i", Z, Z)
    K = np.exp(np.minimum(Z @ Z.T - (squares[:, None] + squares) / 2, 0.0))
    A = K.copy()
    A.flat[:: n_rows + 1] += noise / count
    factor, failed = lapack.dpotrf(A, lower=1)
    if failed:
        return -np.inf, np.zeros(len(weights) + 1)
    inverse, _ = lapack.dpotri(factor, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    alpha = inverse @ Y
    energy = np.maximum(np.einsum("ik,ik->k", Y, alpha), np.finfo(float).tiny)
    M = blas.dgemm(n_rows / 2, alpha / energy, alpha, trans_b=1) - n_outputs / 2 * inverse
    by_kernel = M * K
    through = by_kernel @ Z
    slopes = 2 * (np.einsum("ij,ij->j", Z, through) - by_kernel.sum(axis=1) @ Z**2)
    value = -n_rows / 2 * np.log(energy).sum() - n_outputs * np.log(np.diag(factor)).sum()
    return float(value), np.append(slopes, noise * (np.diag(M) / count).sum())
