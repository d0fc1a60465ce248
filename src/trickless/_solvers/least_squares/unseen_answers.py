"""What Kitchen Sinks answers from rows that it leaves out: temperatures, scores and intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trickless._arrays.places import to_host
from trickless._arrays.threads import linear_algebra
from trickless._functions.activations import in_row_blocks
from trickless._solvers.calibration import Temperatures, find_temperatures, in_shares
from trickless._solvers.least_squares.fitted import Fitted
from trickless._solvers.least_squares.left_out import (
    LeftOut,
    leave_out,
    leave_out_folds,
    leave_out_folds_of_few,
)
from trickless._solvers.least_squares.left_out_intervals import NewRows, Rule
from trickless._solvers.least_squares.posterior import Influence, posterior_at
from trickless._solvers.least_squares.problem import Problem
from trickless.conformal.unseen import Counted, Unseen

#: The least value of 1 − h for an estimated leverage h.
_LEAST_LEFT = 1e-3


class UnseenAnswers(Fitted):
    """Answers from a sample of the rows, as if they had not been learned."""

    def temperatures(self, problem: Problem, each: bool) -> Temperatures:
        """Return temperatures of probabilities from decision values, computed at the first call.

        With ``each``, outputs are labels that a row may have, each by itself, rather than classes.
        They are chosen by the decision values of a sample of rows, each left out in turn. After
        passes over the rows, all rows count with the same leverage. With a ``weight_bound``, rows
        are not left out.
        """
        temperatures, delayed = self._temperatures, self._delayed
        if temperatures is None and delayed is not None:
            temperatures = delayed.temperatures
        if temperatures is None:
            temperatures = self.calibrate(self.unseen(problem), each)
        return temperatures

    def calibrate(self, rows: Unseen, each: bool = False) -> Temperatures:
        """Choose the temperatures by decision values of rows that were not learned."""
        f, y, counted = rows
        weight = counted.by_weight
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
    def has_groups(self) -> bool:
        """Whether rows were left out with all rows of their group."""
        return self._unseen is not None and self.has_left_out

    @property
    def has_unseen(self) -> bool:
        """Whether there are rows that ``unseen`` can return."""
        return self.has_left_out or self._unseen is not None or self._sample is not None

    @property
    def has_left_out(self) -> bool:
        """Whether rows can be left out."""
        return self.has_statistics or self._left_out is not None

    def left_out(self, problem: Problem) -> LeftOut:
        """Return rows of the sample, left out one by one, or all rows while these are few."""
        if self._left_out is not None:
            return self._left_out
        moments, solution = self._moments(problem), self.solution(problem)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            rows = leave_out(moments, solution, self._sampled(problem), problem.n_jobs)
        if moments.rows is None:
            assert self.statistics is not None and self.statistics.sample is not None
            sample = self.statistics.sample.counted()
            rows = rows._replace(fresh=sample.of_one(sample.fresh))
        return rows

    def without_folds(
        self,
        folds: list[np.ndarray],
        X: Any,
        targets: np.ndarray,
        share: np.ndarray,
        problem: Problem,
    ) -> Unseen:
        """Return rows that were learned, in their order, each without those of its fold.

        ``folds`` are numbers of these rows. ``share`` are their weights, divided by the sum of the
        weights of all rows. As long as all rows are kept, these must be all.
        """
        moments, solution = self._moments(problem), self.solution(problem)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            if moments.rows is not None:
                return leave_out_folds_of_few(moments, solution, folds, problem.n_jobs)
            rows = self._each(X, targets, np.ones(len(targets)), share, problem)
            return leave_out_folds(moments, solution, rows, folds)

    def intervals(self, X: Any, problem: Problem, rule: Rule) -> np.ndarray:
        """Return intervals of new targets at rows, (n_rows, n_outputs, 2), by leaving rows out."""
        rows, network = self.left_out(problem), self.function(problem)
        found = np.empty((X.shape[0], network.n_outputs, 2))
        size = self.n_columns + len(rows.share)
        with linear_algebra(problem.n_jobs), self._dependent_columns(problem):
            f = to_host(network(X))
            for influence, same in self.influences(problem, rows.share):

                def of_rows(
                    where: slice, Z: Any, influence: Any = influence, same: Any = same
                ) -> None:
                    of_old, of_own = influence(Z)
                    for output in same:
                        new = NewRows(f[where, output], of_old, of_own)
                        found[where, output] = rule(new, rows.of_output(output))

                in_row_blocks(of_rows, self.stream, self.n_neurons, X, size, problem.n_jobs)
        return found

    def influences(
        self, problem: Problem, share: np.ndarray
    ) -> Iterator[tuple[Influence, np.ndarray]]:
        """Yield how much rows with these shares, which are left out, count at new rows.

        Outputs with another ridge have another influence, so the outputs are yielded as well.
        """
        moments, solution = self._moments(problem), self.solution(problem)
        for ridge in np.unique(solution.ridge):
            each = self._sampled(problem) if moments.rows is None else ()
            posterior = posterior_at(moments, ridge, problem.n_jobs)
            yield posterior.influence(each, share), np.flatnonzero(solution.ridge == ridge)

    def _mean_target(self) -> np.ndarray:
        """Return the mean target of all rows, which is the origin after passes over them."""
        sums = self.statistics
        return self.origin if sums is None else self.origin + sums.y_sum / sums.weight

    def _with_one_leverage(self, problem: Problem) -> Unseen:
        """Return a sample whose rows are left out as if they all had the mean leverage."""
        sample = self._sample if self.statistics is None else self.statistics.sample
        assert sample is not None
        sample, solution = sample.counted(), self.solution(problem)
        fitted = self.function(problem)(sample.X)
        left = np.ones(len(solution.ridge))
        if solution.leverage is not None:
            left = np.maximum(1 - solution.leverage, _LEAST_LEFT)
        each = sample.of_one(sample.fresh), sample.of_one(sample.weight)
        decisions = sample.targets - (sample.targets - fitted) / left
        targets = np.asarray(sample.targets, np.float64)
        return Unseen(decisions, targets, Counted.of(sample.copies, *each))
