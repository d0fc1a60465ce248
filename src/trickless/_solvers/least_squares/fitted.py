"""What Kitchen Sinks keeps of the rows that it has learned, and what was computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy.linalg import LinAlgError

from trickless._arrays.stated import Array, Stated, Things, check_same
from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidValueError
from trickless._functions.activations import by_neuron_in_blocks, panels
from trickless._functions.network import Network, check_alike
from trickless._functions.stream import NeuronStream, in_precision
from trickless._solvers.calibration import Temperatures
from trickless._solvers.least_squares.certainty import Certainty
from trickless._solvers.least_squares.delayed import Delayed
from trickless._solvers.least_squares.left_out import LeftOut
from trickless._solvers.least_squares.paths import Left, Solution
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.queue import Queue
from trickless._solvers.least_squares.row_sample import RowSample
from trickless._solvers.least_squares.statistics import Moments, Statistics
from trickless.conformal.unseen import Scores, Unseen


class Fitted(Stated):
    """Drawn neurons, sums over the rows so far or a sample of them, and what follows from these.

    The targets are taken relative to ``origin``, so that their variance is accurate. ``statistics``
    are the sums over the rows so far. They are None if the model was solved in passes.
    """

    stream: NeuronStream
    n_neurons: Things
    origin: Annotated[np.ndarray, Array("f8", "n_outputs")]
    _sample: RowSample | None
    _solution: Solution | None
    _network: Network | None
    _temperatures: Temperatures | None = None
    _certainty: Certainty | None = None
    _has_intercept: bool | None = None
    _left_out: LeftOut | None = None
    _unseen: Unseen | None = None
    #: Moments of few rows, with what follows from these. Those of many rows would take more memory.
    _few: Any = None
    #: Small batches that wait to be added to the sums, and the solution that follows them.
    _queue: Queue | None = None
    _delayed: Delayed | None = None
    #: Scores of the true classes of rows that are left out, if they are known.
    scores: Scores | None = None
    #: Returns the solution for the rows so far.
    solution: Callable[[Problem], Solution]

    def __init__(self, stream: NeuronStream, n_neurons: int, origin: np.ndarray) -> None:
        self.stream = stream
        self.n_neurons = n_neurons
        self.origin = origin
        self.statistics = None
        self._sample = None
        self._forget()

    @cached_property
    def statistics(self) -> Statistics | None:
        """Sums over the rows so far. The first access adds the rows that wait."""
        if self._queue is None:  # as in a damaged file
            raise AttributeError("there are no statistics")
        with linear_algebra(1):
            return self._queue.joined(self.stream.seed)

    @property
    def has_statistics(self) -> bool:
        """Whether there are sums over the rows so far."""
        return vars(self).get("statistics", self._queue) is not None

    def __getstate__(self) -> dict[str, Any]:
        """Copies and files hold all rows in the sums."""
        _ = self.statistics
        return vars(self) | {"_queue": None, "_few": None}

    def check_state(self) -> None:
        n_outputs, network = len(self.origin), self._network
        if self.statistics is not None:
            self._check_statistics(self.statistics)
        self._check_sample(self._sample)
        if network is not None:
            check_alike("neurons of _network", network.neurons, self.stream.neurons)
            shape = self.n_neurons, network.neurons.width, n_outputs
            check_same("shape of _network", network.coef.shape, shape)
        if self._delayed is not None:
            self._delayed.check(self.n_columns, n_outputs)

    def _check_statistics(self, statistics: Statistics) -> None:
        """Check that statistics are of these neurons and outputs."""
        check_same("columns of statistics", len(statistics.z_sum), self.n_columns)
        check_same("outputs of statistics", len(statistics.origin), len(self.origin))
        self._check_sample(statistics.sample)

    def _check_sample(self, sample: RowSample | None) -> None:
        """Check that this is a sample of rows for these neurons and outputs."""
        if sample is not None:
            n_features = self.stream.neurons.n_features_in_
            check_same("columns of sample", sample.X.shape[1], n_features)
            check_same("outputs of sample", sample.targets.shape[1], len(self.origin))

    @property
    def n_columns(self) -> int:
        """Number of columns of the activations."""
        return self.n_neurons * self.stream.neurons.width

    def function(self, problem: Problem) -> Network:
        """Return the network of the solution."""
        delayed = self._delayed
        if delayed is None or self._solution is not None:
            solution = self.solution(problem)
        else:
            solution = delayed.solution(self.origin)
        network = self._network
        if network is None:
            coef = in_precision(
                problem.owner, "coefficients", self.by_neuron(solution.coef), self.stream.dtype
            )
            if self.stream.neurons._one_hot:  # their loops read it so, and would copy it each time
                coef = np.ascontiguousarray(coef)
            self._network = network = Network(
                self.stream.neurons, self.stream, coef, solution.intercept
            )
        network.n_jobs = problem.n_jobs
        return network

    def by_neuron(self, columns: np.ndarray) -> np.ndarray:
        """Values of all columns, in an array of shape (n_neurons, width, ...)."""
        return by_neuron_in_blocks(columns, self.stream.neurons.width)

    def _forget(self) -> None:
        """Drop the solution, so that the next call of ``solution`` computes it again."""
        self._solution = self._network = self._temperatures = self.scores = None
        self._unseen = None
        self._has_intercept = self._few = None

    def _moments(self, problem: Problem) -> Moments:
        """Moments of the rows so far, about their means if there is an intercept.

        If there is a solution, this is whether it has one, since parameters may have been set.
        Nothing may overwrite the moments.
        """
        if self._certainty is not None:
            assert self._left_out is not None
            return self._certainty.moments(self._left_out.share)
        has = problem.fit_intercept if self._has_intercept is None else self._has_intercept
        if self._few is not None and self._few.n_constants == has:
            return self._few
        assert self.statistics is not None
        moments = self.statistics.moments(has)
        few = moments.rows is not None and moments.rows.Z.nbytes <= problem.cache_bytes
        self._few = moments if few else None
        return moments

    def _panels(self, X: Any, problem: Problem, **how: Any) -> Iterator[tuple[slice, Any]]:
        return panels(self.stream, self.n_neurons, X, n_jobs=problem.n_jobs, **how)

    @contextmanager
    def _dependent_columns(self, problem: Problem) -> Iterator[None]:
        try:
            yield
        except LinAlgError as error:
            raise InvalidValueError(
                f"{problem.owner}: alpha={problem.alpha!r} is too small for these activations: "
                f"their {self.n_columns} columns are linearly dependent to working precision",
                "a larger alpha, alpha='auto', or fewer neurons",
            ) from error

    def _each(
        self,
        X: Any,
        targets: np.ndarray,
        copies: np.ndarray,
        share: np.ndarray,
        problem: Problem,
    ) -> Iterator[Left]:
        """Rows to leave out one by one, some at a time."""
        for rows, Z in self._panels(X, problem):
            yield Left(Z, targets[rows], copies[rows], share[rows])

    def _sampled(self, problem: Problem) -> Iterator[Left]:
        """Return the sample of the rows, to leave out one by one."""
        if self._left_out is not None:  # in the order of the sample, unless all rows are kept
            assert self._sample is not None
            sample, share = self._sample, self._left_out.share
        else:
            assert self.statistics is not None and self.statistics.sample is not None
            sample = self.statistics.sample.counted()
            share = sample.of_one(sample.weight) / self.statistics.weight
        return self._each(sample.X, sample.targets, sample.copies, share, problem)
