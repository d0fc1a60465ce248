"""Intervals of new targets, from rows that are left out one by one without a refit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from trickless._solvers.least_squares.left_out import LeftOut
from trickless.conformal.full import full_conformal
from trickless.conformal.jackknife import jackknife_plus


class NewRows(NamedTuple):
    """New rows beside those that are left out.

    Attributes
    ----------
    f : array of shape (n_new,)
        Their predictions.
    of_old : array of shape (n_new, n_rows)
        K between them and the rows that are left out.
    of_own : array of shape (n_new,)
        K of each with itself.
    """

    f: np.ndarray
    of_old: np.ndarray
    of_own: np.ndarray


#: Makes intervals (n_new, 2) of new rows from rows that are left out, with one output.
Rule = Callable[[NewRows, LeftOut], np.ndarray]


class JackknifePlus(NamedTuple):
    """Quantiles of the predictions without each row, plus and minus the error at that row."""

    confidence: float
    counts: np.ndarray | None
    choices: int

    def __call__(self, new: NewRows, rows: LeftOut) -> np.ndarray:
        errors = rows.targets - rows.decisions
        without = new.f[:, None] - new.of_old * (rows.share * errors)
        how = self.confidence, self.counts, self.choices
        return jackknife_plus(without, errors, *how)


class FullConformal(NamedTuple):
    """Targets with which the new row, learned as well, is not among those with largest errors."""

    confidence: float
    counts: np.ndarray | None
    choices: int

    def __call__(self, new: NewRows, rows: LeftOut) -> np.ndarray:
        share = float(rows.copies @ rows.share / rows.n_effective)  # of the new row
        slopes = new.of_old * (share / (1 + share * new.of_own))[:, None]
        left = rows.left + rows.share * slopes * new.of_old
        residuals = rows.left * (rows.targets - rows.decisions)
        how = self.confidence, self.counts, self.choices
        return full_conformal(new.f, residuals, slopes, left, *how)
