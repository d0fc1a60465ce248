"""Rows that a function has not learned from, which tell how far it is from new targets.

Weights say what the function should fit, which need not be where it will be used: rows may have
small weights because their noise is large. By default each row therefore counts once, so that
intervals and sets hold for rows as they come. By their weights, rows stand for others, such as the
rows of a population that they were not drawn from evenly.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from trickless.arrays.stated import check_array

#: The most rows to keep; and counts that differ by less than this share are equal.
MOST, _SAME = 2048, 1e-9


class Counted(NamedTuple):
    """How much each of some rows counts for a new one.

    Both sum to an effective number of rows.

    Attributes
    ----------
    once : array of shape (n_rows,)
        The number of rows of this content, which count for less when they fade.
    by_weight : array of shape (n_rows,)
        The same, times the weight of such a row in the fit.
    """

    once: np.ndarray
    by_weight: np.ndarray

    @classmethod
    def of(cls, copies: np.ndarray, fresh: np.ndarray, weight: np.ndarray) -> Self:
        """Return how much rows count, of which there are some copies.

        ``fresh`` and ``weight`` are of one copy, in any unit: how much of it is left after fading,
        and its weight in the fit, which has faded as well.
        """
        return cls(_effective(copies, fresh), _effective(copies, weight))

    def check(self, n_rows: int | None) -> None:
        """Raise an error if these are not of so many rows."""
        check_array("once", self.once, "f8", (n_rows,), 0)
        check_array("by_weight", self.by_weight, "f8", (len(self.once),), 0)

    def relative(self, weighted: bool) -> np.ndarray | None:
        """Return how much rows count, relative to a new row, or None if all count as 1."""
        counts = self.by_weight if weighted else self.once
        return None if np.allclose(counts, 1, rtol=_SAME) else counts


class Unseen(NamedTuple):
    """Decision values at rows that were left out, held out or not yet learned, and their targets.

    Attributes
    ----------
    decisions, targets : arrays of shape (n_rows, n_outputs)
    counted : Counted
        How much the rows count.
    """

    decisions: np.ndarray
    targets: np.ndarray
    counted: Counted

    @classmethod
    def of(cls, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> Unseen:
        """Return some rows whose weights are in any unit."""
        ones = np.ones(len(targets))
        counted = Counted.of(ones, ones, ones if weight is None else weight)
        return cls(np.asarray(decisions, np.float64), np.asarray(targets, np.float64), counted)

    def check(self, n_outputs: int) -> None:
        """Raise a ValueError if these are not rows with so many outputs."""
        check_array("decisions", self.decisions, "f8", (None, n_outputs))
        check_array("targets", self.targets, "f8", self.decisions.shape)
        self.counted.check(len(self.decisions))

    def scored(self, scores: np.ndarray) -> Scores:
        """Return scores of these rows."""
        return Scores(scores, self.counted)


class Scores(NamedTuple):
    """Scores of such rows, which grow with how unlike their targets are to what is predicted.

    Attributes
    ----------
    values : array of shape (n_rows, ...)
    counted : Counted
        How much the rows count.
    """

    values: np.ndarray
    counted: Counted

    def check(self) -> None:
        """Raise a ValueError if these are not scores of rows."""
        check_array("values", self.values, "f8", (None,))
        self.counted.check(len(self.values))


def _effective(copies: np.ndarray, each: np.ndarray) -> np.ndarray:
    """Return copies times numbers, which then sum to Kish's effective number of rows.

    Weights that sum to S, of squares that sum to Q, are about as good as S² / Q equal ones.
    """
    total = copies * each
    square = total @ each
    return total * (total.sum() / square) if square > 0 else total
