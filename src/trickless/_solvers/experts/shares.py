"""Weights of experts by how well they predicted, with a share that all of them get again.

After each row, the weight of an expert is multiplied by the probability density that it gave to the
target. Then all experts share a small part of the weights equally, so that an expert that becomes
good is found again (M. Herbster and M. K. Warmuth, "Tracking the best expert", Machine
Learning 32, 1998; for Gaussian processes of random features, D. Waxman and P. M. Djurić, "Dynamic
online ensembles of basis expansions", TMLR 2024).
"""

from __future__ import annotations

from copy import copy
from typing import Annotated

import numpy as np

from trickless._arrays.stated import Array, Count, Size, Stated, check_same

#: The share of the weights that is given to all experts equally after each row.
SHARE = 0.01
#: The most entries of the history.
_MOST_ENTRIES = 512


def fixed_share(
    weights: np.ndarray, factors: np.ndarray, prior: np.ndarray, n_rows: float = 1.0
) -> np.ndarray:
    """Return the weights of experts after a row, shape (n_experts, ...).

    ``factors`` are e.g. the probabilities that each expert gave to the target. ``prior`` is where
    the share goes, and ``n_rows`` what part of a row the target counts as.
    """
    share = SHARE * n_rows
    weights = weights * (factors if n_rows == 1 else factors**n_rows)  # loss update
    weights *= (1 - share) / weights.sum(axis=0)
    weights += share * prior  # share update
    return weights


class Shares(Stated):
    """Weights of experts, for each of several outputs, and how they came about.

    Attributes
    ----------
    weights : array of shape (n_experts, n_outputs)
        They sum to 1 for each output.
    n_rows : int
    total : array of shape (n_experts,)
        Sums over all rows of the weights before each, which are means over the outputs.
    every, totals : int, array of shape (n_entries, n_experts)
        History: ``total`` after each so many rows.
    """

    weights: Annotated[np.ndarray, Array("f8", "n_experts", None, least=0)]
    n_rows: Count
    total: Annotated[np.ndarray, Array("f8", "n_experts", least=0)]
    every: Size
    totals: Annotated[np.ndarray, Array("f8", None, "n_experts", least=0)]

    def __init__(self, n_experts: int, n_outputs: int) -> None:
        self.weights = np.full((n_experts, n_outputs), 1 / n_experts)
        self.n_rows, self.total = 0, np.zeros(n_experts)
        self.every, self.totals = 1, np.zeros((0, n_experts))

    def check_state(self) -> None:
        check_same("entries of totals", len(self.totals), self.n_rows // self.every)

    def after(self, scores: np.ndarray) -> tuple[Shares, np.ndarray]:
        """Return the weights after some rows, and those before each row.

        Parameters
        ----------
        scores : array of shape (n_rows, n_experts, n_outputs)
            Logarithms of the density that each expert gave to the target, before it knew it.

        Returns
        -------
        later : Shares
        weights : array of shape (n_rows, n_experts, n_outputs)
        """
        density = np.exp(scores - scores.max(axis=1, keepdims=True))
        before, weights = np.empty_like(density), self.weights
        prior = np.full((density.shape[1], 1), 1 / density.shape[1])
        for i, of_row in enumerate(density):
            before[i] = weights
            weights = fixed_share(weights, of_row, prior)
        later = copy(self)
        later.weights = weights
        later._write(before.mean(axis=2))
        return later, before

    def _write(self, rows: np.ndarray) -> None:
        """Add rows to the history. If it becomes too long, keep every second entry."""
        n = self.n_rows + np.arange(1, len(rows) + 1)
        totals = self.total + np.cumsum(rows, axis=0)
        self.n_rows, self.total = int(n[-1]), totals[-1]
        self.totals = np.concatenate([self.totals, totals[n % self.every == 0]])
        while len(self.totals) >= _MOST_ENTRIES:
            self.totals, self.every = self.totals[1::2], 2 * self.every

    def history(self) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of rows, and mean weights before these rows, over the outputs."""
        counts, totals = self.every * np.arange(1, len(self.totals) + 1), self.totals
        if self.n_rows % self.every:
            counts, totals = np.append(counts, self.n_rows), np.vstack([totals, self.total])
        passed = np.diff(counts, prepend=0)[:, None]
        return counts, np.diff(totals, axis=0, prepend=0.0) / passed
