"""Noise whose variance depends on the row: another function of the same neurons."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.stated import check_array
from trickless.solvers.least_squares.left_out import LeftOut, leave_out
from trickless.solvers.least_squares.ridge import Left, solve_by_cross_validation
from trickless.solvers.least_squares.statistics import Statistics

#: Squares below this share of their mean count as this share, so that logarithms are finite.
_LEAST = 1e-8


class UnequalNoise(NamedTuple):
    """The logarithm of the variance of the noise, as a linear function of the activations.

    Attributes
    ----------
    coef : array of shape (n_columns, n_outputs)
    intercept, low, high : arrays of shape (n_outputs,)
        The function is cut off at its least and greatest value on the rows that it was learned
        from, so it does not extrapolate.
    of_rows : array of shape (n_rows, n_outputs)
        The variance at each of these rows, as the others alone say.
    """

    coef: np.ndarray
    intercept: np.ndarray
    low: np.ndarray
    high: np.ndarray
    of_rows: np.ndarray

    def check(self, n_columns: int, n_outputs: int) -> None:
        """Raise a ValueError if this is not of so many columns and outputs."""
        check_array("coef of noise", self.coef, "f8", (n_columns, n_outputs))
        for name in ("intercept", "low", "high"):
            check_array(f"{name} of noise", getattr(self, name), "f8", (n_outputs,))
        check_array("of_rows of noise", self.of_rows, "f8", (None, n_outputs), 0)

    def scales(self, Z: Any, output: int) -> np.ndarray:
        """Ratios of the deviation at rows of activations to that at the known rows.

        They are 1 where a known row has no noise, as if targets do not vary.
        """
        deviation, known = np.sqrt(self.variance(Z)[:, [output]]), np.sqrt(self.of_rows[:, output])
        ones = np.ones((len(deviation), len(known)))
        return np.divide(deviation, known, out=ones, where=known > 0)

    def variance(self, Z: Any) -> np.ndarray:
        """Variance of the noise at rows of activations, shape (len(Z), n_outputs)."""
        return np.exp(np.clip(Z @ self.coef + self.intercept, self.low, self.high))

    @classmethod
    def of(cls, Z: np.ndarray, rows: LeftOut, n_jobs: int | None) -> UnequalNoise:
        """Learn from rows that were left out one by one, and their activations.

        The residual of a row times its leave-one-out error has the mean of the noise's variance.
        Its logarithm is regressed on the activations, by ridge regression whose ridge is chosen by
        cross-validation [1]_. That is right up to a constant, E log χ²₁ = −1.27 for normal noise.
        The constant is chosen so that the rows' squares, divided by what the regression without the
        row says, average to 1. For normal noise, this has the greatest likelihood.

        References
        ----------
        .. [1] A. C. Harvey, "Estimating regression models with multiplicative heteroscedasticity",
           Econometrica 44, 1976, Equations 4 and 5.
        """
        squares = rows.left * (rows.targets - rows.decisions) ** 2
        logs = np.log(np.maximum(squares, _LEAST * (rows.weight @ squares) + np.finfo(float).tiny))
        statistics = Statistics(Z.shape[1], rows.weight @ logs)
        statistics.add(Z.copy(), logs, rows.weight, n_jobs=n_jobs)
        solution = solve_by_cross_validation(statistics.moments(), n_jobs)
        again = Left(Z, logs, np.ones(len(Z)), rows.weight)
        alone = leave_out(statistics.moments(), solution, [again], n_jobs).decisions
        with np.errstate(divide="ignore"):  # of targets that do not vary
            scale = np.log(rows.weight @ (squares / np.exp(alone)))
        intercept = solution.intercept + scale
        fitted = Z @ solution.coef + intercept
        low, high = fitted.min(axis=0), fitted.max(axis=0)
        of_rows = np.exp(np.clip(alone + scale, low, high))
        return cls(solution.coef, intercept, low, high, of_rows)
