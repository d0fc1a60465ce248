r"""Other losses than the squared: alpha by what the loss is at rows that are left out.

Near decision values f, the risk is a weighted mean of squares. The working response of a row is
z = f − l′(f) / h, and its weight is the curvature h of the loss, a mean over outputs. One
decomposition gives the solutions of this problem at all alphas, and what they are at a row that is
left out. There the loss itself counts, never the square: alpha is where its mean is least. The
risk is minimised at that alpha, and both are repeated at the minimiser until alpha stays, which is
Gu's performance iteration [1]_ with exact leave-one-out values in place of the generalised score.

The first f is the best constant, so alpha comes down from values at which little is learned.

References
----------
.. [1] C. Gu, "Cross-validating non-Gaussian data", Journal of Computational and Graphical
   Statistics 1(2), 1992.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.places import place_of
from trickless.arrays.threads import linear_algebra
from trickless.solvers.least_squares.paths import Left, Losses, Path
from trickless.solvers.least_squares.row_sample import ROWS, keys_of
from trickless.solvers.least_squares.statistics import least_ridge
from trickless.solvers.losses import Loss

#: The most times that alpha is chosen, and the factor by which it may still change.
_ROUNDS, _STAYS = 6, 2.0
#: The least curvature of a row, as a share of the mean.
_LEAST = 1e-9
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

    def losses(self, loss: Loss, path: Path, rows: Iterable[Left]) -> Losses:
        """Return the losses of decision values without the row."""
        losses, done = Losses(shared=True), 0
        for _, f, _ in path.left_out(rows):
            some = slice(done, done + len(f))
            y, done = self.targets[some], some.stop
            f = np.clip(f, -_FARTHEST, _FARTHEST)  # infinite where only the row tells its value
            each = np.stack([loss.value(at, y) for at in np.moveaxis(f, 2, 0)], axis=1)
            losses.add(self.weight[some], each[:, None])
        return losses


class Chosen(NamedTuple):
    """A ridge, its grid with the mean losses there, and coefficients near those at the ridge."""

    ridge: float
    grid: np.ndarray
    scores: np.ndarray
    coef: np.ndarray


def choose_ridge(
    sums: Any,
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    loss: Loss,
    problem: Any,
    constant: np.ndarray,
    minimised: Callable[[float], tuple[np.ndarray, np.ndarray]],
) -> Chosen:
    """Return the ridge that left-out rows choose.

    ``constant`` are the best decision values without neurons. ``minimised`` returns coefficients of
    least risk at a ridge, and their decision values at all rows.
    """
    count = np.ones(len(targets)) if weight is None else weight
    f, n_outputs = np.tile(constant, (len(targets), 1)), targets.shape[1]
    ridge, coef = 0.0, np.zeros((sums.n_columns, n_outputs))
    rows = LeftRows.of(X, targets, count, sums.stream.seed)
    for round_ in range(_ROUNDS):
        if round_:
            coef, f = minimised(ridge)
        slope, curvature = loss.newton(f, targets)
        curvature = curvature.mean(axis=1)
        curvature = np.maximum(curvature, _LEAST * curvature.mean())
        response = f + slope / curvature[:, None]
        statistics = _statistics(sums, X, response, count * curvature, problem)
        moments = statistics.moments(problem.fit_intercept)
        with linear_algebra(problem.n_jobs, moments.n_products):
            path = Path(moments, problem.n_jobs)
            if moments.rows is not None:
                rows = LeftRows(np.arange(len(targets)), targets, count)
            some, share = rows.numbers, count * curvature / statistics.weight
            ones = np.ones(len(some))
            X_some = place_of(X).take(X, some)
            left = sums._each(X_some, response[some], ones, share[some], problem)
            losses = rows.losses(loss, path, left)
            found = path.best(np.tile(losses.mean / n_outputs, (n_outputs, 1)), losses)
        scale = statistics.weight / count.sum()  # the risk is a half of the squares times this
        before, ridge = ridge, float(found.ridge[0]) * scale
        if max(ridge, before) <= _STAYS * min(ridge, before):
            break
    assert found.grid is not None and found.scores is not None
    return Chosen(ridge, found.grid * scale, found.scores, coef)


def _statistics(sums: Any, X: Any, response: np.ndarray, weight: np.ndarray, problem: Any) -> Any:
    """Sum over the rows for a working response."""
    statistics = type(sums)(
        sums.stream, sums.n_neurons, np.average(response, axis=0, weights=weight)
    ).no_rows(place_of(X))
    statistics.make_room(X.shape[0])
    for rows, Z in sums._panels(X, problem, n_together=sums.n_columns, place=place_of(X)):
        least = least_ridge(X.shape[0])
        statistics.add(Z, response[rows], weight[rows], least, problem.n_jobs)
    statistics.collect()
    return statistics
