"""A race: which of several families of neurons has learned most after a few steps."""

from __future__ import annotations

import numpy as np

from trickless.arrays.places import take
from trickless.functions.stream import Purpose, generator
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.early_stopping import HeldOut
from trickless.solvers.descent.held_out import folds
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.passes import Course, FitRows

#: Neurons that each family takes in a race, and the most rows of a race.
LAPS, ROWS = 40, 2**14
#: The same for two shapes of trees, which race from so many rows on: with fewer rows, binary trees
#: may lead at first and lose in the end.
SHAPE_LAPS, SHAPE_ROWS, MANY_ROWS = 50, 2**17, 2**16
#: Share of the loss by which the others must be better than the first.
_MARGIN = 0.01


def winner(
    descents: list[Descent], rows: FitRows, options: DescentOptions, n_neurons: int = LAPS
) -> int:
    """Return the number of the descent that loses least at held-out rows after a few steps.

    Those after the first one must lose less by one per cent. The descents have taken no steps, and
    take none here: copies do.
    """
    lost = np.array([losses(each, rows, options, n_neurons) for each in descents])
    lost[0] *= 1 - _MARGIN
    return int(np.argmin(lost))


def numbers_of(n_rows: int, seed: int, most: int) -> np.ndarray:
    """Return the numbers of all rows, or of so many in order if there are more."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(generator(seed, Purpose.RACE).choice(n_rows, most, replace=False))


def some_of(rows: FitRows, seed: int, most: int) -> FitRows:
    """Return all rows, or so many if there are more."""
    if len(some := numbers_of(len(rows.targets), seed, most)) == len(rows.targets):
        return rows
    weight = None if rows.weight is None else rows.weight[some]
    groups = None if rows.groups is None else np.unique(rows.groups[some], return_inverse=True)[1]
    return FitRows(take(rows.X, some), rows.targets[some], weight, groups, rows.apart)


def losses(
    descent: Descent, rows: FitRows, options: DescentOptions, n_neurons: int = LAPS
) -> float:
    """Return the mean loss of held-out rows after a few steps, in units of that at the start."""
    assert options.stopping is not None
    n_neurons = min(n_neurons, options.step.n_neurons)
    if options.stopping.n_folds > 1 and rows.apart is None:
        sides = folds(descent, rows.targets, options, rows.groups)
        courses = [Course(descent.copy(), rows, options, False, sides=each) for each in sides]
    else:
        courses = [Course(descent.copy(), rows, options, looks=True)]
    for course in courses:
        course.run(n_neurons)
    together = HeldOut.together([course.held_out for course in courses])
    return float(np.average(together.lost(options.step.loss), weights=together.weight))
