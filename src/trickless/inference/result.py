"""What a test of a hypothesis tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Statistics count as equal if they differ by so little, in units of their rounding.
_EQUAL = 1e-11


@dataclass(frozen=True, repr=False)
class KernelTestResult:
    """The result of :func:`~trickless.mmd_test` or :func:`~trickless.hsic_test`.

    Attributes
    ----------
    name : str
        The test.
    statistic : float
        The unbiased estimate of MMD² or HSIC. It is about 0, or below, if the hypothesis holds.
    standard_error : float
        Standard deviation of the statistic over samples of these sizes, estimated from the rows,
        for the neurons that were drawn. If the hypothesis holds, or nearly, it is too large, by
        some 30 %.
    pvalue : float
        How probable so large a statistic is if the hypothesis holds.
    method : {"permutation", "asymptotic"}
        Where the p-value comes from.
    n_rows : int or tuple of two int
        Rows of both samples, or pairs.
    n_neurons : int
        Neurons that were drawn, of each family.
    n_permutations : int or None
        Permutations; None for an asymptotic p-value.
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
    """The p-value of a statistic among those of permutations, of which the given one is one.

    Statistics that differ by rounding are equal; ``scale`` is the size of what they are sums of.
    """
    return float((1 + (permuted >= statistic - _EQUAL * scale).sum()) / (1 + len(permuted)))


def standard_error(spread: float, variance: float) -> float:
    """The standard error of a statistic.

    ``spread`` is 4 times the estimated variance of its projection on one row, divided by the rows,
    and ``variance`` that of the statistic if the hypothesis holds. The first counts the second
    twice, since the projection is that on an estimate.
    """
    return float(np.sqrt(max(spread - variance, variance)))
