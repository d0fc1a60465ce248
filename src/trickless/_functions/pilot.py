"""Choice of an estimator of ⟨f, Φ(x)⟩ by a pilot.

A pilot draws a few neurons and measures the variance of each estimator (``run_pilot``). From the
variances, ``cheapest`` finds the estimator that reaches a standard error with the least work. Small
estimates use full sums without a pilot (``is_pilot_worthwhile``). Work is counted in activations.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.stated import stated
from trickless._arrays.threads import linear_algebra
from trickless._functions.activations import by_column
from trickless._functions.sampling import SupportSampler
from trickless._functions.stream import draw
from trickless.neurons import Neurons

#: Neurons, rows, and support points for index sampling that a pilot evaluates.
_PILOT_NEURONS, PILOT_ROWS, _PILOT_POINTS = 64, 16, 32
#: Support points in each of a pilot's two samples for full sums: this share, within these limits.
_PILOT_SHARE, _PILOT_LEAST, _PILOT_MOST = 1 / 128, 64, 1024
#: Work of a neuron beside its activations: for each number of its weights, and once.
_NUMBER, _NEURON = 1.5, 100
#: Work of a pilot beside its activations.
_PILOT = 180_000
#: A pilot is worthwhile if a neuron of full sums costs more than this many of index sampling, and
#: all of them cost more than this many pilots.
_WORTH_A_PILOT, _WORTH_PILOTS = 1.2, 4
#: Estimates that an expansion's own pilot is assumed to serve.
SHARED_BY = 2
#: The most neurons that index sampling may hold, unless there are more support points.
_MOST_HELD = 2**16
#: Stratified sampling must save work by this many standard errors of the pilot. If it only seems
#: to save work, it also gets too few neurons for the wanted error. Full sums have no such risk.
_SURE = 2.5


@stated
class Variances(NamedTuple):
    """Variances of estimates of ⟨f, Φ(x)⟩ from a single neuron, and the size of its weights.

    An estimate from n neurons has the variance of its estimator divided by n.
    """

    #: Variance of full sums.
    full: float
    #: Variance of index sampling over w, for a given support point. Stratification does not lower
    #: it.
    index_within: float
    #: Variance of the mean over w between support points of one stratum.
    index_between: float
    #: Squared standard errors of ``full`` and ``index_within``, and their covariance: both are
    #: measured with the same neurons.
    full_noise: float
    index_noise: float
    shared_noise: float
    #: Numbers in the weights of one neuron.
    numbers: float

    def strata(self, variance: float, t: int) -> float:
        """Return the number of neurons that stratified sampling of t points needs for a variance.

        With n neurons the variance is about (``index_within`` + ``index_between`` max(0, 1 − n/t))
        / n. From n = t strata on, few strata contain large parts of two support points.
        """
        n = (self.index_within + self.index_between) / (variance + self.index_between / t)
        return n if n < t else max(t, self.index_within / variance)

    def saves(self, n_neurons: int, t: int, full_work: float, index_work: float) -> bool:
        """Return whether stratified sampling surely needs less work for the error of full sums.

        Full sums use ``n_neurons`` neurons and t support points. ``full_work`` and ``index_work``
        are the work of one neuron in full sums and in index sampling.
        """
        if not self.full:
            return False
        saved = full_work * self.full - index_work * self.index_within
        if self.strata(self.full / n_neurons, t) < t:
            saved += (full_work * n_neurons / t - index_work) * self.index_between
        square = (
            full_work**2 * self.full_noise
            + index_work**2 * self.index_noise
            - 2 * full_work * index_work * self.shared_noise
        )
        return bool(saved > _SURE * np.sqrt(max(0.0, square)))


def is_pilot_worthwhile(t: int, n_rows: int, n_neurons: int, n_estimates: float = 1) -> bool:
    """Return whether a pilot that ``n_estimates`` will use can save enough work to pay off."""
    full, index = _NEURON + t + n_rows, _NEURON + 1 + n_rows
    pilot = _PILOT_NEURONS * (2 * _n_summed(t) + _PILOT_POINTS + PILOT_ROWS) + _PILOT
    at_stake = n_estimates * n_neurons * full
    return full > _WORTH_A_PILOT * index and at_stake > _WORTH_PILOTS * pilot


def cheapest(t: int, n_rows: int, n_neurons: int, variances: Variances | None) -> tuple[str, int]:
    """Find the estimator with the least work for the error of full sums, and its neurons.

    It is full sums if there are no variances, or if index sampling would hold too many neurons.
    """
    if variances is None:
        return "full", n_neurons
    neuron = _NEURON + _NUMBER * variances.numbers
    if not variances.saves(n_neurons, t, neuron + t + n_rows, neuron + 1 + n_rows):
        return "full", n_neurons
    needed = int(np.ceil(variances.strata(variances.full / n_neurons, t)))
    if needed > max(n_neurons, t, _MOST_HELD):
        return "full", n_neurons
    return "stratified", max(n_neurons, needed)


def run_pilot(
    neurons: Neurons, support: Any, alpha: np.ndarray, X: Any, rng: np.random.Generator
) -> Variances:
    """Measure variances of all estimators at a few rows: sums over outputs, means over rows.

    The pilot draws neurons of its own, so estimates stay unbiased after a choice by its variances.
    """
    sampler = SupportSampler(alpha)
    with linear_algebra(1):  # too little work for more threads
        weights = draw(neurons, rng, _PILOT_NEURONS, support.dtype)
        numbers = sum(array.size for array in weights) / _PILOT_NEURONS
        if not sampler.total:
            return Variances(0, 0, 0, 0, 0, 0, numbers)
        shape = -1, neurons.width, _PILOT_NEURONS
        rows = neurons(X[:PILOT_ROWS], weights).reshape(shape)
        sizes = _n_summed(len(alpha)), _n_summed(len(alpha)), _PILOT_POINTS
        index = np.concatenate([sampler.draw(n, rng, "stratified") for n in sizes])
        psi = neurons(support[index], weights).reshape(shape)
        directions, ends = sampler.directions(index), np.cumsum((0, *sizes))
        one, other, neighbours = (PilotDraws(psi[i:j], directions[i:j]) for i, j in pairwise(ends))
        return measured(one, other, neighbours, rows, numbers)


def _n_summed(t: int) -> int:
    """Return the number of points in each sample that represents t support points."""
    return min(max(_PILOT_LEAST, int(_PILOT_SHARE * t)), _PILOT_MOST)


class PilotDraws(NamedTuple):
    """Draw one support point from each of equal strata, and evaluate the neurons there."""

    #: Shape (n_points, width, n_neurons).
    psi: np.ndarray
    #: ‖α‖₁ α_i / |α_i|, shape (n_points, n_outputs).
    directions: np.ndarray


def measured(
    one: PilotDraws, other: PilotDraws, neighbours: PilotDraws, rows: np.ndarray, numbers: float
) -> Variances:
    """Compute variances from a pilot's activations: sums over outputs, means over rows.

    Two independent samples, ``one`` and ``other``, represent the support. Points of neighbouring
    strata represent two points of one stratum. ``rows`` are the activations of the rows, of shape
    (n_rows, width, n_neurons). ``numbers`` is the count of numbers in the weights of one neuron.
    """
    full, points_noise = _of_full_sums(one, other, rows)
    within, between = _of_index_sampling(neighbours, rows)
    n = len(full)
    both = np.stack([full, within])
    both -= both.sum(axis=1, keepdims=True) / n
    neurons_noise = both @ both.T / (n * (n - 1))
    return Variances(
        full=max(0.0, full.sum() / n),
        index_within=within.sum() / n,
        index_between=max(0.0, between),
        full_noise=neurons_noise[0, 0] + points_noise,
        index_noise=neurons_noise[1, 1],
        shared_noise=neurons_noise[0, 1],
        numbers=numbers,
    )


def _of_full_sums(one: PilotDraws, other: PilotDraws, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Compute each neuron's part in the variance of f(w) ψ(x; w), and the noise of the sample.

    Each of the two samples gives an unbiased f(w), so their product has the mean of f(w)².
    """
    n_rows, width, n = rows.shape
    n_points, n_outputs = one.directions.shape
    psi = [sample.psi.reshape(n_points, width * n) for sample in (one, other)]
    deviations = []
    for some, sample in zip(psi, (one, other), strict=True):
        f = (sample.directions.T @ some / n_points).reshape(n_outputs, width, n)
        values = np.einsum("okn,rkn->rno", f, rows)
        deviations.append(values - values.sum(axis=1, keepdims=True) / n)
    by_neuron = np.einsum("rno,rno->n", *deviations) / (n_rows * (n - 1))
    noise = 0.0
    for some, sample, beside in zip(psi, (one, other), deviations[::-1], strict=True):
        slopes = by_column(np.einsum("rno,rkn->nko", beside, rows))
        by_point = ((some @ slopes) * sample.directions).sum(axis=1) / (n_rows * (n - 1))
        apart = by_point[1:] - by_point[:-1]
        noise += apart @ apart / (2 * len(apart) * n_points)
    return by_neuron * n, noise


def _of_index_sampling(sample: PilotDraws, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Compute the variance of ‖α‖₁ (α_i / |α_i|) ψ(x_i; w) ψ(x; w) within and between points.

    Return each neuron's part in the variance over w for a given point, and the variance between
    points of neighbouring strata.
    """
    products = np.einsum("ikn,rkn->irn", sample.psi, rows)
    n_points, n_rows, n = products.shape
    means = products.sum(axis=2) / n
    products -= means[:, :, None]
    square = (sample.directions**2).sum(axis=1)
    both = (sample.directions[1:] * sample.directions[:-1]).sum(axis=1)
    within = np.einsum("i,irn,irn->n", square, products, products) / (n_points * n_rows)
    variances = square * np.einsum("irn,irn->i", products, products)
    covariances = both * np.einsum("irn,irn->i", products[1:], products[:-1])
    squares = square * (means * means).sum(axis=1)
    # The squared difference of two means, less the part that comes from the spread over neurons.
    apart = _halves(squares) - both * (means[1:] * means[:-1]).sum(axis=1)
    added = (_halves(variances) - covariances) / (n * (n - 1))
    return within * n / (n - 1), float((apart - added).sum() / (len(apart) * n_rows))


def _halves(values: np.ndarray) -> np.ndarray:
    """Compute half of the sum of each pair of neighbours."""
    return (values[1:] + values[:-1]) / 2
