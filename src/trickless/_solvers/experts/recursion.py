"""Recursive least squares with forgetting in blocks of rows, at several rates at once.

With rows z_j of weight w_j at the times t_j, a rate of λ for each unit of time and a ridge ρ,

    M_t = ρ I + Σ_j λ^(t − t_j) w_j z_j z_jᵀ,    M_t β_t = Σ_j λ^(t − t_j) w_j z_j y_jᵀ.

Recursive least squares updates M⁻¹ row by row (S. Haykin, "Adaptive filter theory", Chapter 10).
Here M = RᵀR is factorised once in some dozens of rows, at a *fold*. Rows since the last fold are
pending. Divided by λ^t, they are observations of ⟨z_j, β⟩ with the prior N(β, σ² M⁻¹) of the fold
and noise of variance σ² λ^(t_j) / w_j. With V = Z R⁻¹ and the Cholesky factorisation

    V Vᵀ + diag(λ^t / w) = L Lᵀ,

the errors of all predictions from the rows before are diag(L) L⁻¹ (Y − Zβ), and their variances
diag(L)² σ² (C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning",
Section 2.2 and Appendix A.4). A block of rows therefore takes a few products of matrices, and gives
the same as row after row. Between folds, the ridge fades like the rows.
"""

from __future__ import annotations

from copy import copy
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack

from trickless._arrays.growing import Growing
from trickless._arrays.stated import (
    Amount,
    Array,
    Length,
    Stated,
    check_array,
    check_same,
)

#: The ridge of the constant, as a share of the weight of one row.
FREE = 1e-4
#: The most rows between folds, and the most by which weights fade between them, in half-lives.
MOST_PENDING, MOST_HALVINGS = 64, 10.0
#: Columns from which a product of a triangular matrix with one vector takes half the time.
_LARGE = 256


class Ahead(NamedTuple):
    """Predictions of rows by several machines.

    Attributes
    ----------
    mean : array of shape (n_machines, n_rows, n_outputs)
    spread : array of shape (n_machines, n_rows)
        Variance of a target of weight 1, divided by that of the noise.
    """

    mean: np.ndarray
    spread: np.ndarray


class Recursion(Stated):
    """Machines that share their activations, one for each pair of a rate and a ridge.

    Machine ``i * n_ridges + j`` has rate i and ridge j. Their arrays are never written to after
    they are made, so forks share them.

    Parameters
    ----------
    rates : array of shape (n_rates,)
        Half-lives that pass in a unit of time.
    ridges : array of shape (n_rates, n_ridges)
    gram, cross : arrays of shapes (n_rates, size, size) and (n_rates, size, n_outputs)
        Sums over earlier rows: the constant is the last column, if there is one. Of ``gram``, only
        the lower triangle is kept.
    intercept : bool
        Whether there is a constant.
    free : float
        The ridge of the constant.

    Attributes
    ----------
    inverse : array of shape (n_machines, size, size)
        R⁻ᵀ of each machine at the last fold.
    coef : array of shape (n_machines, size, n_outputs)
        Coefficients at the last fold.
    """

    rates: Annotated[np.ndarray, Array("f8", "n_rates", least=0)]
    intercept: bool
    free: Amount
    gram: Any
    cross: Any
    inverse: Annotated[np.ndarray, Array("f8", "n_machines", "size", "size")]
    coef: Annotated[np.ndarray, Array("f8", "n_machines", "size", "n_outputs")]
    _moved: Annotated[np.ndarray, Array("f8", "n_machines", "size", "n_outputs")]
    _pending: Growing
    _white: Annotated[Growing, Length("n_pending")]

    def __init__(
        self,
        rates: np.ndarray,
        ridges: np.ndarray,
        gram: np.ndarray,
        cross: np.ndarray,
        intercept: bool,
        free: float = FREE,
    ) -> None:
        self.rates = rates
        self.intercept = intercept
        self.free = free
        self.gram = gram
        self.cross = cross
        self._solve(ridges)

    @classmethod
    def of_no_rows(
        cls, rates: np.ndarray, ridges: np.ndarray, n_columns: int, n_outputs: int, intercept: bool
    ) -> Recursion:
        """Return machines that have learned nothing."""
        size = n_columns + intercept
        sums = np.zeros((len(rates), size, size)), np.zeros((len(rates), size, n_outputs))
        return cls(rates, ridges, *sums, intercept)

    def check_state(self) -> None:
        n_machines, size, n_outputs = self.coef.shape
        check_same("machines of each rate", n_machines % len(self.rates), 0)
        if self.gram is not None or self.cross is not None:
            check_array("gram", self.gram, "f8", (len(self.rates), size, size))
            check_array("cross", self.cross, "f8", (len(self.rates), size, n_outputs))
        if self.n_pending:
            columns = size + n_outputs
            check_array("_pending", self._pending.rows, "f8", (None, columns + 2))
            check_array("_white", self._white.rows, "f8", (None, n_machines, columns))

    def check(self, size: int, n_rates: int, n_ridges: int, n_outputs: int) -> None:
        """Raise a ValueError if these are not machines of such sizes."""
        check_same("number of rates", len(self.rates), n_rates)
        check_same("shape of coef", self.coef.shape, (n_rates * n_ridges, size, n_outputs))

    @property
    def n_pending(self) -> int:
        """Number of rows since the last fold."""
        return len(self._pending)

    def fork(self) -> Recursion:
        """Return machines that continue from these, and leave these unchanged."""
        other = copy(self)
        other._pending, other._white = self._pending.fork(), self._white.fork()
        return other

    def without_sums(self) -> Recursion:
        """Return machines that can predict but not learn."""
        other = self.fork()
        other.gram = other.cross = None
        return other

    def with_outputs(self, source: np.ndarray, sign: np.ndarray) -> Recursion:
        """Return machines of other outputs, each of which is an earlier one with a sign."""
        other = self.fork()
        size, end = self.coef.shape[1], sum(self.coef.shape[1:])

        def changed(targets: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(targets[..., source] * sign)

        def changed_rows(rows: np.ndarray) -> np.ndarray:
            parts = rows[..., :size], changed(rows[..., size:end]), rows[..., end:]
            return np.concatenate(parts, axis=-1)

        other.coef, other._moved = changed(self.coef), changed(self._moved)
        other.cross = None if self.cross is None else changed(self.cross)
        other._pending = self._pending.mapped(changed_rows)
        other._white = self._white.mapped(changed_rows)
        return other

    def pending(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the pending rows, their targets, times since the last fold, and weights."""
        size, n_outputs = self.coef.shape[1:]
        rows = self._pending.rows if self.n_pending else np.zeros((0, size + n_outputs + 2))
        return rows[:, :size], rows[:, size:-2], rows[:, -2], rows[:, -1]

    def ahead(self, Z: np.ndarray, time: float) -> Ahead:
        """Predict rows at a time after the last fold, each by the rows so far."""
        V, along, mean = self._projected(self._with_constant(Z))
        square = np.einsum("mij,mij->mi", V, V) - np.einsum("mij,mij->mi", along, along)
        return Ahead(mean, 1.0 + np.maximum(square, 0) / self._fades(np.full(len(Z), time)))

    def learn(self, Z: np.ndarray, Y: np.ndarray, times: np.ndarray, weight: np.ndarray) -> Ahead:
        """Learn rows in their order, and return how each was predicted by those before it."""
        Z = self._with_constant(Z)
        size = Z.shape[1]
        V, along, prior = self._projected(Z)
        fades = self._fades(times)
        F = V @ V.transpose(0, 2, 1) - along @ along.transpose(0, 2, 1)
        if len(Z) == 1:  # without indices, which take longer than all of it
            F += (fades / weight)[:, :, None]
        else:
            F[:, np.arange(len(Z)), np.arange(len(Z))] += fades / weight
        L = np.sqrt(F) if len(Z) == 1 and (F > 0).all() else np.linalg.cholesky(F)
        if self.n_pending:
            V = V - along @ self._white.rows[..., :size].transpose(1, 0, 2)
        white = _solve_lower(L, np.concatenate([V, Y - prior], axis=2))
        u = white[:, :, size:]
        self._moved = self._moved + white[:, :, :size].transpose(0, 2, 1) @ u
        root = np.diagonal(L, axis1=1, axis2=2)
        spread = (root**2 - fades / weight) / fades + 1.0
        self._pending.append(np.column_stack([Z, Y, times, weight]))
        self._white.append(white.transpose(1, 0, 2))
        return Ahead(Y - root[:, :, None] * u, spread)

    def fold(self, time: float, ridges: np.ndarray) -> None:
        """Add the pending rows to the sums, as of a time, and solve with these ridges."""
        Z, Y, when, weight = self.pending()
        gram, cross = np.empty_like(self.gram), np.empty_like(self.cross)
        for i, rate in enumerate(self.rates):
            sums = self.gram[i], self.cross[i], np.exp2(-rate * time)
            gram[i], cross[i] = faded_sums(*sums, Z, Y, np.exp2(-rate * (time - when)) * weight)
        self.gram, self.cross = gram, cross
        self._solve(ridges)

    def _solve(self, ridges: np.ndarray) -> None:
        """Factorise at a ridge for each machine, (n_rates, n_ridges). No rows are pending then."""
        size, n_outputs = self.cross.shape[1:]
        self.inverse = np.empty((ridges.size, size, size))
        self.coef = np.empty((ridges.size, size, n_outputs))
        for machine, ridge in enumerate(ridges.flat):
            i = machine // ridges.shape[1]
            matrix = self.gram[i].copy()
            diagonal = np.full(size, ridge)
            diagonal[size - self.intercept :] = self.free
            matrix.flat[:: size + 1] += diagonal
            self.inverse[machine] = inverse = inverse_factor(matrix)
            self.coef[machine] = inverse.T @ (inverse @ self.cross[i])
        self._pending, self._white = Growing(), Growing()
        self._moved = np.zeros_like(self.coef)

    def current(self) -> np.ndarray:
        """Return the present coefficients, (n_machines, size, n_outputs)."""
        if not self.n_pending:
            return self.coef
        each = zip(self.inverse, self._moved, strict=True)
        return self.coef + np.stack([_times_factor(inverse, moved) for inverse, moved in each])

    def _with_constant(self, Z: np.ndarray) -> np.ndarray:
        rows = np.ones((len(Z), Z.shape[1] + self.intercept))
        rows[:, : Z.shape[1]] = Z
        return rows

    def _fades(self, times: np.ndarray) -> np.ndarray:
        """Return what is left after some times, (n_machines, n_times)."""
        rates = np.repeat(self.rates, len(self.coef) // len(self.rates))
        return np.exp2(-np.outer(rates, times))

    def _projected(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows times R⁻¹, their covariances with whitened pending rows, and predictions."""
        size = Z.shape[1]
        if len(Z) == 1 and size >= _LARGE:  # half of a matrix, which is what takes the time
            V = np.array([[blas.dtrmv(each.T, Z[0], trans=1)] for each in self.inverse])
        else:
            V = (Z @ self.inverse.reshape(-1, size).T).reshape(len(Z), -1, size).transpose(1, 0, 2)
        mean = Z @ self.coef
        if not self.n_pending:
            return V, np.zeros((len(V), len(Z), 0)), mean
        white = self._white.rows
        along = V @ white[..., :size].transpose(1, 2, 0)
        return V, along, mean + along @ white[..., size:].transpose(1, 0, 2)


def faded_sums(
    gram: np.ndarray,
    cross: np.ndarray,
    fade: float,
    Z: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return λS + Σ w z zᵀ, of which only the lower triangle is kept, and λC + Σ w z yᵀ."""
    root = np.sqrt(weight)[:, None]
    Z = Z * root
    # The transpose of a matrix is the same matrix in the order of BLAS, so it takes no copy more.
    return blas.dsyrk(1.0, Z.T, fade, gram.T).T, fade * cross + Z.T @ (Y * root)


def inverse_factor(matrix: np.ndarray) -> np.ndarray:
    """Return R⁻ᵀ, lower triangular, for a positive definite matrix RᵀR, which is overwritten."""
    # The transpose is the same matrix in LAPACK's order, so no copy is needed.
    factor, failed = lapack.dpotrf(matrix.T, lower=0, clean=1, overwrite_a=1)
    if not failed:
        factor, failed = lapack.dtrtri(factor, lower=0, overwrite_c=1)
    if failed:
        raise LinAlgError("the activations are linearly dependent to working precision")
    return factor.T


def _times_factor(inverse: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return R⁻¹ times some columns, from the transpose of R⁻¹."""
    if columns.shape[1] == 1:
        moved: np.ndarray = blas.dtrmv(inverse.T, columns[:, 0])[:, None]
        return moved
    return inverse.T @ columns


def _solve_lower(L: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a stack of lower triangular matrices."""
    if L.shape[1] == 1:
        return right / L
    inverse = np.stack([lapack.dtrtri(each.T, lower=0)[0].T for each in L])
    return inverse @ right
