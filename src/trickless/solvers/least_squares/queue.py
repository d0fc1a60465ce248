"""Small batches of a stream that forgets, which wait to be added to the sums together.

Fading a Gram matrix, and adding the products of a row to it, take as long for one row as for many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from trickless.solvers.least_squares.row_sample import Arrival, RowSample
from trickless.solvers.least_squares.statistics import Statistics

#: The most rows of a batch that waits, and the most rows that wait.
FEW_AT_ONCE, MOST_WAITING = 16, 256


class Batch(NamedTuple):
    """Rows, their activations, targets, weights, and the factor of all earlier weights.

    ``arrival`` is when they came, if rows fade.
    """

    X: Any
    Z: np.ndarray
    targets: np.ndarray
    weight: np.ndarray
    fade: float
    arrival: Arrival | None


class Queue(NamedTuple):
    """Batches that follow the rows of some statistics."""

    base: Statistics
    batches: tuple[Batch, ...] = ()
    n_rows: int = 0

    def after(self, batch: Batch) -> Queue:
        """Return the queue with one more batch."""
        return Queue(self.base, (*self.batches, batch), self.n_rows + len(batch.targets))

    def joined(self, seed: int) -> Statistics:
        """Return the statistics with the rows that wait."""
        fades = np.array([batch.fade for batch in self.batches] + [1.0])
        after = np.cumprod(fades[::-1])[::-1]  # of a batch, and of all later ones
        Xs, Zs, targets, weights, _, arrivals = zip(*self.batches, strict=True)
        sparse = scipy.sparse.issparse(Xs[0])
        X = scipy.sparse.vstack(Xs, format="csr") if sparse else np.concatenate(Xs)

        def faded(parts: Iterable[np.ndarray]) -> np.ndarray:
            each = zip(parts, after[1:], strict=True)
            return np.concatenate([part * factor for part, factor in each])

        y, weight, arrival, fresh = np.concatenate(targets), faded(weights), None, None
        if (first := arrivals[0]) is not None:
            fresh = faded(each.fresh for each in arrivals)
            arrival = Arrival(first.first, fresh)
        new = Statistics(len(self.base.z_sum), self.base.origin)
        new.add(np.concatenate(Zs), y, weight, fresh=fresh)
        new.add_sample(RowSample.of(X, y, weight, seed, arrival=arrival))
        return self.base.faded(float(after[0])).joined(new)
