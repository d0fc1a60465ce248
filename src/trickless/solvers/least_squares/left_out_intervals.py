"""Intervals of new targets, from rows that are left out one by one without a refit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trickless.conformal.full import full_conformal
from trickless.conformal.jackknife import jackknife_plus
from trickless.conformal.unseen import relative
from trickless.solvers.least_squares.left_out import LeftOut

#: Makes intervals (n_new, 2) from predictions of new rows, K between them and the rows (n_new,
#: n_rows) and K of themselves (n_new,), the rows, with one output, and how many times larger the
#: noise is at the new rows than at the rows.
Rule = Callable[[np.ndarray, np.ndarray, np.ndarray, LeftOut, np.ndarray | float], np.ndarray]


class JackknifePlus(NamedTuple):
    """Quantiles of the predictions without each row, plus and minus the error at that row."""

    confidence: float
    choices: int

    def __call__(
        self,
        f: np.ndarray,
        of_old: np.ndarray,
        of_new: np.ndarray,
        rows: LeftOut,
        scales: np.ndarray | float = 1.0,
    ) -> np.ndarray:
        errors = rows.targets - rows.decisions
        without = f[:, None] - of_old * (rows.share * errors)
        weight = relative(rows.unseen().weight)
        return jackknife_plus(without, errors * scales, self.confidence, weight, self.choices)


class FullConformal(NamedTuple):
    """Targets with which the new row, learned as well, is not among those with largest errors."""

    confidence: float
    choices: int

    def __call__(
        self,
        f: np.ndarray,
        of_old: np.ndarray,
        of_new: np.ndarray,
        rows: LeftOut,
        scales: np.ndarray | float = 1.0,
    ) -> np.ndarray:
        share = float(rows.copies @ rows.share / rows.copies.sum())  # of the new row
        slopes = of_old * (share / (1 + share * of_new))[:, None]
        left = rows.left + rows.share * slopes * of_old
        residuals = rows.left * (rows.targets - rows.decisions)
        weight = relative(rows.unseen().weight)
        how: Any = {"weight": weight, "choices": self.choices}
        return full_conformal(f, residuals, slopes, left, self.confidence, scales, **how)
