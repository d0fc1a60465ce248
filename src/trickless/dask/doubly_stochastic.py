"""Doubly Stochastic Gradients on workers that each hold a part of the rows.

Each part stays on its worker, with the values of f at its rows when each batch was last visited. A
step sends the coefficients of the step before to all parts (``parts``). Each part updates f at its
rows of the batch, draws the neurons from the seed, and returns its sums over these rows. If neurons
are chosen among candidates, the client chooses them and sends them. It uses the same rows as the
learner's own fit.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any, NamedTuple

import dask
import numpy as np

from trickless.arrays.places import to_host
from trickless.conformal.unseen import MOST
from trickless.dask.corrective import Learned
from trickless.dask.fitting import check_remembers, fit, labels
from trickless.dask.parts import Taken, with_known_labels
from trickless.dask.pieces import Pieces, current_client, pieces, some_rows, stacked
from trickless.dask.workers import Counted, Order, Workers
from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, as_seed, generator
from trickless.learners.descents import (
    begin_descent,
    continued,
    is_model,
    race,
    race_to_the_end,
    size_up,
    warn_of_known_rows,
)
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.neuron_learner import choose_neurons, receive_rows
from trickless.learners.training import training_copy
from trickless.neurons import Trees, Weights, make_neurons
from trickless.neurons.samples import sample_numbers
from trickless.neurons.trees import most_rows
from trickless.neurons.turns import takes_turns
from trickless.rows.frames import picked
from trickless.rows.given import as_targets
from trickless.rows.rows import Batch as BatchOfRows
from trickless.rows.weights import check_weights
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.candidates import compared
from trickless.solvers.descent.corrective import correct, judge
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.divergence import warn_if_lost
from trickless.solvers.descent.early_stopping import HeldOut, Looks
from trickless.solvers.descent.held_out import split
from trickless.solvers.descent.next_family import OneFamily, next_family
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.passes import (
    FitRows,
    Found,
    by_folds,
    found_by,
    keep_best,
    take_over,
)
from trickless.solvers.descent.race import numbers_of
from trickless.targets.labels import Labels


@fit.register(DoublyStochasticRegressor)
@fit.register(DoublyStochasticClassifier)
def fit_doubly_stochastic(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
) -> Any:
    """Take the steps of the learner's own ``fit``, with sums from the workers."""
    check_remembers(estimator)
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
            new.descent_ = begin_descent(new, *counted.learned)
        options = size_up(new, *counted.learned)
        warn_of_known_rows(new, options)
        sample = partial(_some_rows, new, rows, counted)
        if not warm:
            options = race(new, *counted.learned, options, sample)
        descend = partial(_descend, new, rows, counted, client)
        descend(options)
        if not warm:
            race_to_the_end(new, *counted.learned, descend, sample)
        if class_weight is not None:
            new.class_weight = estimator.class_weight
    return estimator


def _counted(model: Any, rows: Pieces, client: Any) -> Counted:
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
    return Counted(len(y), kept, model.targets_.matrix(y[kept]), weight)


def _choose_neurons(model: Any, rows: Pieces, counted: Counted, batch: BatchOfRows) -> None:
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


def _fit_rows(model: Any, rows: Pieces, counted: Counted, index: np.ndarray) -> FitRows:
    """Return rows on the client with their targets and weights."""
    targets, weight = counted.learned
    X = _rows_on_client(model, rows, counted.kept, index)
    return FitRows(X, targets[index], None if weight is None else weight[index])


def _some_rows(model: Any, rows: Pieces, counted: Counted, most: int) -> FitRows:
    """Return all rows on the client, or so many if there are more."""
    index = numbers_of(len(counted.kept), model.seed_, most)
    return _fit_rows(model, rows, counted, index)


def _descend(
    model: Any, rows: Pieces, counted: Counted, client: Any, options: DescentOptions
) -> None:
    descent, stopping, n_rows = model.descent_, options.stopping, len(counted.kept)
    descent.unseen = None  # a warm start learns from the rows that were held out before
    fit = _Fit(model, rows, counted, options, client)
    sides = _sides(descent, counted, options)
    if stopping is None or not options.step.keeps_best:
        fit.run(descent, *sides)
        if sides[0] is not None:
            descent.unseen = _held_out(descent, model, rows, counted, sides[0]).unseen()
    else:
        if stopping.n_folds > 1:  # few rows
            everything = _fit_rows(model, rows, counted, np.arange(n_rows))
            found = by_folds(descent, everything, options)
        else:
            trial = descent.copy()
            workers, looks = fit.run(trial, *sides)
            assert looks is not None and sides[0] is not None
            found = found_by(trial, descent, looks)
            keep_best(trial, looks)
            judged = Learned(trial, workers, looks.best()[1])
            correction, apart = judge([judged], options)
            if apart is None:
                apart = _held_out(trial, model, rows, counted, sides[0])
            found = found._replace(correction=correction, unseen=apart.unseen())
            del workers, judged  # and the rows and states of the trial
        workers, _ = fit.run(descent, None, np.arange(n_rows), found)
        if found.correction is not None:
            system = Learned(descent, workers, descent.n_steps).system()
            correct(descent, system, found.correction)
        take_over(descent, found)
    warn_if_lost(descent, 0, options)


def _sides(
    descent: Descent, counted: Counted, options: DescentOptions
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the held-out rows, if any, and the training rows."""
    if options.stopping is None:
        return None, np.arange(len(counted.kept))
    return split(descent, counted.targets, options)


def _held_out(
    descent: Descent, model: Any, rows: Pieces, counted: Counted, held_out: np.ndarray
) -> HeldOut:
    """Return the held-out rows, some if there are many, with the values of a descent."""
    some = np.sort(held_out[:: max(1, len(held_out) // MOST)])
    X, targets, weight, *_ = _fit_rows(model, rows, counted, some)
    f = to_host(descent.function(model.n_jobs)(X))
    return HeldOut(f, np.zeros_like(f), targets, weight)


class _Fit(NamedTuple):
    """A fit to the rows of the workers."""

    model: Any
    rows: Pieces
    counted: Counted
    options: DescentOptions
    client: Any

    def run(
        self,
        descent: Descent,
        held_out: np.ndarray | None,
        training: np.ndarray,
        found: Found | None = None,
    ) -> tuple[Workers, Looks | None]:
        """Take steps on the training rows, with the neurons that a trial has ``found``, if any.

        Return the workers, and the looks at the held-out rows.
        """
        model, rows, (_, kept, targets, weight), options, client = self
        pick = partial(_rows_on_client, model, rows, kept)
        batches = descent.begin(pick, targets, weight, training, options)
        order = Order(self.counted, batches, held_out, descent, options)
        shared = copy(model)  # for the workers: the model before the first step
        shared.descent_, shared.class_weight = descent.copy(), None
        workers = Workers(client, shared, rows, order)
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
        return workers, looks


class _Choice:
    """Chooses neurons on the client, by the same rows as a fit without workers.

    For trees, these are the first rows of all batches. The client keeps them, with the values of f.
    For other neurons, they are a sample of each batch, which the workers send. Neurons that are
    ``given`` are taken unchanged.
    """

    def __init__(
        self,
        descent: Descent,
        workers: Workers,
        order: Order,
        options: DescentOptions,
        given: Weights | None,
    ) -> None:
        self.descent, self.workers, self.order, self.step = descent, workers, order, options.step
        self.given, self.first = given, len(descent.coef)
        self.pool: MiniBatch | None = None
        n = descent.pooled(order.batches, options) if given is None else 0
        if n:
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
