"""Regularised risk of a convex loss on activations, minimised in passes over row blocks.

Activations come in blocks of rows, which are kept in memory or evaluated again in every pass, with
the same result. The risk and its gradient take one pass. To save passes, the problem is
preconditioned by the covariance of the activations, from the statistics that least squares needs as
well. L-BFGS then takes about a hundred passes, or up to a thousand for the hinge loss, which has a
corner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import linalg, optimize
from sklearn.exceptions import ConvergenceWarning

from trickless.arrays.devices import cholesky, matching, plus_ridge, to_host
from trickless.rules import warn
from trickless.solvers.losses import Hinge, Loss, SmoothHinge
from trickless.solvers.ridge import Solution
from trickless.solvers.statistics import Moments

#: Begins a pass over the rows: yields slices of rows and their activations.
Blocks = Callable[[], Iterator[tuple[slice, np.ndarray]]]

#: A relative decrease of the risk below this is rounding.
_STALLED = 1e-10
#: If rounding stops the descent, the risk may be this share above its minimum without a warning.
_GAIN = 1e-3

#: Widths of the smoothed hinge, used in turn; the last changes the risk by at most 1e-4.
_WIDTHS = (1.0, 0.1, 0.01, 2e-4)


def minimise(
    blocks: Blocks,
    targets: np.ndarray,
    weight: np.ndarray | None,
    loss: Loss,
    ridge: np.ndarray,
    moments: Moments,
    max_iter: int,
    tol: float,
    owner: str,
) -> Solution:
    r"""Minimise :math:`\frac1n \sum_i l(b + \langle z_i, β \rangle, y_i) + \frac{ρ}{2} |β|^2`.

    The hinge loss has a corner, so it is approximated by smooth losses of decreasing width. For
    each width, L-BFGS stops when no entry of the preconditioned gradient is above ``tol``, or when
    the risk no longer decreases; else there is a warning after ``max_iter`` iterations.
    """
    share = np.full(len(targets), 1.0) if weight is None else weight
    share = share / share.sum()
    losses = [SmoothHinge(width) for width in _WIDTHS] if isinstance(loss, Hinge) else [loss]
    n_outputs = targets.shape[1]
    start = np.zeros((len(moments.z_mean) + 1, n_outputs))
    n_iter = 0
    for smooth in losses:
        start, n, trouble = _descend(
            blocks, targets, share, smooth, ridge, moments, start, max_iter, tol
        )
        n_iter += n
    if trouble:
        warn(
            f"{owner}: {trouble} Remedy: a larger max_iter or alpha, or dtype='float64'.",
            ConvergenceWarning,
        )
    coef, offset = start[:-1], start[-1]
    return Solution(coef, offset - moments.z_mean @ coef, ridge, n_iter=max(1, n_iter))


def _descend(
    blocks: Blocks,
    targets: np.ndarray,
    share: np.ndarray,
    loss: Loss,
    ridge: np.ndarray,
    moments: Moments,
    start: np.ndarray,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int, str]:
    """Coefficients by L-BFGS, the number of iterations, and a description of trouble, if any.

    Coefficients are for centred activations; their last row holds the offsets. L-BFGS optimises
    u = Lᵀ β, where L Lᵀ is the covariance plus a ridge. The Hessian is proportional to that matrix
    if the curvature of the loss is constant.
    """
    matrix = plus_ridge(moments.covariance, ridge.mean() / min(loss.curvature, 1.0))
    factor = to_host(cholesky(matrix))
    shape = start.shape

    def coefficients(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = u.reshape(shape)
        coef = linalg.solve_triangular(factor, both[:-1], lower=True, trans="T")
        return coef, both[-1]

    def risk(u: np.ndarray) -> tuple[float, np.ndarray]:
        coef, offset = coefficients(u)
        constant = offset - moments.z_mean @ coef
        value, gradient, total = 0.0, np.zeros_like(coef), np.zeros(shape[1])
        for rows, Z in blocks():
            f = to_host(Z @ matching(Z, coef)) + constant
            weight = share[rows]
            value += float(weight @ loss.value(f, targets[rows]))
            slope = loss.derivative(f, targets[rows]) * weight[:, None]
            gradient += to_host(Z.T @ matching(Z, slope))
            total += slope.sum(axis=0)
        gradient -= np.outer(moments.z_mean, total)
        value += 0.5 * float((ridge * coef**2).sum())
        gradient += ridge * coef
        back = linalg.solve_triangular(factor, gradient, lower=True)
        return value, np.vstack([back, total]).ravel()

    u = np.vstack([factor.T @ start[:-1], start[-1]]).ravel()
    n_iter, left, before = 0, np.inf, np.inf
    while n_iter < max_iter and left > _GAIN:
        most = max_iter - n_iter
        options = {"maxiter": most, "maxfun": 2 * most, "gtol": tol, "ftol": _STALLED}
        result = optimize.minimize(risk, u, jac=True, method="L-BFGS-B", options=options)
        u, n_iter = result.x, n_iter + result.nit
        slope, is_exhausted = np.abs(result.jac).max(), result.status == 1
        # The Hessian in u is about 1, so this estimates how far the risk is above its minimum.
        left = 0.5 * float(result.jac @ result.jac) / result.fun if slope > tol else 0.0
        if is_exhausted or result.fun > (1 - _GAIN) * before:
            break
        before = result.fun  # a line search failed: start again without the memory of L-BFGS
    trouble = ""
    if is_exhausted or left > _GAIN:
        trouble = (
            f"the risk is {result.fun:.6g} after {n_iter} iterations with max_iter={max_iter}, "
            f"with a gradient of up to {slope:.2g}, where tol={tol:g}."
        )
    coef, offset = coefficients(result.x)
    return np.vstack([coef, offset]), int(n_iter), trouble
