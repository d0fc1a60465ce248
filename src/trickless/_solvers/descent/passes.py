"""A fit: steps in passes over all rows, which held-out rows may stop early."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.places import take, to_host
from trickless._rows.rows import Batch
from trickless._solvers.descent.batches import BatchedRows, MiniBatch
from trickless._solvers.descent.descent import Descent
from trickless._solvers.descent.divergence import warn_if_lost
from trickless._solvers.descent.options import DescentOptions
from trickless._solvers.early_stopping import HeldOut, Looks
from trickless._solvers.progress import ignore


class FitRows(NamedTuple):
    """The rows of a fit, with targets and weights.

    ``groups`` numbers the group of each row, if rows of one group are alike. Rows that are
    ``held_out``, which are numbers of these rows, or ``apart`` are not learned from.
    """

    X: Any
    targets: np.ndarray
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    held_out: np.ndarray | None = None
    apart: Batch | None = None


def learn_all(
    descent: Descent,
    rows: FitRows,
    options: DescentOptions,
    advance: Callable[[int], object] = ignore,
) -> None:
    """Take steps on batches of all rows until there are ``n_neurons`` neurons.

    Rows that are held out, if there are any, may stop the fit early.
    """
    step, descent.unseen = options.step, None
    X, held_out = step.read(descent.neurons, rows.X), rows.held_out
    training = np.arange(len(rows.targets))
    if held_out is not None:
        training = np.delete(training, held_out)
    home, known = options.home(X), (rows.targets, rows.weight)
    numbers = descent.begin(partial(take, rows.X), *known, training, options, home)
    every = numbers if held_out is None else [*numbers, held_out]
    descent.around = len(training)
    batches = BatchedRows(X, home.put(rows.targets), rows.weight, every)
    held = None if held_out is None else batches[-1]
    if rows.apart is not None:
        apart, targets, weight = rows.apart
        held = MiniBatch(step.read(descent.neurons, apart), home.put(targets), weight)
    groups = None if rows.groups is None or held_out is None else rows.groups[held_out]
    looks, wait, first = Looks(step.loss), step.wait(len(numbers)), descent.n_steps
    try:
        for number, k in descent.visits(len(numbers), step.n_neurons, step):
            descent.step(batches[number], k, options)
            advance(k)
            if held is None or (descent.n_steps - first) % wait:
                continue
            stops = looks.look(_now(descent, held, groups, step.n_jobs))
            descent.validation_scores.append(looks.scores[-1])
            descent.scored.append(len(descent.coef))
            if stops:
                break
    finally:  # an interrupt leaves a model
        descent.settle(options)
    if held is not None:
        descent.unseen = _now(descent, held, groups, step.n_jobs).unseen()
    warn_if_lost(descent, 0, options)


def _now(
    descent: Descent, held: MiniBatch, groups: np.ndarray | None, n_jobs: int | None
) -> HeldOut:
    """Return the rows that are held out, with f up to date."""
    descent.bring_up_to_date(held, n_jobs)
    targets, f = held.targets_on_host, to_host(held.f) + descent.intercept
    start = np.broadcast_to(descent.constant, targets.shape)
    return HeldOut(f, start, targets, held.weight, groups)
