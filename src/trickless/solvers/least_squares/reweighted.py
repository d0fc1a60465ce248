r"""Losses with a log link on activations: alpha by cross-validation of a working response.

Near decision values f, the risk is a weighted mean of squares. The working response of a row is
z = f − l′(f) / h, and its weight is its curvature h. Generalised cross-validation chooses alpha for
this problem, the risk is minimised at that alpha, and both are repeated at the minimiser until
alpha stays. This is Gu's performance iteration [1]_, except that the risk is minimised to the end
in between, by a method with a line search, which converges where reweighting alone may not.

References
----------
.. [1] C. Gu, "Cross-validating non-Gaussian data", Journal of Computational and Graphical
   Statistics 1(2), 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trickless.arrays.places import to_host
from trickless.solvers.least_squares.paths import Solution
from trickless.solvers.least_squares.risk import minimise
from trickless.solvers.losses import Loss
from trickless.solvers.state import ignore

#: The most times that alpha is chosen again, and the factor by which it may still change.
_ROUNDS, _STAYS = 4, 1.2


def minimise_reweighted(
    sums: Any,
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    loss: Loss,
    problem: Any,
    advance: Callable[[int], object] = ignore,
) -> Solution:
    """Return the coefficients of least risk, and alpha unless it is given.

    ``sums`` have learned the working response at the best constant.
    """
    blocks = sums._passes(X, problem.cache_bytes, problem, advance)
    total = float(len(targets)) if weight is None else float(weight.sum())
    chosen, working, ridge = isinstance(problem.alpha, str), sums, np.zeros(1)
    begin = np.zeros((sums.n_columns, targets.shape[1]))
    for _ in range(_ROUNDS):
        squared, moments = working.solution(problem), working._moments(problem)
        # The risk is a half of the squares, times the mean curvature.
        factor = working.statistics.weight / total if chosen else 1.0
        before, ridge = ridge, squared.ridge * factor
        least = minimise(
            blocks,
            targets,
            weight,
            loss,
            ridge,
            moments,
            problem.max_iter,
            problem.tol,
            problem.owner,
            sums._bound(problem),
            begin,
        )
        grid = None if squared.grid is None else squared.grid * factor
        least = least._replace(grid=grid, scores=squared.scores)
        if not chosen or (np.maximum(ridge, before) <= _STAYS * np.minimum(ridge, before)).all():
            break
        begin = least.coef
        f = np.concatenate([to_host(Z @ begin) for _, Z in blocks()]) + least.intercept
        response, curvature = loss.response(targets, weight, f)
        assert curvature is not None
        working = at(sums, X, response, curvature, problem)
    return least


def at(
    sums: Any,
    X: Any,
    response: np.ndarray,
    curvature: np.ndarray,
    problem: Any,
) -> Any:
    """Return sums of a working response on the same neurons.

    Cross-validation takes their effective number. Where events are rare, the few rows with events
    have most of the curvature, and so large leverages. With the number of all rows, alpha would be
    so small that the function fits each event.
    """
    origin = np.average(response, axis=0, weights=curvature)
    working = type(sums)(sums.stream, sums.n_neurons, origin)
    working.learn(X, response, curvature, problem)
    if problem.alpha == "loo":
        working.leave_one_out(X, response, curvature, problem)
    return working
