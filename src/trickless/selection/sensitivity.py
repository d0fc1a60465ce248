"""Importances of features for a function, from its derivatives."""

from __future__ import annotations

import numpy as np

from trickless.arrays.places import HOST
from trickless.arrays.threads import linear_algebra
from trickless.functions.activations import evaluate, together
from trickless.neurons import Gaussian
from trickless.selection.scores import Comparison
from trickless.solvers.least_squares.ridge import Path, at_rounding_of_single, path_scores

#: The most outputs whose derivatives are taken. More outputs are mixed at random.
_OUTPUTS = 64


def sensitivities(family: Gaussian, comparison: Comparison, spread: np.ndarray) -> np.ndarray:
    r"""Compute each feature's share in the mean square of a fitted function's derivatives.

    The function f is ridge regression on a few Gaussian neurons, with the best ridge for all
    outputs, each of variance 1. With standard deviations :math:`σ_j` of the features, the shares
    are in proportion to

    .. math:: σ_j^2 \, E\Big[\Big(\frac{\partial f}{\partial x_j}\Big)^2\Big],

    which bounds the share of the variance in which the feature has a part [1]_. Unlike a length
    scale, these shares do not miss features on which f depends linearly. All shares are equal if
    there is nothing to learn.

    References
    ----------
    .. [1] I. M. Sobol' and S. Kucherenko, "Derivative based global sensitivity measures and their
       link with global sensitivity indices", Mathematics and Computers in Simulation 79, 2009.
    """
    X, weights = comparison.X, comparison.draw(family)
    moments = comparison.moments(family, weights)
    varies = moments.y_variance > 0
    equal = np.full(len(spread), 1 / len(spread))
    if not varies.any():
        return equal
    deviation = np.sqrt(moments.y_variance[varies])
    with linear_algebra(comparison.n_jobs, moments.n_products):
        path = Path(at_rounding_of_single(moments))
        scores = (path_scores(path)[varies] / deviation[:, None] ** 2).sum(axis=0)
        shrunk = path.shrunk[:, np.argmin(scores), None]
        coef = path.vectors @ (shrunk * path.rotated[:, varies] / deviation)
    if coef.shape[1] > _OUTPUTS:  # sums of squares are kept in the mean
        signs = comparison.generator().choice([-1.0, 1.0], (coef.shape[1], _OUTPUTS))
        coef = coef @ signs / np.sqrt(_OUTPUTS)
    (frequencies,) = weights
    frequencies = (frequencies * spread).astype(X.dtype)  # no square overflows in these units
    of_cos, of_sin = np.split(coef.astype(X.dtype), 2)
    share = np.ones(X.shape[0]) if comparison.weight is None else comparison.weight
    squares: dict[int, np.ndarray] = {}

    def of_rows(rows: slice, where: slice, z: np.ndarray) -> None:
        cos, sin = np.split(z, 2, axis=1)
        square = np.zeros(len(spread))
        for c, s in zip(of_cos.T, of_sin.T, strict=True):
            slope = (cos * s - sin * c) @ frequencies
            square += share[rows] @ slope.astype(np.float64) ** 2
        squares[rows.start] = square

    evaluate(family, together(weights), X, len(coef), of_rows, comparison.n_jobs, place=HOST)
    total = np.sum([squares[start] for start in sorted(squares)], axis=0)
    return total / total.sum() if total.sum() > 0 else equal
