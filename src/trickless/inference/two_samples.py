"""Test whether two samples have one distribution: the test of Gretton et al. (2012).

A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf and A. Smola, "A kernel two-sample test",
JMLR 13, 2012, with features of drawn neurons instead of the kernel (J. Zhao and D. Meng, "FastMMD",
Neural Computation 27, 2015). It takes linear time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from trickless.arrays.threads import linear_algebra, map_blocks, row_blocks, worth_products
from trickless.functions.stream import Purpose, as_seed, generator
from trickless.inference.chi_squares import upper_tail
from trickless.inference.covariances import (
    add_product,
    eigenvalues,
    row_squares,
    squared_norm,
    unbiased,
)
from trickless.inference.result import KernelTestResult, share_at_least, standard_error
from trickless.inference.samples import (
    Reader,
    Sample,
    check_finite_statistic,
    check_neurons,
    check_options,
)
from trickless.neurons import Neurons

#: Permutations that a thread computes together, and the most values of their sums that are held.
_TOGETHER, _SUMS = 128, 2**25


def mmd_test(
    X: Any,
    Y: Any,
    neurons: Neurons | str = "gaussian",
    n_neurons: int = 500,
    *,
    method: str = "permutation",
    n_permutations: int = 999,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> KernelTestResult:
    r"""Test whether two samples have the same distribution, by means of random features.

    A small p-value says that the distributions differ. With the default neurons, the test can find
    any difference, not only of means or variances, and you do not need to know a kernel. It works
    with every family: on data frames ("tabular", "trees"), on images
    (:class:`~trickless.neurons.Patches`), and with your own neurons.

    The statistic is an unbiased estimate of the squared maximum mean discrepancy [1]_

    .. math:: \mathrm{MMD}^2 = \| E \, z(x) - E \, z(y) \|^2

    of random features z [2]_, whose inner products estimate the kernel of the family. With m rows
    of X, n rows of Y, and means :math:`\bar z_X, \bar z_Y`, the statistic is

    .. math:: \frac{m^2 \|\bar z_X\|^2 - \sum_i \|z(x_i)\|^2}{m (m - 1)}
        + \frac{n^2 \|\bar z_Y\|^2 - \sum_j \|z(y_j)\|^2}{n (n - 1)}
        - 2 \bar z_X \cdot \bar z_Y,

    which is the U-statistic of the estimated kernel. It takes time linear in the number of rows.
    The family is fitted once, to the rows of both samples in random order.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (m, n_features)
        First sample, with at least 2 rows.
    Y : array, CSR matrix or data frame of shape (n, n_features)
        Second sample, with at least 2 rows and the same columns.
    neurons : Neurons or str, default="gaussian"
        Family of neurons, or the name of one; see :mod:`trickless.neurons`. ``length_scale="auto"``
        is the median distance between rows. Families that need targets ("auto",
        ``length_scale="relevance"``) raise an error.
    n_neurons : int, default=500
        Number of neurons to draw. More neurons estimate the kernel more closely, and take more
        time.
    method : {"permutation", "asymptotic"}, default="permutation"
        How to compute the p-value. "permutation" assigns the rows to two samples at random, many
        times. Its level is exact for any data, number of rows and family. "asymptotic" is faster.
        It uses the limit of the statistic for equal distributions [1]_, which is a weighted sum of
        chi-squares

        .. math:: \Big(\frac1m + \frac1n\Big) \sum_l \lambda_l (\chi^2_l - 1),

        with the eigenvalues :math:`\lambda_l` of the covariance matrix of the features [3]_. They
        are scaled so that the variance is exactly the variance over all permutations.
    n_permutations : int, default=999
        Number of permutations. If k of them reach the statistic, the p-value is (1 + k) / (1 +
        ``n_permutations``). Not used if ``method="asymptotic"``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons and the permutations. Pass an int for reproducible results.
    n_jobs : int or None, default=None
        Number of threads. None uses as many threads as NumPy's linear algebra, often all cores.
        -1 uses all cores. The result does not depend on it.

    Returns
    -------
    KernelTestResult
        The result, with ``statistic``, ``standard_error`` and ``pvalue``.

    Raises
    ------
    TypeError, ValueError
        If the family does not accept the rows, or the samples have different columns.

    See Also
    --------
    hsic_test : Test whether two parts of the rows are independent.
    RandomFeatures : Random features for other learners.

    Notes
    -----
    For one draw of neurons, the statistic has the variance

    .. math:: \frac{4 \delta^\top \Sigma_X \delta}m + \frac{4 \delta^\top \Sigma_Y \delta}n
        + \frac{2 \|\Sigma_X\|_F^2}{m (m - 1)} + \frac{2 \|\Sigma_Y\|_F^2}{n (n - 1)}
        + \frac{4 \langle \Sigma_X, \Sigma_Y \rangle}{m n}

    with the difference :math:`\delta` of the means and the covariance matrices :math:`\Sigma`. The
    standard error is its root. The first two terms are estimated from the rows. Since this estimate
    counts the other terms twice, they are subtracted once. The other terms are computed as if the
    distributions were equal.

    Memory holds a panel of rows at a time, or all features if they take at most 256 MiB. The
    permutations take ``n_permutations`` multiplications for each value of the random features.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf and A. Smola, "A kernel two-sample
       test", JMLR 13, 2012; Lemma 6 and Theorem 12.
    .. [2] J. Zhao and D. Meng, "FastMMD: ensemble of circular discrepancy for efficient two-sample
       test", Neural Computation 27(6), 2015.
    .. [3] A. Gretton, K. Fukumizu, Z. Harchaoui and B. K. Sriperumbudur, "A fast, consistent kernel
       two-sample test", NIPS 2009.

    Examples
    --------
    Two samples with the same mean and variance:

    >>> import numpy as np
    >>> from trickless import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((500, 1)), rng.laplace(0, 0.5**0.5, (400, 1))
    >>> result = mmd_test(X, Y, random_state=0)
    >>> result  # doctest: +ELLIPSIS
    <mmd_test: statistic 0.01... ± 0.005..., pvalue 0.001 (999 permutations); 500 and 400 rows, ...
    >>> result.pvalue
    0.001
    >>> bool(mmd_test(X[:250], X[250:], random_state=0).pvalue > 0.05)
    True
    """
    owner = "mmd_test"
    check_options(
        owner, n_neurons=n_neurons, method=method, n_permutations=n_permutations, n_jobs=n_jobs
    )
    family, seed = check_neurons(owner, "neurons", neurons), as_seed(random_state)
    with linear_algebra(n_jobs), np.errstate(over="ignore", invalid="ignore"):
        reader = Reader(owner, "neurons", family, n_neurons, seed, n_jobs)
        rows, m = reader.pooled(X, Y)
        sample = Sample(reader, rows, reader.n_columns, n_first=m)
        n = sample.n_rows - m
        if method == "permutation":
            permuted, squares, along = _permuted(sample, n_permutations, seed, n_jobs)
        else:
            covariance, squares, along = _covariance(sample, n_jobs)
        statistic = float(_unbiased(sample.first @ sample.first, squares[:m].sum(), squares, m))
        spread = 4 * along[:m].var(ddof=1) / m + 4 * along[m:].var(ddof=1) / n
        check_finite_statistic(owner, statistic, spread)
        if not sample.varies(squares):
            statistic = variance = spread = 0.0
            pvalue = 1.0
        elif method == "permutation":
            variance = float((permuted**2).mean())
            pvalue = share_at_least(permuted, statistic, squares.mean() * (1 / m + 1 / n))
        else:
            variance = _variance(covariance, squares, m)
            pvalue = upper_tail(eigenvalues(covariance), variance, statistic)
    error, n_drawn = standard_error(spread, variance), n_permutations * (method == "permutation")
    return KernelTestResult(
        owner, statistic, error, pvalue, method, (m, n), n_neurons, n_drawn or None
    )


def _unbiased(square: Any, own: Any, squares: np.ndarray, m: int) -> Any:
    """Estimate MMD² between m rows and the others, from features with mean 0 over all rows.

    ``squares`` has the squared norm of each row, and ``own`` is its sum over the m rows. ``square``
    is the squared norm of the sum of the m rows.
    """
    n = len(squares) - m
    own_of_others = squares.sum() - own
    # The sum over the others is that over the m rows with the opposite sign.
    return (
        (square - own) / (m * (m - 1))
        + (square - own_of_others) / (n * (n - 1))
        + (2 * square / (m * n))
    )


def _variance(covariance: np.ndarray, squares: np.ndarray, m: int) -> float:
    """Compute the variance of MMD² over all ways to choose m rows, from sums over all rows."""
    n = len(squares) - m
    total = unbiased(squared_norm(covariance), squares, squares, squares @ squares)
    return float(2 * max(total, 0) * (1 / (m * (m - 1)) + 1 / (n * (n - 1)) + 2 / (m * n)))


def _permuted(
    sample: Sample, n_permutations: int, seed: int, n_jobs: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute MMD² for random labels, and the results of ``_go_through`` for each row."""
    permuted = np.empty(n_permutations)
    for group in row_blocks(n_permutations, max(_TOGETHER, _SUMS // sample.n_columns)):
        draws = [
            _Labels(
                sample, generator(seed, Purpose.PERMUTATIONS, i), min(_TOGETHER, group.stop - i)
            )
            for i in range(group.start, group.stop, _TOGETHER)
        ]
        squares, along = _go_through(sample, partial(_add_to_each, draws, n_jobs))
        permuted[group] = np.concatenate([labels.statistics(squares) for labels in draws])
    return permuted, squares, along


def _add_to_each(
    draws: list[_Labels], n_jobs: Any, panel: int, Z: np.ndarray, squares: np.ndarray
) -> None:
    jobs = worth_products(n_jobs, Z.size * _TOGETHER * len(draws))
    map_blocks(lambda labels: labels.add(panel, Z, squares), draws, jobs)


class _Labels:
    """Several random labellings of all rows, and sums over the rows with the first label.

    The number of rows of each panel with the first label is drawn at the beginning, and which rows
    these are is drawn when the panel comes, so no permutation has to be kept.
    """

    def __init__(self, sample: Sample, rng: np.random.Generator, n: int) -> None:
        self._m, self._rng = sample.n_first, rng
        sizes = [panel.stop - panel.start for panel in sample.panels]
        self._counts = rng.multivariate_hypergeometric(sizes, self._m, n, method="marginals")
        self._sums, self._own = np.zeros((n, sample.n_columns)), np.zeros(n)

    def add(self, panel: int, Z: np.ndarray, squares: np.ndarray) -> None:
        """Draw the labels of the rows of a panel, and add up its rows."""
        first = np.arange(len(Z)) < self._counts[:, panel, None]
        labels = self._rng.permuted(first, axis=1).astype(np.float64)
        self._sums += labels @ Z
        self._own += labels @ squares

    def statistics(self, squares: np.ndarray) -> np.ndarray:
        return _unbiased(row_squares(self._sums), self._own, squares, self._m)


def _covariance(sample: Sample, n_jobs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum products of the columns, and return the results of ``_go_through`` for each row."""
    total = np.zeros((sample.n_columns, sample.n_columns))
    squares, along = _go_through(sample, lambda _, Z, __: add_product(total, Z, Z, n_jobs))
    return total, squares, along


def _go_through(
    sample: Sample, use: Callable[[int, np.ndarray, np.ndarray], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute squared norms of the rows, and project them on the difference of the means.

    ``use`` receives the index, the features and the squared norms of each panel.
    """
    squares, along = np.empty(sample.n_rows), np.empty(sample.n_rows)
    difference = sample.first * (1 / sample.n_first + 1 / (sample.n_rows - sample.n_first))
    for panel, (where, Z) in enumerate(zip(sample.panels, sample, strict=True)):
        squares[where] = row_squares(Z)
        along[where] = Z @ difference
        use(panel, Z, squares[where])
    return squares, along
