"""The workers of a fit, and the parts of the rows that they hold, in the order of the batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from distributed import wait

from trickless.dask.parts import (
    Cut,
    Sums,
    Taken,
    added,
    f_at,
    learned,
    prepared,
    rows_at,
    started,
    sums_of,
    visited,
)
from trickless.dask.pieces import Pieces, at_home, by_thread, stacked, tree
from trickless.neurons import Weights
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.options import DescentOptions


class Counted(NamedTuple):
    """The number of all rows; and indices, targets and weights of rows of positive weight."""

    n_rows: int
    kept: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None

    @property
    def learned(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets and weights of the rows of positive weight."""
        return self.targets, self.weight


class Order:
    """The rows of positive weight in the order of the batches. The last batch may be held out.

    Each row has a position in this order. The client has the positions, targets and weights of all
    rows.
    """

    def __init__(
        self,
        counted: Counted,
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


class Workers:
    """The parts of the rows on the workers, and the states of these parts.

    ``taken`` is a step that the states have begun, but whose coefficients they lack.
    """

    def __init__(self, client: Any, model: Any, rows: Pieces, order: Order) -> None:
        self.client, self.order = client, order
        self.model = model = self.keep(model)
        self.taken: Taken | None = None
        self._where: list[dict[str, Any]] = []
        self.parts: list[Any] = []
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
            self.parts.append(part)
            self._states.append(client.submit(started, model, part, **where))

    def sums(self, number: int, k: int, weights: Weights) -> Sums:
        """Sums over a batch for the next step, with the next k neurons.

        ``weights`` is empty if the workers draw them.
        """
        self._visit(number, k, weights)
        return self.total(self.each(sums_of, self._states))

    def networks(self, n_neurons: int, n_steps: int, intercept: np.ndarray) -> list[Any]:
        """Return the network of each part: its first neurons, as they were after some steps."""
        given = self.model, self.taken, n_neurons, n_steps, intercept
        return self.each(learned, self._states, given=given)

    def each(self, function: Callable, *sources: list[Any], given: tuple = ()) -> list[Any]:
        """Return futures of a function of what each part has in the sources, where its rows are."""
        of_parts = enumerate(zip(*sources, strict=True))
        return [self._submit(i, function, *own, *given) for i, own in of_parts]

    def keep(self, value: Any) -> Any:
        """Return a future of a value, for all workers."""
        return self.client.submit(_identity, value, pure=False)

    def total(self, parts: list[Any], add: Callable = added) -> Any:
        """Return the sum of what all parts have."""
        return tree(parts, lambda items: self.client.submit(add, items, pure=False)).result()

    def f(self, number: int, some: np.ndarray) -> np.ndarray:
        """Values of f at some of the rows of a batch."""
        self._visit(number, 0, ())
        return self.gather(some + self.order.ends[number], self._states, f_at, number)

    def rows(self, positions: np.ndarray) -> Any:
        """Return the rows at some positions, as the neurons read them."""
        return self.gather(positions, self.parts, rows_at)

    def _visit(self, number: int, k: int, weights: Weights) -> None:
        self._states = [
            self._submit(i, visited, self.model, part, state, self.taken, number, k, weights)
            for i, (part, state) in enumerate(zip(self.parts, self._states, strict=True))
        ]
        self.taken = None

    def gather(
        self, positions: np.ndarray, sources: list[Any], function: Callable, *arguments: Any
    ) -> Any:
        """Return the results of a function of what parts have at the places of some positions."""
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


def _identity(value: Any) -> Any:
    return value
