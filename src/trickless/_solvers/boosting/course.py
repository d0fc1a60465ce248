"""The course of boosting on some rows: f at them, and the trees so far.

numba takes a second to load, so compiled loops are imported where a course first uses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trickless._arrays.loops import to_read
from trickless._solvers.boosting.forest import Forest
from trickless._solvers.losses import Loss, unit_of
from trickless.neurons import Trees
from trickless.neurons.base import Weights

if TYPE_CHECKING:
    from trickless._solvers.boosting.columns import Table

#: A large odd number, by which the seeds of trees are apart.
_APART = 0xD1B54A32D192ED03
#: The largest size of a step, the least, and a constant over the root of the number of trees.
_LARGEST, _LEAST, _SIZE = 0.5, 0.02, 3.0
#: Rows from which steps are larger, by the root of their number, and at most so many times.
_MANY, _LARGER = 10_000, 1.5


def size_of_fit(n_trees: float, n_rows: int = 0) -> float:
    """Return the share of a Newton step that each of so many trees takes.

    Trees of many rows fit less noise, so larger steps cost little, and far fewer are enough.
    """
    larger = min(max(1.0, np.sqrt(n_rows / _MANY)), _LARGER)
    return float(min(_LARGEST, larger * max(_LEAST, _SIZE / np.sqrt(n_trees))))


class Search(NamedTuple):
    """How trees are found, which is the same for all rows.

    Attributes
    ----------
    family : Trees
    loss : Loss
    n_candidates : int
        How many columns are drawn for each cut.
    learning_rate : float
        The share of a Newton step that is taken.
    damping : float
        λ relative to the mean curvature of a leaf.
    seed : int
        Seed of the trees, below 2^64.
    spread : array of shape (n_outputs,)
        The scale of the targets.
    signs : int8 array of shape (n_features,) or None
        1 for features along which f must not fall, -1 where it must not rise.
    interactions : bool array of shape (n_groups, n_features), int or None
        Features that may be in one tree, or how many.
    """

    family: Trees
    loss: Loss
    n_candidates: int
    learning_rate: float
    damping: float
    seed: int
    spread: np.ndarray
    signs: np.ndarray | None = None
    interactions: np.ndarray | int | None = None

    @property
    def is_free(self) -> bool:
        """Whether there are no constraints."""
        return self.signs is None and self.interactions is None

    def table(self) -> Table:
        """Return what the search knows of the columns."""
        from trickless._solvers.boosting.columns import Table

        bins, n_features = self.family.bins_, self.family.bins_.n_features
        signs = np.zeros(n_features, dtype=np.int8) if self.signs is None else self.signs
        groups, most = np.zeros((0, n_features), dtype=bool), n_features
        if isinstance(self.interactions, int):
            most = self.interactions
        elif self.interactions is not None:
            groups = self.interactions
        is_category = np.array([codes is not None for codes in bins.of_code], dtype=bool)
        features = bins.features.astype(np.int64)
        counts = bins.counts.astype(np.int64)
        return Table(counts, is_category, features, signs[features], to_read(groups), most)

    def seeds(self, first: int, n: int) -> np.ndarray:
        """Return the seeds of n trees."""
        numbers = np.arange(first, first + n, dtype=np.uint64)
        with np.errstate(over="ignore"):
            return np.uint64(self.seed) + numbers * np.uint64(_APART)


class Rows(NamedTuple):
    """Rows: bins (n_columns, n_rows), targets (n_rows, n_outputs), and weights or None."""

    bins: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None

    def take(self, some: np.ndarray) -> Rows:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[some]
        return Rows(np.ascontiguousarray(self.bins[:, some]), self.targets[some], weight)

    def read(self, family: Trees) -> np.ndarray:
        """Return the bins of rows as a family reads them, (n_rows, n_columns)."""
        return family.filled(self.bins.T)

    def none(self) -> Rows:
        """Return no rows."""
        return self.take(np.empty(0, dtype=np.intp))


class Course:
    """Trees that are learned from ``rows``, and f at rows that are ``held`` out, (n_outputs, n).

    The function starts from a constant, (n_outputs,), or from the trees of a ``forest``.
    """

    def __init__(
        self,
        search: Search,
        rows: Rows,
        held: Rows,
        start: np.ndarray,
        forest: Forest | None = None,
        n_jobs: int | None = None,
    ) -> None:
        from trickless._solvers.boosting.slopes import CompiledLoss

        family, self._search = search.family, search
        targets = np.asarray(rows.targets.T, dtype=np.float64)
        weight = np.ones(targets.shape[1])
        if rows.weight is not None:
            mean = rows.weight.mean() if forest is None else forest.total_weight / forest.n_rows
            weight = rows.weight / mean
        at_start = np.broadcast_to(start, rows.targets.shape)
        g, h = search.loss.newton(at_start, rows.targets, unit_of(search.spread))
        squares = np.average(g * g, axis=0, weights=weight)
        curvature = np.average(h, axis=0, weights=weight)
        typical = np.divide(squares, curvature, out=np.zeros_like(squares), where=curvature > 0)
        bins = np.concatenate([rows.bins, held.bins], axis=1) if held.bins.size else rows.bins
        bins = family.filled(bins.T).T
        #: f at all rows, (n_outputs, n).
        self.f = np.repeat(np.asarray(start, np.float64)[:, None], bins.shape[1], axis=1)
        self.wins, self.n_trees = np.zeros(family.bins_.n_features, dtype=np.int64), 0
        if forest is not None and len(forest):
            self.f = np.ascontiguousarray(forest.function(n_jobs)(bins.T).T)
            self.wins, self.n_trees = forest.wins, forest.n_grown
        bins = np.require(bins, requirements=["C", "W"])  # in a search, they may be of sampled rows
        self._rows = bins, self.f, to_read(targets), to_read(weight)
        self._loss = tuple(CompiledLoss.of(search.loss, search.spread))
        self._start = squares, typical
        self._table = search.table()
        self._variables = np.zeros(family.bins_.n_features)
        self._variables[family.variables_] = 1.0
        self._blocks: list[tuple[np.ndarray, ...]] = []

    def run(self, n_trees: int, given: Weights | None = None) -> None:
        """Take steps until there are so many trees, with the cuts that are ``given``, if any."""
        from trickless._solvers.boosting.compiled import tell_if_slow

        search, family, n = self._search, self._search.family, n_trees - self.n_trees
        if n <= 0:
            return
        weights = family.geometry.nothing(n)
        if given is not None:
            for mine, theirs in zip(weights, given, strict=True):
                mine[:] = theirs[self.n_trees : n_trees]
        coef = np.zeros((n, family.width, len(self.f)), dtype=np.float32)
        size = float(search.learning_rate), float(search.damping)
        n_given = 0 if given is None else n
        take, how = self._how()
        tell_if_slow(take)
        take(
            self._rows, self._table, self._loss, self._start, self._variables, self.wins, size,
            how, n_given, search.seeds(self.n_trees, n), self.n_trees, (*weights, coef),
        )  # fmt: skip
        self._blocks.append((*weights, coef))
        self.n_trees = n_trees

    def _how(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the loop that takes steps, and how it searches for trees."""
        from trickless._solvers.boosting.noise import largest_normals
        from trickless._solvers.boosting.oblivious import THRESHOLDS
        from trickless._solvers.boosting.steps import take_steps

        search, family = self._search, self._search.family
        n = search.n_candidates
        if family.used_shape == "binary":
            from trickless._solvers.boosting import branches

            noise = largest_normals(n * branches.THRESHOLDS)
            return branches.take_binary_steps, (n, noise, family.depth_)
        noise = largest_normals(n * min(n, THRESHOLDS))
        linear = np.zeros((len(family.bins_.counts), 256))
        if family.linear_ is not None:
            linear = family.linear_.of_bins()
        return take_steps, (n, noise, linear)

    @property
    def family(self) -> Trees:
        """The family of the trees."""
        return self._search.family

    @property
    def held_f(self) -> np.ndarray:
        """Values of f at the rows that are held out, (n_outputs, n)."""
        return self.f[:, self._rows[2].shape[1] :]

    @property
    def trees(self) -> tuple[Weights, np.ndarray]:
        """The weights of the trees so far, and their coefficients."""
        family = self._search.family
        none = *family.geometry.nothing(0), np.zeros((0, family.width, len(self.f)), np.float32)
        *weights, coef = map(np.concatenate, zip(none, *self._blocks, strict=True))
        return tuple(weights), coef


def seed_of(rng: np.random.Generator) -> int:
    """Draw the seed of trees."""
    return int(rng.integers(0, 2**64, dtype=np.uint64))
