"""Preconditioned conjugate gradients for several quadratic functions at once.

References
----------
.. [1] G. Meurant and P. Tichý, "On computing quadrature-based bounds for the A-norm of the error in
   conjugate gradients", Numerical Algorithms 62, 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

#: The least preconditioned eigenvalue is taken to be this share of the least that iterations have
#: found, but no more than the second number.
_BELOW, _LEAST = 0.9, 0.5


class Iterations(NamedTuple):
    """What iterations reached, with a column for each problem.

    Attributes
    ----------
    solution : array
    n_iter : int
    left : array
        How far the quadratic function is above its minimum, relative to its decrease by the
        solution, if the preconditioner were exact.
    square : array
        Preconditioned square of the residual.
    steps : list of arrays of shape (2, n_problems)
        For each iteration, the length of the step and the square before it. NaN if it took none.
    """

    solution: np.ndarray
    n_iter: int
    left: np.ndarray
    square: np.ndarray
    steps: list[np.ndarray]

    def above_minimum(self, column: int) -> float:
        """Estimate how far the quadratic function ⟨β, A β⟩ − 2 ⟨w, β⟩ is above its minimum.

        That is the squared error of β in the norm of A. It would be ``square`` if the
        preconditioner were exact. Gauss–Radau quadrature corrects it by the spectrum that the
        iterations have found. The result is an upper bound if all preconditioned eigenvalues are
        above μ [1]_. Hestenes and Stiefel's sum of the next steps is a lower bound, which is far
        too small where convergence is slow.
        """
        square = float(self.square[column])
        length, before = np.array([step[:, column] for step in self.steps]).reshape(-1, 2).T
        length, before = length[~np.isnan(length)], before[~np.isnan(before)]
        mu, node = _LEAST, 1 / _LEAST
        if len(length):
            ratio = np.append(before[1:], square) / before
            diagonal = 1 / length
            diagonal[1:] += ratio[:-1] / length[:-1]
            beside = np.sqrt(ratio[:-1]) / length[:-1]
            ritz = linalg.eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))
            mu = min(_LEAST, _BELOW * float(ritz[0]))
            node = 1 / mu
            for step, factor in zip(length.tolist(), ratio.tolist(), strict=True):
                node = (node - step) / (mu * (node - step) + factor)
        return square * node if node > 0 else square / mu


def conjugate_gradients(
    normal: Callable[[np.ndarray, np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray, np.ndarray], np.ndarray],
    wanted: np.ndarray,
    begin: np.ndarray,
    ridges: np.ndarray,
    max_iter: int,
    tols: np.ndarray,
) -> Iterations:
    """Solve for all columns of ``wanted`` together, each at its ridge, starting from ``begin``."""
    steps: list[np.ndarray] = []
    solution = begin.copy()
    residual = wanted - normal(begin, ridges) if begin.any() else wanted.copy()
    direction = precondition(residual, ridges)
    square = (residual * direction).sum(axis=0)
    left = np.where(square > 0, np.inf, 0.0)
    active, n_iter = np.flatnonzero(left > tols), 0
    while active.size and n_iter < max_iter:
        p = direction[:, active]
        product = normal(p, ridges[active])
        curvature = (p * product).sum(axis=0)
        if (curvature <= 0).any():  # only rounding is left of these columns
            active = active[curvature > 0]
            continue
        length = square[active] / curvature
        solution[:, active] += length * p
        residual[:, active] -= length * product
        step = precondition(residual[:, active], ridges[active])
        before = square[active]
        steps.append(np.full((2, len(square)), np.nan))
        steps[-1][:, active] = length, before
        square[active] = (residual[:, active] * step).sum(axis=0)
        direction[:, active] = step + square[active] / before * p
        gain = (solution[:, active] * wanted[:, active]).sum(axis=0)
        left[active] = np.divide(
            square[active], gain, out=np.full_like(gain, np.inf), where=gain > 0
        )
        active = active[left[active] > tols[active]]
        n_iter += 1
    return Iterations(solution, n_iter, left, square, steps)
