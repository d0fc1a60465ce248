"""Small batches of a stream that forgets, which wait to be added to the sums together.

Fading a Gram matrix, and adding the products of a row to it, take as long for one row as for many.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless._rows.frames import stacked
from trickless._solvers.least_squares.row_sample import Arrival, RowSample
from trickless._solvers.least_squares.statistics import Statistics

#: The most rows of a batch that waits, and the most rows that wait.
FEW_AT_ONCE, MOST_WAITING = 16, 256


class Queue(NamedTuple):
    """Rows that follow those of some statistics, batch by batch.

    ``arrived`` is how many rows came before them, if rows fade. ``batches`` have rows, activations,
    targets, weights when they came, and half-lives since then.
    """

    base: Statistics
    arrived: int | None
    batches: tuple[tuple[Any, ...], ...] = ()
    n_rows: int = 0
    now: float = 0.0

    def after(
        self, X: Any, Z: np.ndarray, targets: np.ndarray, weight: np.ndarray, passed: np.ndarray
    ) -> Queue:
        """Return the queue with one more batch, half-lives after the last row so far."""
        times = self.now + passed
        batches, n_rows = (*self.batches, (X, Z, targets, weight, times)), self.n_rows + len(times)
        return Queue(self.base, self.arrived, batches, n_rows, float(times[-1]))

    def joined(self, seed: int) -> Statistics:
        """Return the statistics with the rows that wait."""
        Xs, *others = zip(*self.batches, strict=True)
        Z, targets, weight, times = map(np.concatenate, others)
        X, arrival, fresh = stacked(Xs), None, None
        weight = weight * (left := np.exp2(times - self.now))
        if self.arrived is not None:
            arrival, fresh = Arrival(self.arrived, left), left
        new = Statistics(len(self.base.z_sum), self.base.origin)
        new.add(Z, targets, weight, fresh=fresh)
        new.add_sample(RowSample.of(X, targets, weight, seed, arrival=arrival))
        return self.base.faded(float(np.exp2(-self.now))).joined(new)
