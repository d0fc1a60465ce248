"""Batches of rows, and f at these rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.places import take


class Batch:
    """Rows of a batch, and the values of f there when the batch was last visited.

    f at a row is a sum over neurons. So a visit evaluates only the neurons drawn since the last
    visit. Each neuron is evaluated once at each row, however many passes there are.
    """

    def __init__(self, rows: np.ndarray, n_outputs: int) -> None:
        self.rows = rows
        self.f = np.zeros((len(rows), n_outputs))
        self.n_neurons, self.n_steps = 0, 0


class Rows(NamedTuple):
    """Rows of a batch, their targets and weights, and the values of f there.

    The rows are in the form that ``Neurons.read`` returns.
    """

    X: Any
    targets: np.ndarray
    weight: np.ndarray | None
    batch: Batch

    def every(self, stride: int) -> Rows:
        """Every row whose number is a multiple of ``stride``."""
        some = slice(None, None, stride)
        batch = Batch(self.batch.rows[some], self.targets.shape[1])
        batch.f = self.batch.f[some]
        weight = None if self.weight is None else self.weight[some]
        return Rows(take(self.X, some), self.targets[some], weight, batch)
