"""Scores of families: cross-validated ridge regression with a few neurons on a few rows."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import issparse

from trickless._arrays.places import HOST, place_of, to_host
from trickless._arrays.sparse import dense_if_small
from trickless._arrays.threads import linear_algebra, row_blocks
from trickless._functions.activations import activations, together
from trickless._functions.stream import Purpose, draw, generator
from trickless._solvers.least_squares.groups import few_of_each, folds_of, some_groups
from trickless._solvers.least_squares.paths import Left
from trickless._solvers.least_squares.ridge import solve_by_left_out
from trickless._solvers.least_squares.row_sample import ROWS
from trickless._solvers.least_squares.statistics import Moments, Statistics, least_ridge
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_finite_activations
from trickless.neurons.samples import sample_numbers

#: Activations held at a time, and the most values of shared layers (256 MiB in single precision).
_ACTIVATIONS, _VALUES = 2**23, 2**26
#: The most rows of a group. Leaving out a group takes time in proportion to their cube.
_OF_GROUP = 128
#: The most rows whose kernel is compared exactly, and what rounding needs on its diagonal.
EXACT_ROWS, _JITTER = 600, 1e-10


class Comparison:
    """A comparison of families on the same rows, with the same random numbers.

    If there are more than ``most`` rows, ``most`` of them are drawn at random, in proportion to
    their weights. ``X``, ``targets`` and ``weight`` are the drawn rows, on the host, and what they
    count. Sparse rows become dense if they are small.
    Comparisons with the same seed and purpose, but different numbers, have different rows and
    neurons. With a ``dtype``, rows are converted to that precision first. With an ``alpha``,
    families are compared at that regularisation strength, and otherwise each at its best. With
    ``groups``, rows are left out with all rows of their group.
    """

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        seed: int,
        purpose: Purpose,
        number: int,
        most: int,
        n_neurons: int,
        n_jobs: int | None,
        alpha: float | None = None,
        dtype: type[np.floating[Any]] | None = None,
        groups: np.ndarray | None = None,
    ) -> None:
        rows, rng = np.arange(len(targets)), generator(seed, purpose, 2 * number)
        if groups is not None:
            rows = few_of_each(groups, _OF_GROUP, rng)
            weight = None if weight is None else weight[rows]
        if len(rows) > most:
            if weight is None or (weight == weight[0]).all():
                rows, weight = np.sort(rng.choice(rows, most, replace=False)), None
            else:
                some, weight = sample_numbers(len(rows), rng, most, weight)
                rows = rows[some]
        self._groups = None if groups is None else groups[rows]
        self._apart = np.arange(len(rows)) % -(-len(rows) // ROWS) == 0
        if self._groups is not None:
            self._apart = some_groups(self._groups, rng)
        X = to_host(place_of(X).take(X, rows))
        self.X, self.targets = dense_if_small(X) if issparse(X) else X, targets[rows]
        if dtype is not None:
            self.X = self.X.astype(dtype, copy=False)
        self.weight = weight
        self._draws = seed, purpose, 2 * number + 1
        self._n_neurons, self.n_jobs, self._alpha = n_neurons, n_jobs, alpha

    def scores(self, families: list[Neurons]) -> list[float]:
        """Compute the scores of families, for few rows of their exact kernels.

        Hidden layers that all of them share run only once.
        """
        lasts, X = self._last_layers(families)
        few = len(self.targets) <= EXACT_ROWS and np.ndim(X) == 2
        if few and (kernels := _exact_kernels(lasts, X)) is not None:
            return [self._score_of_kernel(kernel) for kernel in kernels]
        return [
            self.score_of(*self.moments(last, self.draw(each), X))
            for each, last in zip(families, lasts, strict=True)
        ]

    def _score_of_kernel(self, kernel: np.ndarray) -> float:
        """Compute the score of as many columns as rows, whose products are the kernel."""
        n_rows = len(kernel)
        kernel.flat[:: n_rows + 1] *= 1 + _JITTER
        with linear_algebra(self.n_jobs, n_rows**3):
            try:
                rows = linalg.cholesky(kernel, lower=True, check_finite=False)
            except linalg.LinAlgError:  # of rows that are nearly all alike
                eigenvalues, vectors = linalg.eigh(kernel, check_finite=False)
                rows = vectors * np.sqrt(np.maximum(eigenvalues, 0))
        return self.score_of(*self.summed("kernel", n_rows, rows.__getitem__), n_neurons=1)

    def best(self, families: list[Neurons]) -> Neurons:
        scores = self.scores(families)
        return families[scores.index(min(scores))]

    def score_of(self, moments: Moments, rows: list[Left], n_neurons: int | None = None) -> float:
        """Compute the score of ridge regression, from the moments of some columns and some rows.

        It is the mean squared error at rows that are left out, relative to the error of a constant
        prediction, and summed over the outputs, each with its best ridge. Smaller is better.
        """
        with linear_algebra(self.n_jobs, moments.n_products):
            solution = solve_by_left_out(moments, rows, self.n_jobs, folds=self._folds(moments))
        assert solution.scores is not None and solution.grid is not None
        if self._alpha is None:
            best = solution.scores.min(axis=1)
        else:
            grid = solution.grid
            ridge = self._alpha * (self._n_neurons if n_neurons is None else n_neurons)
            ridge = np.clip(ridge, grid[0], grid[-1])
            best = solution.scores[:, np.abs(np.log(grid / ridge)).argmin()]
        varies = moments.y_variance > 0
        return float((best[varies] / moments.y_variance[varies]).sum())

    def _folds(self, moments: Moments) -> list[np.ndarray] | None:
        """Return the groups of the rows that are left out, which are all while these are kept."""
        if self._groups is None:
            return None
        return folds_of(self._groups[self._apart] if moments.rows is None else self._groups)

    def draw(self, family: Neurons) -> Weights:
        return draw(family, self.generator(), self._n_neurons, self.X.dtype)

    def generator(self) -> np.random.Generator:
        return generator(*self._draws)

    def _last_layers(self, families: list[Neurons]) -> tuple[list[Neurons], Any]:
        """Return the families of the last layers and the rows that they see, if they share them."""
        shared = families[0]._shared
        if shared is None or any(each._shared is not shared for each in families):
            return families, self.X
        lasts = [each._last_layer(self.X[:1])[0] for each in families]
        shape = len(self.targets), lasts[0].n_features_in_
        if prod(shape) > _VALUES:
            return families, self.X
        values = np.empty(shape, self.X.dtype)

        def fill(rows: slice) -> None:
            values[rows] = families[0]._last_layer(self.X[rows])[1]

        HOST.map_rows(fill, *shape, self.n_jobs)
        return lasts, values

    def moments(
        self, family: Neurons, weights: Weights, X: Any = None
    ) -> tuple[Moments, list[Left]]:
        """Compute moments of the activations and targets, and rows to leave out.

        ``X`` is what the rows have become, if that is known.
        """
        n, X = self._n_neurons, self.X if X is None else X
        return self.summed(
            type(family).__name__,
            n * family.width,
            lambda rows: activations(
                family, together(weights), X[rows], n, self.n_jobs, place=HOST
            ),
        )

    def summed(
        self, owner: str, n_columns: int, columns: Callable[[slice], np.ndarray]
    ) -> tuple[Moments, list[Left]]:
        """Compute moments of some columns of all rows and the targets, and rows to leave out."""
        n_rows = len(self.targets)
        constant = np.ptp(self.targets, axis=0) == 0  # so that their variance is exactly 0
        origin = np.where(constant, self.targets[0], self.targets.mean(axis=0))
        statistics, rows = Statistics(n_columns, origin), []
        share = np.ones(n_rows) if self.weight is None else self.weight
        share = share / share.sum()
        for panel in row_blocks(n_rows, max(1, _ACTIVATIONS // n_columns)):
            Z = columns(panel)
            some = self._apart[panel]
            each = share[panel][some]
            rows.append(Left(Z[some], self.targets[panel][some], np.ones(len(each)), each))
            weight = None if self.weight is None else self.weight[panel]
            statistics.add(Z, self.targets[panel], weight, least_ridge(n_rows), self.n_jobs)
        check_finite_activations(owner, statistics.z_sum)
        return statistics.moments(), rows


def _exact_kernels(families: list[Neurons], X: Any) -> list[np.ndarray] | None:
    """Return the exact kernels of families between rows, if all have one that is finite."""
    X = np.asarray(X, dtype=np.float64)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # drawn neurons say what is too large
            kernels = [family.closed_form(X, X) for family in families]
    except NotImplementedError:
        return None
    return kernels if all(np.isfinite(kernel).all() for kernel in kernels) else None
