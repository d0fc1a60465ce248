"""Stochastic dual coordinate ascent with a kernel.

S. Shalev-Shwartz and T. Zhang, "Stochastic dual coordinate ascent methods for regularized loss
minimization", Journal of Machine Learning Research 14, 2013. With p_i the shares of the rows (1/n
without weights), primal and dual objective are (Equations 1 and 2)

    P(f) = Σ p_i l(f(x_i), y_i) + (α/2) ‖f‖²
    D(a) = −Σ p_i l*(−a_i) − (α/2) ‖f_a‖²,    f_a = Σ (p_i / α) a_i k(x_i, ·)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from trickless.arrays.threads import row_blocks
from trickless.errors import InvalidValueError
from trickless.functions.exact_kernel import ExactKernel, KernelRows, rows_at_once
from trickless.functions.stream import Purpose, generator
from trickless.rules import warn
from trickless.solvers.losses import DualLoss
from trickless.solvers.progress import ignore

#: Replaces 0 in a denominator, since k(x, x) = 0 at the zero of a linear kernel.
_SMALL = 1e-200


class DualAscent:
    """Procedure SDCA-Perm, for several outputs that share the kernel.

    ``a`` are the dual variables and ``f`` the values of f_a at the rows, both of shape (n_rows,
    n_outputs). For each output, ``objective`` is P(f_a) and ``gap`` is P(f_a) − D(a).
    """

    def __init__(
        self,
        kernel: ExactKernel,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        loss: DualLoss,
        alpha: float,
    ) -> None:
        self.kernel, self.X, self.y, self.loss = kernel, X, y, loss
        self.share = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
        self.r = self.share / alpha
        self.a, self.f = np.zeros_like(y), np.zeros_like(y)
        self.n_epochs = 0
        self.objective, self.gap = self._objective_and_gap()

    def ascend(
        self,
        max_iter: int,
        tol: float,
        seed: int,
        cache_bytes: int,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Visit all rows again and again, until the duality gap is small.

        An output is learned when its gap is at most ``tol``, relative to the objective now.
        ``advance`` is called with the number of epochs that were made.
        """

        def left() -> np.ndarray:
            return self.gap > tol * self.objective

        q = np.maximum(self.r * self.kernel.diagonal(self.X), _SMALL)
        kernel_rows = KernelRows(self.kernel, self.X, cache_bytes)
        while left().any() and self.n_epochs < max_iter:
            order = generator(seed, Purpose.SHUFFLE, self.n_epochs).permutation(len(self.a))
            self._epoch(kernel_rows, order, q, np.flatnonzero(left()))
            self.n_epochs += 1
            self.objective, self.gap = self._objective_and_gap()
            advance(1)
        if left().any():
            worst = (self.gap / np.maximum(self.objective, _SMALL)).max()
            warn(
                f"{self.kernel.owner}: after max_iter={max_iter} epochs the duality gap is "
                f"{worst:.2g} of the objective, above tol={tol!r}. Remedy: a larger "
                "max_iter, tol or alpha.",
                ConvergenceWarning,
            )

    def expansion(self) -> tuple[Any, np.ndarray]:
        """Support points and coefficients of f_a, without rows whose dual variables are 0."""
        kept = self.a.any(axis=1)
        return self.X[kept], self.r[kept, None] * self.a[kept]

    def _epoch(
        self, kernel_rows: KernelRows, order: np.ndarray, q: np.ndarray, outputs: np.ndarray
    ) -> None:
        """Visit every row once, for the outputs that are still learned."""
        a, f, r = self.a, self.f, self.r
        for block in row_blocks(len(a), rows_at_once(len(a))):
            rows = order[block]
            K = kernel_rows[rows]
            where = np.ix_(rows, outputs)
            own = K[:, rows] * r[rows, None]
            new = self._visit(own, a[where], f[where], self.y[where], q[rows])
            f[:, outputs] += K.T @ (r[rows, None] * (new - a[where]))  # SDCA-Perm: w^(t)
            a[where] = new

    def _visit(
        self, own: np.ndarray, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: np.ndarray
    ) -> np.ndarray:
        """Dual variables of a block of rows after a visit to each in turn.

        f at the rows to come is updated. ``own[i]`` is what a change of 1 adds to it.
        """
        for i in range(len(a)):
            best = self.loss.best_dual(a[i], f[i], y[i], q[i])  # SDCA-Perm: "Δα_i to maximize"
            change = best - a[i]
            if change.any():
                a[i] = best  # SDCA-Perm: α^(t) ← α^(t−1) + Δα_i e_i
                f[i + 1 :] += own[i, i + 1 :, None] * change
        return a

    def _objective_and_gap(self) -> tuple[np.ndarray, np.ndarray]:
        """Objective and duality gap of each output.

        We have α ‖f‖² = Σ p_i a_i f(x_i), so the gap is Σ p_i (l(f(x_i)) + l*(−a_i) + a_i f(x_i)).
        Its terms are never negative, for any f.
        """
        products = self.a * self.f
        squares = self.share @ products  # α ‖f‖²
        self._check_squares(squares, self.share @ np.abs(products))
        columns = [(self.f[:, [j]], self.y[:, [j]]) for j in range(self.y.shape[1])]
        value = np.column_stack([self.loss.value(*column) for column in columns])
        gap = value + self.loss.conjugate(self.a, self.y) + products
        return self.share @ value + squares / 2, self.share @ np.maximum(gap, 0)

    def _check_squares(self, squares: np.ndarray, scale: np.ndarray) -> None:
        """Raise an error if ‖f‖² of an output is negative, beyond the rounding of its terms."""
        if (squares < -1e-6 * scale).any():
            raise InvalidValueError(
                f"{self.kernel.owner}: the kernel gives a function of squared norm "
                f"{squares.min():g}, so it is not positive semi-definite, and there is no optimum",
                "another kernel (the 'sigmoid' kernel is not semi-definite), or other "
                "kernel_params",
            )
