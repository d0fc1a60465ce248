r"""The test that both tests are: whether centred features of two sides depend on each other.

Rows of two samples have one distribution if and only if they do not depend on the label that says
which sample a row comes from. The test of two samples is therefore the test of independence with
the label as the other side. With m rows of one sample, n of the other, and N = m + n, the unbiased
estimates are proportional,

.. math:: \mathrm{MMD}^2 = \frac{N (N - 1) (N - 2) (N - 3)}{m (m - 1)\, n (n - 1)}\, \mathrm{HSIC},

since both are linear in the squared norm of the sum over the first sample and in the sum of squared
norms there, with one ratio, and average to 0 over all labellings. A permutation of the labels
assigns the rows to samples at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trickless._arrays.threads import map_blocks, row_blocks, worth_products
from trickless._errors import InvalidValueError
from trickless._functions.stream import Purpose, generator
from trickless.inference.chi_squares import upper_tail
from trickless.inference.covariances import FEW, principal, row_squares, sketched, unbiased

#: Values of the features of a panel of rows, and the most values of features that are kept.
_PANEL_VALUES, _KEPT_VALUES = 2**22, 2**25
#: Features vary if their variance is above this share of the square of their mean.
_ROUNDING = 1e-28
#: Columns that a thread permutes together, and rows that it gathers.
_COLUMNS, _ROWS = 64, 4096
#: Permutations whose statistics tell their variance.
_MANY = 99
#: Statistics count as equal if they differ by at most this, in units of their scale.
_EQUAL = 1e-11


@dataclass(frozen=True, repr=False)
class KernelTestResult:
    """Result of :func:`~trickless.inference.mmd_test` or :func:`~trickless.inference.hsic_test`.

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
        about 30% too large. See the guide :doc:`/guides/test-hypotheses`.
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
        how, n = self.method, self.n_permutations
        if n is not None:
            how = f"{n:,} permutation{'s' * (n > 1)}"
        rows = " and ".join(f"{n:,}" for n in np.atleast_1d(self.n_rows))
        return (
            f"<{self.name}: statistic {self.statistic:.4g} ± {self.standard_error:.2g}, pvalue "
            f"{self.pvalue:.3g} ({how}); {rows} rows, {self.n_neurons:,} neurons>"
        )


class Sample:
    """Centred features of rows, a panel of rows at a time.

    They are kept in memory if they are small, and otherwise recomputed for each pass. ``mean`` is
    what is subtracted.
    """

    def __init__(self, features: Callable[[slice], np.ndarray], n_rows: int, n_columns: int):
        self.n_rows, self.n_columns = n_rows, n_columns
        self.panels = row_blocks(n_rows, max(1, _PANEL_VALUES // n_columns))
        if n_rows * n_columns <= _KEPT_VALUES:
            features = np.concatenate(list(map(features, self.panels))).__getitem__
        self._features = features
        self.mean = sum(features(where).sum(axis=0) for where in self.panels) / n_rows

    def __getitem__(self, where: slice) -> np.ndarray:
        return self._features(where) - self.mean

    def along(self, W: np.ndarray | None) -> np.ndarray:
        """Return the features of all rows, along fewer directions."""
        parts = (self[where] if W is None else self[where] @ W for where in self.panels)
        return np.concatenate(list(parts))

    def varies(self, squares: np.ndarray) -> bool:
        """Return whether features with these squared norms vary by more than rounding."""
        return bool(squares.mean() > _ROUNDING * (self.mean @ self.mean))


def dependence_test(
    owner: str,
    x: Sample,
    y: Sample,
    n_neurons: int,
    method: str,
    n_permutations: int,
    seed: int,
    n_jobs: Any,
    n_first: int | None = None,
) -> KernelTestResult:
    """Test whether features of two sides are independent.

    If y is a label, ``n_first`` rows have the first one, and the result is in units of MMD².
    """
    n, is_permuted = x.n_rows, method == "permutation"
    cross, of_x, of_y = (
        np.zeros((one.n_columns, other.n_columns)) for one, other in ((x, y), (x, x), (y, y))
    )
    a, b, along = np.empty((3, n))
    # The most columns in permutations, for time and memory.
    few = [max(FEW, min(FEW**2 // z.n_columns, _KEPT_VALUES // n)) for z in (y, x)]
    # Enough permutations of a label say what the products of many columns of x would say.
    is_sampled = is_permuted and n_permutations >= _MANY
    is_sampled = is_sampled and y.n_columns == 1 and x.n_columns <= few[0]
    panels = max(x.panels, y.panels, key=len)
    for where in panels:
        Zx, Zy = x[where], y[where]
        cross += Zx.T @ Zy
        of_y += Zy.T @ Zy
        if not is_sampled:
            of_x += Zx.T @ Zx
        a[where], b[where] = row_squares(Zx), row_squares(Zy)
    for where in panels:
        along[where] = np.einsum("ij,ij->i", x[where] @ (cross / n), y[where])
    statistic = float(unbiased(np.vdot(cross, cross), a, b, a @ b))
    # 4 times the variance of the projection of the statistic on one row, within each sample.
    parts = np.split(along, [] if n_first is None else [n_first])
    spread = float(4 * sum(len(part) * part.var(ddof=1) for part in parts) / n**2)
    variance = variance_of_permutations(of_x, of_y, a, b)
    if not np.isfinite((statistic, spread, variance)).all():
        raise too_large(owner)
    if not (x.varies(a) and y.varies(b)):
        statistic, variance, spread, pvalue = 0.0, 0.0, 0.0, 1.0
    elif is_permuted:
        A, B = (
            z.along(sketched(*principal(of_z), most, rng) if z.n_columns > most else None)
            for i, (z, of_z, most) in enumerate(((x, of_x, few[0]), (y, of_y, few[1])))
            for rng in [generator(seed, Purpose.SKETCH, i)]
        )
        given, permuted = _permuted(A, B, n_permutations, seed, n_jobs)
        variance = float((permuted**2).mean()) if is_sampled else variance
        reaching = number_at_least(permuted, given, a.mean() * b.mean() / n)
        pvalue = (1 + reaching) / (1 + n_permutations)
    else:
        values = (np.maximum(np.linalg.eigvalsh(C), 0) for C in (of_x, of_y))
        pvalue = upper_tail(np.outer(*values).ravel(), variance, statistic)
    # The spread counts the variance under the hypothesis twice, since its projection is estimated.
    error = float(np.sqrt(max(spread - variance, variance)))
    n_drawn = n_permutations if is_permuted else None
    if n_first is None:
        return KernelTestResult(owner, statistic, error, pvalue, method, n, n_neurons, n_drawn)
    sizes = n_first, n - n_first
    statistic, error = (unit_of_mmd(*sizes) * value for value in (statistic, error))
    return KernelTestResult(owner, statistic, error, pvalue, method, sizes, n_neurons, n_drawn)


def too_large(owner: str) -> InvalidValueError:
    """Return the error for activations whose squares overflow."""
    return InvalidValueError(
        f"{owner}: squares of the activations are too large for double precision",
        "scale the columns (StandardScaler), or choose bounded neurons, such as 'gaussian'",
    )


def unit_of_mmd(m: int, n: int) -> float:
    """Compute MMD² of samples of these sizes, divided by HSIC of their rows and labels."""
    N = m + n
    return N * (N - 1) * (N - 2) * (N - 3) / (m * (m - 1) * n * (n - 1))


def variance_of_permutations(
    of_x: np.ndarray, of_y: np.ndarray, a: np.ndarray, b: np.ndarray
) -> float:
    """Compute the variance of the estimate of HSIC over all permutations of the rows of y."""
    n = len(a)
    x, y = (unbiased(np.vdot(C, C), each, each, each @ each) for C, each in ((of_x, a), (of_y, b)))
    return float(2 * max(x, 0) * max(y, 0) / (n * (n - 3)))


def number_at_least(permuted: np.ndarray, statistic: float, scale: float) -> int:
    """Count the permutations that reach a statistic, or differ from it by rounding.

    ``scale`` is the size of the terms of the sums.
    """
    return int((permuted >= statistic - _EQUAL * scale).sum())


def _permuted(
    A: np.ndarray, B: np.ndarray, n_permutations: int, seed: int, n_jobs: Any
) -> tuple[float, np.ndarray]:
    """Compute HSIC of the rows of A and B as they are paired, and of random pairs."""
    n, a, b = len(A), row_squares(A), row_squares(B)
    together = max(1, _COLUMNS // B.shape[1])

    def paired(orders: np.ndarray) -> np.ndarray:
        cross: Any = 0.0
        for rows in row_blocks(n, _ROWS):
            cross = cross + B[orders[rows]].reshape(len(A[rows]), -1).T @ A[rows]
        squares = row_squares(np.reshape(cross, (orders.shape[1], -1)))
        estimates: np.ndarray = unbiased(squares, a, b, a @ b[orders])
        return estimates

    def several(which: slice) -> np.ndarray:
        rng = generator(seed, Purpose.PERMUTATIONS, which.start)
        orders = [rng.permutation(n) for _ in range(which.start, which.stop)]
        return paired(np.stack(orders, axis=1))

    jobs = worth_products(n_jobs, n_permutations * A.size * B.shape[1])
    permuted = map_blocks(several, row_blocks(n_permutations, together), jobs)
    return float(paired(np.arange(n)[:, None])[0]), np.concatenate(permuted)
