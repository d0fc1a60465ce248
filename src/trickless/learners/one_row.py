"""Fitted models for one row at a time, without what every call of ``predict`` repeats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trickless.arrays.states import snapshot
from trickless.intake.one_row import ReadRow


class OneRow:
    """What a fitted model answers for one row.

    Parameters
    ----------
    read : callable
        Returns the numbers of a row, (n_features,).
    function : callable
        Returns the values of the learner's function at a row, (1, n_outputs).
    answer : callable
        Returns answers from such values, one for each row.
    """

    def __init__(
        self,
        read: ReadRow,
        function: Callable[[np.ndarray], np.ndarray],
        answer: Callable[[np.ndarray], Any],
    ) -> None:
        self.read, self.function, self.answer = read, function, answer

    def __call__(self, row: Any) -> Any:
        """Return the answer for a row, as the method of the model does for several.

        Parameters
        ----------
        row : array of shape (n_features,), list, or dict
            A row of numbers. A dictionary has values by the names of the columns, for a model that
            was fitted to a data frame.

        Returns
        -------
        number, label or array
        """
        with np.errstate(over="ignore", invalid="ignore"):  # as in the products of many rows
            return self.answer(self.function(self.read(row)))[0]

    def of_rows(self, X: Any) -> Any:
        """Return the answer for a matrix or data frame of one row."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.answer(self.function(self.read.of_rows(X)))[0]


class Whole:
    """The function of a learner that does not predict by a network."""

    def __init__(self, learner: Any) -> None:
        self.learner = snapshot(learner)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the values at a row (n_features,): (1, n_outputs)."""
        values: np.ndarray = self.learner._function(x[None])
        return values


def numbers(targets: Any, values: np.ndarray) -> Any:
    """Return predictions from the values of a regressor."""
    return targets.shaped(targets.values(targets.shown(values)))


def labels(targets: Any, values: np.ndarray) -> Any:
    """Return labels from the values of a classifier."""
    return targets.labels(targets.shown(values))


def decisions(targets: Any, values: np.ndarray) -> Any:
    """Return decision values from the values of a classifier."""
    shown = targets.shown(values)
    return shown[:, 0] if shown.shape[1] == 1 else shown


def chances(link: Callable[[np.ndarray], Any], targets: Any, values: np.ndarray) -> Any:
    """Return probabilities from the values of a classifier."""
    return link(targets.shown(values))
