"""Means and standard deviations over batches. Numbers may be missing."""

from __future__ import annotations

import numpy as np


class Moments:
    """Mean and standard deviation of each column, without its missing numbers.

    Sums of squares are taken about the mean of a batch and then merged, so a mean far from 0 costs
    no digits. ``StandardScaler`` of scikit-learn does the same, but after a batch in which all
    numbers of a column are missing, its ``partial_fit`` has no mean of that column any more.

    Each column has ``n`` numbers, their ``mean`` (0 if there are none), and as its ``spread`` the
    sum of squares about the mean.
    """

    def __init__(self, n_columns: int) -> None:
        self.n = np.zeros(n_columns, dtype=np.int64)
        self.mean, self.spread = np.zeros(n_columns), np.zeros(n_columns)

    def add(self, X: np.ndarray) -> None:
        """Add rows; NaN stands for a missing number."""
        there = ~np.isnan(X)
        n = there.sum(axis=0)
        mean = np.where(there, X, 0.0).sum(axis=0) / np.maximum(n, 1)
        self.spread += (np.where(there, X - mean, 0.0) ** 2).sum(axis=0)
        shift, share = mean - self.mean, n / np.maximum(self.n + n, 1)
        self.spread += shift**2 * self.n * share
        self.mean += shift * share
        self.n += n

    def deviation(self) -> np.ndarray:
        """Standard deviation of each column; 0 if it has no numbers, or none that differ."""
        deviation = np.sqrt(self.spread / np.maximum(self.n, 1))
        rounding = self.n * np.finfo(float).eps * np.abs(self.mean)  # of the mean
        return np.where(deviation > rounding, deviation, 0.0)
