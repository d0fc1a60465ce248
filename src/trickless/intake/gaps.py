"""Gaps: columns of a table that had no missing values in training."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.devices import to_device_of, to_host
from trickless.arrays.namespaces import namespace
from trickless.neurons import Inputs
from trickless.tables.categories import warn_of_missing


def missing_by_column(X: Any, inputs: Inputs) -> np.ndarray:
    """Count the missing values of each column of validated rows."""
    xp = namespace(X)
    code = to_device_of(X, np.where(inputs.n_categories > 0, inputs.n_categories - 2.0, np.nan))
    missing = xp.isnan(X) | (code == X)
    return to_host(xp.count_nonzero(missing, axis=0))


def warn_of_gaps(owner: str, X: Any, inputs: Inputs, had_gaps: np.ndarray) -> None:
    """Warn of columns whose values are mostly missing. ``had_gaps`` are columns that had some."""
    counts = np.where(had_gaps, 0, missing_by_column(X, inputs))
    for j in np.flatnonzero(counts).tolist():
        name = inputs.names[j] if inputs.names else j
        warn_of_missing(owner, name, int(counts[j]), X.shape[0])
