"""Variances of the noise of several machines, from how well each predicted the rows so far."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from trickless._arrays.stated import Array, Stated

#: How many rows the variance that is assumed at first counts for.
_PRIOR = 1.0
#: The least variance, as a share of that of the targets.
_LEAST = 1e-12


class NoiseVariances(Stated):
    """Faded means of squared errors over their relative variances, one for each machine.

    Parameters
    ----------
    rates : array of shape (n_machines,)
        Half-lives of each machine that pass in a unit of time.
    n_outputs : int
    """

    rates: Annotated[np.ndarray, Array("f8", "n_machines", least=0)]
    count: Annotated[np.ndarray, Array("f8", "n_machines", least=0)]
    squares: Annotated[np.ndarray, Array("f8", "n_machines", None, least=0)]

    def __init__(self, rates: np.ndarray, n_outputs: int) -> None:
        self.rates = rates
        self.count = np.zeros(len(rates))
        self.squares = np.zeros((len(rates), n_outputs))

    def with_outputs(self, source: np.ndarray) -> NoiseVariances:
        """Return the noise of other outputs, each of which follows from an earlier one."""
        other = NoiseVariances(self.rates, 0)
        other.count, other.squares = self.count, self.squares[:, source]
        return other

    def after(
        self, ages: np.ndarray, squares: np.ndarray, first: np.ndarray
    ) -> tuple[NoiseVariances, np.ndarray, np.ndarray]:
        """Return the noise after some rows, and the variances and freedom before each of them.

        Parameters
        ----------
        ages : array of shape (n_rows,)
            Time that has passed between the present state and each row.
        squares : array of shape (n_machines, n_rows, n_outputs)
            Squared errors over their relative variances.
        first : array of shape (n_rows, n_outputs)
            Variances that are assumed at first, as known before each row.
        """
        since = ages[:, None] - ages
        kept = np.exp2(-self.rates[:, None, None] * np.maximum(since, 0)) * (np.tri(len(ages)) > 0)
        fade = np.exp2(-np.outer(self.rates, ages))
        before = kept - np.eye(len(ages))
        count = fade * self.count[:, None] + before.sum(axis=2)
        sums = fade[:, :, None] * self.squares[:, None] + before @ squares
        variances = (_PRIOR * first + sums) / (_PRIOR + count[:, :, None])
        later = NoiseVariances(self.rates, 0)
        later.count = count[:, -1] + 1.0
        later.squares = sums[:, -1] + squares[:, -1]
        return later, np.maximum(variances, _LEAST * first), _PRIOR + count
