"""Doubly Stochastic Gradients on workers that each hold a part of the rows.

Each part stays on its worker, with the values of f at its rows when each batch was last visited. A
step sends the coefficients of the step before to all parts. Each part draws the neurons from the
seed, updates f at its rows of the batch, and returns its sums over these rows. A step makes a new
state of a part from the one before, without changing that. So if a worker is lost, Dask makes its
parts again by the same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import dask
import numpy as np
from distributed import wait

from trickless.arrays.threads import linear_algebra
from trickless.dask.fitting import fit, labels
from trickless.dask.pieces import (
    Pieces,
    at,
    at_home,
    by_thread,
    current_client,
    pieces,
    some_rows,
    stacked,
    tree,
)
from trickless.functions.network import Network
from trickless.functions.stream import Later, as_seed
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    descend_from,
    go_on_from_descent,
    is_model,
    options_of,
    size_up,
)
from trickless.learners.intake import anew, begin, receive
from trickless.learners.neuron_learner import choose_neurons, receive_rows
from trickless.learners.targets import Labels
from trickless.learners.weights import check_weights
from trickless.solvers.growing_network import Slopes
from trickless.solvers.state import ignore

#: Sums over rows for a step: outcome and slopes.
Sums = tuple[np.ndarray, Slopes]


class Part(NamedTuple):
    """Some of the rows, validated, and the matrix of their targets, in the order of the batches.

    ``shares`` has the weight of each row in the mean over its batch, and ``totals`` the sum of the
    shares of each batch over all workers. Batch i has the rows from ``ends[i]`` to ``ends[i + 1]``.
    """

    X: Any
    targets: np.ndarray
    shares: np.ndarray
    totals: np.ndarray
    ends: np.ndarray


class State(NamedTuple):
    """The state of a part after a step.

    ``coef`` has the coefficients before the fit, and the new ones of each step, not decayed, each
    of shape (n_neurons, width, n_outputs). ``f`` has the values of f at the rows of each batch when
    it was last visited, and ``n_included`` how many arrays of ``coef`` each of these includes.
    ``sums`` are those of the part for the step.
    """

    coef: tuple[np.ndarray, ...]
    f: tuple[np.ndarray, ...]
    n_included: tuple[int, ...]
    sums: Sums | None = None


@fit.register(DoublyStochasticRegressor)
@fit.register(DoublyStochasticClassifier)
def fit_doubly_stochastic(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
) -> Any:
    """Take the steps of the learner's own ``fit``, with sums from the workers."""
    owner = type(estimator).__name__
    client = current_client()
    if client is None:
        raise ValueError(
            f"{owner}: trickless.dask.fit needs a cluster whose workers keep the rows, and there "
            "is no client. Remedy: client = distributed.Client(), which starts one here."
        )
    rows = pieces(owner, X, y, sample_weight, client.compute)
    warm = estimator.warm_start and estimator.__sklearn_is_fitted__()
    classes, class_weight = labels(estimator, rows, classes)
    seed = estimator.seed_ if warm else as_seed(estimator.random_state)
    with anew(estimator, is_model, goes_on=warm) as new:
        if class_weight is not None:
            new.class_weight = class_weight  # numbers instead of "balanced"
        some = some_rows(rows, seed)
        if warm:
            receive_rows(new, *some)
            go_on_from_descent(new)
        else:
            batch = begin(new, *some, classes, seed=seed, stream=True)
            choose_neurons(new, *batch)
        _descend(new, rows, client, warm)
        if class_weight is not None:
            new.class_weight = estimator.class_weight
    return estimator


def _descend(model: Any, rows: Pieces, client: Any, warm: bool) -> None:
    """Take the steps of a fit. With a warm start, the model already has a solver."""
    y, kept, weight = _targets(model, rows, client)
    targets = model.targets_.matrix(y[kept])
    if not warm:
        descend_from(model, targets, weight)
    size_up(model, len(kept))
    descent, options = model.descent_, options_of(model)
    since = len(descent.validation_scores), descent.n_steps
    held_out, training = descent.split(len(kept), options)
    some = None if weight is None else weight[training]
    descent.size_steps(
        partial(_rows_on_client, model, rows, kept[training]), targets[training], some, options
    )

    batches = descent.batches(training, options)
    descent.find_heaviest(batches, weight)
    shares = [
        descent.shares(targets[batch], None if weight is None else weight[batch])
        for batch in batches
    ]
    everything = [*batches] if held_out is None else [*batches, held_out]
    split = _Split(len(y), [kept[batch] for batch in everything], shares)
    shared = copy(model)  # for the workers, as it is before the first step
    shared.descent_, shared.class_weight = descent.copy(), None
    workers = _Workers(client, client.submit(_identity, shared, pure=False), rows, split)
    del rows  # the parts have copies

    def step(number: int, k: int) -> None:
        gamma = descent.steps(descent.n_steps)
        outcome, slopes = workers.sums(number, k)
        seen = descent.record(outcome, gamma, options)
        descent.append(slopes, k, gamma, seen, options)
        workers.new = descent.coef.rows[-k:].copy()

    score = None
    if held_out is not None:
        place = np.empty(len(split.batch_of), dtype=int)
        place[kept] = np.arange(len(kept))
        order = place[workers.numbers(len(batches))]
        part = None if weight is None else weight[order]

        def score() -> float:
            f = workers.f(len(batches))
            return model.targets_.score(f + descent.intercept, targets[order], part)

    descent.descend(since, len(batches), step, score, lambda: None, ignore, options)


def _targets(
    model: Any, rows: Pieces, client: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Targets of all rows as given; numbers of the rows with a weight above 0; their weights."""
    y = np.asarray(stacked(client.gather(rows.y)))
    weight = None
    if rows.weight[0] is not None:
        given = np.asarray(stacked(client.gather(rows.weight)))
        weight = check_weights(type(model).__name__, given, y)
        y = _with_known_labels(model, y, np.asarray(weight) > 0)
    if isinstance(model.targets_, Labels):
        weight = model.targets_.weights(y, weight, model.class_weight)
    kept = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    return y, kept, None if weight is None else weight[kept]


class _Split:
    """The batch of each row, and its weight in the batch; on the client."""

    def __init__(self, n_rows: int, batches: list[np.ndarray], shares: list[np.ndarray]) -> None:
        self.batch_of = np.full(n_rows, len(batches), dtype=np.int32)
        self.share_of = np.zeros(n_rows)
        for number, batch in enumerate(batches):
            self.batch_of[batch] = number
        for batch, share in zip(batches, shares, strict=False):
            self.share_of[batch] = share
        self.n_batches = len(batches)
        self.totals = np.array([share.sum() for share in shares])

    def batches_of(self, numbers: np.ndarray) -> list[np.ndarray]:
        """The numbers of some rows, in a list by batch."""
        order, _, ends = self.within(numbers)
        return [numbers[order[start:end]] for start, end in _pairs(ends)]

    def within(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For rows with these numbers: their order by batch, shares, and the ends of batches."""
        batch_of = self.batch_of[numbers]
        order = np.argsort(batch_of, kind="stable").astype(np.int32)
        ends = np.searchsorted(batch_of[order], np.arange(self.n_batches + 1))
        order = order[: ends[-1]]
        return order, self.share_of[numbers[order]], ends


class _Workers:
    """The parts of the rows on the workers, and the states of these parts."""

    def __init__(self, client: Any, model: Any, rows: Pieces, split: _Split) -> None:
        self.client, self.model = client, model
        self.new: np.ndarray | None = None
        self._where: list[dict[str, Any]] = []
        self._parts: list[Any] = []
        self._states: list[Any] = []
        self._numbers: list[list[np.ndarray]] = []
        ends = np.cumsum(rows.lengths)
        wait([*rows.X, *rows.y])
        for worker, own in by_thread(rows.X):
            numbers = [np.arange(ends[i] - rows.lengths[i], ends[i]) for i in own]
            cut = split.within(np.concatenate(numbers))
            where = {"pure": False} | at_home(worker)
            mine = rows.only(own)
            part = client.submit(prepared, model, mine.X, mine.y, *cut, split.totals, **where)
            self._where.append(where)
            self._parts.append(part)
            self._states.append(client.submit(started, model, part, **where))
            self._numbers.append(split.batches_of(np.concatenate(numbers)))

    def numbers(self, batch: int) -> np.ndarray:
        """The rows of a batch, part by part."""
        return np.concatenate([part[batch] for part in self._numbers])

    def sums(self, batch: int, k: int) -> Sums:
        """Sums over a batch for the next step, with the next k neurons."""
        self._visit(batch, k)
        sums = [self._submit(i, _sums, state) for i, state in enumerate(self._states)]
        total = tree(sums, lambda items: self.client.submit(added, items, pure=False))
        return total.result()

    def f(self, batch: int) -> np.ndarray:
        """Values of f at the rows of a batch, part by part."""
        self._visit(batch, 0)
        values = [self._submit(i, _f, state, batch) for i, state in enumerate(self._states)]
        return np.concatenate(self.client.gather(values))

    def _visit(self, batch: int, k: int) -> None:
        self._states = [
            self._submit(i, visited, self.model, part, state, self.new, batch, k)
            for i, (part, state) in enumerate(zip(self._parts, self._states, strict=True))
        ]
        self.new = None

    def _submit(self, part: int, function: Callable, *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, **self._where[part])


def prepared(
    model: Any,
    X: list[Any],
    y: list[Any],
    order: np.ndarray,
    shares: np.ndarray,
    ends: np.ndarray,
    totals: np.ndarray,
) -> Part:
    """The part of some pieces: their rows, validated and in the order of the batches."""
    y_here = np.asarray(stacked(y))
    y_here = _with_known_labels(model, y_here, np.isin(np.arange(len(y_here)), order))
    rows, targets, _ = receive(model, stacked(X), y_here)
    return Part(rows[order], targets[order], shares, totals, ends)


def _with_known_labels(model: Any, y: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Targets, where rows of weight 0, whose labels may be unknown, get a label of the model."""
    is_label = isinstance(model.targets_, Labels)
    return np.where(counted, y, model.targets_.classes[0]) if is_label else y


def started(model: Any, part: Part) -> State:
    """The state before the first step."""
    f = tuple(np.zeros((e - s, part.targets.shape[1])) for s, e in _pairs(part.ends))
    return State((model.descent_.coef.rows,), f, (0,) * len(f))


def visited(
    model: Any, part: Part, state: State, new: np.ndarray | None, batch: int, k: int
) -> State:
    """The state after a batch is visited, with sums for the next k neurons if k is above 0."""
    coef = state.coef if new is None else (*state.coef, new)
    rows = slice(part.ends[batch], part.ends[batch + 1])
    X, targets = part.X[rows], part.targets[rows]
    with linear_algebra(model.n_jobs):
        f = _up_to_date(model, X, coef, state.f[batch], state.n_included[batch])
        sums = _sums_for(model, part, coef, X, targets, f, rows, batch, k) if k else None
    return State(
        coef,
        (*state.f[:batch], f, *state.f[batch + 1 :]),
        (*state.n_included[:batch], len(coef), *state.n_included[batch + 1 :]),
        sums,
    )


def _up_to_date(
    model: Any, X: Any, coef: tuple[np.ndarray, ...], f: np.ndarray, n_included: int
) -> np.ndarray:
    """Values f of the first ``n_included`` coefficients, updated to all coefficients, decayed."""
    if n_included == len(coef):
        return f
    # Step i of this fit decays all earlier coefficients and appends coef[i + 1].
    steps = model.descent_.n_steps + np.arange(max(n_included - 1, 0), len(coef) - 1)
    factors = np.cumprod((1 - model.descent_.steps(steps) * model.alpha)[::-1], axis=0)[::-1]
    decay = np.append(factors, np.ones_like(factors, shape=(1, factors.shape[1])), axis=0)
    before = decay[0] if n_included else 0.0
    scales, missing = decay[n_included - len(coef) :], coef[n_included:]
    missed = [c * scale.astype(c.dtype) for c, scale in zip(missing, scales, strict=True)]
    stream = Later(model.stream_, sum(map(len, coef[:n_included])))
    network = Network(model.neurons_, stream, np.concatenate(missed), n_jobs=model.n_jobs)
    return f * before + network(X)


def _sums_for(
    model: Any,
    part: Part,
    coef: tuple[np.ndarray, ...],
    X: Any,
    targets: np.ndarray,
    f: np.ndarray,
    rows: slice,
    batch: int,
    k: int,
) -> Sums:
    """Sums over a part's rows of a batch, for a step with the next k neurons."""
    first, descent, options = sum(map(len, coef)), model.descent_, options_of(model)
    Z = descent.activations(X, model.stream_.between(first, first + k), model.n_jobs)
    with np.errstate(over="ignore", invalid="ignore"):  # the client detects divergence
        slopes = descent.slopes(Z, f, targets, part.shares[rows], part.totals[batch], options)
        return descent.outcome(f, targets, part.shares[rows], options.loss), slopes


def added(sums: list[Sums]) -> Sums:
    """The sums over several parts."""
    outcome, slopes = zip(*sums, strict=True)
    total: list[Any] = [
        None if part[0] is None else sum(part) for part in zip(*slopes, strict=True)
    ]
    return np.sum(outcome, axis=0), Slopes(*total)


def _sums(state: State) -> Sums | None:
    return state.sums


def _f(state: State, batch: int) -> np.ndarray:
    return state.f[batch]


def _identity(model: Any) -> Any:
    return model


def _pairs(ends: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


def _rows_on_client(model: Any, rows: Pieces, numbers: np.ndarray, index: np.ndarray) -> Any:
    """The validated rows ``numbers[index]``, in increasing order, on the client."""
    numbers = numbers[index]
    ends = np.cumsum(rows.lengths)
    where = np.split(numbers, np.searchsorted(numbers, ends[:-1]))
    starts = ends - rows.lengths
    taken = [
        dask.delayed(at)(X, index - start)
        for X, index, start in zip(rows.X, where, starts, strict=True)
        if len(index)
    ]
    return model.rows_.to_predict(model, stacked(dask.compute(*taken)))
