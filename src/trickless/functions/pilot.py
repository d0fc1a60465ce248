"""How much single neurons let estimates of ⟨f, Φ(x)⟩ vary, from a few neurons of a pilot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless.functions.activations import by_column

#: Stratified sampling is taken where it saves work by so many standard errors. Where it only seems
#: to, by chance, its neurons are too few for the error as well; full sums have no such risk.
_SURE = 2.5


class Variances(NamedTuple):
    """Variances that single neurons give to estimates of ⟨f, Φ(x)⟩, and what a neuron costs.

    The variance of an estimate from n neurons is its estimator's divided by n.
    """

    full: float
    #: Spread over w for a given support point, which stratified sampling keeps.
    index_within: float
    #: Spread over the support points of a stratum of the mean over w.
    index_between: float
    #: Squared standard errors of ``full`` and ``index_within``, and their covariance: of the same
    #: neurons, both are off in the same direction.
    full_noise: float
    index_noise: float
    shared_noise: float
    #: How many numbers the weights of one neuron are.
    numbers: float

    def strata(self, variance: float, t: int) -> float:
        """Neurons with which stratified sampling of t support points reaches a variance.

        With n of them, it is about ``index_within`` + ``index_between`` max(0, 1 - n / t), over n:
        with as many strata as support points, few hold much of two of them.
        """
        n = (self.index_within + self.index_between) / (variance + self.index_between / t)
        return n if n < t else max(t, self.index_within / variance)

    def saves(self, n_neurons: int, t: int, full_work: float, index_work: float) -> bool:
        """Whether stratified sampling is surely less work for the error of full sums.

        Parameters
        ----------
        n_neurons : int
            Neurons whose full sums have the error.
        t : int
            Support points.
        full_work, index_work : float
            What a neuron of either costs.
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


class Drawn(NamedTuple):
    """Support points drawn one from each of equal strata, and what the neurons say of them."""

    #: Shape (n_points, width, n_neurons).
    psi: np.ndarray
    #: ‖α‖₁ α_i / |α_i|, shape (n_points, n_outputs).
    directions: np.ndarray


def measured(
    one: Drawn, other: Drawn, neighbours: Drawn, rows: np.ndarray, numbers: float
) -> Variances:
    """Variances summed over the outputs, means over the rows.

    Parameters
    ----------
    one, other : Drawn
        Two independent samples that stand for the support.
    neighbours : Drawn
        Points of neighbouring strata, which stand for two of one stratum.
    rows : array of shape (n_rows, width, n_neurons)
        What the neurons say of the rows.
    numbers : float
        How many numbers the weights of one neuron are.
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


def _of_full_sums(one: Drawn, other: Drawn, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """What each neuron adds to the variance of f(w) ψ(x; w), and the noise by the points.

    Each of two independent samples of the support gives an unbiased f(w), so the product has the
    mean of f(w)².
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
        said = by_column(np.einsum("rno,rkn->nko", beside, rows))
        by_point = ((some @ said) * sample.directions).sum(axis=1) / (n_rows * (n - 1))
        apart = by_point[1:] - by_point[:-1]
        noise += apart @ apart / (2 * len(apart) * n_points)
    return by_neuron * n, noise


def _of_index_sampling(drawn: Drawn, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Variance of ‖α‖₁ (α_i / |α_i|) ψ(x_i; w) ψ(x; w) within a support point and between two.

    What each neuron adds to that within a point, and that between points of neighbouring strata.
    """
    products = np.einsum("ikn,rkn->irn", drawn.psi, rows)
    n_points, n_rows, n = products.shape
    means = products.sum(axis=2) / n
    products -= means[:, :, None]
    square = (drawn.directions**2).sum(axis=1)
    both = (drawn.directions[1:] * drawn.directions[:-1]).sum(axis=1)
    within = np.einsum("i,irn,irn->n", square, products, products) / (n_points * n_rows)
    variances = square * np.einsum("irn,irn->i", products, products)
    covariances = both * np.einsum("irn,irn->i", products[1:], products[:-1])
    squares = square * (means * means).sum(axis=1)
    # The square of the difference of two means, less what neurons add to it.
    apart = _halves(squares) - both * (means[1:] * means[:-1]).sum(axis=1)
    added = (_halves(variances) - covariances) / (n * (n - 1))
    return within * n / (n - 1), float((apart - added).sum() / (len(apart) * n_rows))


def _halves(values: np.ndarray) -> np.ndarray:
    """Half of the sum of two neighbours."""
    return (values[1:] + values[:-1]) / 2
