r"""Other losses than the squared: alpha by what the loss is at rows that are left out.

Near decision values f, the risk is a weighted mean of squares. The working response of a row is
z = f − l′(f) / h, and its weight is the curvature h of the loss, a mean over outputs. The solution
of this problem gives decision values without each row, by one Newton step from f that is exact for
squares [1]_. At these values the loss itself counts, never the square: alpha is where its mean is
least.

The search begins where the squares near the best constant are best. From there it takes decades,
then half decades, as long as the mean loss falls. At each alpha, f minimises the risk at that same
alpha. Squares near one f mislead at other alphas: where classes separate, they promise ever less
loss for ever smaller alphas.

One Newton step is too kind to the few rows of a rare class, which bend the loss far. But where p(x)
is the probability of a class, it also lowers the log loss of the other rows, by Jensen's inequality
for t log t:

.. math:: E[-\log(1 - p(x)) \mid \text{other}] \le -\log P(\text{other}).

What a class of fewer than ten rows gains counts only where the others gain as well, by half a
standard error.

References
----------
.. [1] K. Rahnama Rad and A. Maleki, "A scalable estimate of the out-of-sample prediction error via
   approximate leave-one-out cross-validation", Journal of the Royal Statistical Society B 82, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.places import place_of
from trickless._arrays.threads import linear_algebra
from trickless._solvers.least_squares.left_out import leave_out
from trickless._solvers.least_squares.paths import SLACK, Left, Losses, Path, Solution
from trickless._solvers.least_squares.ridge import solve
from trickless._solvers.least_squares.row_sample import ROWS, keys_of
from trickless._solvers.least_squares.statistics import Statistics, least_ridge
from trickless._solvers.losses import Loss

#: The width of the parabola that takes the place of a corner of a loss, in left-out values.
_WIDTH = 0.5
#: Factors by which the search goes from alpha to alpha, in turn, and the most alphas it looks at.
_STEPS, _MOST = (10.0, 10**0.5), 16
#: A class of fewer rows must lower the losses of the others before its own gain counts.
_FEW = 10
#: The least curvature of a row: as a share of the mean, and at all.
_LEAST, _FLATTEST = 1e-9, 1e-100
#: The largest decision value that is compared.
_FARTHEST = 1e30


class LeftRows(NamedTuple):
    """Rows to leave out: their numbers, targets, and weights.

    Each class has the same number of rows, as far as there are so many, and their weights have the
    sum of the weights of all its rows. Few rows of a rare class would tell little.
    """

    numbers: np.ndarray
    targets: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, X: Any, targets: np.ndarray, weight: np.ndarray, seed: int) -> LeftRows:
        """Choose at most 2,048 rows, which do not depend on the order of the rows."""
        classes = np.unique(targets, axis=0, return_inverse=True)[1].ravel()
        order = np.argsort(keys_of(X, targets, seed, place_of(X)), kind="stable")
        order = order[weight[order] > 0]
        left, room, chosen = np.bincount(classes[order]), ROWS, np.zeros(len(targets), dtype=bool)
        shares = np.zeros(len(left))
        for number, kind in enumerate(np.argsort(left, kind="stable")):
            some = order[classes[order] == kind][: room // (len(left) - number)]
            chosen[some], room = True, room - len(some)
            if len(some):
                shares[kind] = weight[classes == kind].sum() / weight[some].sum()
        numbers = np.flatnonzero(chosen)
        return cls(numbers, targets[numbers], weight[numbers] * shares[classes[numbers]])

    def losses(self, loss: Loss, decisions: np.ndarray) -> np.ndarray:
        """Compute losses of decision values (n_rows, n_outputs, n_grid): shape (n_rows, n_grid)."""
        f = np.clip(decisions, -_FARTHEST, _FARTHEST)  # infinite where only the row tells its value
        return np.stack([loss.value(at, self.targets) for at in np.moveaxis(f, 2, 0)], axis=1)


class Chosen(NamedTuple):
    """A ridge, the ridges looked at with the mean losses there, and coefficients near the best."""

    ridge: float
    grid: np.ndarray
    scores: np.ndarray
    coef: np.ndarray


class RidgeSearch:
    """Losses of left-out rows at the ridges that were looked at, each from its own least risk.

    ``minimised`` returns a solution of least risk of a loss at a ridge, which it seeks near another
    solution, and its decision values at all rows. A loss with a corner has no curvature there, so a
    smooth loss beside it gives the left-out values. What counts is the loss itself.
    """

    def __init__(
        self,
        sums: Any,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        loss: Loss,
        problem: Any,
        minimised: Callable[[Loss, float, Solution | None], tuple[Solution, np.ndarray]],
    ) -> None:
        self._sums, self._X, self._targets, self._loss = sums, X, targets, loss
        self._count = np.ones(len(targets)) if weight is None else weight
        self._smooth = loss if loss.smooth else loss.smoothed(_WIDTH)
        self._problem, self._minimised = problem, minimised
        self._rows = LeftRows.of(X, targets, self._count, sums.stream.seed)
        self._constant = np.empty(0)
        self._seen: dict[float, tuple[Solution, np.ndarray]] = {}
        self._limits = 0.0, np.inf
        self._near: Solution | None = None

    def begin(self, constant: np.ndarray) -> float:
        """Return the ridge that is best where the loss is squares near the best constant."""
        squares, scale, rows = self._squares(self._loss, np.tile(constant, (len(self._targets), 1)))
        moments = squares.moments(self._problem.fit_intercept)
        with linear_algebra(self._problem.n_jobs, moments.n_products):
            path = Path(moments, self._problem.n_jobs)
            decisions = np.concatenate([each.decisions for each in path.left_out(rows)])
        losses = self._rows.losses(self._loss, decisions)
        n_outputs = self._targets.shape[1]
        summed = self._summed(losses)
        found = path.best(np.tile(summed.mean / n_outputs, (n_outputs, 1)), summed)
        assert found.grid is not None
        self._limits = found.grid[0] * scale, found.grid[-1] * scale
        if self._loss.has_link:
            self._constant = self._without_neurons(constant)
        return float(found.ridge[0]) * scale

    def loss(self, ridge: float) -> float:
        """Compute the mean loss of left-out rows at a ridge; infinite where none is looked at."""
        lowest, highest = self._limits
        near = [each for each in self._seen if abs(np.log(each / ridge)) < 1e-6]
        if not near:
            if len(self._seen) == _MOST or not lowest * 0.999 <= ridge <= highest * 1.001:
                return np.inf
            self._near, f = self._minimised(self._smooth, ridge, self._near)
            squares, scale, rows = self._squares(self._smooth, f)
            moments, again = (squares.moments(self._problem.fit_intercept) for _ in range(2))
            with linear_algebra(self._problem.n_jobs, moments.n_products):
                found = solve(moments, ridge / scale, self._problem.n_jobs)  # overwrites them
                f = leave_out(again, found, rows, self._problem.n_jobs).decisions
            losses = self._rows.losses(self._loss, f[:, :, None])[:, 0]
            if self._loss.has_link:
                self._disown(f, losses)
            self._seen[ridge] = self._near, losses
            near = [ridge]
        return float(self._rows.weight @ self._seen[near[0]][1])

    def climb(self, ridge: float, step: float) -> float:
        """Go from a ridge by factors of ``step`` as long as the loss falls."""
        for factor in (1 / step, step):
            while self.loss(ridge * factor) < self.loss(ridge):
                ridge *= factor
        return ridge

    def chosen(self) -> Chosen:
        """Return the largest ridge whose loss is the least, up to half its standard error."""
        grid = np.array(sorted(self._seen))
        losses = self._summed(np.stack([self._seen[ridge][1] for ridge in grid], axis=1))
        mean, n_outputs = losses.mean, self._targets.shape[1]
        ridge = grid[losses.choose(0, np.isfinite(mean))[0]]
        scores = np.tile(mean / n_outputs, (n_outputs, 1))
        return Chosen(float(ridge), grid, scores, self._seen[ridge][0].coef)

    def _summed(self, each: np.ndarray) -> Losses:
        losses = Losses(shared=True)
        losses.add(self._rows.weight, each[:, None])
        return losses

    def _without_neurons(self, constant: np.ndarray) -> np.ndarray:
        """Return the decision values of a constant without each row, by the same Newton step."""
        f, rows = np.tile(constant, (len(self._targets), 1)), self._rows.numbers
        slope, curvature = self._loss.newton(f, self._targets)
        curvature = curvature.mean(axis=1, keepdims=True)
        weight = self._count[:, None] * curvature
        share = weight[rows] / weight.sum()
        return constant - share / (1 - share) * (slope / curvature)[rows]

    def _disown(self, f: np.ndarray, losses: np.ndarray) -> None:
        """Set the losses of a rare class that gains to the constant's, unless others gain too."""
        targets, weight = self._rows.targets, self._rows.weight
        own = targets.argmax(axis=1) if targets.shape[1] > 1 else (targets[:, 0] > 0).astype(int)
        constant = self._loss.value(self._constant, targets)
        f = np.clip(f, -_FARTHEST, _FARTHEST)
        others = [np.log1p(-_probability(self._loss, at)) for at in (self._constant, f)]
        for number, loss in enumerate((others[0] - others[1]).T):
            its, other = own == number, weight * (own != number)
            if not 0 < its.sum() < min(_FEW, len(its)):
                continue
            gain = np.average(constant[its] - losses[its], weights=weight[its])
            mean = np.average(loss, weights=other)
            error = np.sqrt(other**2 @ (loss - mean) ** 2) / other.sum()
            if mean > -SLACK * error and gain > 0:
                losses[its] = constant[its]

    def _squares(self, loss: Loss, f: np.ndarray) -> tuple[Statistics, float, Iterable[Left]]:
        """Return sums of squares near f, by what they divide ridges, and the rows to leave out."""
        problem, targets = self._problem, self._targets
        slope, curvature = loss.newton(f, targets)
        curvature = curvature.mean(axis=1)
        # The hinge has no curvature if no row is near its corner. Then any weight will do. And
        # where one class is certain, squares of weights must not underflow.
        mean = curvature.mean()
        curvature = np.maximum(curvature, max(_LEAST * mean, _FLATTEST) if mean else 1.0)
        response = f + slope / curvature[:, None]
        weight = self._count * curvature
        statistics = _statistics(self._sums, self._X, response, weight, problem)
        if statistics.kept:
            self._rows = LeftRows(np.arange(len(targets)), targets, self._count)
        some, share = self._rows.numbers, weight / statistics.weight
        ones, X = np.ones(len(some)), place_of(self._X).take(self._X, some)
        left = self._sums._each(X, response[some], ones, share[some], problem)
        # The risk is half of the squares times the scale.
        return statistics, statistics.weight / self._count.sum(), left


def choose_ridge(search: RidgeSearch, constant: np.ndarray) -> Chosen:
    """Return the ridge that left-out rows choose, from the best decision values without neurons."""
    ridge = search.begin(constant)
    for step in _STEPS:
        ridge = search.climb(ridge, step)
    return search.chosen()


def _probability(loss: Loss, f: np.ndarray) -> np.ndarray:
    """Return probabilities of classes, below 1 so that all others have one as well."""
    return np.minimum(loss.probability(f), 1 - np.finfo(np.float64).eps)


def _statistics(
    sums: Any, X: Any, response: np.ndarray, weight: np.ndarray, problem: Any
) -> Statistics:
    """Sum over the rows for a working response."""
    statistics: Statistics = type(sums)(
        sums.stream, sums.n_neurons, np.average(response, axis=0, weights=weight)
    ).no_rows(place_of(X))
    statistics.make_room(X.shape[0])
    for rows, Z in sums._panels(X, problem, n_together=sums.n_columns, place=place_of(X)):
        least = least_ridge(X.shape[0])
        statistics.add(Z, response[rows], weight[rows], least, problem.n_jobs)
    statistics.collect()
    return statistics
