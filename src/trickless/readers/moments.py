"""Means and standard deviations over batches. Numbers may be missing."""

from __future__ import annotations

import numpy as np


class Moments:
    """Mean and standard deviation of each column, without its missing numbers.

    Sums of squares are taken about the mean of a batch and then merged, so a mean far from 0 costs
    no digits. scikit-learn's ``StandardScaler`` does the same. But its ``partial_fit`` loses the
    mean of a column for good, after a batch in which the whole column is missing.

    Each column has ``n`` numbers, their ``mean``, which is 0 if there are none, and a ``spread``:
    the sum of squares about the mean. The spread is stored in squares of the column's ``unit``. A
    unit is a power of 2 that keeps squares from overflow and underflow.
    """

    def __init__(self, n_columns: int) -> None:
        self.n, self._weight = np.zeros(n_columns, dtype=np.int64), np.zeros(n_columns)
        self.mean, self._spread = np.zeros(n_columns), np.zeros(n_columns)
        self.unit = np.full(n_columns, np.finfo(float).tiny)

    def add(self, X: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add rows, of weight 1 or with weights. NaN is a missing number."""
        there = ~np.isnan(X)
        weights = there if weight is None else there * weight[:, None]
        total = weights.sum(axis=0)
        mean = (np.where(there, X, 0.0) * weights).sum(axis=0) / _divisor(total)
        distance = np.where(there, X - mean, 0.0)
        shift, share = mean - self.mean, total / _divisor(self._weight + total)
        largest = np.maximum(np.abs(distance).max(axis=0, initial=0.0), np.abs(shift))
        unit = np.maximum(np.ldexp(0.5, np.frexp(largest)[1]), self.unit)
        self._spread *= (self.unit / unit) ** 2
        self.unit = unit
        self._spread += ((distance / self.unit) ** 2 * weights).sum(axis=0)
        self._spread += (shift / self.unit) ** 2 * self._weight * share
        self.mean += shift * share
        self.n += there.sum(axis=0)
        self._weight += total

    @property
    def spread(self) -> np.ndarray:
        """The sum of squares about the mean of each column."""
        return self._spread * self.unit * self.unit

    def deviation(self) -> np.ndarray:
        """Return the standard deviation of each column; 0 without numbers, or if all are equal."""
        deviation = self.unit * np.sqrt(self._spread / _divisor(self._weight))
        rounding = self.n * np.finfo(float).eps * np.abs(self.mean)  # of the mean
        return np.where(deviation > rounding, deviation, 0.0)


def _divisor(weight: np.ndarray) -> np.ndarray:
    """Return sums of weights, with 1 instead of 0."""
    return np.where(weight > 0, weight, 1.0)
