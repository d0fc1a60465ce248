r"""The evidence of least squares read as a Gaussian process: the likelihood of all targets.

For noise of variance s, coefficients have the prior 𝒩(0, s / (n ρ)) and the constant has a flat
prior. Integrating over all of them [1]_ gives

.. math:: \log p(y) = -\frac{N - m}{2} \log(2 \pi s) - \frac{m}{2} \log n
    - \frac12 \sum_j \log\Big(1 + \frac{λ_j}{ρ}\Big) - \frac{n E(ρ)}{2 s}
    - \frac12 \sum_i \log \frac{Σ w}{n w_i}

for N rows of weights w, whose effective number is n. The noise of row i has the variance
s Σw / (n w_i). If rows fade, N is their effective number, and a row counts in the last sum for what
is left of it. m is 1 if there is a constant and 0 if not, λ are the eigenvalues of the covariance
of the activations, and E(ρ) is the least mean square residual plus ρ |β|².

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT Press
   2006, Equations 2.30 and 2.45.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from trickless._solvers.least_squares.certainty import residual_variance
from trickless._solvers.least_squares.paths import CANCELLATION, Path, Solution
from trickless._solvers.least_squares.posterior import posterior_at
from trickless._solvers.least_squares.statistics import Moments

#: How accurately the logarithm of the ridge is found.
_TOLERANCE = 1e-6


def log_evidence(
    moments: Moments, solution: Solution, noise: np.ndarray, n_jobs: int | None = 1
) -> np.ndarray:
    """Return log p(y) of each output at the ridges of a solution, for noise of some variances."""
    n, n_once, m = moments.n, moments.n_once, moments.n_constants
    energy = residual_variance(moments, solution) + solution.ridge * _squares(solution)
    ridges, which = np.unique(solution.ridge, return_inverse=True)
    widths = np.array([posterior_at(moments, ridge, n_jobs).log_widths() for ridge in ridges])[
        which
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        of_noise = (n_once - m) * np.log(2 * np.pi * noise) + m * np.log(n)
        of_noise += n_once * moments.log_noise
        found = -0.5 * (of_noise + widths + n * energy / noise)
    return np.where(noise > 0, found, np.inf)  # of targets that do not vary


def slopes_of_evidence(
    moments: Moments, solution: Solution, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slopes of log p(y) of each output in log ρ and in the logarithm of the noise.

    The slope of E(ρ) is |β|², and the slope of the determinant counts degrees of freedom.
    """
    n, m, squares = moments.n, moments.n_constants, solution.ridge * _squares(solution)
    ridges, which = np.unique(solution.ridge, return_inverse=True)
    left = np.array([posterior_at(moments, ridge).freedom() for ridge in ridges])[which]
    energy = residual_variance(moments, solution) + squares
    of_ridge = 0.5 * (n - m - left - n * squares / noise)
    return of_ridge, 0.5 * (n * energy / noise - (moments.n_once - m))


def _squares(solution: Solution) -> np.ndarray:
    """|β|² of each output."""
    return (solution.coef.astype(np.float64) ** 2).sum(axis=0)


def solve_by_evidence(moments: Moments, n_jobs: int | None = 1) -> Solution:
    """Minimise at the ridge with the greatest evidence, at the best variance of the noise for it.

    The ridge is found on the grid of cross-validation, and then between its neighbours. There the
    best variance, n E(ρ) / (N − m), equals the residual sum of squares over the residual degrees of
    freedom (D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4, 1992, Section 4).
    """
    path = Path(moments, n_jobs)
    logs, ends = np.log(path.grid), np.empty((2, len(moments.y_mean)))
    losses = np.array([_losses(path, log) for log in logs])
    best = len(logs) - 1 - np.argmin(losses[::-1], axis=0)
    ends[0], ends[1] = logs[np.maximum(best - 1, 0)], logs[np.minimum(best + 1, len(logs) - 1)]
    ridge = np.empty(len(best))
    for output, between in enumerate(ends.T):
        found = minimize_scalar(
            lambda log, output=output: _losses(path, log)[output],
            bounds=between,
            method="bounded",
            options={"xatol": _TOLERANCE},
        )
        least = losses[best[output], output]
        ridge[output] = np.exp(found.x if found.fun < least else logs[best[output]])
    return path.at(ridge)


def _losses(path: Path, log_ridge: float) -> np.ndarray:
    """−2 log p(y) of each output at a ridge and the best noise for it, up to a constant."""
    moments, ridge = path.moments, float(np.exp(log_ridge))
    energy = np.maximum(path.energy(ridge), CANCELLATION * moments.y_variance)
    left = moments.n_once - moments.n_constants
    # Targets that do not vary have no energy at any ridge.
    logs = np.log(energy, out=np.zeros_like(energy), where=energy > 0)
    return left * logs + np.log1p(path.eigenvalues / ridge).sum()
