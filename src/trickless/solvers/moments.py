"""Means and variances of columns, of which earlier rows may lose their weight.

D. H. D. West, "Updating mean and variance estimates: an improved method", Communications of the
ACM 22, 1979.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trickless.arrays.stated import Stated, check_array

#: Rows that are read at a time.
_ROWS = 2**12
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Moments(Stated):
    """Weighted mean and variance of the values of each column, without missing ones.

    An object never changes: each method returns a new one.

    Attributes
    ----------
    weight, squares : arrays of shape (n_columns,)
        Sums of the weights of the values, and of their squares.
    mean, var : arrays of shape (n_columns,)
        NaN for columns without a value.
    """

    weight: np.ndarray
    squares: np.ndarray
    mean: np.ndarray
    var: np.ndarray

    @classmethod
    def none(cls, n_columns: int) -> Moments:
        """Return the moments of no rows."""
        zeros, unknown = np.zeros(n_columns), np.full(n_columns, np.nan)
        return cls(zeros, zeros.copy(), unknown, unknown.copy())

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("weight", "squares", "mean", "var")}

    def check_state(self) -> None:
        shape = (len(self.weight),)
        for name in ("weight", "squares", "mean", "var"):
            least = None if name == "mean" else 0
            values = getattr(self, name)
            check_array(name, values, "f8", shape)
            check_array(name, values[~np.isnan(values)], "f8", (None,), least, np.inf)

    def after(self, X: np.ndarray, weight: np.ndarray | None = None, fade: float = 1.0) -> Moments:
        """Return the moments after some rows, before which all earlier ones fade by a factor."""
        moments = self.faded(fade)
        for start in range(0, len(X), _ROWS):
            rows = slice(start, start + _ROWS)
            part = None if weight is None else weight[rows]
            moments = moments.merged(_of_rows(np.asarray(X[rows], np.float64, order="C"), part))
        return moments

    def merged(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        total = self.weight + other.weight
        share = other.weight / np.where(total > 0, total, 1.0)
        new = np.isnan(self.mean)
        mean, var = (np.where(new, b, a) for a, b in ((self.mean, other.mean), (self.var, 0.0)))
        shift = np.where(np.isnan(other.mean), 0.0, other.mean - mean)
        var = (1 - share) * (var + share * shift**2) + share * _known(other.var)
        var[np.isnan(mean)] = np.nan
        return Moments(total, self.squares + other.squares, mean + share * shift, var)

    def faded(self, factor: float) -> Moments:
        """Return the moments of rows whose weights are multiplied by a factor."""
        if factor == 1:
            return self
        return Moments(factor * self.weight, factor**2 * self.squares, self.mean, self.var)

    @cached_property
    def scale(self) -> np.ndarray:
        """The standard deviation of each column; 1 if its values are equal up to rounding.

        The error of a variance of n numbers is at most n ε var + (n ε mean)² [1]_, and so a
        variance of this size counts as 0, as in scikit-learn's ``StandardScaler``.

        .. [1] T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample
           variance: analysis and recommendations", The American Statistician 37, 1983.
        """
        n = _EPS * self.weight * (self.weight / np.maximum(self.squares, 1e-300))
        constant = self.var <= n * self.var + (n * self.mean) ** 2
        scale = np.sqrt(self.var)
        if constant.any():
            scale[constant] = 1.0
        return scale


def _of_rows(X: np.ndarray, weight: np.ndarray | None) -> Moments:
    """Return the moments of some rows. The mean is subtracted before numbers are squared."""
    there = ~np.isnan(X)
    weights = there.astype(np.float64) if weight is None else there * weight[:, None]
    total, whole = weights.sum(axis=0), there.all()
    divisor = np.where(total > 0, total, 1.0)
    values = X if whole else np.where(there, X, 0.0)
    mean = (values * weights).sum(axis=0) / divisor
    apart = values - mean
    rest = (apart * weights).sum(axis=0) / divisor  # what rounding left of the mean
    var = np.maximum((apart**2 * weights).sum(axis=0) / divisor - rest**2, 0.0)
    none = total == 0
    mean[none], var[none] = np.nan, np.nan
    return Moments(total, (weights**2).sum(axis=0), mean, var)


def _known(var: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(var), 0.0, var)
