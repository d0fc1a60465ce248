"""Rows that a function has not learned from, which tell how far it is from new targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless.arrays.stated import check_array

#: The most rows to keep; and weights that differ by less than this share are equal.
MOST, _SAME = 2048, 1e-9


class Unseen(NamedTuple):
    """Decision values at rows that were left out, held out or not yet learned, and their targets.

    Attributes
    ----------
    decisions, targets : arrays of shape (n_rows, n_outputs)
    weight : array of shape (n_rows,)
        Weights of the rows, relative to the mean weight of a row.
    """

    decisions: np.ndarray
    targets: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> Unseen:
        """Return some rows whose weights are in any unit."""
        weight = np.ones(len(targets)) if weight is None else weight / weight.mean()
        return cls(np.asarray(decisions, np.float64), np.asarray(targets, np.float64), weight)

    def check(self, n_outputs: int) -> None:
        """Raise a ValueError if these are not rows with so many outputs."""
        check_array("decisions", self.decisions, "f8", (None, n_outputs))
        check_array("targets", self.targets, "f8", self.decisions.shape)
        check_array("weight", self.weight, "f8", (len(self.decisions),), 0)

    def scored(self, scores: np.ndarray) -> Scores:
        """Return scores of these rows, with their weights."""
        return Scores(scores, self.weight)


class Scores(NamedTuple):
    """Scores of such rows, which grow with how unlike their targets are to what is predicted.

    Attributes
    ----------
    values : array of shape (n_rows, ...)
    weight : array of shape (n_rows,)
        Weights of the rows, relative to the mean weight of a row.
    """

    values: np.ndarray
    weight: np.ndarray

    def check(self) -> None:
        """Raise a ValueError if these are not scores of rows."""
        check_array("values", self.values, "f8", (None,))
        check_array("weight", self.weight, "f8", (len(self.values),), 0)


def relative(weight: np.ndarray) -> np.ndarray | None:
    """Return weights that are relative to their mean, or None if all are equal."""
    return None if np.allclose(weight, 1, rtol=_SAME) else weight
