"""Relevance of features: a length scale for each feature, learned from the data.

This is automatic relevance determination (Neal, Bayesian learning for neural networks, 1996). Each
feature has its own length scale, and a feature that does not matter ends with a large one. For few
rows, these are the length scales of greatest evidence for the exact kernel. Otherwise they minimise
the generalised cross-validation score of ridge regression on Gaussian neurons, by gradient descent.
Any family may use the result in its own way. Gaussian neurons are used whatever the family, because
activations with kinks have no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from trickless._arrays.places import HOST
from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidValueError
from trickless._functions.activations import evaluate, together
from trickless._functions.stream import Purpose, generator
from trickless._selection.evidence import PRIOR, MostLikely, most_likely
from trickless._selection.scores import Comparison
from trickless._solvers.least_squares.paths import CANCELLATION, Path
from trickless._solvers.least_squares.ridge import at_rounding_of_single
from trickless.neurons import Gaussian
from trickless.neurons.fourier import Fourier, OneOrEach
from trickless.neurons.inputs import Relevance
from trickless.neurons.isotropic import Isotropic

#: The most rows for which relevance is by the evidence, and the most rows of which the evidence is.
FEW_ROWS, EVIDENCE_ROWS = 600, 2000
#: Steps; and the most rows, and the neurons, of each step.
STEPS, SIZE = 20, (8192, 160)
#: Length scales that the descent may start from, in units of the median distance.
MULTIPLES = 1 / 2, 1.0, 2.0
#: Size of the first step, in logarithms of length scales. Later steps are smaller, in proportion to
#: the number of steps left.
RATE = 0.7
#: Decay rates of the running means of gradients and of their squares (β₁ and β₂ of Adam).
MEMORY, MEMORY_OF_SQUARES = 0.5, 0.9
#: Steps are smaller along features whose gradient is below SMALL times the largest gradient, or
#: below NOISE divided by the rows of all steps, as noise may cause such a gradient.
SMALL, NOISE = 0.01, 20.0
#: The least weight (standard deviation over length scale) of a feature that varies, as a share of
#: the largest weight: at the start, and later.
FIRST, LEAST = 1 / 30, 1e-3
#: The most outputs whose derivatives are taken. More outputs are mixed at random.
_OUTPUTS = 64
AnyIsotropic = TypeVar("AnyIsotropic", bound=Isotropic)

#: Rounding may give a constant column a standard deviation of this times its value.
_ROUNDING = 1e-7


class LearnedRelevance(Relevance):
    """Relevance for the targets, found when it is asked for. Targets count equally in any units.

    Each step of the descent draws new rows, if there are enough, and new neurons, so that the steps
    do not fit the noise of one sample. All features start with the same length scale, except
    features in units so small that they would not count. In the end the learned length scales are
    compared with a single one, and the better of the two is taken.
    """

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        seed: int,
        n_jobs: int | None,
        groups: np.ndarray | None = None,
    ) -> None:
        # In single precision, the steps would amplify rounding errors of the rows a million times.
        self._sample = partial(
            Comparison, X, targets, weight, seed, Purpose.RELEVANCE, n_jobs=n_jobs,
            dtype=np.float64, groups=groups,
        )  # fmt: skip
        self._n_rows = len(targets)
        self._one_scale = Gaussian("relevance")
        self._one_scale.fit(X, generator(seed, Purpose.FIT), weight)
        self._first, self._last = self._sample(0, *SIZE), self._sample(1 + STEPS, *SIZE)
        self.X, self.sample_weight = self._last.X, self._last.weight
        self.spread = _standard_deviations(self._first.X, self._first.weight)

    @cached_property
    def _best(self) -> Gaussian:
        scale = self._each(self._one_scale.length_scale_)
        starts = [self._one_scale.with_length_scale(m * scale) for m in MULTIPLES]
        family = self._first.best(starts)
        if self._n_rows <= FEW_ROWS and not issparse(self._first.X):
            family = self.most_likely(family, FEW_ROWS, (1.0,))
        else:
            family = _by_descent(family, self._sample, self.spread, self._n_rows)
        return self._last.best([self._one_scale, family])

    @cached_property
    def length_scale(self) -> np.ndarray:  # type: ignore[override]
        return np.broadcast_to(self._best.length_scale_, self.spread.shape)

    @cached_property
    def importances(self) -> np.ndarray:  # type: ignore[override]
        return sensitivities(self._best, self._last, self.spread)

    def most_likely(
        self,
        family: AnyIsotropic,
        most: int = EVIDENCE_ROWS,
        multiples: tuple[float, ...] = (1 / 4, *MULTIPLES),
        prior: float = PRIOR,
    ) -> AnyIsotropic:
        """Return the family with the length scales of greatest evidence for its exact kernel.

        The search begins at multiples of its length scale, with some of the rows, and continues
        from the best end with at most ``most`` of them.
        """
        starts = [1 / (multiple * self._each(family.length_scale_)) for multiple in multiples]
        for size in sorted({FEW_ROWS, max(FEW_ROWS, min(most, self._n_rows))}):
            sample = self._sample(0, size, SIZE[1])
            if issparse(sample.X):
                raise InvalidValueError(
                    f"{type(family).__name__}: length_scale='evidence' needs dense rows, but X is "
                    f"sparse with {sample.X.shape[1]:,} columns",
                    "length_scale='relevance'",
                )
            ends = [self._climb(family, sample, at, prior) for at in starts]
            starts = [max(ends, key=lambda end: end.value).weights]
        found = family.with_length_scale(1 / starts[0])
        found.relevance_ = sensitivities(found, self._last, self.spread)
        return found

    def _each(self, length_scale: OneOrEach) -> np.ndarray:
        """Return a length scale of each feature, shorter for features in small units."""
        if np.ndim(length_scale):
            return np.asarray(length_scale)
        return length_scale / _at_least(FIRST, np.ones(len(self.spread)), self.spread)

    def _climb(
        self, family: Isotropic, sample: Comparison, at: np.ndarray, prior: float
    ) -> MostLikely:
        """Return the inverse length scales of greatest evidence that a climb finds."""
        moving, varying = self.spread > 0, np.ptp(sample.targets, axis=0) > 0
        if not moving.any() or not varying.any():
            return MostLikely(at, -np.inf)
        unit = self.spread[moving]
        X = (sample.X[:, moving] - sample.X[:, moving].mean(axis=0)) / unit
        Y, start = sample.targets[:, varying], at[moving] * unit
        with linear_algebra(sample.n_jobs, len(X) ** 3):
            end = most_likely(family, X, Y, sample.weight, start, prior)
        weights = at.copy()
        weights[moving] = end.weights / unit
        return MostLikely(weights, end.value)


def _by_descent(
    family: Gaussian, sample: Callable[..., Comparison], spread: np.ndarray, n_rows: int
) -> Gaussian:
    """Return the family with the length scales that a descent along the score of neurons finds."""
    noise = NOISE / min(n_rows, STEPS * SIZE[0])
    start = np.broadcast_to(1 / family.length_scale_, spread.shape)
    descent = _Descent(start, spread, noise)
    for number in range(STEPS):
        gradient = slopes_of_score(family, sample(1 + number, *SIZE))
        if gradient is None:
            break
        descent.step(gradient, RATE * (1 - number / STEPS))
        family = family.with_length_scale(1 / descent.at)
    return family


class _Descent:
    """Descent along noisy gradients, with a step size for each coordinate (Adam).

    Each coordinate moves by the running mean of its gradients over their root mean square (Kingma
    and Ba, ICLR 2015). A coordinate whose gradients may be ``noise`` moves less. The coordinates
    are the inverse length scales of the features. Features whose ``spread`` is 0 do not move.
    """

    def __init__(self, start: np.ndarray, spread: np.ndarray, noise: float) -> None:
        self.at, self._spread, self._noise, self._steps = start, spread, noise, 0
        self._mean, self._square = np.zeros_like(start), np.zeros_like(start)

    def step(self, gradient: np.ndarray, rate: float) -> None:
        """Move by about ``rate`` at most, in logarithms."""
        self._steps += 1
        self._mean += (1 - MEMORY) * (gradient - self._mean)
        self._square += (1 - MEMORY_OF_SQUARES) * (gradient**2 - self._square)
        mean = self._mean / (1 - MEMORY**self._steps)
        root = np.sqrt(self._square / (1 - MEMORY_OF_SQUARES**self._steps))
        size = root + SMALL * root.max() + self._noise
        step = np.where(self._spread > 0, rate * mean / size, 0.0)
        self.at = _at_least(LEAST, self.at * np.exp(-step), self._spread)


def _at_least(share: float, at: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Raise 1 / length scale until each ``at * spread`` is at least this share of the largest."""
    least = np.full_like(at, share * (at * spread).max())
    return np.maximum(at, np.divide(least, spread, out=np.zeros_like(at), where=spread > 0))


class _Fit:
    """Ridge regression on the neurons of a comparison, for targets that vary, of variance 1.

    All outputs share the ridge number ``best`` of the path, which has the least ``score``.
    """

    def __init__(self, family: Fourier, comparison: Comparison) -> None:
        self.weights = comparison.draw(family)
        self.moments = moments = comparison.moments(family, self.weights)[0]
        self.varies = varies = moments.y_variance > 0
        self.deviation = np.sqrt(moments.y_variance[varies])
        with linear_algebra(comparison.n_jobs, moments.n_products):
            moments.covariance = moments.covariance  # the gradient is by columns
            moments.rows = None
            self.path = path = Path(at_rounding_of_single(moments))
            self.left = _freedom_left(path) / moments.n
            scores = (_scores(path, self.left)[varies] / self.deviation[:, None] ** 2).sum(axis=0)
            self.best = best = int(np.argmin(scores))
            self.score, shrunk = scores[best], path.shrunk[:, best, None]
            self.coef = path.vectors @ (shrunk * path.rotated[:, varies] / self.deviation)


def _freedom_left(path: Path) -> np.ndarray:
    """Rows minus degrees of freedom at each ridge, as a sum of positive terms if they are few."""
    kept = (path.grid * path.shrunk).sum(axis=0)
    return path.moments.n - path.moments.n_constants - len(path.eigenvalues) + kept


def _scores(path: Path, left: np.ndarray) -> np.ndarray:
    """Generalised cross-validation at each ridge of a path, shape (n_outputs, n_grid).

    Its gradient takes the mean of all leverages. That of errors without each row is of a few rows,
    so noisy that steps along it do not find the features.
    """
    variance = path.moments.y_variance[:, None]
    squares = 2 * path.shrunk - path.eigenvalues[:, None] * path.shrunk**2
    residual = np.maximum(variance - (path.rotated**2).T @ squares, CANCELLATION * variance)
    left = np.broadcast_to(left, residual.shape)
    return np.divide(residual, left**2, out=np.full_like(residual, np.inf), where=left > 0)


def slopes_of_score(family: Gaussian, comparison: Comparison) -> np.ndarray | None:
    r"""Compute the gradient of the log score in the logarithms of 1 / length scale.

    Z are the centred activations of rows whose weights ω sum to 1. Their covariance is Σ = ZᵀΩZ.
    The ridge is ρ, and the coefficients are B = (Σ + ρ)⁻¹ZᵀΩY. R are the residuals of outputs of
    variance 1:

    .. math:: S = \frac{V}{(1 - df / n)^2}, \quad V = \operatorname{tr} R^T Ω R, \quad
        df = 1 + \operatorname{tr} Σ (Σ + ρ)^{-1}

        \frac{\partial \log S}{\partial Z} = Ω \Big(\frac{4 ρ}{n - df} Z (Σ + ρ)^{-2} -
        \frac{2}{V} \big((R - Z U) B^T + R U^T\big)\Big), \qquad U = ρ (Σ + ρ)^{-1} B

    All outputs share one ridge, which is the best for the score and is held constant. If all
    targets are constant, there is no gradient (None).
    """
    X, fit = comparison.X, _Fit(family, comparison)
    if not fit.varies.any():
        return None
    moments, path, best, B = fit.moments, fit.path, fit.best, fit.coef
    varies, deviation = fit.varies, fit.deviation
    with linear_algebra(comparison.n_jobs, moments.n_products):
        ridge, shrunk = path.grid[best], path.shrunk[:, best, None]
        U = path.vectors @ (ridge * shrunk**2 * path.rotated[:, varies] / deviation)
        square = (path.vectors * shrunk.T**2) @ path.vectors.T  # (Σ + ρ)⁻²
    left = fit.left[best]
    to_targets = -2 / (left**2 * fit.score) * np.concatenate([B, U], axis=1).T
    to_freedom = 4 * ridge / (moments.n * left) * square
    share = np.ones(X.shape[0]) if comparison.weight is None else comparison.weight
    share = (share / share.sum()).astype(X.dtype)
    Y = ((comparison.targets - moments.y_mean)[:, varies] / deviation).astype(X.dtype)
    (frequencies,) = fit.weights
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

    evaluate(family, together(fit.weights), X, len(z_mean), of_rows, comparison.n_jobs, place=HOST)
    return np.sum([slopes[start] for start in sorted(slopes)], axis=0)


def sensitivities(family: Fourier, comparison: Comparison, spread: np.ndarray) -> np.ndarray:
    r"""Compute each feature's share in the mean square of a fitted function's derivatives.

    The function f is ridge regression on a few Gaussian neurons, with the best ridge for all
    outputs, each of variance 1. With standard deviations :math:`σ_j` of the features, the shares
    are in proportion to

    .. math:: σ_j^2 \, E\Big[\Big(\frac{\partial f}{\partial x_j}\Big)^2\Big],

    which bounds the share of the variance in which the feature has a part [1]_. A length scale
    would miss features on which f depends linearly, but these shares do not. All shares are equal
    if there is nothing to learn.

    References
    ----------
    .. [1] I. M. Sobol' and S. Kucherenko, "Derivative based global sensitivity measures and their
       link with global sensitivity indices", Mathematics and Computers in Simulation 79, 2009.
    """
    X, fit = comparison.X, _Fit(family, comparison)
    equal = np.full(len(spread), 1 / len(spread))
    if not fit.varies.any():
        return equal
    coef = fit.coef
    if coef.shape[1] > _OUTPUTS:  # sums of squares are kept in the mean
        signs = comparison.generator().choice([-1.0, 1.0], (coef.shape[1], _OUTPUTS))
        coef = coef @ signs / np.sqrt(_OUTPUTS)
    (frequencies,) = fit.weights
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

    evaluate(family, together(fit.weights), X, len(coef), of_rows, comparison.n_jobs, place=HOST)
    total = np.sum([squares[start] for start in sorted(squares)], axis=0)
    return total / total.sum() if total.sum() > 0 else equal


def _standard_deviations(X: Any, weight: np.ndarray | None) -> np.ndarray:
    """Compute standard deviations of columns: exactly 0 for constants, in spite of rounding."""
    # In units of this power of 2, no square overflows and some do not vanish.
    unit = float(np.ldexp(0.5, np.frexp(float(abs(X).max()))[1])) or 1.0
    if issparse(X):
        X = X.tocsr().astype(np.float64)
        X.data /= unit
        mean, variance = mean_variance_axis(X, 0, weights=weight)
    else:
        X = np.asarray(X, dtype=np.float64) / unit
        mean = np.average(X, axis=0, weights=weight)
        variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    spread = np.sqrt(variance)
    return unit * np.where(spread > _ROUNDING * np.abs(mean), spread, 0.0)


def learned_relevance(family: Any) -> np.ndarray | None:
    """Return the relevance that a fitted family, or a part of it, has learned, or None."""
    found = getattr(family, "relevance_", None)
    if found is not None:
        return np.asarray(found)
    parts = getattr(family, "parts_", None) or []
    each = (learned_relevance(part) for part in parts)
    return next((one for one in each if one is not None), None)
