"""What Kitchen Sinks answers as a Gaussian process: its noise, deviations and likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

import numpy as np

from trickless._arrays.threads import linear_algebra
from trickless._solvers.calibration import Temperatures
from trickless._solvers.least_squares.certainty import Certainty, noise_variance
from trickless._solvers.least_squares.evidence import log_evidence
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.process import Process
from trickless._solvers.least_squares.unseen_answers import UnseenAnswers
from trickless.conformal.unseen import Scores


class GaussianAnswers(UnseenAnswers):
    """Answers from the posterior of the function, and a copy that keeps what they need."""

    @property
    def has_deviations(self) -> bool:
        """Whether standard deviations are available."""
        return self.has_statistics or self._certainty is not None

    def without_statistics(
        self,
        problem: Problem,
        temperatures: Temperatures | None = None,
        scores: Scores | None = None,
        deviations: bool = False,
    ) -> Self:
        """Return a copy that can predict but not learn, with standard deviations if available."""
        light = type(self)(self.stream, self.n_neurons, self.origin)
        light._solution, light._network = self.solution(problem), self.function(problem)
        if deviations:
            light._certainty, light._unseen = self._certainty, self._unseen
        light._temperatures, light.scores = temperatures, scores
        if deviations and self.statistics is not None and problem.weight_bound is None:
            moments = self._moments(problem)
            with suppress(ValueError):  # if too few rows are left to estimate the noise
                light._certainty = Certainty.of(moments, self.noise(problem))
                light._left_out = self.left_out(problem)
                light._sample = None if moments.rows is not None else self.statistics.sample
        elif deviations and self.has_unseen and problem.weight_bound is None:
            light._left_out, light._sample = self._left_out, self._sample
            if not self.has_left_out:
                light._unseen, light._sample = self.unseen(problem), None
        return light

    def noise(self, problem: Problem) -> np.ndarray:
        """Variance of the noise of each output, from the residuals."""
        if self._certainty is not None:
            return self._certainty.noise
        moments, solution = self._moments(problem), self.solution(problem)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            if moments.weights_differ:
                return self.left_out(problem).noise_variance()
            alpha = solution.ridge / self.n_neurons
            return noise_variance(problem.owner, moments, solution, alpha)

    @contextmanager
    def certain(self, problem: Problem) -> Iterator[Process]:
        """Give the posterior of the function, for work that may need many threads."""
        known, size = self._certainty, self.n_neurons
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            solution = self.solution(problem)
            moments = self._moments(problem)
            noise = of_new = self.noise(problem)
            if known is not None or moments.weights_differ:
                of_new = noise * self.left_out(problem).noise_of_new()
            which = moments, solution, self.function(problem), noise, of_new
            yield Process(self.stream, size, *which, problem.n_jobs)

    def log_evidence(self, problem: Problem) -> np.ndarray:
        """Logarithm of the likelihood of each output's targets, shape (n_outputs,)."""
        moments, solution = self._moments(problem), self.solution(problem)
        noise = self.noise(problem)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            return log_evidence(moments, solution, noise, problem.n_jobs)
