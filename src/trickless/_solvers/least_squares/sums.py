"""Random Kitchen Sinks: coefficients of K drawn neurons, from sums over the rows.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008.

``Sums`` starts with a stream of neurons, learns from batches of rows in any order, and gives the
function that solves the regularised problem. If all rows are available, it can also make passes
over them. They are for thousands of columns, leave-one-out errors, and losses other than squared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from trickless._arrays.interrupts import uninterrupted
from trickless._arrays.places import HOST, Place, check_on_host, place_of
from trickless._arrays.threads import linear_algebra
from trickless._arrays.weighted import effective_rows
from trickless._errors import InvalidValueError
from trickless._functions.network import check_finite
from trickless._functions.sparse_activations import bytes_of_row, sparse_panels
from trickless._functions.stream import BLOCK, Purpose, generator
from trickless._rules import warn
from trickless._solvers.least_squares.evidence import solve_by_evidence
from trickless._solvers.least_squares.following import Following
from trickless._solvers.least_squares.gaussian_answers import GaussianAnswers
from trickless._solvers.least_squares.groups import folds_of, some_groups
from trickless._solvers.least_squares.passes import Grid, Pilot, solve_in_passes
from trickless._solvers.least_squares.paths import Left, Solution
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.ridge import (
    solve,
    solve_by_left_out,
    solve_within,
    wants_less,
    warn_of_end,
)
from trickless._solvers.least_squares.risk import (
    Blocks,
    best_constant,
    minimise,
    minimise_roughly,
)
from trickless._solvers.least_squares.row_sample import Arrival, RowSample, keys_of
from trickless._solvers.least_squares.statistics import Moments, Statistics, least_ridge
from trickless._solvers.least_squares.working import RidgeSearch, choose_ridge
from trickless._solvers.losses import Loss
from trickless._solvers.outputs import NewOutputs
from trickless._solvers.progress import ignore

#: Columns above which least squares is solved in passes over the rows: if activations are kept, and
#: if every pass evaluates them.
PASSES_ABOVE, REEVALUATED_ABOVE = 6144, 16384
#: Rows, and activations, up to which it is solved directly, by a matrix of rows.
FEW_ROWS, FEW_ACTIVATIONS = 2048, 2**25
#: The least sum of weights that is divided by, whose square is far from the least number.
_LEAST_WEIGHT = 1e-60
#: Columns on which the solver in passes first looks for alpha; the most rows of its preconditioner.
PILOT_COLUMNS, PRECONDITIONER_ROWS = 2048, 8192
#: The most rows of the preconditioner for sparse activations, and the ridges to compare, times the
#: number of rows, divided by the number of neurons.
SPARSE_PRECONDITIONER_ROWS, SPARSE_RIDGES = 2048, 10 ** np.arange(-2, 1.1, 0.5)

#: Numbers of the rows of each fold; rows, their targets, and their shares of all weights.
Apart = tuple[list[np.ndarray], Any, np.ndarray, np.ndarray]


class Sums(Following, GaussianAnswers):
    """Least squares on the activations of ``n_neurons`` drawn neurons.

    ``Fitted`` has what they keep, and the classes between answer questions about predictions.
    """

    def fork(self) -> Sums:
        """Sums that continue from these, and leave these unchanged."""
        other = object.__new__(type(self))
        other.__dict__.update(vars(self))
        return other

    def with_outputs(self, new: NewOutputs, measure: Any) -> Sums:
        """Sums of the same rows with other targets."""
        other = Sums(self.stream, self.n_neurons, new.of_targets(self.origin))
        if self.statistics is not None:
            other.statistics = self.statistics.with_outputs(new, self.stream.seed)
        return other

    def no_rows(self, place: Place = HOST) -> Statistics:
        """Statistics of no rows, whose Gram matrix will be at a place."""
        return Statistics(self.n_columns, self.origin, place)

    def learn(self, *rows: Any, fade: float = 1.0, **how: Any) -> None:
        """Add the sums over a batch of rows, with the same arguments as ``summed``.

        ``fade`` is a factor of the weights of all earlier rows.
        """
        batch = self.summed(*rows, **how)
        if self.statistics is None:
            self.take(batch)
            return
        self.take(self.statistics.faded(fade).joined(batch))

    def summed(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        problem: Problem,
        advance: Callable[[int], object] = ignore,
        arrival: Arrival | None = None,
    ) -> Statistics:
        """Return the sums over a batch of rows, without earlier rows.

        ``arrival`` is when they came, if rows fade.
        """
        place = place_of(X)
        statistics = self.no_rows(place)
        statistics.make_room(X.shape[0])
        alpha = np.inf if isinstance(problem.alpha, str) else problem.alpha
        least = least_ridge(X.shape[0], alpha * self.n_neurons)
        # On a device, all rows are hashed first, while it waits for nothing else.
        keys = None if place is HOST else keys_of(X, targets, self.stream.seed, place)
        # A panel of as many rows as columns takes no more memory than the Gram matrix.
        for rows, Z in self._panels(X, problem, n_together=self.n_columns, place=place):
            part = None if weight is None else weight[rows]
            came = None if arrival is None else arrival.part(rows)
            fresh = None if came is None else came.fresh
            statistics.add(Z, targets[rows], part, least, problem.n_jobs, fresh)
            if keys is None:
                some = X[rows, ...], targets[rows], part, self.stream.seed
                statistics.add_sample(RowSample.of(*some, arrival=came))
            advance(Z.shape[0])
        if keys is not None:
            some = X, targets, weight, self.stream.seed
            statistics.sample = RowSample.of(*some, place, arrival, keys)
        statistics.collect()
        check_finite(type(self.stream.neurons).__name__, statistics.z_sum)
        return statistics

    def take(self, statistics: Statistics) -> None:
        """Replace the statistics by others of the same neurons and origin."""
        with uninterrupted():
            self.statistics = statistics
            self._delayed = None
            self._forget()

    def fade(self, factor: float) -> None:
        """Multiply the weights of all rows, which leaves enough of them to compute with."""
        if self.statistics is not None and factor < 1:
            least = min(1.0, _LEAST_WEIGHT / self.statistics.weight)
            self.take(self.statistics.faded(max(factor, least)))

    def merge(
        self, other: Sums, n_jobs: int | None, fades: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        """Add the rows of other sums over the same neurons. Both fade first."""
        assert self.statistics is not None and other.statistics is not None
        with linear_algebra(n_jobs):
            statistics = self.statistics.faded(fades[0])
            if statistics is self.statistics:
                statistics = statistics.copy()
            statistics.merge(other.statistics.faded(fades[1]))
        self.take(statistics)

    def subtract(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, problem: Problem
    ) -> None:
        """Subtract the sums over rows, or raise a LookupError if they were not learned."""
        statistics = self.statistics
        assert statistics is not None
        if X.shape[0] >= statistics.n_rows:
            raise LookupError(None)
        place, sample = place_of(X), statistics.sample
        if sample is not None:
            sample = sample.without(X, targets, weight, self.stream.seed, place)
        batch = self.summed(X, targets, weight, problem)
        with linear_algebra(problem.n_jobs):
            if statistics.kept is None:
                _ = batch.gram
            left = statistics.without(batch)
            left.sample = sample
            if not left.is_possible():
                raise LookupError(None)
        # The origin was the mean target of the first batch, which may be a row that is forgotten.
        left = left.about(left.origin + left.y_sum / left.weight)
        self.origin = left.origin
        self.take(left)

    def leave_out_groups(
        self,
        groups: np.ndarray,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        problem: Problem,
    ) -> None:
        """Choose alpha, and answer, by rows that are left out with all rows of their group.

        ``X`` are all rows that were learned, whose groups are numbered from 0 on. They are all left
        out while they are kept, and else those of some groups.
        """
        weight = np.ones(len(targets)) if weight is None else weight
        chosen = np.ones(len(targets), dtype=bool)
        if self._moments(problem).rows is None:
            chosen = some_groups(groups, generator(self.stream.seed, Purpose.GROUPS))
        some = np.flatnonzero(chosen)
        apart = folds_of(groups[some]), X[some], targets[some], (weight / weight.sum())[some]
        self._forget()
        self.solution(problem, apart)
        self._unseen = self.without_folds(*apart, problem)

    def solution(self, problem: Problem, apart: Apart | None = None) -> Solution:
        """Return the solution for the rows so far, computed at the first call.

        Rows that are left out choose alpha: one by one, or rows that come ``apart`` by folds.
        """
        solution = self._solution
        if solution is None:
            moments = self._moments(problem)
            with linear_algebra(problem.n_jobs, moments.n_products):
                if problem.alpha == "evidence":
                    solution = solve_by_evidence(moments, problem.n_jobs)
                    _warn_of_least(problem, solution, moments)
                elif isinstance(problem.alpha, str):
                    solution = self._solve_by_left_out(moments, problem, apart)
                    _warn_of_end(problem, solution, moments)
                else:
                    solution = self._solve_at(moments, problem)
            if self._delayed is not None:
                self._delayed = self._network = None
            self._solution = solution = self._bounded_by_weight(solution, problem)
            self._has_intercept = problem.fit_intercept
        return solution

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

    # If all rows are available.

    def goes_in_passes(
        self, X: Any, problem: Problem, solver: str, loss: str, needs_sums: bool
    ) -> bool:
        """Return whether least squares is solved in passes over the rows, not from statistics."""
        if solver == "iterative":
            what = f"{problem.owner}, solver='iterative'"
            check_on_host(what, place_of(X), "solver='direct'")
            return True
        n_rows, kept = (
            X.shape[0],
            self._is_sparse(X) or (self._n_bytes(X.shape[0]) <= self._room(problem)),
        )
        many = self.n_columns > (PASSES_ABOVE if kept else REEVALUATED_ABOVE)
        # If rows are few, the direct solver's matrix is of rows.
        few = n_rows <= FEW_ROWS and n_rows * self.n_columns <= FEW_ACTIVATIONS
        free = solver == "auto" and not few and problem.alpha != 0
        free = free and problem.alpha != "evidence" and problem.weight_bound is None
        free = free and loss == "squared_error" and not needs_sums
        return free and many and place_of(X) is HOST

    def _is_sparse(self, X: Any) -> bool:
        """Return whether passes take activations as sparse matrices."""
        return self.stream.neurons._n_nonzero is not None and isinstance(X, np.ndarray)

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
            blocks = self._passes(X, self._room(problem), problem, advance)
            self._solution = solve_in_passes(blocks, targets, weight, ridge, chosen, rng, problem)
        self._sample = RowSample.of(X, targets, weight, self.stream.seed)

    def _solve_by_left_out(
        self, moments: Moments, problem: Problem, apart: Apart | None
    ) -> Solution:
        """Return the solution at the alpha that rows which are left out choose.

        These are all rows, while they are kept, or a sample of them. Classes have one alpha.
        """
        rows: Iterable[Left] = () if moments.rows is not None else self._sampled(problem)
        if apart is not None:
            folds, X, targets, share = apart
            rows = self._each(X, targets, np.ones(len(targets)), share, problem)
            how = problem.n_jobs, problem.classifies, folds
            return solve_by_left_out(moments, rows, *how)
        sample = self.statistics.sample if self.statistics is not None else None
        if moments.rows is None and (sample is None or not sample.weight.any()):
            raise InvalidValueError(
                f"{problem.owner}: alpha='auto' needs rows to leave out, and none of those "
                "that the model has kept is left after forget",
                "a number for alpha, or call fit again",
            )
        return solve_by_left_out(moments, rows, problem.n_jobs, problem.classifies)

    def minimise(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        loss: Loss,
        problem: Problem,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Minimise the risk of another loss, with alpha chosen by rows that are left out."""
        blocks, moments = (
            self._passes(X, problem.cache_bytes, problem, advance),
            self._moments(problem),
        )
        how = problem.max_iter, problem.tol, problem.owner, self._bound(problem)
        n_outputs = targets.shape[1]

        def rough(smooth: Loss, ridge: float, near: Solution | None) -> tuple[Solution, np.ndarray]:
            ridges = np.full(n_outputs, ridge)
            return minimise_roughly(blocks, targets, weight, smooth, ridges, moments, near)

        with self._dependent_columns(problem):
            if isinstance(problem.alpha, str):
                start = best_constant(blocks, targets, weight, loss, moments)
                search = RidgeSearch(self, X, targets, weight, loss, problem, rough)
                chosen = choose_ridge(search, start)
                ridge, begin = chosen.ridge, chosen.coef
            else:
                chosen, ridge = None, problem.alpha * self.n_neurons
                begin = self.solution(problem).coef
            ridges = np.full(n_outputs, ridge)
            least = minimise(blocks, targets, weight, loss, ridges, moments, *how, begin)
        if chosen is not None:
            least = least._replace(grid=chosen.grid, scores=chosen.scores)
        self._solution, self._network = least, None


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
