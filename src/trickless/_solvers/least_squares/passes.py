"""Least squares on many columns, in passes over the rows: preconditioned conjugate gradients.

The normal equations of c columns take memory of order c² and time of order n c² + c³. An iteration
of conjugate gradients takes a pass over the rows, of order n c. Few iterations are needed if the
problem is preconditioned by the covariance of m of the rows, as in [1]_. That covariance plus the
ridge is inverted through the m × m matrix of inner products of these rows.

A ridge that is not given is first chosen for some of the columns, by rows that are left out. That
bounds the ridges for all columns. For several of these, least squares is solved approximately in
the same passes, and generalised cross-validation chooses among them. It needs only the degrees of
freedom, which random signs as additional targets estimate [2]_. The best ridge is then solved to
the given tolerance.

References
----------
.. [1] A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method",
   NIPS 2017.
.. [2] M. F. Hutchinson, "A stochastic estimator of the trace of the influence matrix for
   Laplacian smoothing splines", Communications in Statistics 18, 1989.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from trickless._arrays.threads import map_blocks, row_blocks
from trickless._functions.network import check_finite
from trickless._rules import warn
from trickless._solvers.least_squares.conjugate_gradients import conjugate_gradients
from trickless._solvers.least_squares.paths import Left, Solution, least
from trickless._solvers.least_squares.preconditioner import ChosenRows, preconditioner
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.ridge import (
    at_rounding_of_single,
    solve_by_left_out,
    wants_less,
    warn_of_end,
)
from trickless._solvers.least_squares.risk import Blocks
from trickless._solvers.least_squares.row_sample import ROWS
from trickless._solvers.least_squares.statistics import Statistics, least_ridge

#: Rows that a thread multiplies at a time. They stay in the cache between their two products.
_ROWS = 64
#: The same for sparse activations, whose products gain nothing from the cache.
_SPARSE_ROWS = 4096
#: An excess of the risk up to this comes from products in single precision.
_ROUNDING = 1e-10
#: Neighbouring ridges of the comparison differ by at most this factor.
_STEP = 3.2
#: Residual degrees of freedom must be this many times their standard error.
_TRUSTED = 5.0
#: Targets of random signs; tolerances of their solutions, and of others, when ridges are compared.
_PROBES, _PROBE_TOL, _COMPARE_TOL = 2, 1e-2, 1e-3


class Pilot(NamedTuple):
    """Columns on which a first ridge is found, which limits the search on all columns.

    It is above the rounding of single precision in both precisions, because the tolerance of the
    solutions does not tell smaller ridges apart.

    Let ρ be the best ridge for these columns. There are ``scale`` times as many columns in all. The
    best ridge for all of them lies between ρ (if rows are many) and ``scale`` · ρ (if the network
    is practically infinite).
    """

    columns: np.ndarray
    scale: float

    @property
    def accuracy(self) -> float:
        """A factor of the tolerances of the comparison."""
        return 1.0

    def ridges(self, sums: _Sums, n_outputs: int) -> tuple[np.ndarray, np.ndarray]:
        """Ridges of each output, in increasing order, and whether it wants less than the least."""
        moments = at_rounding_of_single(sums.pilot.moments(sums.fit_intercept))
        found = solve_by_left_out(moments, [sums.left])
        n_each = 1 + int(np.ceil(np.log(self.scale) / np.log(_STEP)))
        each = found.ridge[:, None] * np.geomspace(1, self.scale, n_each)
        return each, wants_less(found, moments)


class Grid(NamedTuple):
    """Ridges to compare without a pilot, in increasing order."""

    of_all: np.ndarray
    columns: np.ndarray = np.arange(0)

    @property
    def accuracy(self) -> float:
        """A small factor, since the least ridges may leave few degrees of freedom."""
        return 1e-2

    def ridges(self, sums: _Sums, n_outputs: int) -> tuple[np.ndarray, np.ndarray]:
        """Ridges of each output, and that none wants less."""
        return np.tile(self.of_all, (n_outputs, 1)), np.zeros(n_outputs, dtype=bool)


class _Sums(NamedTuple):
    """Results of the first pass: means, covariances with the targets, and the chosen rows.

    Up to 2,048 of these, with the pilot's columns, are left out one by one.

    Without an intercept, moments are about 0, and the mean of the targets is taken as 0.
    """

    z_mean: np.ndarray
    y_mean: np.ndarray
    y_variance: np.ndarray
    cross: np.ndarray
    chosen: ChosenRows
    pilot: Statistics
    left: Left
    fit_intercept: bool


def solve_in_passes(
    blocks: Blocks,
    targets: np.ndarray,
    weight: np.ndarray | None,
    ridge: float | Pilot | Grid,
    chosen: np.ndarray,
    rng: np.random.Generator,
    problem: Problem,
) -> Solution:
    """Minimise mean (y − b − ⟨z, β⟩)² + ρ · |β|² without the matrix of the normal equations.

    Without ``fit_intercept``, b = 0.

    The ridge ρ is given, or found for each output with a pilot or in a grid. Activations are
    dense or sparse. The covariance of the ``chosen`` rows, in ascending order, gives the
    preconditioner. Iterations stop when each output's risk is at most ``tol`` above its minimum,
    relative to how much the solution decreases the risk. The preconditioner estimates this. If it
    is not reached after ``max_iter`` iterations, and a better estimate is above ``tol`` too, there
    is a warning. The solution has the mean leverage if the ridge is found, or for classes.

    Raises
    ------
    scipy.linalg.LinAlgError
        If the preconditioner is not positive definite to working precision.
    """
    owner, max_iter, tol, n_jobs = problem.owner, problem.max_iter, problem.tol, problem.n_jobs
    fit_intercept, count_freedom = problem.fit_intercept, problem.classifies
    count = np.ones(len(targets)) if weight is None else weight
    share = count / count.sum()
    n_outputs = targets.shape[1]
    pilot = ridge if isinstance(ridge, Pilot | Grid) else None
    if pilot is not None or count_freedom:
        signs = rng.choice([-1.0, 1.0], (len(targets), _PROBES))
        targets = np.hstack([targets, signs / np.sqrt(share)[:, None]])
    sums = _first_pass(
        blocks, targets, weight, share, chosen, pilot, n_outputs, n_jobs, fit_intercept
    )
    check_finite(owner, sums.z_mean)
    if not fit_intercept:
        sums = sums._replace(z_mean=np.zeros_like(sums.z_mean))

    # One problem for each pair of a target and a ridge. Random signs are targets, too.
    if pilot is None:
        which = np.arange(targets.shape[1])
        ridges = np.full(len(which), ridge)
    else:
        which, ridges, lowest, wanting = _candidates(sums, pilot, n_outputs)

    def normal(p: np.ndarray, ridges: np.ndarray) -> np.ndarray:
        """Return the covariance plus the ridges, times p, in a pass over the rows."""
        product, total = np.zeros((p.shape[1], len(p))), np.zeros(p.shape[1])
        offset = sums.z_mean @ p
        for rows, Z in blocks():
            q, part_share = p.astype(Z.dtype), share[rows, None]

            def part(
                some: slice, Z: np.ndarray = Z, q: np.ndarray = q, share: np.ndarray = part_share
            ) -> tuple[np.ndarray, np.ndarray]:
                t = (Z[some] @ q - offset) * share[some]
                return t.T.astype(Z.dtype) @ Z[some], t.sum(axis=0)

            some = row_blocks(Z.shape[0], _SPARSE_ROWS if issparse(Z) else _ROWS)
            for of_rows, sum_of_rows in map_blocks(part, some, n_jobs):
                product += of_rows
                total += sum_of_rows
        return product.T - np.outer(sums.z_mean, total) + ridges * p

    precondition = preconditioner(sums.chosen, share[chosen], ridges, fit_intercept)
    wanted, n_compare = sums.cross[:, which], 0
    coef, grid, scores, leverage = np.zeros_like(wanted), None, None, None
    if pilot is not None or count_freedom:
        tols = np.where(which < n_outputs, max(tol, _COMPARE_TOL), _PROBE_TOL)
        tols *= 1.0 if pilot is None else pilot.accuracy
        coef, n_compare, *_ = conjugate_gradients(
            normal, precondition, wanted, coef, ridges, max_iter, tols
        )
        found = _freedom(sums, coef, which, ridges, n_outputs)
        if pilot is None:
            best = np.arange(n_outputs)
        else:
            grid, (scores, best) = found.grid, _compare(sums, coef, which, ridges, found, share)
            if not count_freedom and (wanting & (ridges[best] == lowest)).any():
                warn_of_end(owner, "solver='iterative'", "solver='direct' and dtype='float64'")
        coef, wanted, ridges = coef[:, best], wanted[:, best], ridges[best]
        leverage = found.of_all[np.searchsorted(found.grid, ridges)] * (share**2).sum()
    tols = np.full(n_outputs, tol)
    ended = conjugate_gradients(normal, precondition, wanted, coef, ridges, max_iter, tols)
    coef, n_iter, left = ended.solution, ended.n_iter, ended.left
    size, gain = (coef * normal(coef, ridges)).sum(axis=0), (coef * wanted).sum(axis=0)
    risk = np.maximum(sums.y_variance[:n_outputs] - 2 * gain + size, 0)
    for output in np.flatnonzero((left > tol) & (gain > 0)).tolist():
        left[output] = min(ended.above_minimum(output), risk[output]) / gain[output]
    excess = _least_excess(size, gain)
    left = np.maximum(left, np.where(excess > _ROUNDING, excess, 0))
    if (left > tol).any():
        warn(
            f"{owner}: the risk is above its minimum by about {left.max():.2g} of its decrease so "
            f"far, after {n_iter} iterations with max_iter={max_iter} and tol={tol:g}. "
            "Remedy: a larger max_iter, alpha or tol.",
            ConvergenceWarning,
        )
    intercept = sums.y_mean[:n_outputs] - sums.z_mean @ coef
    return Solution(coef, intercept, ridges, grid, scores, n_compare + n_iter, leverage)


def _least_excess(size: np.ndarray, lowered: np.ndarray) -> np.ndarray:
    """Bound from below how far the quadratic function is above its minimum, as ``left`` does.

    With A β* = w, ⟨w − A β, β⟩² ≤ ⟨β − β*, A (β − β*)⟩ ⟨β, A β⟩ by Cauchy and Schwarz. ``size`` is
    ⟨β, A β⟩ and ``lowered`` is ⟨β, w⟩. A β is computed again, so it has the rounding errors that
    the residual of the iterations hides.
    """
    known = (size > 0) & (lowered != 0)
    ratio = np.divide(lowered, size, out=np.ones_like(size), where=known)  # no square overflows
    return (ratio - 1) ** 2 / np.abs(ratio)


def _first_pass(
    blocks: Blocks,
    targets: np.ndarray,
    weight: np.ndarray | None,
    share: np.ndarray,
    chosen: np.ndarray,
    pilot: Pilot | Grid | None,
    n_outputs: int,
    n_jobs: int | None,
    fit_intercept: bool,
) -> _Sums:
    y_mean = share @ targets * fit_intercept
    centred = targets - y_mean
    y_variance = share @ centred**2
    centred *= share[:, None]  # so the mean of z adds nothing to the covariance
    columns = np.arange(0) if pilot is None else pilot.columns
    statistics = Statistics(len(columns), y_mean[:n_outputs])
    z_mean, cross, kept = np.zeros(1), np.zeros(1), ChosenRows(len(chosen))
    out, out_rows = chosen[:: -(-len(chosen) // ROWS)], []
    for rows, Z in blocks():
        z_mean = z_mean + share[rows] @ Z
        cross = cross + (Z.T @ centred[rows].astype(Z.dtype)).astype(np.float64)
        some = slice(*np.searchsorted(chosen, [rows.start, rows.stop]))
        kept.add(some, Z[chosen[some] - rows.start])
        if len(columns):
            between = slice(*np.searchsorted(out, [rows.start, rows.stop]))
            out_rows.append(Z[np.ix_(out[between] - rows.start, columns)])
            statistics.add(
                Z[:, columns],
                targets[rows, :n_outputs],
                None if weight is None else weight[rows],
                least_ridge(len(targets)),
                n_jobs,
            )
    Z = np.concatenate(out_rows) if out_rows else np.zeros((0, 0))
    left = Left(Z, targets[out, :n_outputs], np.ones(len(out)), share[out])
    return _Sums(z_mean, y_mean, y_variance, cross, kept, statistics, left, fit_intercept)


def _candidates(
    sums: _Sums, pilot: Pilot | Grid, n_outputs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Targets and ridges of all problems: each output with its ridges, random signs with all.

    Also each output's least ridge, and whether the pilot wants less.
    """
    each, wanting = pilot.ridges(sums, n_outputs)
    n_each, grid = each.shape[1], np.unique(each)
    signs = np.repeat(np.arange(n_outputs, n_outputs + _PROBES), len(grid))
    which = np.concatenate([np.repeat(np.arange(n_outputs), n_each), signs])
    ridges = np.concatenate([each.ravel(), np.tile(grid, _PROBES)])
    return which, ridges, each[:, 0], wanting


class _Freedom(NamedTuple):
    """Degrees of freedom at each ridge of a grid, and their standard errors."""

    grid: np.ndarray
    of_all: np.ndarray
    error: np.ndarray


def _freedom(
    sums: _Sums, coef: np.ndarray, which: np.ndarray, ridges: np.ndarray, n_outputs: int
) -> _Freedom:
    """Degrees of freedom, from the solutions for random signs as targets."""
    grid, signs = np.unique(ridges), which >= n_outputs
    explained = (sums.cross[:, which[signs]] * coef[:, signs]).sum(axis=0)
    explained = explained.reshape(_PROBES, len(grid))
    error = explained.std(axis=0, ddof=1) / np.sqrt(_PROBES)
    return _Freedom(grid, int(sums.fit_intercept) + explained.mean(axis=0), error)


def _compare(
    sums: _Sums,
    coef: np.ndarray,
    which: np.ndarray,
    ridges: np.ndarray,
    freedom: _Freedom,
    share: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of each output at each ridge (infinite if not tried), and the best problems."""
    n, grid, n_outputs = 1 / (share**2).sum(), freedom.grid, which.max() + 1 - _PROBES
    left = 1 - freedom.of_all / n
    trusted = left > _TRUSTED * freedom.error / n
    explained = (sums.cross[:, which] * coef).sum(axis=0)
    scores, best = np.full((n_outputs, len(grid)), np.inf), np.empty(n_outputs, dtype=int)
    for output in range(n_outputs):
        tried = np.flatnonzero(which == output)
        place = np.searchsorted(grid, ridges[tried])
        penalty = ridges[tried] * (coef[:, tried] ** 2).sum(axis=0)
        residual = np.maximum(sums.y_variance[output] - explained[tried] - penalty, 0)
        scores[output, place] = np.divide(
            residual, left[place] ** 2, out=np.full(len(place), np.inf), where=trusted[place]
        )
        best[output] = tried[least(scores[output : output + 1, place])[0]]
    return scores, best
