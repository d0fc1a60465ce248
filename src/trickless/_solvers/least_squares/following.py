"""Sums over rows that come one by one, and are asked in between."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from trickless._arrays.places import HOST, place_of
from trickless._arrays.threads import linear_algebra
from trickless._functions.network import check_finite
from trickless._solvers.least_squares.delayed import MOST_ROWS, Delayed
from trickless._solvers.least_squares.fitted import Fitted
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.queue import FEW_AT_ONCE, MOST_WAITING, Queue


class Following(Fitted):
    """Small batches wait before they are added to the sums.

    If a solution was asked for before such a batch, it follows the rows, at its alpha. Alpha is
    chosen again when there are twice as many rows, or after 1,024 rows.
    """

    def may_follow(self, X: Any, problem: Problem) -> bool:
        """Return whether a batch is small enough, and can be learned row by row."""
        place = place_of(X)
        return (
            0 < X.shape[0] <= FEW_AT_ONCE
            and self.has_statistics
            and place is HOST
            and problem.weight_bound is None
        )

    @property
    def follows(self) -> bool:
        """Whether there is a solution that follows new rows, or can."""
        return self._delayed is not None or self._solution is not None

    def follow(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray,
        problem: Problem,
        passed: np.ndarray,
        arrived: int | None,
    ) -> np.ndarray | None:
        """Learn a few rows, and return how each was predicted before, if a solution follows.

        ``weight`` is the weight that each row had when it came, and ``passed`` are half-lives since
        the latest earlier row.
        """
        self.drop_if_changed(problem)
        with linear_algebra(1):
            Z = self._few_activations(X)
            delayed = self._followed(problem)
            known, queue = vars(self).pop("statistics", None), self._queue
            if known is not None:
                queue = Queue(known, arrived)
            assert queue is not None
            self._queue = queue.after(X, Z, targets, weight, passed)
            if self._queue.n_rows >= MOST_WAITING:
                _ = self.statistics
            self._forget()
            self._delayed, found = delayed, None
            if delayed is not None:
                rows = Z.astype(np.float64), targets - self.origin, weight, passed
                self._delayed, found = delayed.learn(*rows)
                found = found + self.origin
                self._delayed = self._followed(problem) if self._delayed.left else None
        return found

    def drop_if_changed(self, problem: Problem) -> None:
        """Drop a solution for another alpha or intercept than the present parameters."""
        solution, delayed = self._solution, self._delayed
        has, ridges = self._has_intercept, None if solution is None else solution.ridge
        if delayed is not None and solution is None:
            has, ridges = delayed.machines.intercept, delayed.ridges
        changed = has is not None and has != problem.fit_intercept
        if ridges is not None and not isinstance(problem.alpha, str):
            changed |= bool((ridges != float(problem.alpha) * self.n_neurons).any())
        if changed:
            self._delayed = None
            self._forget()

    def rows_to_follow(self, problem: Problem, weight: np.ndarray, passed: np.ndarray) -> int:
        """Return for how many rows the present solution can follow."""
        delayed = self._followed(problem)
        if delayed is None:
            return 1
        self._delayed = delayed
        return delayed.n_to_learn(weight, passed)

    def _few_activations(self, X: Any) -> np.ndarray:
        neurons = self.stream.neurons
        pieces = self.stream.pieces(0, self.n_neurons)
        Z = np.concatenate([neurons(X, weights) for _, weights in pieces], axis=1)
        check_finite(type(neurons).__name__, Z)
        return Z

    def _followed(self, problem: Problem) -> Delayed | None:
        """Return what follows the present solution, factorised again if it is due.

        It is None if there is no solution, or if alpha is too small for these rows.
        """
        delayed, solution, has = self._delayed, self._solution, self._has_intercept
        if delayed is not None and not delayed.is_full:
            return delayed
        if delayed is None and solution is None:
            return None
        statistics = self.statistics
        assert statistics is not None
        if delayed is not None:
            has, ridges, left = delayed.machines.intercept, delayed.ridges, delayed.left
            temperatures = delayed.temperatures
        else:
            assert solution is not None
            has = bool(problem.fit_intercept if has is None else has)
            ridges, left = solution.ridge, int(np.clip(statistics.n_rows, 1, MOST_ROWS))
            temperatures = self._temperatures
        try:
            return Delayed(statistics, ridges, has, left, temperatures)
        except LinAlgError:
            return None
