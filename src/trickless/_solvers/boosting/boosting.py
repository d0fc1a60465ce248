"""Boosting: trees in steps, as many as held-out rows find best.

A trial learns from some rows until the others say that it has stopped improving. Its trees, up to
the best number, are then replayed on all rows. A replay keeps the cuts and computes the leaves
again, which takes no search. Few rows are held out in folds. All folds take their steps together,
so that each row counts in the decision, and as many trees are then grown on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from trickless._arrays.threads import map_blocks
from trickless._functions.stream import Purpose, generator
from trickless._solvers.boosting.course import Course, Rows, Search, size_of_fit
from trickless._solvers.constants import constant_of
from trickless._solvers.early_stopping import HeldOut, Looks
from trickless._solvers.held_out import Holding
from trickless._solvers.progress import ignore
from trickless.conformal.unseen import Unseen
from trickless.neurons import Trees
from trickless.neurons.base import Weights

#: Trees that each family takes in a race, and the share of the loss by which the others must be
#: better than the first.
_LAPS, _MARGIN = 20, 0.01
#: The same for two shapes of trees, the most rows of their race, and rows from which there is one:
#: with fewer, binary trees may lead at first and lose in the end.
_SHAPE_LAPS, _SHAPE_ROWS, _MANY_ROWS = 50, 2**17, 2**16
#: Looks at held-out rows in a fit, and the most trees between two of them.
_LOOKS, _MOST_BETWEEN = 100, 10


class Stopping(NamedTuple):
    """How held-out rows decide on the number of trees.

    ``n_folds`` is 1 if a share of the rows is held out once, ``apart`` are rows of the user's, and
    ``groups`` numbers the group of each row, if rows of one group are alike.
    """

    holding: Holding
    n_folds: int = 1
    apart: Rows | None = None
    groups: np.ndarray | None = None

    @property
    def held_once(self) -> bool:
        """Whether the same rows are held out all the time."""
        return self.n_folds == 1 and self.apart is None

    def sides(self, targets: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the numbers of the held-out and the training rows of each fold."""
        if self.n_folds > 1:
            return self.holding.folds(targets, self.n_folds, self.groups)
        return [self.holding.split(targets, self.groups)]


class Boosted(NamedTuple):
    """What boosting has found.

    Attributes
    ----------
    family : Trees
    weights : tuple of arrays
    coef : array of shape (n_trees, width, n_outputs)
    level : array of shape (n_outputs,)
        What to add to the constant that learning started from.
    scores : list of float
        Scores of the held-out rows.
    scored : list of int
        Numbers of trees when they were scored.
    unseen : Unseen or None
        The held-out rows, as the trees were before they learned from them.
    """

    family: Trees
    weights: Weights
    coef: np.ndarray
    level: np.ndarray
    scores: list[float]
    scored: list[int]
    unseen: Unseen | None


class Interrupted(KeyboardInterrupt):
    """An interrupt, with the trees so far."""

    def __init__(self, found: Boosted) -> None:
        super().__init__()
        self.found = found


def boost(
    search: Search,
    rows: Rows,
    start: np.ndarray,
    n_trees: int,
    stopping: Stopping | None,
    n_jobs: int | None = None,
    advance: Callable[[int, Callable[[], Boosted]], object] = lambda n, found: None,
) -> Boosted:
    """Grow at most ``n_trees`` trees, with the family that held-out rows find best.

    ``advance`` takes the number of new trees, and a function that returns all trees so far.
    """
    numbers, done = _numbers(n_trees), 0

    def look(course: Course, n: int) -> None:
        nonlocal done
        advance(n - done, partial(_found, course))
        done = n

    if stopping is None:
        course = Course(search, rows, rows.none(), start)
        try:
            for n in numbers:
                course.run(n)
                look(course, n)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(_found(course)) from interrupt
        return _found(course)
    trial: Trial | None = None
    try:
        trials = [Trial(each, rows, start, stopping, n_jobs) for each in _contestants(search, rows)]
        trial = trials[0]
        if len(trials) > 1:  # a race
            laps = [n for n in numbers if n <= _LAPS] or numbers[:1]
            lost = np.array([each.run(laps) for each in trials])
            lost[0] *= 1 - _MARGIN
            trial = trials[int(np.argmin(lost))]
        shaped = _shaped(trial.search, rows, start, stopping, n_trees, search.seed)
        if shaped is not trial.search:
            trial = Trial(shaped, rows, start, stopping, n_jobs)
        trial.run(numbers, partial(look, trial.courses[0]))
    except KeyboardInterrupt as interrupt:
        if trial is None:
            raise
        raise Interrupted(_found(trial.courses[0])) from interrupt
    course, best = trial.courses[0], trial.best
    if stopping.apart is None:
        given = course.trees[0] if stopping.n_folds == 1 else None
        whole = Course(trial.search, rows, rows.none(), start)
        try:
            whole.run(best, given)
        except KeyboardInterrupt as interrupt:  # what the trial has learned is the model
            raise Interrupted(_found(course, best)) from interrupt
        course = whole
    return _found(course, best)._replace(
        level=trial.level,
        scores=trial.looks.scores,
        scored=trial.scored,
        unseen=trial.unseen,
    )


def _found(course: Course, n_trees: int | None = None) -> Boosted:
    """Return the first trees of a course, or all."""
    weights, coef = course.trees
    weights, level = tuple(array[:n_trees] for array in weights), np.zeros(coef.shape[2])
    return Boosted(course.family, weights, coef[:n_trees], level, [], [], None)


def _contestants(search: Search, rows: Rows) -> list[Search]:
    """Return the searches that may be best, the usual one first."""
    family, n_outputs = search.family, rows.targets.shape[1]
    searches = [search]
    if n_outputs == 1 and search.signs is None:  # several outputs would each need slopes
        linear = family.with_linear_leaves()
        searches += [] if linear is None else [search._replace(family=linear)]
    return searches


def _shaped(
    search: Search, rows: Rows, start: np.ndarray, stopping: Stopping, n_trees: int, seed: int
) -> Search:
    """Return the search for trees of the better shape, if there are rows enough to tell.

    They race as if there were no more trees. If steps were small, deep trees would lead at first.
    """
    n_rows, laps = len(rows.targets), min(n_trees, _SHAPE_LAPS)
    may = search.family.shape == "auto" and n_rows >= _MANY_ROWS and search.is_free
    binary = search.family.as_binary(n_rows) if may else None
    if binary is None:
        return search
    groups = stopping.groups
    if n_rows > _SHAPE_ROWS:
        rng = generator(seed, Purpose.RACE)
        some = np.sort(rng.choice(n_rows, _SHAPE_ROWS, replace=False))
        rows, groups = rows.take(some), None if groups is None else groups[some]
        groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
    both = [search, search._replace(family=binary)]
    size, few = size_of_fit(laps), stopping._replace(groups=groups)
    lost = [
        Trial(each._replace(learning_rate=size), rows, start, few, None).run([laps])
        for each in both
    ]
    return both[lost[1] < lost[0] * (1 - _MARGIN)]


class Trial:
    """Trees on the rows that are not held out, in one or several folds that take steps together."""

    def __init__(
        self,
        search: Search,
        rows: Rows,
        start: np.ndarray,
        stopping: Stopping,
        n_jobs: int | None,
    ) -> None:
        self.search, self._n_jobs = search, n_jobs
        holding, groups = stopping.holding, stopping.groups
        self._rare = holding.excess if holding.uneven else 0.0
        if stopping.apart is not None:
            held, self.courses = [stopping.apart], [Course(search, rows, stopping.apart, start)]
            self._groups = None
        else:
            sides = stopping.sides(rows.targets)
            held = [rows.take(apart) for apart, _ in sides]
            self.courses = [
                Course(search, rows.take(training), apart, start)
                for (_, training), apart in zip(sides, held, strict=True)
            ]
            together = np.concatenate([apart for apart, _ in sides])
            self._groups = None if groups is None else groups[together]
        self._targets = np.concatenate([each.targets for each in held])
        weights = [each.weight for each in held if each.weight is not None]
        self._weight = np.concatenate(weights) if weights else None
        self.looks, self.scored, self._stopped = Looks(search.loss), list[int](), False
        self.level, self.best = np.zeros_like(start), 0
        self._unseen_f = self._at_start = np.broadcast_to(start, self._targets.shape)

    def run(self, numbers: list[int], advance: Callable[[int], object] = ignore) -> float:
        """Take steps up to each of some numbers of trees; return what held-out rows lose now.

        Stops when the held-out rows have stopped improving.
        """
        for n in numbers:
            if self._stopped or n <= self.courses[0].n_trees:
                continue
            map_blocks(partial(Course.run, n_trees=n), self.courses, self._n_jobs)
            self._look(n)
            advance(n)
        return 1 - self.looks.scores[-1]

    def _look(self, n_trees: int) -> None:
        loss, looks = self.search.loss, self.looks
        f = np.concatenate([course.held_f for course in self.courses], axis=1).T
        rows = HeldOut(f, self._at_start, self._targets, self._weight, self._groups)
        best = max(looks.scores, default=0.0)  # of a constant
        self._stopped = looks.look(rows)
        self.scored.append(n_trees)
        if looks.scores[-1] > best:
            self.best, self._unseen_f = n_trees, f.copy()
            if loss.has_link and self._rare:
                # Rows that trees have learned from have the right mean probability, and new rows of
                # a rare class are predicted with too small probabilities. The held-out rows tell by
                # how much.
                self.level = constant_of(loss, f, self._targets, self._weight, 1 / self._rare)

    @property
    def unseen(self) -> Unseen:
        """The held-out rows, with the best number of trees."""
        rows = HeldOut(self._unseen_f, self._at_start, self._targets, self._weight)
        return rows.unseen(self.level)


def _numbers(most: int) -> list[int]:
    """Return the numbers of trees at which held-out rows are looked at."""
    wait = min(-(-most // _LOOKS), _MOST_BETWEEN)
    return [*range(wait, most, wait), most]
