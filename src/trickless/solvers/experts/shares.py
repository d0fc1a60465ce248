"""Weights of experts by how well they predicted, with a share that all of them get again.

After each row, the weight of an expert is multiplied by the probability density that it gave to the
target. Then all experts share a small part of the weights equally, so that an expert that becomes
good is found again (M. Herbster and M. K. Warmuth, "Tracking the best expert", Machine
Learning 32, 1998; for Gaussian processes of random features, D. Waxman and P. M. Djurić, "Dynamic
online ensembles of basis expansions", TMLR 2024).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from trickless.arrays.stated import Array, Count, Size, Stated, check_count

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
    means : array of shape (n_entries, n_experts)
        History: mean weights before each ``per_entry`` rows, over the outputs.
    last : array of shape (n_experts,)
        The same for the last rows, ``n_last`` in number, which are fewer.
    """

    weights: Annotated[np.ndarray, Array("f8", "n_experts", None, least=0)]
    means: Annotated[np.ndarray, Array("f8", None, "n_experts", least=0)]
    per_entry: Size
    last: Annotated[np.ndarray, Array("f8", "n_experts", least=0)]
    n_last: Count

    def __init__(self, n_experts: int, n_outputs: int) -> None:
        self.weights = np.full((n_experts, n_outputs), 1 / n_experts)
        self.means = np.zeros((0, n_experts))
        self.per_entry = 1
        self.last, self.n_last = np.zeros(n_experts), 0

    def check_state(self) -> None:
        check_count("n_last", self.n_last, 0, self.per_entry - 1)

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
        later = object.__new__(Shares)
        later.weights = weights
        later._write(self, before.mean(axis=2))
        return later, before

    def _write(self, earlier: Shares, rows: np.ndarray) -> None:
        """Add rows to the history. If it becomes too long, merge neighbours."""
        self.means, self.per_entry = earlier.means, earlier.per_entry
        self.last, self.n_last = earlier.last, earlier.n_last
        closed = []
        for row in rows:
            self.last = self.last + (row - self.last) / (self.n_last + 1)
            self.n_last += 1
            if self.n_last < self.per_entry:
                continue
            closed.append(self.last)
            self.n_last = 0
            if len(self.means) + len(closed) == _MOST_ENTRIES:
                means = np.concatenate([self.means, closed])
                self.means, closed = (means[::2] + means[1::2]) / 2, []
                self.per_entry *= 2
        if closed:
            self.means = np.concatenate([self.means, closed])

    def history(self) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of rows, and mean weights before these rows, over the outputs."""
        counts = self.per_entry * np.arange(1, len(self.means) + 1)
        if not self.n_last:
            return counts, self.means
        return (
            np.append(counts, len(self.means) * self.per_entry + self.n_last),
            np.concatenate([self.means, self.last[None]]),
        )
