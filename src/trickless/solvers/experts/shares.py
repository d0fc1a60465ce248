"""Weights of experts by how well they predicted, with a share that all of them get again.

After each row, the weight of an expert is multiplied by the probability density that it gave to the
target, and then all experts share a small part of the weights equally, so that an expert that
becomes good is found again (M. Herbster and M. K. Warmuth, "Tracking the best expert", Machine
Learning 32, 1998; for Gaussian processes of random features, D. Waxman and P. M. Djurić, "Dynamic
online ensembles of basis expansions", TMLR 2024).
"""

from __future__ import annotations

import numpy as np

from trickless.arrays.stated import Stated, check_array, check_count

#: The share of the weights that is given to all experts equally after each row.
SHARE = 0.01
#: The most entries of the history.
_MOST_ENTRIES = 512


class Shares(Stated):
    """Weights of experts, for each of several outputs, and how they came about.

    Attributes
    ----------
    weights : array of shape (n_experts, n_outputs)
        They sum to 1 for each output.
    counts : array of shape (n_entries,)
    means : array of shape (n_entries, n_experts)
        History: numbers of rows, and the mean weights before these rows, over the outputs.
    """

    def __init__(self, n_experts: int, n_outputs: int) -> None:
        self.weights = np.full((n_experts, n_outputs), 1 / n_experts)
        self.counts = np.zeros(0)
        self.means = np.zeros((0, n_experts))
        self.per_entry = 1

    def check_state(self) -> None:
        check_array("weights", self.weights, "f8", (None, None), 0)
        check_array("counts", self.counts, "f8", (None,), 0)
        check_array("means", self.means, "f8", (len(self.counts), len(self.weights)), 0)
        check_count("per_entry", self.per_entry, 1)

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
        each = SHARE / density.shape[1]
        for i, of_row in enumerate(density):
            before[i] = weights
            weights = weights * of_row
            weights *= (1 - SHARE) / weights.sum(axis=0)
            weights += each
        later = object.__new__(Shares)
        later.weights = weights
        later._write(self, before.mean(axis=2))
        return later, before

    def _write(self, earlier: Shares, rows: np.ndarray) -> None:
        """Add rows to the history. If it becomes too long, merge neighbours."""
        counts: list[float] = earlier.counts.tolist()
        means, most = list(earlier.means), earlier.per_entry
        for row in rows:
            if counts and counts[-1] < most:
                means[-1] = means[-1] + (row - means[-1]) / (counts[-1] + 1)
                counts[-1] += 1
                continue
            if len(counts) == _MOST_ENTRIES:
                means = [(a + b) / 2 for a, b in zip(means[::2], means[1::2], strict=True)]
                counts, most = [2.0 * most] * len(means), 2 * most
            counts.append(1.0)
            means.append(row)
        self.counts, self.means, self.per_entry = np.array(counts), np.array(means), most
