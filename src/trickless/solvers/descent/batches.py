"""Mini-batches: the rows of a step, and the values of f at these rows."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from trickless.arrays.places import HOST, Place, place_of, take, to_host


class Values:
    """The values of f at some rows, when they were last visited.

    f at a row is a sum over neurons. A visit therefore evaluates only the neurons drawn since the
    last one, and each neuron is evaluated once at each row, however many passes there are.
    """

    def __init__(self, n_rows: int, n_outputs: int, place: Place = HOST) -> None:
        self.f: Any = place.zeros((n_rows, n_outputs))
        self.n_neurons, self.n_steps = 0, 0

    def copy(self) -> Values:
        """Return an independent copy."""
        other = copy(self)
        other.f = place_of(self.f).copy(self.f)
        return other


class MiniBatch:
    """Rows as the neurons read them, with their targets, weights and values of f.

    Targets and values of f are at a ``place``, where a step computes with them. Weights are on the
    host. ``shares`` are the weights of the rows in the mean over the whole batch, and ``total`` is
    the sum of all its shares; these rows may be a part of it. A network sets them before a step.
    """

    shares: np.ndarray
    total: float
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
        """Set the shares of the rows, which are the whole batch."""
        self.shares, self.total = shares, shares.sum()
        if self.place is not HOST:
            equal = self.weight is None and len(shares) > 0
            here = self.place.filled(len(shares), float(shares[0])) if equal else shares
            self._shares_here = self.place.put(here)

    @property
    def shares_here(self) -> Any:
        """The shares at the place of the targets."""
        return self.shares if self._shares_here is None else self._shares_here

    def read_as(self, X: Any) -> MiniBatch:
        """Return the same rows as another family reads them."""
        return MiniBatch(X, self.targets, self.weight, self.values)

    def every(self, stride: int) -> MiniBatch:
        """Return every row whose number is a multiple of ``stride``."""
        some = slice(None, None, stride)
        weight = None if self.weight is None else self.weight[some]
        part = MiniBatch(take(self.X, some), self.targets[some], weight)
        part.values.f = self.f[some]
        return part


class BatchedRows:
    """The rows of a fit in mini-batches, the last of which may be held out.

    If they are ``contiguous``, the rows of a batch lie side by side, so that a visit copies
    nothing. This takes a copy of all rows, which are bytes for families that look up leaves.
    """

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        rows: list[np.ndarray],
        contiguous: bool,
    ) -> None:
        place = place_of(targets)
        self.values = [Values(len(some), targets.shape[1], place) for some in rows]
        self._where: list[Any] = list(rows)
        if contiguous:
            order, ends = np.concatenate(rows), np.cumsum([0, *map(len, rows)])
            self._where = [slice(start, end) for start, end in pairwise(ends.tolist())]
            X = np.take(X.T, order, axis=1).T if isinstance(X, np.ndarray) else take(X, order)
            targets, weight = take(targets, order), None if weight is None else weight[order]
        self._X, self._targets, self._weight = X, targets, weight
        self._there: dict[int, Any] = {}
        self._views = [self._at(i) for i in range(len(rows))] if contiguous else []

    def __getitem__(self, number: int) -> MiniBatch:
        return self._views[number] if self._views else self._at(number)

    def pool(self, n_rows: int) -> MiniBatch:
        """Return the first rows of all, with values of their own."""
        self._where.append(slice(n_rows))
        self.values.append(Values(n_rows, self._targets.shape[1], place_of(self._targets)))
        return self._at(-1)

    def _at(self, number: int) -> MiniBatch:
        where = self._where[number]
        weight = None if self._weight is None else self._weight[where]
        X, targets = (
            take(rows, where if place_of(rows) is HOST else self._moved(number))
            for rows in (self._X, self._targets)
        )
        return MiniBatch(X, targets, weight, self.values[number])

    def _moved(self, number: int) -> Any:
        """Return the numbers of the rows of a batch on the device of the rows."""
        where = self._where[number]
        if not isinstance(where, slice) and number not in self._there:
            self._there[number] = place_of(self._X).put(where)
        return self._there.get(number, where)
