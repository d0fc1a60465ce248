"""Mini-batches: the rows of a step, and the values of f at these rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from trickless._arrays.places import HOST, Place, place_of, take, to_host


class Values:
    """The values of f at some rows, when they were last visited.

    f at a row is a sum over neurons. A visit therefore evaluates only the neurons drawn since the
    last one, and each neuron is evaluated once at each row, however many passes there are.
    """

    def __init__(self, n_rows: int, n_outputs: int, place: Place = HOST) -> None:
        self.f: Any = place.zeros((n_rows, n_outputs))
        self.n_neurons, self.n_steps = 0, 0


class MiniBatch:
    """Rows as the neurons read them, with their targets, weights and values of f.

    Targets and values of f are at a ``place``, where a step computes with them. Weights are on the
    host. ``shares`` are the weights of the rows in the mean over the batch. A network sets them
    before a step.
    """

    shares: np.ndarray
    _shares_here: Any = None

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None = None,
        values: Values | None = None,
    ) -> None:
        self.X, self.targets, self.weight = X, targets, weight
        self.place = place_of(targets)
        n_rows, n_outputs = targets.shape
        self.values = Values(n_rows, n_outputs, self.place) if values is None else values

    def __len__(self) -> int:
        return int(self.targets.shape[0])

    @property
    def f(self) -> Any:
        """Values of f without the intercept, shape (n_rows, n_outputs)."""
        return self.values.f

    @cached_property
    def targets_on_host(self) -> np.ndarray:
        """The targets, which are moved once."""
        return to_host(self.targets)

    def share(self, shares: np.ndarray) -> None:
        """Set the shares of the rows."""
        self.shares = shares
        if self.place is not HOST:
            equal = self.weight is None and len(shares) > 0
            here = self.place.filled(len(shares), float(shares[0])) if equal else shares
            self._shares_here = self.place.put(here)

    @property
    def shares_here(self) -> Any:
        """The shares at the place of the targets."""
        return self.shares if self._shares_here is None else self._shares_here


class BatchedRows:
    """The rows of a fit in mini-batches, the last of which may be held out."""

    def __init__(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, rows: list[np.ndarray]
    ) -> None:
        place = place_of(targets)
        self._values = [Values(len(some), targets.shape[1], place) for some in rows]
        self._X, self._targets, self._weight, self._where = X, targets, weight, rows
        self._there: dict[int, Any] = {}

    def __getitem__(self, number: int) -> MiniBatch:
        where = self._where[number]
        weight = None if self._weight is None else self._weight[where]
        X, targets = (
            take(rows, where if place_of(rows) is HOST else self._moved(number))
            for rows in (self._X, self._targets)
        )
        return MiniBatch(X, targets, weight, self._values[number])

    def _moved(self, number: int) -> Any:
        """Return the numbers of the rows of a batch on the device of the rows."""
        where = self._where[number]
        if number not in self._there:
            self._there[number] = place_of(self._X).put(where)
        return self._there[number]
