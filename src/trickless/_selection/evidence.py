r"""Length scales of greatest evidence, under which the targets are the most likely.

The prior of f has the kernel :math:`s^2 K` with :math:`K_{il} = k\big(\sum_j a_j^2 (x_{ij} -
x_{lj})^2\big)`, and rows have noise of the variance :math:`s^2 ρ / w_i`. With :math:`A = K + ρ
W^{-1}` and the best s of each of m outputs, the log marginal likelihood is up to a constant

.. math:: L = -\frac{n}{2} \sum_k \log(y_k^T A^{-1} y_k) - \frac{m}{2} \log |A|, \qquad
    dL = \operatorname{tr}(M \, dA), \quad
    M = \frac{n}{2} \sum_k \frac{α_k α_k^T}{y_k^T α_k} - \frac{m}{2} A^{-1}, \quad
    α_k = A^{-1} y_k

To this a prior of the length scales may be added. Without it, a few columns of noise among many
would get short length scales by chance.

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press
   2006, Equations 5.8 and 5.9.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize
from scipy.linalg import blas, lapack

from trickless.neurons.isotropic import Isotropic

#: The most iterations, and the least relative gain of one, without a prior and with one.
_ITERATIONS, _GAIN, _ROUGH_GAIN = 60, 1e-7, 1e-5
#: Steps to which length scales are rounded, in each unit of their logarithms.
_STEPS = 64
#: The limits of ρ and of standard deviations over length scales.
_NOISE, _WEIGHTS = (1e-8, 1e3), (1e-5, 1e1)
#: The ρ from which to start, and the standard deviation of the logarithms of length scales.
_START, PRIOR = 0.01, 1.0


class MostLikely(NamedTuple):
    """Inverse length scales (n_features,), and the logarithm of the evidence plus the prior."""

    weights: np.ndarray
    value: float


def most_likely(
    family: Isotropic,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray | None,
    start: np.ndarray,
    prior: float = PRIOR,
    noise: float = _START,
) -> MostLikely:
    """Find the most likely inverse length scales, for the kernel of a family.

    X are rows in units of standard deviations, and Y (n_rows, n_outputs) targets that vary. The
    ``prior`` is the standard deviation of the logarithms of length scales around their mean, and
    infinite for none.
    """
    count = np.ones(len(X)) if weight is None else weight / weight.mean()
    X, Y, count = X[count > 0], Y[count > 0], count[count > 0]
    Y = Y - np.average(Y, axis=0, weights=count)
    Y = Y / np.abs(Y).max(axis=0)  # so that no square overflows; L does not depend on units
    bounds = [np.log(_WEIGHTS)] * X.shape[1] + [np.log(_NOISE)]
    begin = np.clip(np.log([*start, noise]), *np.transpose(bounds))
    precision = Y.shape[1] / prior**2

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = log_evidence(family, X, Y, count, np.exp(at[:-1]), np.exp(at[-1]))
        away = np.append(at[:-1] - at[:-1].mean(), 0.0)
        return precision * (away @ away) / 2 - value, precision * away - slopes

    options = {"maxiter": _ITERATIONS, "ftol": _GAIN if np.isinf(prior) else _ROUGH_GAIN}
    found = optimize.minimize(
        loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    # A climb amplifies rounding errors. Without them, models of any machine have the same neurons.
    weights = np.exp(np.round(found.x[:-1] * _STEPS) / _STEPS)
    return MostLikely(weights, -float(found.fun))


def log_evidence(
    family: Isotropic,
    X: np.ndarray,
    Y: np.ndarray,
    count: np.ndarray,
    weights: np.ndarray,
    noise: float,
) -> tuple[float, np.ndarray]:
    """Return L, and its slopes in the logarithms of the inverse length scales and of ρ."""
    n_rows, n_outputs = Y.shape
    Z = X * weights
    squares = np.einsum("ij,ij->i", Z, Z)
    square = np.maximum(squares[:, None] + squares - 2 * (Z @ Z.T), 0.0)
    square.flat[:: n_rows + 1] = 0.0  # without rounding, as some kernels have a kink there
    A = family.profile(square)
    A.flat[:: n_rows + 1] += noise / count
    factor, failed = lapack.dpotrf(A, lower=1)
    if failed:
        return -np.inf, np.zeros(len(weights) + 1)
    log_widths = np.log(np.diag(factor)).sum()
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)  # its lower triangle
    alpha = blas.dsymm(1.0, inverse, Y, lower=1)
    energy = np.maximum(np.einsum("ik,ik->k", Y, alpha), np.finfo(float).tiny)
    M = blas.dgemm(n_rows / 2, alpha / energy, alpha, trans_b=1, beta=-n_outputs / 2, c=inverse)
    by_kernel = M * family.slope(square)
    by_kernel.flat[:: n_rows + 1] = 0.0
    through = blas.dsymm(1.0, by_kernel, np.column_stack([Z, np.ones(n_rows)]), lower=1)
    slopes = 4 * (through[:, -1] @ Z**2 - np.einsum("ij,ij->j", Z, through[:, :-1]))
    value = -n_rows / 2 * np.log(energy).sum() - n_outputs * log_widths
    return float(value), np.append(slopes, noise * (np.diag(M) / count).sum())
