"""The fitted function as a Gaussian process: deviations, covariances and samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.places import to_host
from trickless._functions.activations import by_neuron_in_blocks, in_row_blocks
from trickless._functions.network import Network
from trickless._functions.stream import NeuronStream, Purpose, generator, in_precision
from trickless._solvers.least_squares.paths import Solution
from trickless._solvers.least_squares.posterior import Posterior, posterior_at
from trickless._solvers.least_squares.statistics import Moments


class Process(NamedTuple):
    """The posterior of the function of some drawn neurons, given noise of some variances.

    Attributes
    ----------
    stream : NeuronStream
    n_neurons : int
    moments : Moments
        The moments of the rows. Those of the targets are not needed.
    solution : Solution
        The posterior mean, and the ridge of each output.
    network : Network
        The network of the solution.
    noise : array of shape (n_outputs,)
        Variance of the noise of each output.
    noise_of_new : array of shape (n_outputs,)
        The same for new rows that come as the old ones did, whatever weights these have.
    n_jobs : int or None
        Number of threads.
    """

    stream: NeuronStream
    n_neurons: int
    moments: Moments
    solution: Solution
    network: Network
    noise: np.ndarray
    noise_of_new: np.ndarray
    n_jobs: int | None

    def predicted(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the function at rows, each of shape (n_rows, n_outputs)."""
        mean, variances = np.empty((2, X.shape[0], len(self.noise)))
        for posterior, same in self.posteriors():

            def of_rows(Z: Any, of: Posterior = posterior) -> np.ndarray:
                return np.column_stack([of.variance(Z), to_host(self.network.of_activations(Z))])

            found = self._filled(np.empty((X.shape[0], 1 + len(self.noise))), X, of_rows)
            mean[:, same], variances[:, same] = found[:, 1:][:, same], found[:, :1]
        return mean, self.noise * variances

    def deviations(self, variances: np.ndarray) -> np.ndarray:
        """Standard deviations of new targets, from variances of the function."""
        return np.sqrt(self.noise_of_new + variances)

    def freedom(self) -> np.ndarray:
        """Degrees of freedom of the noise of each output, at least 1."""
        freedom = np.empty(len(self.noise))
        for posterior, same in self.posteriors():
            freedom[same] = posterior.freedom()
        return np.maximum(freedom, 1.0)

    def covariance(self, X: Any) -> np.ndarray:
        """Covariance of the function between rows, shape (n_rows, n_rows, n_outputs)."""
        n = X.shape[0]
        covariance = np.empty((n, n, len(self.noise)))
        for posterior, same in self.posteriors():
            along = self._filled(np.empty((n, posterior.n_normal)), X, posterior.along)
            between = (self.moments.n_constants + along @ along.T) / self.moments.n
            covariance[:, :, same] = between[:, :, None]
        return self.noise * covariance

    def samples(self, owner: str, n_samples: int, seed: int) -> Network:
        """Return a network whose outputs are samples of the function.

        Sample j of output i is output ``i * n_samples + j``. It depends on the seed, i and j only.
        """
        moments, n_normal = self.moments, next(self.posteriors())[0].n_normal
        size, n_outputs = len(moments.z_mean), len(self.noise)
        normal = np.stack(
            [
                generator(seed, Purpose.SAMPLES, j).standard_normal((n_outputs, 1 + n_normal))
                for j in range(n_samples)
            ],
            axis=2,
        )
        normal *= np.sqrt(self.noise / moments.n)[:, None, None]
        moved = np.empty((size, n_outputs, n_samples))
        for posterior, same in self.posteriors():
            drawn = posterior.drawn(np.concatenate(normal[same, 1:], axis=1))
            moved[:, same] = drawn.reshape(size, -1, n_samples)
        about = self.solution.intercept[:, None] + moments.n_constants * normal[:, 0]
        intercept = about - np.einsum("c,cos->os", moments.z_mean, moved)
        coef = (self.solution.coef[:, :, None] + moved).reshape(size, -1)
        coef = in_precision(owner, "coefficients of samples", coef, self.stream.dtype)
        coef = by_neuron_in_blocks(coef, self.stream.neurons.width)
        network = Network(self.stream.neurons, self.stream, coef, intercept.ravel())
        network.n_jobs = self.n_jobs
        return network

    def posteriors(self) -> Iterator[tuple[Posterior, np.ndarray]]:
        """Yield the posterior at each ridge, and which outputs have this ridge."""
        for ridge in np.unique(self.solution.ridge):
            yield posterior_at(self.moments, ridge, self.n_jobs), self.solution.ridge == ridge

    def _filled(self, values: np.ndarray, X: Any, of_rows: Callable[[Any], Any]) -> np.ndarray:
        """Fill an array with what a function returns for the activations of blocks of rows."""

        def fill(rows: slice, Z: Any) -> None:
            values[rows] = of_rows(Z)

        size = len(self.moments.z_mean)
        in_row_blocks(fill, self.stream, self.n_neurons, X, size, self.n_jobs)
        return values
