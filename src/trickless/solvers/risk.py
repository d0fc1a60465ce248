"""Regularised risk of a convex loss on activations, minimised in passes over row blocks.

The rows are met in blocks, whether these are kept in memory or evaluated again in every pass, so
both give one answer. An evaluation of the risk and its gradient is one pass. What a pass costs is
worth saving: the problem is preconditioned by the covariance of the activations, from the same
statistics that least squares needs, after which L-BFGS takes some hundred passes, or up to a
thousand for the hinge, which has a corner.
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

#: Rows of activations, and which rows they are.
Blocks = Callable[[], Iterator[tuple[slice, np.ndarray]]]

#: Relative decrease of the risk in an iteration that is no more than rounding.
_STALLED = 1e-10
#: Share of the risk that may be left to be gained where rounding ends the descent.
_GAIN = 1e-3

#: Widths of the smoothed hinge, one after the other; the last lowers the risk by at most 1e-4.
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

    The hinge, which has a corner, is approached by smooth losses of less and less width.

    Parameters
    ----------
    blocks : callable
        Begins a pass over the rows: yields slices of them and their activations.
    targets : array of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,) or None
    loss : Loss
    ridge : array of shape (n_outputs,)
        ρ of each output.
    moments : Moments
        Means and covariance of the activations.
    max_iter : int
        The most iterations of L-BFGS, for each width of the hinge.
    tol : float
        The largest entry of the preconditioned gradient at which it stops; or sooner, where the
        risk does not decrease any more.
    owner : str
        Who warns if it does not stop before ``max_iter``.
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
    """Coefficients by L-BFGS, the iterations that it took, and trouble if there was any.

    Coefficients are of centred activations, and the last row has the offsets.

    It works on u = Lᵀ β, where L Lᵀ is the covariance with a ridge, to which the Hessian is
    proportional where the loss is curved alike everywhere.
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
        slope, is_spent = np.abs(result.jac).max(), result.status == 1
        # In these coefficients the Hessian is about 1, and this is what is left to be gained.
        left = 0.5 * float(result.jac @ result.jac) / result.fun if slope > tol else 0.0
        if is_spent or result.fun > (1 - _GAIN) * before:
            break
        before = result.fun  # a step failed, by what is remembered of the others; without it
    trouble = ""
    if is_spent or left > _GAIN:
        trouble = (
            f"the risk is {result.fun:.6g} after {n_iter} iterations with max_iter={max_iter}, "
            f"with a gradient of up to {slope:.2g}, where tol={tol:g}."
        )
    coef, offset = coefficients(result.x)
    return np.vstack([coef, offset]), int(n_iter), trouble
