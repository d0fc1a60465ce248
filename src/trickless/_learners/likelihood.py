"""The marginal likelihood of rows as a function of length scales, alpha and the noise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless._functions.stream import NeuronStream
from trickless._solvers.least_squares.evidence import log_evidence, slopes_of_evidence
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.ridge import solve
from trickless._solvers.least_squares.sums import Sums
from trickless.neurons import Neurons

#: Length scales are varied by this factor, up and down, for central differences. With activations
#: in double precision, their error is about its square.
_STEP = 1e-4


class Likelihood(NamedTuple):
    """Rows, and the neurons whose likelihood of their targets is asked.

    The same neurons are drawn for all length scales, in double precision.
    """

    family: Neurons
    stream: NeuronStream
    n_neurons: int
    X: Any
    targets: np.ndarray
    weight: np.ndarray | None
    problem: Problem

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
        sums = Sums(stream, self.n_neurons, np.average(self.targets, axis=0, weights=self.weight))
        sums.learn(self.X, self.targets, self.weight, self.problem)
        assert sums.statistics is not None
        value = 0.0
        for output, variance in enumerate(np.split(noise, len(noise))):
            overwritten, moments = (
                sums.statistics.moments(self.problem.fit_intercept).of_output(output)
                for _ in range(2)
            )
            solution = solve(overwritten, alpha[output] * self.n_neurons)
            value += float(log_evidence(moments, solution, variance)[0])
            if slopes is not None:
                slopes[[output, len(noise) + output]] = np.ravel(
                    slopes_of_evidence(moments, solution, variance)
                )
        return value
