"""Parts of the rows on workers, and the tasks on them in Doubly Stochastic Gradients.

Each part has the rows of some chunks, and a state: the network so far, and the values of f at its
rows. A task makes a new state from an earlier one, which stays unchanged, so if a worker is
lost, Dask repeats the same steps and gets the same parts.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
from dask.sizeof import sizeof

from trickless.arrays.threads import linear_algebra
from trickless.dask.pieces import stacked
from trickless.learners.descents import options_of
from trickless.neurons import Weights
from trickless.rows.given import as_targets
from trickless.solvers.descent.batches import MiniBatch, Values
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.history import Seen
from trickless.solvers.descent.next_family import next_family
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.steps.block import BlockSums
from trickless.solvers.descent.steps.leaves import LeafSums
from trickless.solvers.descent.steps.linear_leaves import LinearSums
from trickless.targets.labels import Labels

#: Sums over rows: the outcome, for the history, and those that decide a step.
Sums = tuple[np.ndarray, Any]


# Dask uses sizes of inputs to decide where tasks run.
@sizeof.register(BlockSums)
@sizeof.register(LeafSums)
@sizeof.register(LinearSums)
def n_bytes(sums: BlockSums | LeafSums | LinearSums) -> int:
    """Count the bytes of the arrays of a step's sums."""
    return int(sizeof(tuple(vars(sums).values())))


class Cut(NamedTuple):
    """The rows that a part takes from some chunks, in the order of the batches.

    ``shares`` has the weight of each row in the mean over its batch. ``weight`` has the sample
    weights, or is None. Batch i has the rows from ``ends[i]`` to ``ends[i + 1]``. Its first
    ``n_recorded[i]`` rows are recorded in the history. ``totals`` has the sum of shares of each
    batch over all workers, 0 for held-out rows.
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

    def batch(self, number: int, values: Values) -> MiniBatch:
        """Return the part's rows of a batch."""
        batch = self.rows(number, number + 1, values)
        own = slice(self.cut.ends[number], self.cut.ends[number + 1])
        batch.shares, batch.total = self.cut.shares[own], self.cut.totals[number]
        return batch

    def rows(self, first: int, last: int, values: Values | None = None) -> MiniBatch:
        """Return the part's rows of several batches, up to the last one, which is left out."""
        own = slice(self.cut.ends[first], self.cut.ends[last])
        weight = None if self.cut.weight is None else self.cut.weight[own]
        return MiniBatch(self.X[own], self.targets[own], weight, values)


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
    values: tuple[Values, ...]
    begun: Begun | None = None
    sums: Sums | None = None

    def with_values(self, number: int, values: Values) -> tuple[Values, ...]:
        """Return the values of f, with others at a batch."""
        return (*self.values[:number], values, *self.values[number + 1 :])


def prepared(model: Any, X: list[Any], y: list[Any], cut: Cut) -> Part:
    """Return the part of some chunks: their rows, validated and in the order of the batches."""
    y_here = as_targets(type(model).__name__, stacked(y), model._numeric)
    y_here = with_known_labels(model, y_here, np.isin(np.arange(len(y_here)), cut.order))
    rows, targets, _ = model._receive_later(stacked(X), y_here)
    rows = model.neurons_.read(rows[cut.order], model.n_jobs)
    return Part(rows, targets[cut.order], cut)


def with_known_labels(model: Any, y: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return targets. Rows of weight 0 may have unknown labels, and get one of the model."""
    if counted.all() or not isinstance(model.targets_, Labels):
        return y
    if not counted.any():
        return np.full(len(y), model.targets_.classes[0])
    return np.where(counted, y, y[counted][0])


def started(model: Any, part: Part) -> State:
    """Return the state before the first step."""
    n_outputs = part.targets.shape[1]
    lengths = (end - start for start, end in pairwise(part.cut.ends.tolist()))
    return State(model.descent_, tuple(Values(n, n_outputs) for n in lengths))


def visited(
    model: Any, part: Part, state: State, taken: Taken | None, number: int, k: int, weights: Weights
) -> State:
    """Return the state after a batch is visited, with sums for the next k neurons if k is above 0.

    ``taken`` is the step before, if the state has begun it. If the ``weights`` of the neurons are
    an empty tuple, they are drawn.
    """
    options, begun, sums = options_of(model), None, None
    step = options.step
    with linear_algebra(model.n_jobs), np.errstate(over="ignore", invalid="ignore"):
        if taken is not None:
            state = _completed(state, taken, options)
        network = state.network
        batch = part.batch(number, state.values[number].copy())
        network.bring_up_to_date(batch, step.n_jobs)
        if k:
            first = len(network.coef)
            weights = weights or network.stream.between(first, first + k, batch.X)
            Z = step.activations(network.neurons, batch.X, weights, network.stream.dtype)
            outcome = network.outcome(batch, step.loss, int(part.cut.n_recorded[number]))
            sums = outcome, step.sums(network, batch, Z, step.slopes(network, batch))
            begun = Begun(number, weights, Z)
    return State(network, state.with_values(number, batch.values), begun, sums)


def _completed(state: State, taken: Taken, options: DescentOptions) -> State:
    assert state.begun is not None
    network = state.network.copy() if options.sizes.alpha else state.network.fork()
    number, weights, Z = state.begun
    gamma = network.steps(network.n_steps)
    kept = weights if next_family(network, options).keeps else None
    network.append(taken.new, kept, gamma, taken.seen, 1.0, taken.shift)
    values = state.values[number].copy()
    network.add(values, Z, taken.new, gamma, options.step)
    return State(network, state.with_values(number, values))


def learned(
    state: State,
    model: Any,
    taken: Taken | None,
    n_neurons: int,
    n_steps: int,
    intercept: np.ndarray,
) -> Descent:
    """Return the network of a state: its first neurons, as they were after some steps."""
    if taken is not None:
        state = _completed(state, taken, options_of(model))
    network = state.network.copy()
    network.keep_first(n_neurons, n_steps)
    network.intercept = intercept
    return network


def added(sums: list[Sums]) -> Sums:
    """Return the sums over several parts."""
    outcome, sums_of_steps = zip(*sums, strict=True)
    return np.sum(outcome, axis=0), reduce(add, sums_of_steps)


def sums_of(state: State) -> Sums | None:
    """Return the sums of a state."""
    return state.sums


def rows_at(part: Part, places: np.ndarray) -> Any:
    """Return some of the rows of a part."""
    return part.X[places]


def f_at(state: State, number: int, places: np.ndarray) -> np.ndarray:
    """Return values of f at some rows of a batch, by their places in the part."""
    start = sum(len(values.f) for values in state.values[:number])
    return state.values[number].f[places - start]
