"""Columns of activations, and the neurons that they belong to.

Activations of n neurons of some width have ``width * n`` columns: column ``k * n + j`` holds
number k of neuron j. Here is the one place that turns what belongs to columns, such as
coefficients, into what belongs to neurons, and back.
"""

from __future__ import annotations

import numpy as np


def by_neuron(columns: np.ndarray, width: int) -> np.ndarray:
    """What belongs to the columns of n neurons, (width * n, ...), as a view (n, width, ...)."""
    return columns.reshape(width, -1, *columns.shape[1:]).swapaxes(0, 1)


def by_column(neurons: np.ndarray) -> np.ndarray:
    """What belongs to n neurons, (n, width, ...), in the order of their columns."""
    return neurons.swapaxes(0, 1).reshape(-1, *neurons.shape[2:])
