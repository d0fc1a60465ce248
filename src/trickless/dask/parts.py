"""Parts of the rows on workers, and the tasks on them in Doubly Stochastic Gradients.

Each part has the rows of some chunks, and a state: the network so far, and the values of f at its
rows. A task makes a new state from an earlier one, which stays unchanged. So if a worker is lost,
Dask repeats the same steps and gets the same parts.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.loops import loops
from trickless.arrays.threads import linear_algebra
from trickless.dask.pieces import stacked
from trickless.intake.given import as_targets
from trickless.intake.labels import Labels
from trickless.learners.doubly_stochastic import options_of
from trickless.learners.training import receive
from trickless.neurons import Weights
from trickless.solvers.batches import Batch
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.growing_network import Seen, Slopes
from trickless.solvers.descent.step_sizes import DescentOptions

#: Sums over rows for a step: outcome and slopes.
Sums = tuple[np.ndarray, Slopes]


class Cut(NamedTuple):
    """The rows that a part takes from some chunks, in the order of the batches.

    ``shares`` has the weight of each row in the mean over its batch. ``weight`` has the sample
    weights, or is None. Batch i has the rows from ``ends[i]`` to ``ends[i + 1]``. Its first
    ``n_recorded[i]`` rows are recorded in the history. ``totals`` has the sum of shares of each
    batch over all workers.
    """

    order: np.ndarray
    shares: np.ndarray
    weight: np.ndarray | None
    ends: np.ndarray
    n_recorded: np.ndarray
    totals: np.ndarray


class Part(NamedTuple):
    """The rows of a part, in the form that the neurons read, and the matrix of their targets."""

    X: Any
    targets: np.ndarray
    cut: Cut

    def at(self, batch: int) -> slice:
        """Where the rows of a batch are."""
        return slice(self.cut.ends[batch], self.cut.ends[batch + 1])


class Begun(NamedTuple):
    """A step on a batch that still needs its coefficients."""

    batch: int
    weights: Weights
    Z: Any


class Taken(NamedTuple):
    """A step: its coefficients, in the order of columns, its record, and the intercept's shift."""

    new: np.ndarray
    seen: Seen
    shift: np.ndarray | float


class State(NamedTuple):
    """The state of a part: the network and the values of f at its rows, batch by batch.

    If a step has ``begun``, ``sums`` are the part's sums for this step.
    """

    network: Descent
    batches: tuple[Batch, ...]
    begun: Begun | None = None
    sums: Sums | None = None


def prepared(model: Any, X: list[Any], y: list[Any], cut: Cut) -> Part:
    """The part of some chunks: their rows, validated and in the order of the batches."""
    y_here = as_targets(type(model).__name__, stacked(y), model._numeric)
    y_here = with_known_labels(model, y_here, np.isin(np.arange(len(y_here)), cut.order))
    rows, targets, _ = receive(model, stacked(X), y_here)
    rows = model.neurons_.read(rows[cut.order], model.n_jobs)
    return Part(rows, targets[cut.order], cut)


def with_known_labels(model: Any, y: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Targets. Rows of weight 0 may have unknown labels, and get a label of the model."""
    if counted.all() or not isinstance(model.targets_, Labels):
        return y
    if not counted.any():
        return np.full(len(y), model.targets_.classes[0])
    return np.where(counted, y, y[counted][0])


def started(model: Any, part: Part) -> State:
    """The state before the first step."""
    if options_of(model).newton:
        loops(len(part.targets) * model.n_neurons_)  # loads compiled loops if they save time
    n_outputs = part.targets.shape[1]
    batches = [Batch(np.arange(*ends), n_outputs) for ends in pairwise(part.cut.ends.tolist())]
    return State(model.descent_, tuple(batches))


def visited(
    model: Any, part: Part, state: State, taken: Taken | None, number: int, k: int, weights: Weights
) -> State:
    """The state after a batch is visited, with sums for the next k neurons if k is above 0.

    ``taken`` is the step before, if the state has begun it. If the ``weights`` of the neurons are
    an empty tuple, they are drawn.
    """
    options, begun, sums = options_of(model), None, None
    with linear_algebra(model.n_jobs), np.errstate(over="ignore", invalid="ignore"):
        if taken is not None:
            state = _completed(state, taken, options)
        batch, X = _copy(state.batches[number]), part.X[part.at(number)]
        state.network.bring_up_to_date(batch, X, options)
        if k:
            first = len(state.network.coef)
            weights = weights or state.network.stream.between(first, first + k, X)
            Z = state.network.activations(X, weights, options)
            sums = _sums_of(state.network, part, batch, Z, number, options)
            begun = Begun(number, weights, Z)
    return State(state.network, _with(state.batches, number, batch), begun, sums)


def _completed(state: State, taken: Taken, options: DescentOptions) -> State:
    """The state after the step that it has begun."""
    assert state.begun is not None
    network = state.network.copy() if options.alpha else state.network.fork()
    number, weights, Z = state.begun
    gamma = network.steps(network.n_steps)
    network.append(taken.new, weights, gamma, taken.seen, options, shift=taken.shift)
    batch = _copy(state.batches[number])
    network.complete(batch, Z, taken.new, gamma, options)
    return State(network, _with(state.batches, number, batch))


def _sums_of(
    network: Descent, part: Part, batch: Batch, Z: Any, number: int, options: DescentOptions
) -> Sums:
    """Sums over a part's rows of a batch, for a step with the activations Z."""
    rows, cut = part.at(number), part.cut
    f, targets, shares = batch.f, part.targets[rows], cut.shares[rows]
    terms = None
    if options.newton:
        weight = None if cut.weight is None else cut.weight[rows]
        terms = network.terms(f, targets, weight, options)
    slopes = network.slopes(Z, f, targets, shares, cut.totals[number], options, terms)
    return network.outcome(f, targets, shares, options, int(cut.n_recorded[number])), slopes


def added(sums: list[Sums]) -> Sums:
    """The sums over several parts."""
    outcome, slopes = zip(*sums, strict=True)
    return np.sum(outcome, axis=0), Slopes.total(slopes)


def sums_of(state: State) -> Sums | None:
    """The sums of a state."""
    return state.sums


def rows_at(part: Part, places: np.ndarray) -> Any:
    """Some of the rows of a part."""
    return part.X[places]


def f_at(state: State, number: int, places: np.ndarray) -> np.ndarray:
    """Values of f at some rows of a batch."""
    batch = state.batches[number]
    return batch.f[places - batch.rows[0]]


def _copy(batch: Batch) -> Batch:
    other = copy(batch)
    other.f = batch.f.copy()
    return other


def _with(batches: tuple[Batch, ...], number: int, batch: Batch) -> tuple[Batch, ...]:
    return (*batches[:number], batch, *batches[number + 1 :])
