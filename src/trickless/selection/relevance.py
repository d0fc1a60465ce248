"""How much each feature matters: length scales of features that lower the score of a fit.

This is automatic relevance determination (Neal, Bayesian learning for neural networks, 1996): each
feature has a length scale of its own, and a feature that does not matter ends with a large one.
Here they descend along the gradient of the score of generalised cross-validation, of ridge
regression on Gaussian neurons. It is a finding about the data, which any family may use in its own
way. Gaussian neurons look for it, whatever the family, since activations with kinks have no slopes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from trickless.arrays.threads import linear_algebra
from trickless.functions.activations import evaluate, together
from trickless.functions.stream import Purpose, generator
from trickless.neurons import Gaussian, Relevance
from trickless.selection.scores import Contest, best
from trickless.solvers.ridge import Path, path_scores

#: Steps, and the rows, at most, and neurons of each.
STEPS, SIZE = 20, (8192, 160)
#: What the scales to begin with are chosen from, in medians of the distance.
MULTIPLES = 1 / 2, 1.0, 2.0
#: How far the first step goes, in logarithms of length scales; later ones go less far, in
#: proportion to the steps that are left.
RATE = 0.7
#: Shares of the past in the means of gradients and of their squares.
MEMORY, MEMORY_OF_SQUARES = 0.5, 0.9
#: A gradient that is less than this share of the largest makes a smaller step; so does one that is
#: less than this over the rows that steps meet, which noise explains as well.
SMALL, NOISE = 0.01, 20.0
#: A feature that varies counts at least so much of what the one that matters most does: in the
#: beginning, and later.
FIRST, LEAST = 1 / 30, 1e-3
#: What rounding may make of the deviation of a constant, relative to it.
_ROUNDING = 1e-7


def find_relevance(
    X: Any, targets: np.ndarray, weight: np.ndarray | None, seed: int, n_jobs: int | None
) -> Relevance:
    """How much each feature matters for the targets.

    Each step meets other rows, if there are enough, and neurons than those before: what was found
    in the noise of a sample is not found again. All features begin with one scale, but for those in
    units so small that they would not count. In the end, what was found is compared with one scale,
    in case that is better.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
        Outputs count alike, whatever their units.
    weight : array of shape (n_rows,) or None
    seed : int
    n_jobs : int or None
        Threads.

    Returns
    -------
    Relevance
    """
    sample = partial(Contest, X, targets, weight, seed, Purpose.RELEVANCE)
    first = sample(0, *SIZE, n_jobs)
    one_scale = Gaussian().fit(X, generator(seed, Purpose.FIT), weight)
    spread = _standard_deviations(first.X, first.weight)
    scale = one_scale.length_scale_ / _at_least(FIRST, np.ones(len(spread)), spread)
    starts = [one_scale.with_length_scale(multiple * scale) for multiple in MULTIPLES]
    family = best(first.entries(starts)).family
    noise = NOISE / min(len(targets), STEPS * SIZE[0])
    descent = _Descent(1 / family.length_scale_, spread, noise)
    for number in range(STEPS):
        gradient = slopes_of_score(family, sample(1 + number, *SIZE, n_jobs))
        if gradient is None:
            break
        descent.step(gradient, RATE * (1 - number / STEPS))
        family = family.with_length_scale(1 / descent.at)
    last = sample(1 + STEPS, *SIZE, n_jobs)
    length_scale = best(last.entries([one_scale, family])).family.length_scale_
    return Relevance(np.broadcast_to(length_scale, spread.shape), spread, last.X, last.weight)


class _Descent:
    """Steps against gradients with noise, whose sizes differ between coordinates.

    Each coordinate moves by the mean of its last gradients over their root mean square (Adam,
    Kingma and Ba, ICLR 2015). One whose gradients are no more than noise moves less.

    Parameters
    ----------
    start : array of shape (n_features,)
        1 / length scale.
    spread : array of shape (n_features,)
        Standard deviations of the features; where it is 0, nothing moves.
    noise : float
        Size of a gradient that is no more than noise.

    Attributes
    ----------
    at : array of shape (n_features,)
        Where the last step came to.
    """

    def __init__(self, start: np.ndarray, spread: np.ndarray, noise: float) -> None:
        self.at, self._spread, self._noise, self._steps = start, spread, noise, 0
        self._mean, self._square = np.zeros_like(start), np.zeros_like(start)

    def step(self, gradient: np.ndarray, rate: float) -> None:
        """Go on by ``rate`` at most, more or less, along the logarithms."""
        self._steps += 1
        self._mean += (1 - MEMORY) * (gradient - self._mean)
        self._square += (1 - MEMORY_OF_SQUARES) * (gradient**2 - self._square)
        mean = self._mean / (1 - MEMORY**self._steps)
        root = np.sqrt(self._square / (1 - MEMORY_OF_SQUARES**self._steps))
        size = root + SMALL * root.max() + self._noise
        step = np.where(self._spread > 0, rate * mean / size, 0.0)
        self.at = _at_least(LEAST, self.at * np.exp(-step), self._spread)


def _at_least(share: float, at: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """1 / length scale, so large that each feature counts so much of what the largest does.

    What counts is its standard deviation in length scales.
    """
    least = np.full_like(at, share * (at * spread).max())
    return np.maximum(at, np.divide(least, spread, out=np.zeros_like(at), where=spread > 0))


def slopes_of_score(family: Gaussian, contest: Contest) -> np.ndarray | None:
    r"""Slopes of the logarithm of the score along the logarithms of 1 / length scale.

    With the centred activations Z, of rows whose weights ω sum to 1, their covariance Σ = ZᵀΩZ,
    the ridge ρ, residuals R of outputs of variance 1, and B = (Σ + ρ)⁻¹ZᵀΩY:

    .. math:: S = \frac{V}{(1 - df / n)^2}, \quad V = \operatorname{tr} R^T Ω R, \quad
        df = 1 + \operatorname{tr} Σ (Σ + ρ)^{-1}

        \frac{\partial \log S}{\partial Z} = Ω \Big(\frac{4 ρ}{n - df} Z (Σ + ρ)^{-2} -
        \frac{2}{V} \big((R - Z U) B^T + R U^T\big)\Big), \qquad U = ρ (Σ + ρ)^{-1} B

    All outputs have one ridge, the best for the score, which is held. None if all targets are
    constants.

    Returns
    -------
    array of shape (n_features,) or None
    """
    X, weights = contest.X, contest.draw(family)
    moments = contest.moments(family, weights)
    varies = moments.y_variance > 0
    if not varies.any():
        return None
    deviation = np.sqrt(moments.y_variance[varies])
    with linear_algebra(contest.n_jobs, moments.n_products):
        path = Path(moments)
        scores = (path_scores(path)[varies] / deviation[:, None] ** 2).sum(axis=0)
        best = np.argmin(scores)
        ridge, shrunk = path.grid[best], path.shrunk[:, best, None]
        B = path.vectors @ (shrunk * path.rotated[:, varies] / deviation)
        U = path.vectors @ (ridge * shrunk**2 * path.rotated[:, varies] / deviation)
        square = (path.vectors * shrunk.T**2) @ path.vectors.T  # (Σ + ρ)⁻²
    left = 1 - path.freedom()[best] / moments.n
    to_targets = -2 / (left**2 * scores[best]) * np.concatenate([B, U], axis=1).T
    to_freedom = 4 * ridge / (moments.n * left) * square
    share = np.ones(X.shape[0]) if contest.weight is None else contest.weight
    share = (share / share.sum()).astype(X.dtype)
    Y = ((contest.targets - moments.y_mean)[:, varies] / deviation).astype(X.dtype)
    (frequencies,) = weights
    z_mean, B, U, to_targets, to_freedom = (
        array.astype(X.dtype) for array in (moments.z_mean, B, U, to_targets, to_freedom)
    )

    slopes: dict[int, np.ndarray] = {}

    def of_rows(rows: slice, where: slice, z: np.ndarray) -> None:
        centred = z - z_mean
        R = Y[rows] - centred @ B
        by_z = np.concatenate([R - centred @ U, R], axis=1) @ to_targets + centred @ to_freedom
        cos, sin = np.split(z, 2, axis=1)
        by_cos, by_sin = np.split(by_z * share[rows, None], 2, axis=1)
        by_t = by_sin * cos - by_cos * sin
        by_feature = X[rows].T @ by_t
        slopes[rows.start] = np.einsum("jk,kj->j", by_feature, frequencies, dtype=np.float64)

    evaluate(family, together(weights), X, len(z_mean), of_rows, contest.n_jobs)
    return np.sum([slopes[start] for start in sorted(slopes)], axis=0)


def _standard_deviations(X: Any, weight: np.ndarray | None) -> np.ndarray:
    """Of the columns of a dense or sparse matrix; 0 where rounding leaves more of a constant."""
    if issparse(X):
        mean, variance = mean_variance_axis(X.tocsr().astype(np.float64), 0, weights=weight)
    else:
        X = np.asarray(X, dtype=np.float64)
        mean = np.average(X, axis=0, weights=weight)
        variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    spread = np.sqrt(variance)
    return np.where(spread > _ROUNDING * np.abs(mean), spread, 0.0)
