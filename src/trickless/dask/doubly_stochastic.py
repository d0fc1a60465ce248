"""Doubly Stochastic Gradients on workers that each hold a part of the rows.

Each part stays on its worker, with the values of f at its rows when each batch was last visited. A
step sends the coefficients of the step before to all parts (``parts``). Each part updates f at its
rows of the batch, draws the neurons from the seed, and returns its sums over these rows. If neurons
are chosen among candidates, the client chooses them and sends them. It uses the same rows as the
learner's own fit.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import dask
import numpy as np
from distributed import wait

from trickless.dask.fitting import fit, labels
from trickless.dask.parts import (
    Cut,
    Sums,
    Taken,
    added,
    f_at,
    prepared,
    rows_at,
    started,
    sums_of,
    visited,
    with_known_labels,
)
from trickless.dask.pieces import (
    Pieces,
    at_home,
    by_thread,
    current_client,
    pieces,
    some_rows,
    stacked,
    tree,
)
from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, as_seed, generator
from trickless.intake.given import as_targets
from trickless.intake.labels import Labels
from trickless.intake.rows import Batch as BatchOfRows
from trickless.intake.weights import check_weights
from trickless.learners.descents import begin_descent, continued, is_model, size_up
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.neuron_learner import choose_neurons, receive_rows
from trickless.learners.training import training_copy
from trickless.neurons import Trees, Weights, make_neurons
from trickless.neurons.base import sample_numbers
from trickless.neurons.trees import most_rows
from trickless.neurons.turns import takes_turns
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.candidates import compared
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.divergence import warn_if_lost
from trickless.solvers.descent.early_stopping import HeldOut, Looks
from trickless.solvers.descent.held_out import split
from trickless.solvers.descent.next_family import OneFamily, next_family
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.passes import FitRows, Found, by_folds, found_by, take_over
from trickless.tables.frames import picked


@fit.register(DoublyStochasticRegressor)
@fit.register(DoublyStochasticClassifier)
def fit_doubly_stochastic(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
) -> Any:
    """Take the steps of the learner's own ``fit``, with sums from the workers."""
    owner = type(estimator).__name__
    client = current_client()
    if client is None:
        raise InvalidValueError(
            f"{owner}: trickless.dask.fit needs a cluster whose workers keep the rows, but there "
            "is no client",
            "client = distributed.Client(), which starts one here",
        )
    if estimator._may_be_newton and takes_turns(make_neurons(estimator.neurons)):
        raise ValueError(
            f"{owner}: trickless.dask.fit cannot alternate between trees and other families, as a "
            "local fit of neurons=Mixture() with Trees() does",
            "neurons='trees'; or preconditioner='block', which draws from the mixture",
        )
    rows = pieces(owner, X, y, sample_weight, client.compute)
    warm = estimator.warm_start and estimator.__sklearn_is_fitted__()
    classes, class_weight = labels(estimator, rows, classes)
    seed = estimator.seed_ if warm else as_seed(estimator.random_state)
    with training_copy(estimator, is_model, resumes=warm) as new:
        if class_weight is not None:
            new.class_weight = class_weight  # numbers instead of "balanced"
        some = some_rows(owner, rows, seed)
        if warm:
            receive_rows(new, *some)
            new.descent_ = continued(new)
            counted = _counted(new, rows, client)
        else:
            batch = new._receive_first(*some, classes, seed=seed, stream=True)
            counted = _counted(new, rows, client)
            _choose_neurons(new, rows, counted, batch)
            new.descent_ = begin_descent(new, counted.targets, counted.weight)
        _descend(new, rows, counted, client)
        if class_weight is not None:
            new.class_weight = estimator.class_weight
    return estimator


class _Counted(NamedTuple):
    """The number of all rows; and indices, targets and weights of rows of positive weight."""

    n_rows: int
    kept: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None


def _counted(model: Any, rows: Pieces, client: Any) -> _Counted:
    owner = type(model).__name__
    y = as_targets(owner, stacked(client.gather(rows.y)), model._numeric)
    weight = None
    if rows.weight[0] is not None:
        weight = check_weights(owner, stacked(client.gather(rows.weight)), len(y))
        y = with_known_labels(model, y, np.asarray(weight) > 0)
    if isinstance(model.targets_, Labels):
        weight = model.targets_.weights(y, weight, model.class_weight)
    kept = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    weight = None if weight is None else weight[kept]
    return _Counted(len(y), kept, model.targets_.matrix(y[kept]), weight)


def _choose_neurons(model: Any, rows: Pieces, counted: _Counted, batch: BatchOfRows) -> None:
    """Fit the neurons to a first ``batch`` of rows, but trees to the rows of a local fit."""
    n = len(counted.kept)
    if not isinstance(make_neurons(model.neurons), Trees) or len(batch[1]) == n:
        choose_neurons(model, *batch)
        return
    rng, most = generator(model.seed_, Purpose.FIT), most_rows(model.n_features_in_)
    index, weight = sample_numbers(n, rng, most, counted.weight)
    X = _rows_on_client(model, rows, counted.kept, index)
    choose_neurons(model, X, counted.targets[index], weight)
    model.neurons_.set_depth(n)


def _rows_on_client(model: Any, rows: Pieces, numbers: np.ndarray, index: np.ndarray) -> Any:
    """Return the validated rows ``numbers[index]``, in increasing order, on the client."""
    numbers = numbers[index]
    ends = np.cumsum(rows.lengths)
    where = np.split(numbers, np.searchsorted(numbers, ends[:-1]))
    starts = ends - rows.lengths
    taken = [
        dask.delayed(picked)(X, index - start)
        for X, index, start in zip(rows.X, where, starts, strict=True)
        if len(index)
    ]
    return model.rows_.to_predict(model, stacked(dask.compute(*taken)))


def _descend(model: Any, rows: Pieces, counted: _Counted, client: Any) -> None:
    _, kept, targets, weight = counted
    descent, options = model.descent_, size_up(model, targets, weight)
    fit, stopping = _Fit(model, rows, counted, options, client), options.stopping
    if stopping is None or not options.step.keeps_best:
        fit.run(descent, *_sides(descent, counted, options))
    else:
        if stopping.n_folds > 1:  # few rows
            everything = np.arange(len(kept))
            X = _rows_on_client(model, rows, kept, everything)
            found = by_folds(descent, FitRows(X, targets, weight), options)
        else:
            trial = descent.copy()
            looks = fit.run(trial, *_sides(descent, counted, options))
            assert looks is not None
            found = found_by(trial, descent, looks)
        fit.run(descent, None, np.arange(len(kept)), found)
        take_over(descent, found)
    warn_if_lost(descent, 0, options)


def _sides(
    descent: Descent, counted: _Counted, options: DescentOptions
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the held-out rows, if any, and the training rows."""
    if options.stopping is None:
        return None, np.arange(len(counted.kept))
    return split(descent, counted.targets, options)


class _Fit(NamedTuple):
    """A fit to the rows of the workers."""

    model: Any
    rows: Pieces
    counted: _Counted
    options: DescentOptions
    client: Any

    def run(
        self,
        descent: Descent,
        held_out: np.ndarray | None,
        training: np.ndarray,
        found: Found | None = None,
    ) -> Looks | None:
        """Take steps on the training rows, with the neurons that a trial has ``found``, if any."""
        model, rows, (_, kept, targets, weight), options, client = self
        pick = partial(_rows_on_client, model, rows, kept)
        batches = descent.begin(pick, targets, weight, training, options)
        order = _Order(self.counted, batches, held_out, descent, options)
        shared = copy(model)  # for the workers: the model before the first step
        shared.descent_, shared.class_weight = descent.copy(), None
        workers = _Workers(client, client.submit(_identity, shared, pure=False), rows, order)
        given = None if found is None else found.weights
        choice = _Choice(descent, workers, order, options, given)
        looks = None if held_out is None else Looks(descent, options, len(batches))
        n_neurons = options.step.n_neurons if found is None else found.n_neurons
        for number, k in descent.visits(len(batches), n_neurons, options.step):
            gamma, source = descent.steps(descent.n_steps), next_family(descent, options)
            with np.errstate(over="ignore", invalid="ignore"):  # divergence is reported
                weights = choice(source, number, k)
                outcome, sums = workers.sums(number, k, weights)
                seen = descent.record(outcome, gamma, options)
                new, shift = descent.update(sums, weights, k, gamma, seen, options, source)
                choice.add(weights, new, gamma)
            workers.taken = Taken(new, seen, shift)
            if looks is not None and looks.due(descent):
                apart = MiniBatch(None, *order.rows_at(order.at(len(batches))))
                apart.values.f = workers.f(len(batches), np.arange(len(apart)))
                if looks.stop(HeldOut.of(descent, apart), len(descent.coef)):
                    break
        return looks


class _Order:
    """The rows of positive weight in the order of the batches. The last batch may be held out.

    Each row has a position in this order. The client has the positions, targets and weights of all
    rows.
    """

    def __init__(
        self,
        counted: _Counted,
        batches: list[np.ndarray],
        held_out: np.ndarray | None,
        descent: Descent,
        options: DescentOptions,
    ) -> None:
        everything = [*batches] if held_out is None else [*batches, held_out]
        self._index = index = np.concatenate(everything)
        self._targets, self._weight = counted.targets, counted.weight
        self.batches = batches
        self.ends = np.cumsum([0, *map(len, everything)])
        self._position = np.full(counted.n_rows, len(index))
        self._position[counted.kept[index]] = np.arange(len(index))
        self._recorded = self.ends[:-1] + [options.step.n_recorded(len(b)) for b in everything]
        self._shares, self._totals = np.zeros(len(index)), np.zeros(len(everything))
        for i, batch in enumerate(batches):
            shares = descent.shares(len(batch), self.rows_at(self.at(i))[1])
            self._shares[self.at(i)], self._totals[i] = shares, shares.sum()

    def at(self, batch: int) -> slice:
        """Return the positions of a batch."""
        return slice(self.ends[batch], self.ends[batch + 1])

    def rows_at(self, positions: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets and weights of the rows at some positions."""
        index = self._index[positions]
        return self._targets[index], None if self._weight is None else self._weight[index]

    def cut(self, numbers: np.ndarray) -> tuple[np.ndarray, Cut]:
        """Positions of the rows ``numbers`` that have positive weight, and the cut of a part."""
        order = np.argsort(self._position[numbers], kind="stable")
        position = self._position[numbers[order]]
        position = position[: np.searchsorted(position, self.ends[-1])]
        ends = np.searchsorted(position, self.ends)
        n_recorded = np.searchsorted(position, self._recorded) - ends[:-1]
        shares, (_, weight) = self._shares[position], self.rows_at(position)
        order = order[: len(position)]
        return position, Cut(order, shares, weight, ends, n_recorded, self._totals)


class _Workers:
    """The parts of the rows on the workers, and the states of these parts.

    ``taken`` is a step that the states have begun, but whose coefficients they lack.
    """

    def __init__(self, client: Any, model: Any, rows: Pieces, order: _Order) -> None:
        self.client, self.model, self.order = client, model, order
        self.taken: Taken | None = None
        self._where: list[dict[str, Any]] = []
        self._parts: list[Any] = []
        self._states: list[Any] = []
        #: The part of each row, by its position, and its place in this part.
        self._part_of = np.empty(order.ends[-1], dtype=np.int32)
        self._place_of = np.empty(order.ends[-1], dtype=np.int64)
        ends = np.cumsum(rows.lengths)
        wait([*rows.X, *rows.y])
        for i, (worker, own) in enumerate(by_thread(rows.X)):
            numbers = [np.arange(ends[j] - rows.lengths[j], ends[j]) for j in own]
            position, cut = order.cut(np.concatenate(numbers))
            self._part_of[position], self._place_of[position] = i, np.arange(len(position))
            where = {"pure": False} | at_home(worker)
            mine = rows.only(own)
            part = client.submit(prepared, model, mine.X, mine.y, cut, **where)
            self._where.append(where)
            self._parts.append(part)
            self._states.append(client.submit(started, model, part, **where))

    def sums(self, number: int, k: int, weights: Weights) -> Sums:
        """Sums over a batch for the next step, with the next k neurons.

        ``weights`` is empty if the workers draw them.
        """
        self._visit(number, k, weights)
        sums = [self._submit(i, sums_of, state) for i, state in enumerate(self._states)]
        total = tree(sums, lambda items: self.client.submit(added, items, pure=False))
        return total.result()

    def f(self, number: int, some: np.ndarray) -> np.ndarray:
        """Values of f at some of the rows of a batch."""
        self._visit(number, 0, ())
        return self._gather(some + self.order.ends[number], self._states, f_at, number)

    def rows(self, positions: np.ndarray) -> Any:
        """Return the rows at some positions, as the neurons read them."""
        return self._gather(positions, self._parts, rows_at)

    def _visit(self, number: int, k: int, weights: Weights) -> None:
        self._states = [
            self._submit(i, visited, self.model, part, state, self.taken, number, k, weights)
            for i, (part, state) in enumerate(zip(self._parts, self._states, strict=True))
        ]
        self.taken = None

    def _gather(
        self, positions: np.ndarray, sources: list[Any], function: Callable, *arguments: Any
    ) -> Any:
        """Return the results of a function of parts or states at the places of some positions."""
        part, place = self._part_of[positions], self._place_of[positions]
        order = np.argsort(part, kind="stable")
        there, starts = np.unique(part[order], return_index=True)
        places = np.split(place[order], starts[1:])
        found = [
            self._submit(i, function, sources[i], *arguments, some)
            for i, some in zip(there.tolist(), places, strict=True)
        ]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return stacked(self.client.gather(found))[back]

    def _submit(self, part: int, function: Callable, *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, **self._where[part])


class _Choice:
    """Chooses neurons on the client, by the same rows as a fit without workers.

    For trees, these are the first rows of all batches. The client keeps them, with the values of f.
    For other neurons, they are a sample of each batch, which the workers send. Neurons that are
    ``given`` are taken as they are.
    """

    def __init__(
        self,
        descent: Descent,
        workers: _Workers,
        order: _Order,
        options: DescentOptions,
        given: Weights | None,
    ) -> None:
        self.descent, self.workers, self.order, self.step = descent, workers, order, options.step
        self.given, self.first = given, len(descent.coef)
        self.pool: MiniBatch | None = None
        n = descent.pooled(order.batches, options) if given is None else 0
        if n:
            self.step.prepare(n)
            X = np.asfortranarray(workers.rows(np.arange(n)))  # a feature is contiguous
            self.pool = MiniBatch(X, *order.rows_at(np.arange(n)))

    def __call__(self, source: OneFamily, number: int, k: int) -> Weights:
        """Return the weights of the next k neurons; empty if the workers can draw them."""
        descent, pool, slopes = self.descent, self.pool, None
        if not source.keeps:
            return ()
        n_rows, first = len(self.order.batches[number]), len(descent.coef)
        if self.given is not None:
            start = first - self.first
            return tuple(array[start : start + k] for array in self.given)
        if not source.chooses:
            return descent.stream.between(first, first + k)
        if pool is None:
            some = compared(descent.stream.seed, first, n_rows)
            positions = some + self.order.ends[number]
            pool = MiniBatch(self.workers.rows(positions), *self.order.rows_at(positions))
            pool.values.f = self.workers.f(number, some)
        else:
            descent.bring_up_to_date(pool, self.step.n_jobs)
            if self._is_batch and self.step.second_order:
                slopes = self.step.slopes(descent, pool)
        return source.weights(pool, k, n_rows, slopes)

    def add(self, weights: Weights, new: np.ndarray, gamma: np.ndarray) -> None:
        """Apply a step to f at the pool, if the pool has the rows of the step."""
        if self.pool is not None and self._is_batch:
            dtype = self.descent.stream.dtype
            Z = self.step.activations(self.descent.neurons, self.pool.X, weights, dtype)
            self.descent.add(self.pool.values, Z, new, gamma, self.step)

    @property
    def _is_batch(self) -> bool:
        return len(self.order.batches) == 1


def _identity(model: Any) -> Any:
    return model
