"""Random Kitchen Sinks: coefficients of K drawn neurons, from sums over the rows.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008.

``Sums`` starts with a stream of neurons, learns from batches of rows in any order, and gives the
function that solves the regularised problem. If all rows are available, it can also make passes
over them. They are for thousands of columns, leave-one-out errors, and losses other than squared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.places import HOST, Place, check_on_host, place_of, to_host
from trickless.arrays.stated import Stated, check_array, check_count, check_is, check_same
from trickless.arrays.threads import linear_algebra
from trickless.arrays.weighted import effective_rows
from trickless.conformal.unseen import Scores, Unseen
from trickless.errors import InvalidValueError
from trickless.functions.activations import activations, by_neuron_in_blocks, panels
from trickless.functions.network import Network, check_alike, check_finite, map_rows_alike
from trickless.functions.sparse_activations import bytes_of_row, sparse_panels
from trickless.functions.stream import BLOCK, NeuronStream, Purpose, generator, in_precision
from trickless.rules import MOST_THINGS, warn
from trickless.solvers.calibration import (
    Temperatures,
    check_temperatures,
    find_temperatures,
    in_shares,
)
from trickless.solvers.least_squares.certainty import Certainty, noise_variance
from trickless.solvers.least_squares.conjugate_gradients import Grid, Pilot, solve_in_passes
from trickless.solvers.least_squares.evidence import log_evidence, solve_by_evidence
from trickless.solvers.least_squares.influence import influence_of
from trickless.solvers.least_squares.left_out import LeftOut, leave_out
from trickless.solvers.least_squares.left_out_intervals import Rule
from trickless.solvers.least_squares.noise import UnequalNoise
from trickless.solvers.least_squares.process import Process
from trickless.solvers.least_squares.reweighted import minimise_reweighted
from trickless.solvers.least_squares.ridge import (
    Left,
    Solution,
    solve,
    solve_by_gcv,
    solve_by_loo,
    solve_within,
    wants_less,
    warn_of_end,
)
from trickless.solvers.least_squares.risk import Blocks, minimise
from trickless.solvers.least_squares.row_sample import RowSample
from trickless.solvers.least_squares.statistics import Moments, Statistics, least_ridge
from trickless.solvers.losses import Loss
from trickless.solvers.state import Keep, State, counted, forget, ignore, parts_of

#: Columns above which least squares is solved in passes over the rows: if activations are kept, and
#: if every pass evaluates them.
PASSES_ABOVE, REEVALUATED_ABOVE = 6144, 16384
#: Rows, and activations, up to which it is solved directly, by a matrix of rows.
FEW_ROWS, FEW_ACTIVATIONS = 2048, 2**25
#: Effective rows for each column above which generalised cross-validation may take leverages to be
#: in proportion to weights. If all weights are equal, one row for each column is enough.
_ROWS_PER_COLUMN = 10
#: The least value of 1 − h for an estimated leverage h.
_LEAST_LEFT = 1e-3
#: Columns on which the solver in passes first looks for alpha; the most rows of its preconditioner.
PILOT_COLUMNS, PRECONDITIONER_ROWS = 2048, 8192
#: The most rows of the preconditioner for sparse activations, and the ridges to compare, times the
#: number of rows, divided by the number of neurons.
SPARSE_PRECONDITIONER_ROWS, SPARSE_RIDGES = 2048, 10 ** np.arange(-2, 1.1, 0.5)


class Problem(NamedTuple):
    """What is minimised, for which learner, and the work that this may take.

    These are parameters of the learner that may change between batches.
    """

    owner: str
    alpha: float | str
    weight_bound: float | None
    fit_intercept: bool
    classifies: bool
    max_iter: int
    tol: float
    n_jobs: int | None
    cache_bytes: int
    noise: str = "constant"


class Sums(Stated):
    """Least squares on the activations of ``n_neurons`` drawn neurons.

    The targets are taken relative to ``origin``, so that their variance is accurate. ``statistics``
    are the sums over the rows so far. They are None if the model was solved in passes.
    """

    _solution: Solution | None
    _network: Network | None
    _temperatures: Temperatures | None = None  # in files of older versions
    _certainty: Certainty | None = None
    _unequal: UnequalNoise | None = None
    _left_out: LeftOut | None = None
    _unseen: Unseen | None = None
    #: Scores of the true classes of rows that are left out, if they are known.
    scores: Scores | None = None

    def __init__(self, stream: NeuronStream, n_neurons: int, origin: np.ndarray) -> None:
        self.stream = stream
        self.n_neurons = n_neurons
        self.origin = origin
        self.statistics: Statistics | None = None
        self._sample: RowSample | None = None
        self._forget()

    def check_state(self) -> None:
        check_is("stream", self.stream, NeuronStream)
        check_count("n_neurons", self.n_neurons, 1, MOST_THINGS)
        check_array("origin", self.origin, "f8", (None,))
        size, network = (self.n_columns, len(self.origin)), self._network
        if self.statistics is not None:
            self._check_statistics(self.statistics)
        self._check_sample(self._sample)
        check_is("_solution", self._solution, Solution | None)
        if self._solution is not None:
            self._solution.check(*size)
        check_is("_network", network, Network | None)
        if network is not None:
            check_alike("neurons of _network", network.neurons, self.stream.neurons)
            shape = self.n_neurons, network.neurons.width, size[1]
            check_array("_network", network.coef, "f4 f8", shape)
        check_temperatures("_temperatures", self._temperatures)
        check_is("_certainty", self._certainty, Certainty | None)
        if self._certainty is not None:
            self._certainty.check(*size)
        check_is("_unequal", self._unequal, UnequalNoise | None)
        if self._unequal is not None:
            self._unequal.check(*size)
        check_is("_left_out", self._left_out, LeftOut | None)
        if self._left_out is not None:
            self._left_out.check(size[1])
        check_is("_unseen", self._unseen, Unseen | None)
        if self._unseen is not None:
            self._unseen.check(size[1])
        check_is("scores", self.scores, Scores | None)
        if self.scores is not None:
            self.scores.check()

    def _check_statistics(self, statistics: Statistics) -> None:
        """Check that statistics are of these neurons and outputs."""
        check_is("statistics", statistics, Statistics)
        check_same("columns of statistics", len(statistics.z_sum), self.n_columns)
        check_same("outputs of statistics", len(statistics.origin), len(self.origin))
        self._check_sample(statistics.sample)

    def _check_sample(self, sample: RowSample | None) -> None:
        """Check that this is a sample of rows for these neurons and outputs."""
        check_is("sample", sample, RowSample | None)
        if sample is not None:
            n_features = self.stream.neurons.n_features_in_
            check_same("columns of sample", sample.X.shape[1], n_features)
            check_same("outputs of sample", sample.targets.shape[1], len(self.origin))

    def fork(self) -> Sums:
        """Sums that continue from these, and leave these unchanged."""
        return copy(self)

    @property
    def n_columns(self) -> int:
        """Number of columns of the activations."""
        return self.n_neurons * self.stream.neurons.width

    def no_rows(self, place: Place = HOST) -> Statistics:
        """Statistics of no rows, whose Gram matrix will be at a place."""
        return Statistics(self.n_columns, self.origin, place)

    def learn(self, *rows: Any, **how: Any) -> None:
        """Add the sums over a batch of rows, with the same arguments as ``summed``."""
        batch = self.summed(*rows, **how)
        if self.statistics is None:
            self.take(batch)
            return
        self.take(self.statistics.joined(batch))

    def summed(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        problem: Problem,
        keep: Keep = forget,
        state: State | None = None,
        advance: Callable[[int], object] = ignore,
    ) -> Statistics:
        """Return the sums over a batch of rows, without earlier rows.

        ``keep`` receives the state after each panel of rows. ``state`` is a state from which to
        resume. ``advance`` is called with numbers of rows, to show progress.
        """
        place = place_of(X)
        statistics, done = self.no_rows(place), 0
        statistics.make_room(X.shape[0])
        alpha = np.inf if isinstance(problem.alpha, str) else problem.alpha
        least = least_ridge(X.shape[0], alpha * self.n_neurons)
        if state is not None:
            statistics, done = parts_of(state, statistics=Statistics, rows=int)
            done = counted(done, X.shape[0])
            self._check_statistics(statistics)
            if place is not HOST:
                statistics.gram = place.for_double.put(statistics.gram)
        advance(done)
        # A panel of as many rows as columns takes no more memory than the Gram matrix.
        how = {"start": done, "n_together": self.n_columns, "place": place}
        for rows, Z in self._panels(X, problem, **how):
            part = None if weight is None else weight[rows]
            statistics.add(Z, targets[rows], part, least, problem.n_jobs)
            some = X[rows, ...], targets[rows], part, self.stream.seed
            statistics.add_sample(RowSample.of(*some, place))
            advance(Z.shape[0])
            keep(partial(dict, statistics=statistics, rows=rows.stop))
        check_finite(type(self.stream.neurons).__name__, statistics.z_sum)
        return statistics

    def take(self, statistics: Statistics) -> None:
        """Replace the statistics by others of the same neurons and origin."""
        with uninterrupted():
            self.statistics = statistics
            self._forget()

    def merge(self, other: Sums, n_jobs: int | None) -> None:
        """Add the rows of other sums over the same neurons."""
        assert self.statistics is not None and other.statistics is not None
        statistics = self.statistics.copy()
        with linear_algebra(n_jobs):
            statistics.merge(other.statistics)
        self.take(statistics)

    def solution(self, problem: Problem) -> Solution:
        """Return the solution for the rows so far, computed at the first call."""
        solution = self._solution
        if solution is None:
            check_alpha(problem.owner, problem.alpha)
            moments = self._moments(problem)
            with linear_algebra(problem.n_jobs, moments.n_products):
                if problem.alpha == "evidence":
                    solution = solve_by_evidence(moments, problem.n_jobs)
                    _warn_of_least(problem, solution, moments)
                elif isinstance(problem.alpha, str):
                    solution = self._solve_by_cross_validation(moments, problem)
                    _warn_of_end(problem, solution, moments)
                else:
                    solution = self._solve_at(moments, problem)
            self._solution = solution = self._bounded_by_weight(solution, problem)
        return solution

    def function(self, problem: Problem) -> Network:
        """Return the network of the solution."""
        solution, network = self.solution(problem), self._network
        if network is None:
            coef = in_precision(
                problem.owner, "coefficients", self.by_neuron(solution.coef), self.stream.dtype
            )
            network = Network(self.stream.neurons, self.stream, coef, solution.intercept)
            self._network = network
        network.n_jobs = problem.n_jobs
        return network

    @property
    def has_deviations(self) -> bool:
        """Whether standard deviations are available."""
        return self.statistics is not None or self._certainty is not None

    def without_statistics(
        self,
        problem: Problem,
        temperatures: Temperatures | None = None,
        scores: Scores | None = None,
        deviations: bool = False,
    ) -> Sums:
        """Return a copy that can predict but not learn, with standard deviations if available."""
        light = Sums(self.stream, self.n_neurons, self.origin)
        light._solution, light._network = self.solution(problem), self.function(problem)
        if deviations:
            light._certainty, light._unequal = self._certainty, self._unequal
        light._temperatures, light.scores = temperatures, scores
        if deviations and self.statistics is not None and problem.weight_bound is None:
            moments = self._moments(problem)
            with suppress(ValueError):  # if too few rows are left to estimate the noise
                light._certainty = Certainty.of(moments, self.noise(problem))
                light._unequal = self.unequal_noise(problem)
                light._left_out = self.left_out(problem)
                light._sample = None if moments.rows is not None else self.statistics.sample
        elif deviations and self.has_unseen and problem.weight_bound is None:
            light._left_out, light._sample = self._left_out, self._sample
            light._unseen = None if self.has_left_out else self.unseen(problem)
            if light._unseen is not None:
                light._sample = None
        return light

    def by_neuron(self, columns: np.ndarray) -> np.ndarray:
        """Values of all columns, in an array of shape (n_neurons, width, ...)."""
        return by_neuron_in_blocks(columns, self.stream.neurons.width)

    def _forget(self) -> None:
        """Drop the solution, so that the next call of ``solution`` computes it again."""
        self._solution = self._network = self._temperatures = self._unequal = self.scores = None

    def _moments(self, problem: Problem) -> Moments:
        """Moments of the rows so far, about their means if there is an intercept.

        Those of a solution stay with it, whatever ``problem`` asks of the next one.
        """
        assert self.statistics is not None
        wants = problem.fit_intercept
        if self._solution is not None:
            wants = bool(self._solution.intercept.any())
        return self.statistics.moments(wants)

    def _panels(self, X: Any, problem: Problem, **how: Any) -> Iterator[tuple[slice, Any]]:
        return panels(self.stream, self.n_neurons, X, n_jobs=problem.n_jobs, **how)

    def _solve_at(self, moments: Moments, problem: Problem) -> Solution:
        ridge = float(problem.alpha) * self.n_neurons
        if ridge < moments.least_ridge:
            raise InvalidValueError(
                f"{problem.owner}: alpha={problem.alpha!r} is below the rounding of the sums of "
                "this model, which was fitted with a larger or automatic alpha",
                "call fit again with this alpha, or fit with dtype='float64' from the beginning",
            )
        with self._dependent_columns(problem):
            try:
                return solve(moments, ridge, problem.n_jobs)
            except LinAlgError:
                if problem.weight_bound is None:
                    raise
        beyond = np.full_like(moments.cross, np.inf)  # no solution without the bound is unique
        return Solution(beyond, np.zeros(beyond.shape[1]), np.full(beyond.shape[1], ridge))

    def _bound(self, problem: Problem) -> float | None:
        """Return the largest coefficient that Algorithm 1 of the paper allows, C / K, or None."""
        return None if problem.weight_bound is None else problem.weight_bound / self.n_neurons

    def _bounded_by_weight(self, solution: Solution, problem: Problem) -> Solution:
        """Return the solution with coefficients of at most C / K, as in the paper's Algorithm 1."""
        bound = self._bound(problem)
        if bound is None:
            return solution
        with linear_algebra(problem.n_jobs):
            return solve_within(self._moments(problem), solution, bound)

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

    # If all rows are available.

    def goes_in_passes(
        self, X: Any, problem: Problem, solver: str, loss: str, error_bars: bool
    ) -> bool:
        """Return whether least squares is solved in passes over the rows, not from statistics."""
        why_not = {
            "alpha": (problem.alpha, problem.alpha not in ("loo", "evidence", 0)),
            "weight_bound": (problem.weight_bound, problem.weight_bound is None),
            "loss": (loss, loss == "squared_error"),
        }
        if solver == "iterative":
            what = f"{problem.owner}, solver='iterative'"
            check_on_host(what, place_of(X), "solver='direct'")
            for name, (value, goes) in why_not.items():
                if not goes:
                    raise InvalidValueError(
                        f"{problem.owner}: solver='iterative' does not go with {name}={value!r}",
                        "solver='direct'",
                    )
            return True
        n_rows, kept = (
            X.shape[0],
            self._is_sparse(X) or (self._n_bytes(X.shape[0]) <= self._room(problem)),
        )
        many = self.n_columns > (PASSES_ABOVE if kept else REEVALUATED_ABOVE)
        # If rows are few, the direct solver's matrix is of rows, except for alpha=0.
        few = n_rows <= FEW_ROWS and n_rows * self.n_columns <= FEW_ACTIVATIONS
        free = solver == "auto" and not (few and problem.alpha != 0)
        free = free and many and not error_bars
        return free and all(goes for _, goes in why_not.values()) and place_of(X) is HOST

    def _is_sparse(self, X: Any) -> bool:
        """Return whether passes take activations as sparse matrices."""
        return self.stream.neurons.n_nonzero is not None and isinstance(X, np.ndarray)

    def _n_bytes(self, n_rows: int) -> int:
        """Bytes of the activations of this many rows."""
        return n_rows * self.n_columns * self.stream.dtype.itemsize

    def _room(self, problem: Problem) -> int:
        """Bytes that activations may take in the iterative solver.

        16 c² bytes are the two c × c matrices of the direct solver. The preconditioner and its
        factor, with up to c² / 2 numbers each, take additional memory.
        """
        return max(problem.cache_bytes, 16 * self.n_columns**2)

    def _passes(
        self, X: Any, most: int, problem: Problem, advance: Callable[[int], object]
    ) -> Blocks:
        """Function that begins a pass; activations are kept if they take at most ``most`` bytes.

        ``advance`` is called with 1 for each pass that begins.
        """
        panels: Any = partial(self._panels, X, problem)
        n_bytes, all_of_them = self._n_bytes(X.shape[0]), partial(panels, kept=True)
        if self._is_sparse(X):
            family, pieces = self.stream.neurons, partial(self.stream.pieces, 0, self.n_neurons)
            panels = partial(sparse_panels, family, pieces, X, self.n_neurons, problem.n_jobs)
            n_bytes, all_of_them = X.shape[0] * bytes_of_row(family, self.n_neurons), panels
        kept = list(all_of_them()) if n_bytes <= most else None

        def begin() -> Iterator[tuple[slice, Any]]:
            advance(1)
            return panels() if kept is None else iter(kept)

        return begin

    def solve_in_passes(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        problem: Problem,
        keep: Keep = forget,
        state: State | None = None,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Solve least squares by conjugate gradients, without statistics."""
        n_rows, width = X.shape[0], self.stream.neurons.width
        sparse = self._is_sparse(X)
        most = SPARSE_PRECONDITIONER_ROWS if sparse else PRECONDITIONER_ROWS
        n_chosen = min(n_rows, max(BLOCK, self.n_columns // 2), most)
        rng = generator(self.stream.seed, Purpose.PRECONDITIONER)
        chosen = np.sort(rng.choice(n_rows, n_chosen, replace=False))
        ridge: float | Pilot | Grid
        if isinstance(problem.alpha, str) and sparse:
            ridge = Grid(self.n_neurons * SPARSE_RIDGES / effective_rows(n_rows, weight))
        elif isinstance(problem.alpha, str):
            n_pilot = min(self.n_neurons, max(1, PILOT_COLUMNS // width))
            pilot = np.sort(self.by_neuron(np.arange(self.n_columns))[:n_pilot], axis=None)
            ridge = Pilot(pilot, self.n_neurons / n_pilot)
        else:
            ridge = problem.alpha * self.n_neurons
        with self._dependent_columns(problem):
            self._solution = solve_in_passes(
                self._passes(X, self._room(problem), problem, advance),
                targets,
                weight,
                ridge,
                chosen,
                rng,
                problem.max_iter,
                problem.tol,
                problem.n_jobs,
                problem.owner,
                keep,
                state,
                problem.fit_intercept,
                problem.classifies,
            )
        self._sample = RowSample.of(X, targets, weight, self.stream.seed)

    def leave_one_out(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, problem: Problem
    ) -> None:
        """Solve least squares at the alpha with the least leave-one-out error."""
        moments = self._moments(problem)
        copies = np.ones(len(targets))
        weight = copies if weight is None else weight
        rows = self._each(X, targets, copies, weight / weight.sum(), problem)
        solution = solve_by_loo(moments, rows, problem.n_jobs)
        _warn_of_end(problem, solution, moments)
        self._solution = self._bounded_by_weight(solution, problem)

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
            sample = self.statistics.sample
            share = sample.weight / (sample.copies * self.statistics.weight)
        return self._each(sample.X, sample.targets, sample.copies, share, problem)

    def _solve_by_cross_validation(self, moments: Moments, problem: Problem) -> Solution:
        """Return the solution at the alpha that cross-validation chooses.

        Generalised cross-validation takes all rows to have the mean leverage, in proportion to
        their weights. With few rows for each column that is far from true, and with different
        weights even sooner. Then rows are left out one by one instead: all rows, while they are
        kept, or a sample of them.
        """
        few = _ROWS_PER_COLUMN if moments.weights_differ else 1
        if moments.n > few * self.n_columns:
            return solve_by_gcv(moments, problem.n_jobs)
        return solve_by_loo(moments, self._sampled(problem), problem.n_jobs)

    def minimise(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        loss: Loss,
        problem: Problem,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Minimise the risk of another loss, with the alpha chosen for the squared loss.

        For losses without a bound of the curvature, it is chosen for a working response.
        """
        if not loss.bounded_curvature:
            with self._dependent_columns(problem):
                least = minimise_reweighted(self, X, targets, weight, loss, problem, advance)
            self._solution, self._network = least, None
            return
        moments, squared = self._moments(problem), self.solution(problem)
        factor: np.ndarray | float = 1.0
        if isinstance(problem.alpha, str):
            fitted = to_host(self.function(problem)(X)) if loss.for_numbers else targets
            factor = loss.relative_curvature(fitted, targets, weight)
        with self._dependent_columns(problem):
            least = minimise(
                self._passes(X, problem.cache_bytes, problem, advance),
                targets,
                weight,
                loss,
                squared.ridge * factor,
                moments,
                problem.max_iter,
                problem.tol,
                problem.owner,
                self._bound(problem),
                squared.coef,
            )
        grid = squared.grid
        if grid is not None and not loss.for_numbers:
            grid = grid * factor
        self._solution, self._network = least._replace(grid=grid, scores=squared.scores), None

    # How certain predictions are.

    def temperatures(self, problem: Problem, each: bool) -> Temperatures:
        """Return temperatures of probabilities from decision values, computed at the first call.

        With ``each``, outputs are labels that a row may have, each by itself, rather than classes.
        They are chosen by the decision values of a sample of rows, each left out in turn. After
        passes over the rows, all rows count with the same leverage. With a ``weight_bound``, rows
        are not left out.
        """
        temperatures = self._temperatures
        if temperatures is None:
            f, y, weight = self.unseen(problem)
            if each:
                f, y, weight = f.reshape(-1, 1), y.reshape(-1, 1), np.repeat(weight, f.shape[1])
            else:
                weight = in_shares(weight, y, self._mean_target())
            self._temperatures = temperatures = find_temperatures(f, y, weight)
        return temperatures

    def unseen(self, problem: Problem) -> Unseen:
        """Return rows of the sample with their decision values, as if they had not been learned.

        They are left out one by one. After passes over the rows, all have the same leverage. With a
        ``weight_bound``, they are not left out.
        """
        if self._unseen is not None:
            return self._unseen
        if self.has_left_out and problem.weight_bound is None:
            return self.left_out(problem).unseen()
        return self._with_one_leverage(problem)

    @property
    def has_unseen(self) -> bool:
        """Whether there are rows that ``unseen`` can return."""
        return self.has_left_out or self._unseen is not None or self._sample is not None

    @property
    def has_left_out(self) -> bool:
        """Whether rows can be left out."""
        return self.statistics is not None or self._left_out is not None

    def left_out(self, problem: Problem) -> LeftOut:
        """Return rows of the sample, left out one by one, or all rows while these are few."""
        if self._left_out is not None:
            return self._left_out
        moments, solution = self._moments(problem), self.solution(problem)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            return leave_out(moments, solution, self._sampled(problem), problem.n_jobs)

    def intervals(self, X: Any, problem: Problem, rule: Rule) -> np.ndarray:
        """Return intervals of new targets at rows, (n_rows, n_outputs, 2), by leaving rows out."""
        known, solution = self._certainty, self.solution(problem)
        moments = self._moments(problem) if known is None else known.moments()
        rows, network = self.left_out(problem), self.function(problem)
        moments.share = rows.share
        found = np.empty((X.shape[0], len(solution.ridge), 2))
        place = place_of(X)
        pieces = partial(self.stream.pieces, 0, self.n_neurons, place)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            f = to_host(network(X))
            for ridge in np.unique(solution.ridge):
                each = self._sampled(problem) if moments.rows is None else ()
                influence = influence_of(moments, rows.share, ridge, each, problem.n_jobs)
                same = np.flatnonzero(solution.ridge == ridge)

                def of_rows(
                    where: slice, some: Any, influence: Any = influence, same: Any = same
                ) -> None:
                    Z = activations(
                        self.stream.neurons, pieces, some, self.n_neurons, 1, None, place
                    )
                    of_old, of_new = (part[: len(f[where])] for part in influence(Z))
                    for output in same:
                        found[where, output] = rule(
                            f[where, output], of_old, of_new, rows.of_output(output)
                        )

                n_columns = self.n_columns + len(rows.share)
                map_rows_alike(of_rows, X, n_columns, problem.n_jobs, place)
        return found

    def _mean_target(self) -> np.ndarray:
        """Return the mean target of all rows, which is the origin after passes over them."""
        sums = self.statistics
        return self.origin if sums is None else self.origin + sums.y_sum / sums.weight

    def _with_one_leverage(self, problem: Problem) -> Unseen:
        """Return a sample whose rows are left out as if they all had the mean leverage."""
        sample = self._sample if self.statistics is None else self.statistics.sample
        assert sample is not None
        solution = self.solution(problem)
        fitted = self.function(problem)(sample.X)
        left = np.ones(len(solution.ridge))
        if solution.leverage is not None:
            left = np.maximum(1 - solution.leverage, _LEAST_LEFT)
        weight = sample.weight * (sample.copies.sum() / sample.weight.sum())
        decisions = sample.targets - (sample.targets - fitted) / left
        return Unseen(decisions, np.asarray(sample.targets, np.float64), weight)

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

    def unequal_noise(self, problem: Problem) -> UnequalNoise | None:
        """Return how noise depends on the row, computed at the first call; None if it does not.

        It is learned from the sample of rows, each left out in turn, or from all rows if they are
        kept.
        """
        if problem.noise == "constant":
            return None
        if self._unequal is None and self._certainty is not None:
            raise InvalidValueError(
                f"{problem.owner}: compact() has left out the rows that noise={problem.noise!r} "
                "is learned from",
                "set noise before compact(), or noise='constant'",
            )
        if self._unequal is None:
            moments, solution = self._moments(problem), self.solution(problem)
            with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
                sample = () if moments.rows is not None else self._double_sample(problem)
                rows = leave_out(moments, solution, sample, problem.n_jobs)
                Z = moments.activations() if not sample else np.concatenate([r.Z for r in sample])
                self._unequal = UnequalNoise.of(Z, rows, problem.n_jobs)
        return self._unequal

    def _double_sample(self, problem: Problem) -> list[Left]:
        """Return the sample of rows together, in double precision on the host."""
        sample = self._sampled(problem)
        return [rows._replace(Z=to_host(rows.Z).astype(np.float64)) for rows in sample]

    def process(self, problem: Problem) -> Process:
        """Return the posterior of the function."""
        known, solution = self._certainty, self.solution(problem)
        moments = self._moments(problem) if known is None else known.moments()
        noise, unequal = self.noise(problem), self.unequal_noise(problem)
        size = self.n_neurons
        return Process(self.stream, size, moments, solution, noise, unequal, problem.n_jobs)

    @contextmanager
    def certain(self, problem: Problem) -> Iterator[Process]:
        """Give the posterior of the function, for work that may need many threads."""
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            yield self.process(problem)

    def deviations(self, X: Any, problem: Problem) -> np.ndarray:
        """Standard deviations of new targets at rows, shape (n_rows, n_outputs)."""
        with self.certain(problem) as process:
            return np.sqrt(process.noise_at(X) + process.variances(X))

    def noise_at(self, X: Any, problem: Problem) -> np.ndarray:
        """Variances of the noise at rows, shape (n_rows, n_outputs)."""
        with self.certain(problem) as process:
            return process.noise_at(X)

    def log_evidence(self, problem: Problem) -> np.ndarray:
        """Logarithm of the likelihood of each output's targets, shape (n_outputs,)."""
        moments, solution = self._moments(problem), self.solution(problem)
        noise = self.noise(problem)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            return log_evidence(moments, solution, noise, problem.n_jobs)


def _warn_of_end(problem: Problem, solution: Solution, moments: Moments) -> None:
    """Warn if sums in double precision would allow a ridge that predicts numbers better."""
    single = moments.least_ridge > 0 and not problem.classifies
    if single and wants_less(solution, moments).any():
        warn_of_end(problem.owner, "the precision of dtype='float32'", "dtype='float64'")


def _warn_of_least(problem: Problem, solution: Solution, moments: Moments) -> None:
    """Warn if the least ridge that sums in single precision allow has the greatest evidence."""
    if (solution.ridge < 2 * moments.least_ridge).any() and not problem.classifies:
        warn(
            f"{problem.owner}: the evidence is greatest at the least alpha that the precision of "
            "dtype='float32' allows, so the kernel is too smooth for the targets, or they have "
            "little noise. Remedy: a shorter length scale or other neurons, or dtype='float64'."
        )


def check_alpha(owner: str, alpha: float | str) -> None:
    """Raise an error for alpha="loo" on streams, since it needs all rows."""
    if alpha == "loo":
        raise InvalidValueError(
            f"{owner}: alpha='loo' needs a second pass over all rows, which a stream does not give",
            "fit, or alpha='auto' (generalised cross-validation from the statistics)",
        )
