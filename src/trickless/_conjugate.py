"""Least squares on many columns, in passes over the rows: preconditioned conjugate gradients.

The normal equations of K columns take memory of order K² and time of order n K² + K³. Conjugate
gradients take a pass over the rows an iteration, of order n K, and few iterations once the
problem is preconditioned by the covariance of some of the rows, as in [1]_. For m of them, that
covariance plus the ridge is inverted through the m × m matrix of their inner products.

References
----------
.. [1] A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method",
   NIPS 2017.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from trickless._blocks import cholesky, map_blocks, row_blocks
from trickless._least_squares import Solution, Statistics, solve_by_gcv

#: Rows of activations, and which rows they are.
Blocks = Callable[[], Iterator[tuple[slice, np.ndarray]]]


#: Rows that a thread multiplies at a time: they stay in cache between their two products.
_ROWS = 64


class _Sums(NamedTuple):
    """What the first pass gives: means, covariances with the targets, and the chosen rows."""

    z_mean: np.ndarray
    y_mean: np.ndarray
    cross: np.ndarray
    chosen: np.ndarray
    pilot: Statistics


def solve_in_passes(
    blocks: Blocks,
    targets: np.ndarray,
    weight: np.ndarray | None,
    ridge: float | None,
    pilot: np.ndarray,
    chosen: np.ndarray,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    owner: str,
) -> Solution:
    r"""Minimise mean (y − b − ⟨z, β⟩)² + ρ · |β|² without the matrix of the normal equations.

    Parameters
    ----------
    blocks : callable
        Begins a pass over the rows: yields slices of them and their activations.
    targets : array of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,) or None
    ridge : float or None
        ρ. None chooses it by generalised cross-validation on some of the columns.
    pilot : integer array
        These columns.
    chosen : array of shape (m,)
        Rows whose covariance is the preconditioner, in ascending order.
    max_iter : int
        The most iterations.
    tol : float
        It stops when the risk of every output is above its minimum by no more than this, relative
        to what the solution lowers it by, both as estimated by the preconditioner.
    n_jobs : int or None
        Threads.
    owner : str
        Who warns if it does not stop before ``max_iter``.
    """
    count = np.ones(len(targets)) if weight is None else weight
    share = count / count.sum()
    sums = _first_pass(blocks, targets, count, chosen, pilot[: None if ridge is None else 0])
    scored = None if ridge is not None else solve_by_gcv(sums.pilot.centred())
    ridges = np.full(targets.shape[1], ridge) if scored is None else scored.ridge
    precondition = _preconditioner(sums.chosen, share[chosen], float(np.exp(np.log(ridges).mean())))

    def normal(p: np.ndarray) -> np.ndarray:
        """The covariance plus the ridge, times p, in a pass over the rows."""
        product, total = np.zeros((p.shape[1], len(p))), np.zeros(p.shape[1])
        offset = sums.z_mean @ p
        for rows, Z in blocks():
            q, part_share = p.astype(Z.dtype), share[rows, None]

            def part(
                some: slice, Z: np.ndarray = Z, q: np.ndarray = q, share: np.ndarray = part_share
            ) -> tuple[np.ndarray, np.ndarray]:
                t = (Z[some] @ q - offset) * share[some]
                return t.T.astype(Z.dtype) @ Z[some], t.sum(axis=0)

            for of_rows, sum_of_rows in map_blocks(part, row_blocks(len(Z), _ROWS), n_jobs):
                product += of_rows
                total += sum_of_rows
        return product.T - np.outer(sums.z_mean, total) + ridges * p

    coef, n_iter, left = _conjugate_gradients(normal, precondition, sums.cross, max_iter, tol)
    if left > tol:
        message = (
            f"{owner}: the risk is above its minimum by about {left:.2g} of what the solution "
            f"lowers it by, after max_iter={max_iter} iterations, where tol={tol:g}. Remedy: a "
            "larger max_iter, alpha or tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=6)  # the caller of fit
    solution = Solution(coef, sums.y_mean - sums.z_mean @ coef, ridges, n_iter=n_iter)
    if scored is None:
        return solution
    return solution._replace(grid=scored.grid, scores=scored.scores)


def _first_pass(
    blocks: Blocks, targets: np.ndarray, count: np.ndarray, chosen: np.ndarray, pilot: np.ndarray
) -> _Sums:
    share = count / count.sum()
    y_mean = share @ targets
    centred = share[:, None] * (targets - y_mean)  # so the mean of z adds nothing to the covariance
    statistics = Statistics(len(pilot), y_mean)
    z_mean, cross, kept = np.zeros(1), np.zeros(1), np.empty((0, 0))
    for rows, Z in blocks():
        if not kept.size:
            kept = np.empty((len(chosen), Z.shape[1]))
        z_mean = z_mean + share[rows] @ Z
        cross = cross + (Z.T @ centred[rows].astype(Z.dtype)).astype(np.float64)
        some = slice(*np.searchsorted(chosen, [rows.start, rows.stop]))
        kept[some] = Z[chosen[some] - rows.start]
        if len(pilot):
            statistics.add(Z[:, pilot], targets[rows], count[rows])
    return _Sums(z_mean, y_mean, cross, kept, statistics)


def _preconditioner(
    rows: np.ndarray, share: np.ndarray, ridge: float
) -> Callable[[np.ndarray], np.ndarray]:
    """The inverse of the covariance of some rows plus a ridge, as a function of vectors.

    With the centred and weighted rows C it is (I − Cᵀ (ρ I + C Cᵀ)⁻¹ C) / ρ, by Woodbury. ``rows``
    is overwritten.
    """
    share = share / share.sum()
    centred = rows
    centred -= share @ centred
    centred *= np.sqrt(share)[:, None]
    inner = centred @ centred.T
    inner.flat[:: len(inner) + 1] += ridge
    factor = cholesky(inner)

    def apply(residual: np.ndarray) -> np.ndarray:
        along = linalg.cho_solve((factor, True), centred @ residual, check_finite=False)
        return (residual - centred.T @ along) / ridge

    return apply


def _conjugate_gradients(
    normal: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    wanted: np.ndarray,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int, float]:
    """Solve for each column of ``wanted`` apart, with the products of all at once.

    Returns
    -------
    solution : array of the shape of ``wanted``
    n_iter : int
    left : float
        The largest ratio of the squared preconditioned residual to that at the beginning.
    """
    solution, residual = np.zeros_like(wanted), wanted.copy()
    step = precondition(residual)
    begin = square = (residual * step).sum(axis=0)
    direction = step
    n_iter, left = 0, float((begin > 0).any())
    while left > tol and n_iter < max_iter:
        product = normal(direction)
        curvature = (direction * product).sum(axis=0)
        length = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        solution += length * direction
        residual -= length * product
        step = precondition(residual)
        before, square = square, (residual * step).sum(axis=0)
        along = np.divide(square, before, out=np.zeros_like(square), where=before > 0)
        direction = step + along * direction
        ratio = np.divide(square, begin, out=np.zeros_like(square), where=begin > 0)
        n_iter, left = n_iter + 1, float(ratio.max())
    return solution, n_iter, left
