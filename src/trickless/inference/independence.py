"""Test whether X and Y are independent: the test of Gretton et al. (2007), in linear time.

A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schölkopf and A. Smola, "A kernel statistical test
of independence", NIPS 2007, with features of drawn neurons instead of kernels (Q. Zhang, S.
Filippi, A. Gretton and D. Sejdinovic, "Large-scale kernel methods for independence testing",
Statistics and Computing 28, 2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trickless.arrays.threads import linear_algebra, map_blocks, row_blocks, worth_products
from trickless.errors import InvalidValueError
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
    check_rows,
    n_rows,
)
from trickless.inference.sketch import directions
from trickless.neurons import Neurons

#: Permutations that a thread computes together, and rows that it gathers at a time.
_TOGETHER, _ROWS = 16, 4096


def hsic_test(
    X: Any,
    Y: Any,
    neurons_x: Neurons | str = "gaussian",
    neurons_y: Neurons | str = "gaussian",
    n_neurons: int = 500,
    *,
    method: str = "permutation",
    n_permutations: int = 999,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> KernelTestResult:
    r"""Test whether X and Y are independent, by covariances of random features.

    A small p-value says that X and Y depend on each other. With the default neurons, the test can
    find any kind of dependence, including dependence without correlation, and you do not need to
    know a kernel. Each of the two families may be for data frames ("tabular", "trees"), for images
    (:class:`~trickless.neurons.Patches`), or your own.

    The statistic is an unbiased estimate of the Hilbert-Schmidt independence criterion [1]_

    .. math:: \mathrm{HSIC} = \big\| \mathrm{Cov}(z(x), z(y)) \big\|_F^2

    of random features z [2]_. Their inner products estimate the kernels of the two families, whose
    neurons are drawn independently. With centred features, :math:`a_i = |z(x_i)|^2` and :math:`b_i
    = |z(y_i)|^2`, the statistic is

    .. math:: \frac1{n (n - 3)} \Big( \big\| \sum_i z(x_i) z(y_i)^\top \big\|_F^2
        - \frac n{n - 2} \sum_i a_i b_i + \frac{\sum_i a_i \sum_i b_i}{(n - 1)(n - 2)} \Big),

    which is the U-statistic of the estimated kernels [3]_. It takes time linear in the number of
    rows.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features_x)
        First part of the rows. There must be at least 4 rows.
    Y : array, CSR matrix or data frame of shape (n_rows, n_features_y)
        Second part of the rows. Row i of Y belongs to row i of X.
    neurons_x : Neurons or str, default="gaussian"
        Family of neurons for X, or the name of one; see :mod:`trickless.neurons`.
        ``length_scale="auto"`` is the median distance between rows. Families that need targets
        ("auto", ``length_scale="relevance"``) raise an error.
    neurons_y : Neurons or str, default="gaussian"
        Family of neurons for Y, or the name of one.
    n_neurons : int, default=500
        Number of neurons to draw of each family. More neurons estimate the kernels more closely,
        and take more time.
    method : {"permutation", "asymptotic"}, default="permutation"
        How to compute the p-value. "permutation" pairs the rows of X and Y at random, many times.
        Its level is exact for any data, number of rows and families. "asymptotic" is faster. It
        uses the limit of the statistic for independent X and Y [2]_, which is a weighted sum of
        chi-squares

        .. math:: \frac1n \sum_{k, l} \lambda_k \mu_l (\chi^2_{kl} - 1),

        with the eigenvalues :math:`\lambda_k, \mu_l` of the covariance matrices of the features.
        They are scaled so that the variance is exactly the variance over all permutations.
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
        If a family does not accept the rows, or X and Y have different numbers of rows.

    See Also
    --------
    mmd_test : Test whether two samples have the same distribution.
    RandomFeatures : Random features for other learners.

    Notes
    -----
    With many random features, permutations use a compressed version of them. The p-value stays
    exact, but the test may find less.

    In detail, the time of a permutation is in proportion to the rows times the pairs of columns. If
    a side has more than 128 columns of random features, permutations therefore use fewer columns:
    16 to 64 principal directions, and as many random combinations of the other directions, which
    keep the expectation of the statistic. The p-value compares permutations with the statistic of
    the same columns, while the ``statistic`` of the result uses all columns. The level stays exact,
    because the choice of columns does not depend on which rows are paired. The test loses power if
    64 directions hold little of the variance, as with rough kernels of many features.

    The standard error is the root of

    .. math:: \frac4n \mathrm{Var}\big( z(x)^\top C z(y) \big) + \frac{2 \|\Sigma_X\|_F^2
        \|\Sigma_Y\|_F^2}{n (n - 3)},

    Here :math:`\Sigma_X` and :math:`\Sigma_Y` are the covariance matrices of the features, and C is
    the cross-covariance between x and y. The first term is estimated from the rows. Since this
    estimate counts the second term twice, the second term is subtracted once. The second term is
    exactly the variance over all permutations.

    Memory holds a panel of rows at a time, or all features if they take at most 256 MiB. It also
    holds matrices as large as the square of the number of columns, and 256 numbers for each row for
    permutations. A tree has up to 16 columns, so use ``n_neurons=100`` for trees.

    References
    ----------
    .. [1] A. Gretton, O. Bousquet, A. Smola and B. Schölkopf, "Measuring statistical dependence
       with Hilbert-Schmidt norms", ALT 2005; the test: A. Gretton, K. Fukumizu, C. H. Teo, L. Song,
       B. Schölkopf and A. Smola, "A kernel statistical test of independence", NIPS 2007.
    .. [2] Q. Zhang, S. Filippi, A. Gretton and D. Sejdinovic, "Large-scale kernel methods for
       independence testing", Statistics and Computing 28, 2018.
    .. [3] L. Song, A. Smola, A. Gretton, J. Bedo and K. Borgwardt, "Feature selection via
       dependence maximization", JMLR 13, 2012, equation (4).

    Examples
    --------
    Dependence without correlation, of a number and a category:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from trickless import hsic_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 1))
    >>> Y = pd.DataFrame({"town": np.where(abs(X[:, 0]) + rng.random(300) > 1.2, "Paris", "Rome")})
    >>> hsic_test(X, Y, neurons_y="tabular", random_state=0).pvalue
    0.001
    >>> Y = Y.sample(frac=1, random_state=0)
    >>> bool(hsic_test(X, Y, neurons_y="tabular", random_state=0).pvalue > 0.05)
    True
    """
    owner = "hsic_test"
    check_options(
        owner, n_neurons=n_neurons, method=method, n_permutations=n_permutations, n_jobs=n_jobs
    )
    family_x = check_neurons(owner, "neurons_x", neurons_x)
    family_y = check_neurons(owner, "neurons_y", neurons_y)
    seed = as_seed(random_state)
    of_x, of_y = generator(seed, Purpose.BLOCKS).integers(2**63, size=2).tolist()
    with linear_algebra(n_jobs), np.errstate(over="ignore", invalid="ignore"):
        reader_x = Reader(owner, "neurons_x", family_x, n_neurons, of_x, n_jobs)
        reader_y = Reader(owner, "neurons_y", family_y, n_neurons, of_y, n_jobs)
        X, Y = reader_x.sample("X", X), reader_y.sample("Y", Y)
        _check_pairs(owner, n_rows(X), n_rows(Y))
        rows_x, rows_y = reader_x("X", X), reader_y("Y", Y)
        n_columns = reader_x.n_columns + reader_y.n_columns
        x = Sample(reader_x, rows_x, n_columns)
        y = Sample(reader_y, rows_y, n_columns)
        sums = _Sums(x, y, n_jobs)
        along = sums.along()
        n, spread = x.n_rows, float(4 * along.var(ddof=1) / x.n_rows)
        statistic, variance = sums.statistic(), sums.variance()
        check_finite_statistic(owner, statistic, spread, variance)
        if not (x.varies(sums.a) and y.varies(sums.b)):
            statistic = variance = spread = 0.0
            pvalue = 1.0
        elif method == "permutation":
            given, permuted = _permuted(*sums.fewer(seed), n_permutations, seed, n_jobs)
            pvalue = share_at_least(permuted, given, sums.a.mean() * sums.b.mean() / n)
        else:
            weights = np.outer(eigenvalues(sums.of_x), eigenvalues(sums.of_y)).ravel()
            pvalue = upper_tail(weights, variance, statistic)
    error, n_drawn = standard_error(spread, variance), n_permutations * (method == "permutation")
    return KernelTestResult(owner, statistic, error, pvalue, method, n, n_neurons, n_drawn or None)


def _check_pairs(owner: str, of_x: int, of_y: int) -> None:
    if of_x != of_y:
        raise InvalidValueError(
            f"{owner}: X has {of_x:,} rows, but Y has {of_y:,}",
            "pass one row of Y for each "
            "row of X, in the same order; to compare two samples, use mmd_test",
        )
    check_rows(owner, "X", of_x, 4)


class _Sums:
    """Sums of products of centred features over the pairs of rows.

    ``cross`` sums z(x) z(y)ᵀ, ``of_x`` sums z(x) z(x)ᵀ, and ``of_y`` sums z(y) z(y)ᵀ. Each row has
    its squared norm of z(x) in ``a``, and of z(y) in ``b``.
    """

    def __init__(self, x: Sample, y: Sample, n_jobs: Any) -> None:
        self._x, self._y = x, y
        self.cross = np.zeros((x.n_columns, y.n_columns))
        self.of_x, self.of_y = (np.zeros((s.n_columns, s.n_columns)) for s in (x, y))
        self.a, self.b = np.empty(x.n_rows), np.empty(x.n_rows)
        for where, Zx, Zy in self._panels():
            add_product(self.cross, Zx, Zy, n_jobs)
            add_product(self.of_x, Zx, Zx, n_jobs)
            add_product(self.of_y, Zy, Zy, n_jobs)
            self.a[where], self.b[where] = row_squares(Zx), row_squares(Zy)

    def statistic(self) -> float:
        return float(unbiased(squared_norm(self.cross), self.a, self.b, self.a @ self.b))

    def variance(self) -> float:
        """Compute the variance of the estimate over all permutations of the rows of Y."""
        n = self._x.n_rows
        of_x = unbiased(squared_norm(self.of_x), self.a, self.a, self.a @ self.a)
        of_y = unbiased(squared_norm(self.of_y), self.b, self.b, self.b @ self.b)
        return float(2 * max(of_x, 0) * max(of_y, 0) / (n * (n - 3)))

    def along(self) -> np.ndarray:
        """Compute z(x)ᵀ C z(y) of each row, with the cross-covariance matrix C."""
        along, C = np.empty(self._x.n_rows), self.cross / self._x.n_rows
        for where, Zx, Zy in self._panels():
            along[where] = np.einsum("ij,ij->i", Zx @ C, Zy)
        return along

    def fewer(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Compute features with fewer columns, for X and for Y."""
        W = directions(self.of_x, generator(seed, Purpose.SKETCH, 0))
        V = directions(self.of_y, generator(seed, Purpose.SKETCH, 1))
        A, B = (np.empty((self._x.n_rows, each.shape[1])) for each in (W, V))
        for where, Zx, Zy in self._panels():
            A[where], B[where] = Zx @ W, Zy @ V
        return A, B

    def _panels(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        return zip(self._x.panels, self._x, self._y, strict=True)


def _permuted(
    A: np.ndarray, B: np.ndarray, n_permutations: int, seed: int, n_jobs: Any
) -> tuple[float, np.ndarray]:
    """Compute HSIC of the rows of A and B as they are paired, and of random pairs."""
    n, a, b = len(A), row_squares(A), row_squares(B)

    def paired(order: np.ndarray) -> float:
        cross = np.zeros((A.shape[1], B.shape[1]))
        for rows in row_blocks(n, _ROWS):
            cross += A[rows].T @ B[order[rows]]
        return float(unbiased(squared_norm(cross), a, b, a @ b[order]))

    def several(start: int) -> list[float]:
        rng = generator(seed, Purpose.PERMUTATIONS, start)
        return [paired(rng.permutation(n)) for _ in range(min(_TOGETHER, n_permutations - start))]

    jobs = worth_products(n_jobs, n_permutations * A.size * B.shape[1])
    permuted = map_blocks(several, list(range(0, n_permutations, _TOGETHER)), jobs)
    with linear_algebra(1):
        return paired(np.arange(n)), np.concatenate(permuted)
