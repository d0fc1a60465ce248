"""Regularised risk of a convex loss on activations, minimised in passes over row blocks.

Activations come in blocks of rows, which are kept in memory or evaluated again in every pass, with
the same result. The risk and its gradient take one pass. To save passes, the problem is
preconditioned by the covariance of the activations, from the statistics of least squares. L-BFGS
then takes about a hundred passes, or up to a thousand for the hinge loss, which has a corner. If
coefficients are bounded and the bound matters, the problem is not preconditioned. L-BFGS-B then
takes some hundred passes, or thousands for the hinge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize
from sklearn.exceptions import ConvergenceWarning

from trickless._arrays.places import matching, to_host
from trickless._rules import warn
from trickless._solvers.least_squares.box import descend_within, excess_within
from trickless._solvers.least_squares.paths import Solution
from trickless._solvers.least_squares.statistics import Moments
from trickless._solvers.losses import Loss

#: Begins a pass over the rows: yields slices of rows and their activations.
Blocks = Callable[[], Iterator[tuple[slice, np.ndarray]]]

#: A relative decrease of the risk below this, or below tol², ends the descent; less is rounding.
_STALLED, _ROUNDING = 1e-10, 1e-15
#: If rounding stops the descent, the risk may be this share above its minimum without a warning.
_GAIN = 1e-3
#: Iterations and tolerance of a minimum from which alpha is chosen.
_ROUGH_ITER, _ROUGH_TOL = 100, 1e-3

#: The largest decision value of a constant, and the least curvature of an output beside others.
_FARTHEST, _LEAST = 30.0, 1e-9
#: Widths of the smoothed hinge, used in turn; the last changes the risk by at most 1e-4.
_WIDTHS = (1.0, 0.1, 0.01, 2e-4)
#: The same for bounded coefficients, where the error due to the width is measured.
_WIDTHS_WITHIN = (1.0, 0.1, 0.01, 1e-3, 2e-4)
#: The least and the largest unit of coefficients on the box; and the least divisor.
_UNITS, _TINY = (1e-6, 1e6), 1e-300
#: A width is finished when the rest of the descent is this share of the error due to the width.
_SHARE = 0.25


class Evaluation(NamedTuple):
    """The risk at coefficients and offsets, its gradient, and the slope of the loss by the offsets.

    ``corner`` is the error from smoothing a corner. The slopes prove that the risk of the loss
    itself exceeds its minimum by at most ``corner`` plus the excess of the smooth risk.
    """

    value: float
    gradient: np.ndarray
    slope: np.ndarray
    corner: float


class Constant(NamedTuple):
    """The best constant: its decision values, its risk, and the curvature of the loss there."""

    offset: np.ndarray
    value: float
    curvature: np.ndarray


class Risk:
    """The mean loss plus (ρ/2) |β|² of coefficients β and offsets, in a pass over the rows.

    Coefficients are for centred activations, so that an offset is the mean decision value. Without
    an intercept nothing is centred, and the offsets stay 0.
    """

    def __init__(
        self,
        blocks: Blocks,
        targets: np.ndarray,
        weight: np.ndarray | None,
        ridge: np.ndarray,
        moments: Moments,
    ) -> None:
        share = np.full(len(targets), 1.0) if weight is None else weight
        self.share = share / share.sum()
        self.ridge, self.moments = ridge, moments
        self._blocks, self._targets = blocks, targets

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the coefficients."""
        return self.moments.cross.shape

    def __call__(self, loss: Loss, coef: np.ndarray, offset: np.ndarray) -> Evaluation:
        """Evaluate the risk of a loss."""
        constant = offset - self.moments.z_mean @ coef
        value, gradient, total, corner = 0.0, np.zeros_like(coef), np.zeros(coef.shape[1]), 0.0
        for rows, Z in self._blocks():
            share = self.share[rows]
            f, y = to_host(Z @ matching(Z, coef)) + constant, self._targets[rows]
            value += float(share @ loss.value(f, y))
            slope = loss.derivative(f, y)
            corner += float(share @ loss.corner(f, y, slope))
            slope *= share[:, None]
            gradient += to_host(Z.T @ matching(Z, slope))
            total += slope.sum(axis=0)
        gradient -= np.outer(self.moments.z_mean, total)
        value += 0.5 * float((self.ridge * coef**2).sum())
        gradient += self.ridge * coef
        return Evaluation(value, gradient, total * self.moments.n_constants, corner)

    def constant(self, loss: Loss) -> Constant:
        """Return the best constant, as a scale for what the descent leaves."""
        n_outputs = self.shape[1]
        which = self._targets.argmax(axis=1) if n_outputs > 1 else self._targets[:, 0] > 0
        kinds = 2.0 * np.eye(n_outputs) - 1 if n_outputs > 1 else np.array([[-1.0], [1.0]])
        share = np.bincount(which, self.share, minlength=len(kinds))

        def function(f: np.ndarray) -> tuple[float, np.ndarray]:
            rows = np.tile(f, (len(kinds), 1))
            return float(share @ loss.value(rows, kinds)), share @ loss.derivative(rows, kinds)

        f = np.zeros(n_outputs)
        if self.moments.n_constants:
            limits = [(-_FARTHEST, _FARTHEST)] * n_outputs
            f = optimize.minimize(function, f, jac=True, method="L-BFGS-B", bounds=limits).x
        curvature = share @ loss.newton(np.tile(f, (len(kinds), 1)), kinds)[1]
        return Constant(f, function(f)[0], np.maximum(curvature, _LEAST * curvature.max()))

    def solution(self, coef: np.ndarray, offset: np.ndarray, n_iter: int) -> Solution:
        """Return these coefficients and offsets as a solution."""
        intercept = offset - self.moments.z_mean @ coef
        return Solution(coef, intercept, self.ridge, n_iter=max(1, n_iter))


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
    bound: float | None = None,
    begin: np.ndarray | None = None,
) -> Solution:
    r"""Minimise :math:`\frac1n \sum_i l(b + \langle z_i, β \rangle, y_i) + \frac{ρ}{2} |β|^2`.

    The hinge loss has a corner, so it is approximated by smooth losses of decreasing width. Let r
    be the risk of the best constant. For each width, L-BFGS stops when the preconditioned gradient
    has no entry above ``tol * sqrt(r)``, or when the risk no longer decreases. If neither happens
    within ``max_iter`` iterations, there is a warning. The preconditioned Hessian is about the unit
    matrix, so half of the square of the gradient is about the excess of the risk.

    With a ``bound``, no coefficient exceeds it. See :func:`minimise_within`, which starts at the
    coefficients ``begin``. If none of these is at the bound, the problem is first solved without
    it. That solution is used if it keeps the bound.
    """
    risk = Risk(blocks, targets, weight, ridge, moments)
    begin = np.zeros(risk.shape) if begin is None else begin
    solution, trouble = _minimise(risk, loss, bound, begin, max_iter, tol)
    if trouble:
        warn(f"{owner}: {trouble}", ConvergenceWarning)
    return solution


def best_constant(
    blocks: Blocks,
    targets: np.ndarray,
    weight: np.ndarray | None,
    loss: Loss,
    moments: Moments,
) -> np.ndarray:
    """Return the decision values of the best constant, shape (n_outputs,)."""
    ridge = np.zeros(targets.shape[1])
    return Risk(blocks, targets, weight, ridge, moments).constant(loss).offset


def minimise_roughly(
    blocks: Blocks,
    targets: np.ndarray,
    weight: np.ndarray | None,
    loss: Loss,
    ridge: np.ndarray,
    moments: Moments,
    near: Solution | None = None,
) -> tuple[Solution, np.ndarray]:
    """Return a solution of nearly the least risk, and its decision values at all rows.

    It starts at the solution ``near``, if there is one.
    """
    risk, start = Risk(blocks, targets, weight, ridge, moments), None
    if near is not None:
        start = np.vstack([near.coef, near.intercept + moments.z_mean @ near.coef])
    solution, _ = _minimise_freely(risk, loss, _ROUGH_ITER, _ROUGH_TOL, start)
    f = np.empty(targets.shape)
    for rows, Z in blocks():
        f[rows] = to_host(Z @ matching(Z, solution.coef))
    return solution, f + solution.intercept


def _minimise(
    risk: Risk, loss: Loss, bound: float | None, begin: np.ndarray, max_iter: int, tol: float
) -> tuple[Solution, str]:
    """Return the solution, and a description of trouble, if any."""
    if bound is None:
        return _minimise_freely(risk, loss, max_iter, tol)
    if (np.abs(begin) < bound).all() and (risk.ridge > 0).all():
        solution, trouble = _minimise_freely(risk, loss, max_iter, tol)
        if (np.abs(solution.coef) <= bound).all():
            return solution, trouble
    return minimise_within(risk, loss, bound, begin, max_iter, tol)


def minimise_within(
    risk: Risk, loss: Loss, bound: float, begin: np.ndarray, max_iter: int, tol: float
) -> tuple[Solution, str]:
    """Minimise the risk with every coefficient in [−bound, bound], and describe trouble, if any.

    Let r be the risk of the best constant. L-BFGS-B stops when the risk is proved to be at most
    ``tol`` times r above its minimum (see ``box``). The hinge is smoothed with decreasing widths.
    The slopes, which are dual variables of the hinge, prove the error due to the width. The part
    of an intercept in this error is estimated: its slope times 1 + |offset|.
    """
    coef, offset = np.clip(begin, -bound, bound), np.zeros(risk.shape[1])
    allowed = tol * risk.constant(loss).value
    n_iter, value, least, best = 0, np.inf, -np.inf, (coef, offset)
    for smooth in _smoothed(loss, _WIDTHS_WITHIN):
        problem = _Within(risk, smooth, bound, allowed)
        result = descend_within(
            problem, problem.point(coef, offset), problem.bounds, max_iter, problem.is_done
        )
        coef, offset = problem.coefficients(result.point)
        n_iter += result.n_iter
        found = problem.at.value if smooth is loss else risk(loss, coef, offset).value
        least = max(least, found - problem.left(result.point) - problem.at.corner)
        if found < value:
            value, best = found, (coef, offset)
        if value - least <= allowed:
            break
    trouble = ""
    if value - least > (allowed if result.is_exhausted else max(allowed, _GAIN * value)):
        trouble = (
            f"within weight_bound the risk is {value:.6g} after {n_iter} iterations with "
            f"max_iter={max_iter}, and may be up to {value - least:.2g} above its minimum, where "
            f"tol={tol:g} asks for {allowed:.2g}. Remedy: a larger max_iter, alpha or tol, a "
            "smaller weight_bound, or dtype='float64'."
        )
    return risk.solution(*best, n_iter), trouble


class _Within:
    """A smooth risk on the box, as a function of one vector with entries of about one curvature."""

    at: Evaluation  # of the last call

    def __init__(self, risk: Risk, loss: Loss, bound: float, allowed: float) -> None:
        self._risk, self._loss, self._bound, self._allowed = risk, loss, bound, allowed
        n_columns, n_outputs = risk.shape
        self._shape = n_columns + 1, n_outputs
        unit = float(np.clip(bound, *_UNITS))
        self._unit = np.full(self._shape, unit)
        self._unit[-1] *= n_columns**0.5  # of the offsets
        limits = np.full(self._shape, bound / unit)
        limits[-1] = np.inf if risk.moments.n_constants else 0.0
        self.bounds = limits.ravel()

    def point(self, coef: np.ndarray, offset: np.ndarray) -> np.ndarray:
        """Return the vector of coefficients and offsets."""
        return (np.vstack([coef, offset]) / self._unit).ravel()

    def coefficients(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, of which none exceeds the bound, and offsets."""
        both = u.reshape(self._shape) * self._unit
        return np.clip(both[:-1], -self._bound, self._bound), both[-1]

    def __call__(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient."""
        self.at = self._risk(self._loss, *self.coefficients(u))
        gradient = np.vstack([self.at.gradient, self.at.slope]) * self._unit
        return self.at.value, gradient.ravel()

    def left(self, u: np.ndarray) -> float:
        """Return how far the smooth risk may be above its minimum at the point of the last call."""
        coef, offset = self.coefficients(u)
        of_offset = float((np.abs(self.at.slope) * (1 + np.abs(offset))).sum())
        return excess_within(self.at.gradient, coef, self._bound) + of_offset

    def is_done(self, u: np.ndarray) -> bool:
        """Return whether the excess is small enough, or small beside the error of the width."""
        corner = self.at.corner
        return self.left(u) <= max(self._allowed - corner, _SHARE * corner)


def _smoothed(loss: Loss, widths: tuple[float, ...]) -> list[Loss]:
    """Return the loss, or smooth losses that approach it in turn."""
    return [loss] if loss.smooth else [loss.smoothed(width) for width in widths]


def _minimise_freely(
    risk: Risk, loss: Loss, max_iter: int, tol: float, start: np.ndarray | None = None
) -> tuple[Solution, str]:
    """Return the solution without a bound, and a description of trouble, if any."""
    (n_columns, n_outputs), n_iter, trouble = risk.shape, 0, ""
    start = np.zeros((n_columns + 1, n_outputs)) if start is None else start
    for smooth in _smoothed(loss, _WIDTHS):
        start, n, trouble = _descend(risk, smooth, start, max_iter, tol)
        n_iter += n
    return risk.solution(start[:-1], start[-1], n_iter), trouble


def _descend(
    risk: Risk, loss: Loss, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, int, str]:
    """Coefficients by L-BFGS, the number of iterations, and a description of trouble, if any.

    Coefficients are for centred activations. Their last row holds the offsets. L-BFGS optimises
    u = √c Lᵀ β. Here c is the curvature of the loss of each output at the best constant, and L Lᵀ
    is the covariance plus a ridge. The Hessian is the unit matrix if the curvature does not change.
    """
    scale = risk.constant(loss)
    c = loss.typical_curvature(scale.curvature)
    place = risk.moments.place
    matrix = place.plus_ridge(risk.moments.covariance, (risk.ridge / c).mean())
    factor, unit, gtol = to_host(place.cholesky(matrix)), np.sqrt(c), tol * scale.value**0.5
    shape = start.shape

    def coefficients(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = u.reshape(shape) / unit
        coef = linalg.solve_triangular(factor, both[:-1], lower=True, trans="T")
        return coef, both[-1]

    def function(u: np.ndarray) -> tuple[float, np.ndarray]:
        at = risk(loss, *coefficients(u))
        back = linalg.solve_triangular(factor, at.gradient, lower=True)
        return at.value, (np.vstack([back, at.slope]) / unit).ravel()

    u = (np.vstack([factor.T @ start[:-1], start[-1]]) * unit).ravel()
    n_iter, left, before = 0, np.inf, np.inf
    stalled = max(min(_STALLED, min(tol, 1.0) ** 2), _ROUNDING)
    while n_iter < max_iter and left > _GAIN:
        most = max_iter - n_iter
        options = {"maxiter": most, "maxfun": 2 * most, "gtol": gtol, "ftol": stalled}
        result = optimize.minimize(function, u, jac=True, method="L-BFGS-B", options=options)
        u, n_iter = result.x, n_iter + result.nit
        slope, is_exhausted = np.abs(result.jac).max(), result.status == 1
        square = float(result.jac @ result.jac)
        left = 0.5 * square / max(result.fun, _TINY) if slope > gtol else 0.0
        if is_exhausted or result.fun > (1 - _GAIN) * before:
            break
        before = result.fun  # a line search failed: start again without the memory of L-BFGS
    trouble = ""
    if is_exhausted or left > _GAIN:
        trouble = (
            f"the risk is {result.fun:.6g} after {n_iter} iterations with max_iter={max_iter}, "
            f"with a gradient of up to {slope:.2g}, where tol={tol:g} asks for {gtol:.2g}. Remedy: "
            "a larger max_iter or alpha, or dtype='float64'."
        )
    coef, offset = coefficients(result.x)
    if loss.coupled:  # a constant added to all offsets does not change the loss
        offset = offset - offset.mean()
    return np.vstack([coef, offset]), int(n_iter), trouble
