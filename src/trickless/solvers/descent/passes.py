"""A fit: steps in passes over all rows, with early stopping.

Newton steps on trees are many, and held-out rows decide how many are best. Nothing is thrown away:
a trial learns from the other rows until it has stopped improving, and its trees, up to the best
number, are then replayed on all rows. A replay keeps the cuts and computes the leaves again, which
takes no search. Few rows are held out in folds. All folds take their steps together, so that each
row counts in the decision, and the fit then takes as many steps on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.places import take, to_host
from trickless.conformal.unseen import MOST, Unseen
from trickless.neurons import Weights
from trickless.solvers.descent.batches import BatchedRows, MiniBatch
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.divergence import warn_if_lost
from trickless.solvers.descent.early_stopping import HeldOut, Looks
from trickless.solvers.descent.held_out import folds, split
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.progress import ignore


class FitRows(NamedTuple):
    """The rows of a fit, with targets and weights.

    ``groups`` numbers the group of each row, if rows of one group are alike. Rows ``apart`` are
    held out and never learned from.
    """

    X: Any
    targets: np.ndarray
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    apart: tuple[Any, np.ndarray, np.ndarray | None] | None = None


class Found(NamedTuple):
    """What a trial has found: the best number of neurons, its scores and the neurons.

    ``weights`` belong to the new neurons if the trial chose them, ``scored`` the numbers of
    neurons of its ``scores``, and ``level`` moves the intercept.
    """

    n_neurons: int
    scores: list[float]
    scored: list[int]
    level: np.ndarray
    weights: Weights | None
    unseen: Unseen | None = None


def learn_all(
    descent: Descent,
    rows: FitRows,
    options: DescentOptions,
    advance: Callable[[int], object] = ignore,
) -> None:
    """Take steps on batches of all rows until there are ``n_neurons`` neurons, or stop early."""
    step, stopping, descent.unseen = options.step, options.stopping, None
    if stopping is None or not step.keeps_best or rows.apart is not None:
        course = Course(descent, rows, options, looks=stopping is not None)
        course.run(step.n_neurons, advance)
        if course.looks is not None and not step.keeps_best:
            descent.unseen = course.held_out.unseen()
        elif course.looks is not None:
            keep_best(descent, course.looks)
            descent.unseen = unseen([course])
    else:
        start, again = descent.copy(), descent.copy()
        if stopping.n_folds > 1:
            found = by_folds(start, rows, options, advance)
        else:  # what the trial has learned is the model until the replay is done
            course = Course(descent, rows, options, looks=True)
            course.run(step.n_neurons, advance)
            assert course.looks is not None
            found = found_by(descent, start, course.looks)
            keep_best(descent, course.looks)
            found = found._replace(unseen=unseen([course]))
            del course  # and its copy of the rows
        course = Course(again, rows, options, looks=False, found=found)
        course.run(found.n_neurons)
        take_over(again, found)
        with uninterrupted():
            vars(descent).update(vars(again))
    warn_if_lost(descent, 0, options)


def keep_best(descent: Descent, looks: Looks) -> None:
    """Keep the neurons that had the best score, and move to the level of the held-out rows."""
    n_neurons, n_steps = looks.best()
    descent.keep_first(n_neurons, n_steps)
    descent.move(descent.level if n_neurons else 0.0)


def take_over(descent: Descent, found: Found) -> None:
    """Take over the scores of a trial, and the level of its held-out rows."""
    descent.validation_scores = [*descent.validation_scores, *found.scores]
    descent.scored = [*descent.scored, *found.scored]
    descent.level, descent.unseen = found.level, found.unseen
    descent.move(found.level)


def unseen(courses: list[Course], shift: np.ndarray | float = 0.0) -> Unseen:
    """Return the held-out rows, whose values are moved."""
    return HeldOut.together([course.kept() for course in courses]).unseen(shift)


def found_by(trial: Descent, descent: Descent, looks: Looks) -> Found:
    """Return what a trial, which began as a copy of ``descent``, has found."""
    n, first = looks.best()[0], len(descent.coef)
    weights = None
    if trial.chosen is not None and len(trial.coef) > first:  # folds choose trees of their own
        weights = tuple(array[first:n] for array in trial.chosen.weights)
    n_before = len(descent.scored)
    level = np.asarray(trial.level if n else np.zeros_like(trial.level))
    return Found(n, looks.scores, trial.scored[n_before:], level, weights)


def by_folds(
    descent: Descent,
    rows: FitRows,
    options: DescentOptions,
    advance: Callable[[int], object] = ignore,
) -> Found:
    """Find the best number of neurons by folds that take their steps together.

    If the held-out rows of the first fold alone say that all steps improve, the others need not
    take any.
    """
    courses = [
        Course(descent.copy(), rows, options, looks=False, sides=sides)
        for sides in folds(descent, rows.targets, options, rows.groups)
    ]
    first, seen = courses[0], []
    looks, n, most = Looks(descent.copy(), options, 1), len(descent.coef), options.step.n_neurons
    numbers = [*range(n, most, looks.wait * options.step.neurons_per_step), most][1:]
    for n in numbers:
        first.run(n)
        seen.append(first.held_out)
        if looks.stop(seen[-1], n):
            break
    else:
        courses = [first]
    owner = descent.copy()
    looks, last = Looks(owner, options, 1), len(descent.coef)
    for i, n in enumerate(numbers):
        for course in courses:
            course.run(n)  # the first fold is ahead, up to where it was seen
        parts = [course.held_out for course in courses if course is not first or i >= len(seen)]
        advance(n - last)
        last = n
        if looks.stop(HeldOut.together([*seen[i : i + 1], *parts]), n):
            break
    found, (n_neurons, n_steps) = found_by(owner, descent, looks), looks.best()
    for course in courses:
        course.keep_first(n_neurons, n_steps)
    return found._replace(unseen=unseen(courses, found.level))


class Course:
    """The steps of a descent on the batches of some rows, and the looks at held-out rows.

    ``sides`` are the held-out and the training rows. By default all rows are learned from, unless
    there are ``looks``. The neurons that a trial has ``found`` are taken again.
    """

    def __init__(
        self,
        descent: Descent,
        rows: FitRows,
        options: DescentOptions,
        looks: bool,
        found: Found | None = None,
        sides: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        step, (X, targets, weight, groups, apart) = options.step, rows
        self._descent, self._options, self._found = descent, options, found
        if sides is None and looks and apart is None:
            sides = split(descent, targets, options, groups)
        training = np.arange(len(targets)) if sides is None else sides[1]
        self._first = len(descent.coef)
        #: The groups of the held-out rows.
        self._groups = None if groups is None or sides is None else groups[sides[0]]
        read = step.read(descent.neurons, X)
        home = options.home(read)
        numbers = descent.begin(partial(take, X), targets, weight, training, options, home)
        self._n_batches = len(numbers)
        every = numbers if sides is None else [*numbers, sides[0]]
        by_leaves = descent.neurons.has_trees
        known = home.put(targets)
        self._batches = BatchedRows(read, known, weight, every, contiguous=by_leaves)
        n_pool = descent.pooled(numbers, options) if found is None or found.weights is None else 0
        self._pool = self._batches.pool(n_pool) if n_pool and len(numbers) > 1 else None
        self._values = list(self._batches.values)
        self._apart: MiniBatch | None = None
        if apart is not None and looks:
            rows, of_rows, weights = apart
            self._apart = MiniBatch(step.read(descent.neurons, rows), home.put(of_rows), weights)
            self._values.append(self._apart.values)
        elif sides is not None:
            self._apart = self._batches[len(numbers)]
        self.looks = Looks(descent, options, len(numbers)) if looks else None

    def keep_first(self, n_neurons: int, n_steps: int) -> None:
        """Keep the first neurons only, as they were after so many steps."""
        self._descent.keep_first(n_neurons, n_steps)

    def kept(self) -> HeldOut:
        """Return the held-out rows, some if there are many, with f of the neurons that are kept."""
        assert self._apart is not None
        some = self._apart.every(max(1, len(self._apart) // MOST))
        f = to_host(self._descent.function(self._options.step.n_jobs)(some.X))
        return HeldOut(f, np.zeros_like(f), some.targets_on_host, some.weight)

    @property
    def held_out(self) -> HeldOut:
        """The held-out rows, with f up to date."""
        assert self._apart is not None
        self._descent.bring_up_to_date(self._apart, self._options.step.n_jobs)
        return HeldOut.of(self._descent, self._apart, self._groups)

    def run(self, n_neurons: int, advance: Callable[[int], object] = ignore) -> None:
        """Take steps until there are so many neurons, or until the held-out rows say stop."""
        descent, options = self._descent, self._options
        try:
            for number, k in descent.visits(self._n_batches, n_neurons, options.step):
                given = self._given(k)
                descent.step(self._batches[number], k, options, pool=self._pool, given=given)
                advance(k)
                if self._stop():
                    break
        finally:  # an interrupt leaves a model
            descent.settle(options)

    def _stop(self) -> bool:
        """Return whether held-out rows say stop, if it is time for a look at them."""
        descent, looks = self._descent, self.looks
        if looks is None or not looks.due(descent):
            return False
        return looks.stop(self.held_out, len(descent.coef))

    def _given(self, k: int) -> Weights | None:
        if self._found is None or self._found.weights is None:
            return None
        start = len(self._descent.coef) - self._first
        return tuple(array[start : start + k] for array in self._found.weights)
