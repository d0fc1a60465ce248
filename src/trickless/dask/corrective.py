"""The corrective solve of a fit whose rows are on workers.

Each worker finds the leaves of its rows. A product with A is made there and stays there, and a
product with its transpose is a sum over the workers. Sums are of integers in a unit that all
rows decide, so they equal those of a local fit.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from dask.sizeof import sizeof

from trickless.arrays.threads import linear_algebra, row_blocks
from trickless.dask.parts import Part
from trickless.dask.workers import Workers
from trickless.learners.descents import options_of
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.corrective import LeafMatrix, System, SystemRows
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.growing_network import GrowingNetwork

#: The most bytes of coefficients in one task. Dask warns of more than 10 MB.
_BYTES = 2**22


class HeldOutRows(NamedTuple):
    """Products for the held-out rows of a part, the first of which has the place ``start``."""

    matrix: LeafMatrix
    start: int


@sizeof.register(SystemRows)
@sizeof.register(LeafMatrix)
def n_bytes(rows: SystemRows | LeafMatrix) -> int:
    """Count the bytes of the arrays that are kept, such as leaves."""
    return int(sizeof(list(vars(rows).values())))


class Learned:
    """A network that the workers have learned, after some steps, with their rows.

    It is ``Judged`` by the last batch if that is held out.
    """

    groups: np.ndarray | None = None

    def __init__(self, network: Descent, workers: Workers, n_steps: int) -> None:
        self.network: GrowingNetwork = network
        self._workers = workers
        self._networks = workers.networks(len(network.coef), n_steps, network.intercept)

    @property
    def n_rows(self) -> int:
        """Number of rows that the network learned from."""
        order = self._workers.order
        return int(order.ends[len(order.batches)])

    @property
    def apart(self) -> MiniBatch:
        """Targets and weights of the held-out rows."""
        order = self._workers.order
        return MiniBatch(None, *order.rows_at(order.at(len(order.batches))))

    def matrix(self) -> HeldOutOnWorkers:
        """Return products for the held-out rows."""
        return HeldOutOnWorkers(self._workers, self._networks)

    def system(self) -> System:
        """Return the system of the rows that the network learned from."""
        return System(RowsOnWorkers(self._workers, self._networks))


class RowsOnWorkers:
    """The rows of a system. Values of rows are a list with a future for each part."""

    def __init__(self, workers: Workers, networks: list[Any]) -> None:
        self._workers, n_batches = workers, len(workers.order.batches)
        self.n_rows = int(workers.order.ends[n_batches])
        given = workers.model, n_batches
        self._rows = workers.each(_system_rows, workers.parts, networks, given=given)
        self.g, self.h = (workers.each(getattr, self._rows, given=(name,)) for name in "gh")

    def curved(self, coef: np.ndarray) -> list[Any]:
        """Return HA times coefficients."""
        given = self._workers.model, _sent(self._workers, coef)
        return self._workers.each(_curved, self._rows, given=given)

    def largest(self, values: list[Any]) -> np.ndarray:
        """Return the largest absolute value of each output."""
        parts = self._workers.each(SystemRows.largest, self._rows, values)
        return np.asarray(np.max(self._workers.client.gather(parts), axis=0))

    def total(self, values: list[Any], unit: np.ndarray) -> np.ndarray:
        """Return sums of values, as integers of units."""
        return self._sum(self._workers.each(SystemRows.total, self._rows, values, given=(unit,)))

    def transposed(self, values: list[Any], unit: np.ndarray) -> np.ndarray:
        """Return Aᵀ times values, as integers of units."""
        given = self._workers.model, unit
        return self._sum(self._workers.each(_transposed, self._rows, values, given=given))

    def _sum(self, parts: list[Any]) -> np.ndarray:
        return np.asarray(self._workers.total(parts, _sum))


class HeldOutOnWorkers:
    """Products of A with coefficients for the held-out rows, the last batch of the workers."""

    def __init__(self, workers: Workers, networks: list[Any]) -> None:
        self._workers, self._number = workers, len(workers.order.batches)
        given = workers.model, self._number
        self._rows = workers.each(_held_out_rows, workers.parts, networks, given=given)

    def times(self, coef: np.ndarray) -> list[np.ndarray]:
        """Return A times coefficients (n_trees, width, n_outputs), for each held-out row."""
        where = self._workers.order.at(self._number)
        positions = np.arange(where.start, where.stop)
        given = self._workers.model, _sent(self._workers, coef)
        return [np.asarray(self._workers.gather(positions, self._rows, _times_at, *given))]


def _sent(workers: Workers, coef: np.ndarray) -> list[Any]:
    """Return futures of coefficients in a few pieces."""
    n = max(1, _BYTES * len(coef) // coef.nbytes)
    return [workers.keep(coef[some]) for some in row_blocks(len(coef), n)]


def _system_rows(part: Part, network: Descent, model: Any, n_batches: int) -> SystemRows:
    with linear_algebra(model.n_jobs):
        return SystemRows(network, [part.rows(0, n_batches)], options_of(model))


def _held_out_rows(part: Part, network: Descent, model: Any, number: int) -> HeldOutRows:
    rows = part.rows(number, number + 1)
    matrix = LeafMatrix(network, [rows], options_of(model))
    return HeldOutRows(matrix, int(part.cut.ends[number]))


def _curved(rows: SystemRows, model: Any, pieces: list[np.ndarray]) -> list[np.ndarray]:
    with linear_algebra(model.n_jobs):
        return rows.curved(np.concatenate(pieces))


def _transposed(
    rows: SystemRows, values: list[np.ndarray], model: Any, unit: np.ndarray
) -> np.ndarray:
    with linear_algebra(model.n_jobs):
        return rows.transposed(values, unit)


def _times_at(
    rows: HeldOutRows, model: Any, pieces: list[np.ndarray], places: np.ndarray
) -> np.ndarray:
    with linear_algebra(model.n_jobs):
        return rows.matrix.times(np.concatenate(pieces))[0][places - rows.start]


def _sum(parts: list[np.ndarray]) -> np.ndarray:
    return reduce(add, parts)
