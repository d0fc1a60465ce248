"""The rows that the parts of a stack learn from, and folds of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import _safe_indexing

from trickless._functions.stream import Purpose, generator
from trickless._rows.frames import picked
from trickless._solvers.constants import starting
from trickless._solvers.held_out import Holding
from trickless._solvers.named_losses import make_loss
from trickless._stack.weights import OF_CLASSES, OF_NUMBERS, Loss

#: Folds of parts that cannot leave out rows without a refit, and the most rows that are left out.
FOLDS, MOST_ROWS = 4, 4096


class Training(NamedTuple):
    """Rows that count, as every part learns them.

    ``given`` are the rows as the user passed them, and ``matrix`` the same as numbers, with codes
    for categories. ``n_categories`` counts the codes of each column; it is 0 for numbers. Images
    and series have a ``shape``. ``targets`` (n_rows, n_outputs) are numbers, or ±1 for classes.
    ``n_classes`` is 0 for numbers. ``groups`` are numbered from 0 on.
    """

    given: Any
    matrix: Any
    n_categories: np.ndarray
    shape: tuple[int, ...] | None
    targets: np.ndarray
    n_classes: int
    weight: np.ndarray | None
    groups: np.ndarray | None
    seed: int
    loss: str
    n_jobs: int | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.targets)

    @property
    def n_outputs(self) -> int:
        """Number of values of a row: numbers, or probabilities of classes."""
        return self.n_classes or self.targets.shape[1]

    @property
    def share(self) -> np.ndarray:
        """The weights of rows, which sum to 1."""
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return weight / weight.sum()

    @property
    def y(self) -> np.ndarray:
        """Numbers, or classes numbered from 0, as other learners take them."""
        targets = self.targets
        if targets.shape[1] > 1:
            return targets.argmax(axis=1) if self.n_classes else targets
        return (targets[:, 0] > 0).astype(int) if self.n_classes else targets[:, 0]

    def loss_of(self, some: Any) -> Loss:
        """Return the loss of some of the rows."""
        if not self.n_classes:
            return Loss(OF_NUMBERS[self.loss], self.targets[some], self.share[some], scaled=True)
        goals = np.eye(self.n_classes)[self.y[some]]
        return Loss(OF_CLASSES[self.loss], goals, self.share[some], scaled=False)

    def take(self, rows: np.ndarray) -> Self:
        """Return some of the rows."""
        weight, groups = self.weight, self.groups
        return self._replace(
            given=some_of(self.given, rows),
            matrix=self.matrix[rows],
            targets=self.targets[rows],
            weight=None if weight is None else weight[rows],
            groups=None if groups is None else np.unique(groups[rows], return_inverse=True)[1],
        )

    def sides(self, n_folds: int = FOLDS) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the numbers of the rows of each fold, and of all others. Groups are whole."""
        loss = make_loss("log_loss" if self.n_classes else "squared_error", self.targets.shape[1])
        start = starting(loss, self.targets, self.weight, not self.n_classes)
        holding = Holding.of("folds", self.seed, 1 / FOLDS, loss, start)
        return holding.folds(self.targets, n_folds, self.groups)

    def sample(self) -> np.ndarray:
        """Return the numbers of all rows, or of some if there are many, in their order."""
        if self.n_rows <= MOST_ROWS:
            return np.arange(self.n_rows)
        rng = generator(self.seed, Purpose.RACE)
        return np.sort(rng.choice(self.n_rows, MOST_ROWS, replace=False))


def some_of(X: Any, rows: np.ndarray) -> Any:
    """Return rows with these numbers of an array, matrix, data frame or list."""
    return _safe_indexing(X, rows) if isinstance(X, list | tuple) else picked(X, rows)


def values_of(model: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return predictions (n_rows, n_outputs), or probabilities of all classes."""
    if not n_classes:
        predicted = np.asarray(model.predict(X), dtype=np.float64)
        return predicted.reshape(len(predicted), -1)
    return of_all_classes(model.predict_proba(X), model.classes_, n_classes)


def of_all_classes(probabilities: Any, classes: np.ndarray, n_classes: int) -> Any:
    """Return probabilities of all classes from those of the classes that a model has seen."""
    return probabilities @ np.eye(n_classes)[classes]
