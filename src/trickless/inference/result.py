"""Results of tests of hypotheses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Statistics count as equal if they differ by at most this, in units of their scale.
_EQUAL = 1e-11


@dataclass(frozen=True, repr=False)
class KernelTestResult:
    """Result of :func:`~trickless.mmd_test` or :func:`~trickless.hsic_test`.

    Attributes
    ----------
    name : str
        Name of the test.
    statistic : float
        Unbiased estimate of MMD² or HSIC. It is about 0 if the hypothesis holds, and may be below
        0.
    standard_error : float
        Standard deviation of the statistic over samples of these sizes, for the drawn neurons,
        estimated from the rows. If the hypothesis holds or nearly holds, it was measured to be
        about 30 % too large. See the guide :doc:`/guides/test-hypotheses`.
    pvalue : float
        Probability of a statistic at least as large, if the hypothesis holds. Reject the hypothesis
        if it is small, for example below 0.05.
    method : {"permutation", "asymptotic"}
        How the p-value was computed.
    n_rows : int or tuple of two int
        Number of rows of each sample, or number of pairs.
    n_neurons : int
        Number of neurons that were drawn of each family.
    n_permutations : int or None
        Number of permutations. None for an asymptotic p-value.
    """

    name: str
    statistic: float
    standard_error: float
    pvalue: float
    method: str
    n_rows: int | tuple[int, int]
    n_neurons: int
    n_permutations: int | None

    def __repr__(self) -> str:
        if self.n_permutations is None:
            how = self.method
        else:
            how = f"{self.n_permutations:,} permutation{'s' * (self.n_permutations > 1)}"
        rows = self.n_rows if isinstance(self.n_rows, tuple) else (self.n_rows,)
        return (
            f"<{self.name}: statistic {self.statistic:.4g} ± {self.standard_error:.2g}, "
            f"pvalue {self.pvalue:.3g} ({how}); {' and '.join(f'{n:,}' for n in rows)} rows, "
            f"{self.n_neurons:,} neurons>"
        )


def share_at_least(permuted: np.ndarray, statistic: float, scale: float) -> float:
    """Compute the p-value of a statistic among permutations, of which it counts as one.

    Statistics that differ by rounding are equal. ``scale`` is the size of the terms of their sums.
    """
    return (1 + number_at_least(permuted, statistic, scale)) / (1 + len(permuted))


def number_at_least(permuted: np.ndarray, statistic: float, scale: float) -> int:
    """Count the permutations that reach a statistic; see ``share_at_least``."""
    return int((permuted >= statistic - _EQUAL * scale).sum())


def standard_error(spread: float, variance: float) -> float:
    """Compute the standard error of a statistic.

    ``spread`` is 4 times the estimated variance of its projection on one row, divided by the number
    of rows. ``variance`` is the variance of the statistic if the hypothesis holds. ``spread``
    counts it twice, because the projection uses an estimate.
    """
    return float(np.sqrt(max(spread - variance, variance)))
