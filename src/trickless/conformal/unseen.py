"""Rows that a function has not learned from, which tell how far it is from new targets.

Weights say what the function should fit, which need not be where it will be used: rows may have
small weights because their noise is large. By default each row therefore counts once, so that
intervals and sets hold for rows as they come. By their weights, rows stand for others, such as the
rows of a population that they were not drawn from evenly.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Self

import numpy as np

from trickless._arrays.stated import Array, stated

#: The most rows to keep; and counts that differ by less than this share are equal.
MOST, _SAME = 2048, 1e-9


@stated
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

    once: Annotated[np.ndarray, Array("f8", "n", least=0)]
    by_weight: Annotated[np.ndarray, Array("f8", "n", least=0)]

    @classmethod
    def of(cls, copies: np.ndarray, fresh: np.ndarray, weight: np.ndarray) -> Self:
        """Return how much rows count, of which there are some copies.

        ``fresh`` and ``weight`` are of one copy, in any unit: how much of it is left after fading,
        and its weight in the fit, which has faded as well.
        """
        return cls(_effective(copies, fresh), _effective(copies, weight))

    def relative(self, weighted: bool) -> np.ndarray | None:
        """Return how much rows count, relative to a new row, or None if all count as 1."""
        counts = self.by_weight if weighted else self.once
        return None if np.allclose(counts, 1, rtol=_SAME) else counts


@stated
class Unseen(NamedTuple):
    """Decision values at rows that were left out, held out or not yet learned, and their targets.

    Attributes
    ----------
    decisions, targets : arrays of shape (n_rows, n_outputs)
    counted : Counted
        How much the rows count.
    """

    decisions: Annotated[np.ndarray, Array("f8", "n", "n_outputs")]
    targets: Annotated[np.ndarray, Array("f8", "n", "n_outputs")]
    counted: Counted

    @classmethod
    def of(cls, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> Unseen:
        """Return some rows whose weights are in any unit."""
        ones = np.ones(len(targets))
        counted = Counted.of(ones, ones, ones if weight is None else weight)
        return cls(np.asarray(decisions, np.float64), np.asarray(targets, np.float64), counted)


@stated
class Scores(NamedTuple):
    """Scores of the classes of such rows, which grow with how unlikely a class seemed.

    Attributes
    ----------
    values : array of shape (n_rows,)
    which : array of shape (n_rows,)
        The numbers of the classes.
    counted : Counted
        How much the rows count.
    """

    values: Annotated[np.ndarray, Array("f8", "n")]
    which: Annotated[np.ndarray, Array("i8", "n", least=0)]
    counted: Counted

    def of_class(self, number: int) -> Scores:
        """Return the scores of the rows of one class."""
        rows = self.which == number
        counted = Counted(*(counts[rows] for counts in self.counted))
        return Scores(self.values[rows], self.which[rows], counted)


def _effective(copies: np.ndarray, each: np.ndarray) -> np.ndarray:
    """Return copies times numbers, which then sum to Kish's effective number of rows.

    Weights that sum to S, of squares that sum to Q, are about as good as S² / Q equal ones.
    """
    total = copies * each
    square = total @ each
    return total * (total.sum() / square) if square > 0 else total
