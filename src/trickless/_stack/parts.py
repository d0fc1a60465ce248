"""Parts of a stack: how each kind of learner learns, and predicts rows that it has not learned.

Kitchen Sinks leaves out rows without a refit, and boosted trees hold out rows anyway. Other
learners are fitted once more for each of some folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from trickless._arrays.stated import Stated
from trickless._learners.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from trickless._learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._solvers.early_stopping import kept
from trickless._stack.linear import path
from trickless._stack.reading import Given
from trickless._stack.training import FOLDS, Training, of_all_classes, values_of
from trickless.neurons import Neurons

#: Rows from which boosted trees hold out a tenth, and as many folds of other parts.
_MANY_ROWS, _MANY_FOLDS = 1000, 10


class Fitted(Stated):
    """A model that is a part of a stack.

    Attributes
    ----------
    name : str
        What the report calls it.
    model : estimator
    reads : Given
        What it reads of rows.
    """

    name: str
    model: Any
    reads: Given

    def __init__(self, name: str, model: Any, reads: Given) -> None:
        self.name, self.model, self.reads = name, model, reads

    def values(self, given: Any, matrix: Any, n_classes: int) -> np.ndarray:
        """Return predictions (n_rows, n_outputs), or probabilities of all classes."""
        return values_of(self.model, self.reads(given, matrix), n_classes)

    def compact(self, error_bars: bool) -> Fitted:
        """Return the same for prediction only."""
        compact = getattr(self.model, "compact", None)
        model = self.model if compact is None else compact(error_bars=error_bars)
        return Fitted(self.name, model, self.reads)


class Learned(NamedTuple):
    """What a part has learned, and how it predicts rows of the fit as if it had not learned them.

    Attributes
    ----------
    fitted : Fitted
    unseen : function
        Returns the values of rows with some numbers, each from a model that has not learned it.
    only : int array or None
        The only rows for which it can, in increasing order. None if it can for all rows.
    explained : float
        The share of the variance that is explained at rows that were left out, of the output that
        is explained worst; 0 if the fit does not tell.
    """

    fitted: Fitted
    unseen: Callable[[np.ndarray], np.ndarray]
    only: np.ndarray | None = None
    explained: float = 0.0


class Part(Protocol):
    """A kind of learner."""

    @property
    def name(self) -> str:
        """What the report calls it."""

    def learn(self, rows: Training) -> Learned:
        """Learn from all rows."""


def by_folds(part: Part, rows: Training, some: np.ndarray) -> np.ndarray:
    """Return values of some rows, from models that learn all folds except the one of the row."""
    values = np.zeros((rows.n_rows, rows.n_outputs))
    for apart, others in rows.sides():
        held, fitted = rows.take(apart), part.learn(rows.take(others)).fitted
        values[apart] = fitted.values(held.given, held.matrix, rows.n_classes)
    return values[some]


@dataclass(frozen=True)
class Sinks:
    """Kitchen Sinks with a family of neurons."""

    name: str
    neurons: Neurons | str
    reads: Callable[[Training], Given] = Given.of
    n_neurons: int = 1000

    def learn(self, rows: Training) -> Learned:
        make = KitchenSinksClassifier if rows.n_classes else KitchenSinksRegressor
        model = make(self.neurons, self.n_neurons, random_state=rows.seed, n_jobs=rows.n_jobs)
        reads = self.reads(rows)
        model.fit(reads(rows.given, rows.matrix), rows.y, rows.weight, groups=rows.groups)
        fitted = Fitted(self.name, model, reads)
        targets = model._targets_.matrix(rows.y, stream=False)
        shares = model._solution().shares_explained(targets, rows.weight)

        def unseen(some: np.ndarray) -> np.ndarray:
            whole = rows.groups is None or np.isin(rows.groups, rows.groups[some]).sum() == len(
                some
            )
            if not model._sums_.has_statistics or not (whole or _keeps_rows(model)):
                return by_folds(self, rows, some)
            decisions = _without_folds(fitted, rows, some)
            if not rows.n_classes:
                return decisions
            return of_all_classes(model._probabilities(decisions), model.classes_, rows.n_classes)

        return Learned(fitted, unseen, explained=float(shares.min()) if shares.size else 0.0)


def _keeps_rows(model: Any) -> bool:
    """Return whether there are so few rows that Kitchen Sinks has kept them."""
    return model._sums_.statistics.kept is not None


def _without_folds(fitted: Fitted, rows: Training, some: np.ndarray) -> np.ndarray:
    """Return decision values of rows, each left out with others, as trees hold them out.

    Errors of parts that learned from more rows would be smaller for that alone.
    """
    model, asked = fitted.model, np.arange(len(some))
    if few := _keeps_rows(model):
        some, asked = np.arange(rows.n_rows), some
        n_folds = FOLDS if rows.n_rows < _MANY_ROWS else _MANY_FOLDS
        folds = [apart for apart, _ in rows.sides(n_folds)]
    else:
        n_folds = 1 if rows.groups is not None else -(-len(some) // _MANY_ROWS)
        folds = np.array_split(asked, n_folds)
    held = rows.take(some)
    X = model._rows_.to_predict(model, fitted.reads(held.given, held.matrix))
    targets, share = model._targets_.matrix(held.y, stream=False), rows.share[some]
    unseen = model._sums_.without_folds(folds, X, targets, share, model._problem())
    if rows.n_classes and not few:
        model._sums_.calibrate(unseen)
    return np.asarray(unseen.decisions[asked])


@dataclass(frozen=True)
class Trees:
    """Boosted trees."""

    name: str = "boosted trees"
    n_trees: int | str = "auto"

    def learn(self, rows: Training) -> Learned:
        model: Any = BoostedTreesClassifier() if rows.n_classes else BoostedTreesRegressor()
        model.set_params(n_trees=self.n_trees, random_state=rows.seed, n_jobs=rows.n_jobs)
        if not rows.n_classes:
            model.set_params(loss=rows.loss)
        model.fit(rows.given, rows.y, rows.weight, groups=rows.groups)
        fitted, held = Fitted(self.name, model, Given()), model._unseen()
        if held is None:
            return Learned(fitted, lambda some: by_folds(self, rows, some))
        targets = model._targets_.matrix(rows.y, stream=False)
        stopping = model._stopping((rows.matrix, targets, rows.weight), None, rows.groups)
        numbers = np.concatenate([apart for apart, _ in stopping.sides(targets)])
        numbers = numbers[kept(len(numbers))]
        order = np.argsort(numbers)

        def unseen(some: np.ndarray) -> np.ndarray:
            decisions = held.decisions[order[np.searchsorted(numbers[order], some)]]
            if not rows.n_classes:
                return decisions
            values = model._probabilities(decisions)
            return of_all_classes(values, model.classes_, rows.n_classes)

        return Learned(fitted, unseen, numbers[order])


@dataclass(frozen=True)
class Linear:
    """A linear model: one of a path, chosen by folds."""

    reads: Callable[[Training], Given]
    name: str = "linear"

    def learn(self, rows: Training) -> Learned:
        reads = self.reads(rows)
        X, values = reads(rows.given, rows.matrix), np.empty((0, 0, 0))
        for apart, others in rows.sides():
            models = path(X[others], rows.take(others))
            if not values.size:
                values = np.zeros((len(models), rows.n_rows, rows.n_outputs))
            values[:, apart] = [values_of(each, X[apart], rows.n_classes) for each in models]
        loss = rows.loss_of(slice(None))
        best = int(np.argmin([loss.mean(each) for each in values]))
        fitted = Fitted(self.name, path(X, rows)[best], reads)
        return Learned(fitted, lambda some: values[best, some])
