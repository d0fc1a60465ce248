"""Outputs of a solver when its targets change: each follows from one of the earlier outputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class NewOutputs(NamedTuple):
    """What the targets of rows become: target j is ``factor[j] * y[source[j]] + constant[j]``.

    Coefficients and sums are linear in the targets, so they follow without any row.

    Attributes
    ----------
    source : int array of shape (n_new,)
        The earlier output behind each new one.
    factor, constant : arrays of shape (n_new,)
    """

    source: np.ndarray
    factor: np.ndarray
    constant: np.ndarray

    def of_targets(self, y: np.ndarray) -> np.ndarray:
        """Return targets, or functions that have learned them: (..., n_new)."""
        return y[..., self.source] * self.factor + self.constant

    def of_differences(self, values: np.ndarray) -> np.ndarray:
        """Return differences of targets, or what is linear in them, in their precision."""
        return values[..., self.source] * self.factor.astype(values.dtype)

    def of_squares(self, values: np.ndarray) -> np.ndarray:
        """Return squares of differences of targets, or sums of squares."""
        return values[..., self.source] * self.factor**2

    def of_pairs(self, values: np.ndarray) -> np.ndarray:
        """Return functions and the targets beside them, (n_rows, 2 n_new)."""
        return np.hstack([self.of_targets(part) for part in np.hsplit(values, 2)])

    def of_each(self, values: Any) -> Any:
        """Return numbers that an output has by itself; a number for all outputs is unchanged."""
        return values[..., self.source] if np.ndim(values) else values
