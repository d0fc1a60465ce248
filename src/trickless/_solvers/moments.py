"""Robust means and variances of columns, of which earlier rows may lose their weight.

Values are clipped at m ± k s, where m and s are the mean and standard deviation of the clipped
values themselves. This is an equation for m and s, of which the largest solution is taken, as in
Proposal 2 of P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
Statistics 35, 1964. If a share of ε/2 of the weight is far out on each side, then

    s² = (1 − ε) var(the other values) / (1 − ε k²).

With k = 5, one of n rows multiplies the variance by 1 / (1 − 25/n) at most, however large it is,
and one in 200 rows by 1.14. A normal variable loses less than a millionth of its variance. There
is no solution above 0 if ε ≥ 1/k² = 4 %: as many values are no exception, and count in full. They
do so, too, in the first 26 rows, of which none can be 5 deviations away from the mean of all, and
where the other values are all equal, as in the counts of a rare event.

Rows are learned in blocks. Where nothing is beyond k deviations, any blocks give the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from trickless._arrays.stated import Array, Stated, check_array

#: Rows that are read at a time.
_ROWS = 2**12
#: A value counts as at most so many standard deviations from the mean.
FAR = 5.0
#: The most steps towards the solution, of which two or three are usual.
_MOST_STEPS = 30
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ColumnMoments(Stated):
    """Weighted mean and variance of the values of each column, without missing ones.

    An object never changes: each method returns a new one.

    Attributes
    ----------
    weight, squares : arrays of shape (n_columns,)
        Sums of the weights of the values, and of their squares.
    mean, var : arrays of shape (n_columns,)
        NaN for columns without a value.
    far : array of shape (n_columns,)
        What values that were more than ``FAR`` deviations from the mean add to ``var``.
    """

    weight: Annotated[np.ndarray, Array("f8", "n_columns")]
    squares: Annotated[np.ndarray, Array("f8", "n_columns")]
    mean: Annotated[np.ndarray, Array("f8", "n_columns")]
    var: Annotated[np.ndarray, Array("f8", "n_columns")]
    far: Annotated[np.ndarray, Array("f8", "n_columns")]

    @classmethod
    def none(cls, n_columns: int) -> ColumnMoments:
        """Return the moments of no rows."""
        zeros, unknown = np.zeros(n_columns), np.full(n_columns, np.nan)
        return cls(zeros, zeros.copy(), unknown, unknown.copy(), zeros.copy())

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _STATE}

    def check_state(self) -> None:
        for name in _STATE:
            least = None if name == "mean" else 0
            values = getattr(self, name)
            check_array(name, values[~np.isnan(values)], "f8", (None,), least, np.inf)

    def after(
        self, X: np.ndarray, weight: np.ndarray | None = None, fade: float = 1.0
    ) -> ColumnMoments:
        """Return the moments after some rows, before which all earlier ones fade by a factor."""
        moments = self.faded(fade)
        for start in range(0, len(X), _ROWS):
            rows = slice(start, start + _ROWS)
            part = None if weight is None else weight[rows]
            moments = moments._with(np.asarray(X[rows], np.float64, order="C"), part)
        return moments

    def _with(self, X: np.ndarray, weight: np.ndarray | None) -> ColumnMoments:
        """Return the moments after a block, of whose values those far out are clipped."""
        found = full = self.merged(of_rows(X, weight))
        each = np.ones(len(X)) if weight is None else weight
        known, taken = np.zeros(X.shape, bool), np.ones(X.shape[1], bool)
        for step in range(_MOST_STEPS):
            reach = FAR * found.scale
            above, below = found.mean + reach < X, found.mean - reach > X
            far = above | below
            if (far == known).all():
                break
            if step == 0:  # where they count in full
                apart = each @ np.where(far, X - full.mean, 0.0) ** 2
                full = replace(full, far=full.far + apart / np.maximum(full.weight, 1e-300))
            known = far
            near = self.merged(of_rows(np.where(far, np.nan, X), weight))
            clipped, has_solution = _with_clipped(near, full, each @ above, each @ below)
            taken = taken & has_solution
            found = _chosen(taken, clipped, full)
        return found

    def merged(self, other: ColumnMoments) -> ColumnMoments:
        """Return the moments of the rows of both."""
        total = self.weight + other.weight
        share = other.weight / np.where(total > 0, total, 1.0)
        new = np.isnan(self.mean)
        mean, var = (np.where(new, b, a) for a, b in ((self.mean, other.mean), (self.var, 0.0)))
        shift = np.where(np.isnan(other.mean), 0.0, other.mean - mean)
        var = (1 - share) * (var + share * shift**2) + share * _known(other.var)
        var[np.isnan(mean)] = np.nan
        far = (1 - share) * self.far + share * other.far
        return ColumnMoments(total, self.squares + other.squares, mean + share * shift, var, far)

    def faded(self, factor: float) -> ColumnMoments:
        """Return the moments of rows whose weights are multiplied by a factor."""
        if factor == 1:
            return self
        return replace(self, weight=factor * self.weight, squares=factor**2 * self.squares)

    @cached_property
    def constant(self) -> np.ndarray:
        """Whether the values of each column are equal up to rounding.

        The error of a variance of n numbers is at most n ε var + (n ε mean)² [1]_, and so a
        variance of this size counts as 0, as in scikit-learn's ``StandardScaler``.

        .. [1] T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample
           variance: analysis and recommendations", The American Statistician 37, 1983.
        """
        n = _EPS * self.weight * (self.weight / np.maximum(self.squares, 1e-300))
        equal: np.ndarray = self.var <= n * self.var + (n * self.mean) ** 2
        return equal

    @cached_property
    def scale(self) -> np.ndarray:
        """The standard deviation of each column; 1 if its values are equal up to rounding."""
        scale = np.sqrt(self.var)
        if self.constant.any():
            scale[self.constant] = 1.0
        return scale


_STATE = "weight", "squares", "mean", "var", "far"


def _with_clipped(
    near: ColumnMoments, full: ColumnMoments, up: np.ndarray, down: np.ndarray
) -> tuple[ColumnMoments, np.ndarray]:
    """Return moments with some weight at the mean ± ``FAR`` deviations, and where there are any.

    There are none where values that are not far out make up less than 1/k² of the variance.
    """
    skew = (up - down) / np.maximum(near.weight, 1e-300)
    out = FAR**2 * (up + down + skew**2 * near.weight) / np.maximum(full.weight, 1e-300)
    of_near = np.where(near.constant, 0.0, 1 - near.far / np.maximum(near.var, 1e-300))
    has_solution = (1 - out) * of_near > 1 / FAR**2
    part = near.weight / np.maximum(full.weight, 1e-300)
    var = part * near.var / np.where(has_solution, 1 - out, 1.0)
    mean = near.mean + FAR * np.sqrt(var) * skew
    far = part * near.far + out * var
    return replace(full, mean=mean, var=var, far=far), has_solution


def _chosen(where: np.ndarray, one: ColumnMoments, other: ColumnMoments) -> ColumnMoments:
    """Return the moments of some columns, and others of the rest."""
    return ColumnMoments(*(np.where(where, getattr(one, n), getattr(other, n)) for n in _STATE))


def of_rows(X: np.ndarray, weight: np.ndarray | None) -> ColumnMoments:
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
    return ColumnMoments(total, (weights**2).sum(axis=0), mean, var, np.zeros(X.shape[1]))


def _known(var: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(var), 0.0, var)
