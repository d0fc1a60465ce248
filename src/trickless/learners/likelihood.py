"""The marginal likelihood of rows as a function of length scales, alpha and the noise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless.functions.stream import NeuronStream
from trickless.neurons import Neurons
from trickless.solvers.least_squares.evidence import log_evidence, slopes_of_evidence
from trickless.solvers.least_squares.problem import Problem
from trickless.solvers.least_squares.ridge import solve
from trickless.solvers.least_squares.statistics import Statistics
from trickless.solvers.least_squares.sums import Sums

#: Length scales are varied by this factor, up and down, for central differences. With activations
#: in double precision, their error is about its square.
_STEP = 1e-4


class Likelihood(NamedTuple):
    """Rows, and the neurons whose likelihood of their targets is asked.

    The same neurons are drawn for all length scales, in double precision. ``relative`` are the
    variances of the noise at the rows, (n_rows, n_outputs), over the variance in theta. None is 1.
    """

    family: Neurons
    stream: NeuronStream
    n_neurons: int
    X: Any
    targets: np.ndarray
    weight: np.ndarray | None
    problem: Problem
    relative: np.ndarray | None = None

    def at(self, theta: np.ndarray, gradient: bool) -> tuple[float, np.ndarray]:
        """Return the log likelihood, summed over the outputs, and its gradient if wanted.

        The gradient is with respect to the logarithms in ``theta``. It is exact for alpha and the
        noise, and by central differences for length scales.
        """
        n_outputs = self.targets.shape[1]
        n_scales = len(theta) - 2 * n_outputs
        scales, alpha, noise = np.split(np.exp(theta), [n_scales, n_scales + n_outputs])
        slopes = np.empty_like(theta)
        value = self._value(scales, alpha, noise, slopes[n_scales:] if gradient else None)
        for i in range(n_scales if gradient else 0):
            step = np.exp(_STEP * (np.arange(n_scales) == i))
            ends = [self._value(some, alpha, noise) for some in (scales * step, scales / step)]
            slopes[i] = (ends[0] - ends[1]) / (2 * _STEP)
        return value, slopes

    def _value(
        self,
        scales: np.ndarray,
        alpha: np.ndarray,
        noise: np.ndarray,
        slopes: np.ndarray | None = None,
    ) -> float:
        """Return the log likelihood, and write its slopes in log alpha and log noise."""
        family: Any = self.family
        if len(scales):
            family = family.with_length_scale(float(scales[0]) if len(scales) == 1 else scales)
        seed, cache_bytes = self.stream.seed, self.stream.cache_bytes
        stream = NeuronStream(family, seed, np.float64, cache_bytes)
        value, equal = 0.0, None
        if self.relative is None:
            equal = self._statistics(stream, slice(None), self.weight)
        for output, level in enumerate(noise):
            statistics, weight, harmonic = equal, None, 1.0
            if statistics is None:
                weight, harmonic = self._weights(output)
                statistics = self._statistics(stream, slice(output, output + 1), weight)
            ends = [statistics.moments(self.problem.fit_intercept) for _ in range(2)]
            if equal is not None:
                ends = [moments.of_output(output) for moments in ends]
            else:
                assert weight is not None
                value += 0.5 * float(np.log(weight).sum())
                for moments in ends:
                    moments.n = float(len(weight))
            overwritten, moments = ends
            solution = solve(overwritten, alpha[output] * harmonic * self.n_neurons)
            variance = np.array([level * harmonic])
            value += float(log_evidence(moments, solution, variance)[0])
            if slopes is not None:
                slopes[[output, len(noise) + output]] = np.ravel(
                    slopes_of_evidence(moments, solution, variance)
                )
        return value

    def _weights(self, output: int) -> tuple[np.ndarray, float]:
        """Weights for an output, and the harmonic mean of the relative variances.

        Row i has the weight w = harmonic mean / variance, so the weights add up to the number of
        rows. Multiplied by √w, each row has the same noise.
        """
        assert self.relative is not None
        inverse = 1 / self.relative[:, output]
        harmonic = float(1 / inverse.mean())
        return inverse * harmonic, harmonic

    def _statistics(
        self, stream: NeuronStream, outputs: slice, weight: np.ndarray | None
    ) -> Statistics:
        """Sums over the rows for some of the outputs."""
        targets = self.targets[:, outputs]
        sums = Sums(stream, self.n_neurons, np.average(targets, axis=0, weights=weight))
        sums.learn(self.X, targets, weight, self.problem)
        assert sums.statistics is not None
        return sums.statistics
