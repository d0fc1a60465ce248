"""Tests of equal distributions and of independence, by features of drawn neurons in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._arrays.likes import MatrixLike, RandomStateLike
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._functions.stream import Purpose, as_seed, generator
from trickless._rules import N_JOBS, check_value, choice, count, integer
from trickless.inference.dependence import KernelTestResult, Sample, dependence_test
from trickless.inference.features import pooled, random_features, sample, table
from trickless.neurons import Neurons

_RULES = {
    "n_neurons": count("n_neurons=500 is a good start"),
    "method": choice(
        "permutation",
        "asymptotic",
        remedy="method='permutation' has an exact level; 'asymptotic' draws no permutations",
    ),
    "n_permutations": integer(1, "n_permutations=999 gives p-values from 0.001 on", 2**31),
    "n_jobs": N_JOBS,
}
#: What the tests share.
_SHARED = """
Parameters
----------
n_neurons : int, default=500
    Number of neurons to draw, of each family if there are two. More neurons estimate the kernel
    more closely, and take more time.
method : {"permutation", "asymptotic"}, default="permutation"
    How to compute the p-value. "permutation" assigns the rows to two samples at random, or pairs
    the rows of X and Y at random, many times. Its level is exact for any data, number of rows and
    family. "asymptotic" is faster. It uses the limit of the statistic if the hypothesis holds,
    which is a weighted sum of chi-squares, with exactly the variance over all permutations.
n_permutations : int, default=999
    Number of permutations. If k of them reach the statistic, the p-value is (1 + k) / (1 +
    ``n_permutations``). Not used if ``method="asymptotic"``.
random_state : int, Generator, RandomState or None, default=None
    Seed of the neurons and the permutations. Pass an int for reproducible results.
n_jobs : int or None, default=None
    Number of threads. None uses as many threads as NumPy's linear algebra, often all cores.
    -1 uses all cores. The result depends on it by rounding only.

Returns
-------
KernelTestResult
    The result, with ``statistic``, ``standard_error`` and ``pvalue``.

Raises
------
TypeError, ValueError
    If a family does not accept the rows, or X and Y do not fit together.
"""


@completed_by(_SHARED)
def mmd_test(
    X: MatrixLike,
    Y: Any,
    neurons: Neurons | str = "gaussian",
    n_neurons: int = 500,
    *,
    method: str = "permutation",
    n_permutations: int = 999,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> KernelTestResult:
    r"""Test whether two samples have the same distribution, by means of random features.

    A small p-value says that the distributions differ. With the default neurons, the test can find
    any difference, not only of means or variances. The guide :doc:`/guides/test-hypotheses` says
    which family suits which rows, and what to report.

    The statistic is an unbiased estimate of the squared maximum mean discrepancy [1]_

    .. math:: \mathrm{MMD}^2 = \| E \, z(x) - E \, z(y) \|^2

    of random features z [2]_, whose inner products estimate the kernel of the family. It is the
    U-statistic of the estimated kernel, and takes time linear in the number of rows. The family is
    fitted once, to the rows of both samples in random order.

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

    See Also
    --------
    hsic_test : Test whether two parts of the rows are independent.
    :class:`~trickless.RandomFeatures` : Random features for other learners.

    Notes
    -----
    For equal distributions, the statistic has the limit [1]_

    .. math:: \Big(\frac1m + \frac1n\Big) \sum_l \lambda_l (\chi^2_l - 1),

    with the eigenvalues :math:`\lambda_l` of the covariance matrix of the features [3]_.

    The standard error is the root of the variance of the statistic for one draw of neurons. Its
    main term, from the projection of the U-statistic on one row, is estimated from the rows, and
    the rest is as for equal distributions.

    Features that take more than 256 MiB are recomputed for each pass, and permuted along fewer
    directions, as in :func:`~trickless.inference.hsic_test`. The asymptotic method, and fewer than
    99 permutations, also hold a matrix as large as the square of the number of columns.

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
    >>> from trickless.inference import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((500, 1)), rng.laplace(0, 0.5**0.5, (400, 1))
    >>> result = mmd_test(X, Y, random_state=0)
    >>> result  # doctest: +ELLIPSIS
    <mmd_test: statistic 0.01... ± 0.005..., pvalue 0.001 (999 permutations); 500 and 400 rows, ...
    >>> bool(mmd_test(X[:250], X[250:], random_state=0).pvalue > 0.05)
    True
    """
    owner, seed = "mmd_test", as_seed(random_state)
    _check(owner, n_neurons, method, n_permutations, n_jobs)
    with linear_algebra(n_jobs), np.errstate(over="ignore", invalid="ignore"):
        model = random_features(owner, neurons, n_neurons, seed, n_jobs)
        X, Y = table(owner, "X", model, X), table(owner, "Y", model, Y)
        x, m = sample(owner, "X and Y", model, pooled(owner, model, X, Y)), X.shape[0]
        label = (np.arange(x.n_rows) < m).astype(float)[:, None]
        y = Sample(label.__getitem__, x.n_rows, 1)
        return dependence_test(owner, x, y, n_neurons, method, n_permutations, seed, n_jobs, m)


@completed_by(_SHARED)
def hsic_test(
    X: MatrixLike,
    Y: Any,
    neurons_x: Neurons | str = "gaussian",
    neurons_y: Neurons | str = "gaussian",
    n_neurons: int = 500,
    *,
    method: str = "permutation",
    n_permutations: int = 999,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> KernelTestResult:
    r"""Test whether X and Y are independent, by covariances of random features.

    A small p-value says that X and Y depend on each other. With the default neurons, the test can
    find any kind of dependence, including dependence without correlation.

    The statistic is an unbiased estimate of the Hilbert-Schmidt independence criterion [1]_

    .. math:: \mathrm{HSIC} = \big\| \mathrm{Cov}(z(x), z(y)) \big\|_F^2

    of random features z [2]_, whose inner products estimate the kernels of the two families. It is
    the U-statistic of the estimated kernels [3]_ and takes time linear in the number of rows.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features_x)
        First part of the rows. There must be at least 4 rows.
    Y : array, CSR matrix or data frame of shape (n_rows, n_features_y)
        Second part of the rows. Row i of Y belongs to row i of X.
    neurons_x : Neurons or str, default="gaussian"
        Family of neurons for X, as in :func:`~trickless.inference.mmd_test`.
    neurons_y : Neurons or str, default="gaussian"
        Family of neurons for Y.

    See Also
    --------
    mmd_test : Test whether two samples have the same distribution.
    :class:`~trickless.RandomFeatures` : Random features for other learners.

    Notes
    -----
    For independent X and Y, the statistic has the limit [2]_

    .. math:: \frac1n \sum_{k, l} \lambda_k \mu_l (\chi^2_{kl} - 1),

    with the eigenvalues :math:`\lambda_k, \mu_l` of the covariance matrices of the features.

    Features of more than 128 columns are permuted along fewer directions: 16 to 64 principal ones,
    and as many random combinations of the others, which keep the expectation of the statistic. The
    level stays exact, because the choice does not depend on which rows are paired. The
    ``statistic`` of the result uses all columns.

    The standard error is the root of

    .. math:: \frac4n \mathrm{Var}\big( z(x)^\top C z(y) \big) + \frac{2 \|\Sigma_X\|_F^2
        \|\Sigma_Y\|_F^2}{n (n - 3)},

    with the covariance matrices :math:`\Sigma` of the features and their cross-covariance C. The
    first term is estimated from the rows. This estimate counts the second term twice, so the second
    term, which is exactly the variance over all permutations, is subtracted once.

    Memory holds at most 256 MiB of features, matrices as large as the square of the number of
    columns, and 256 numbers for each row. A tree has up to 16 columns, so use ``n_neurons=100``.

    References
    ----------
    .. [1] A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schölkopf and A. Smola, "A kernel
       statistical test of independence", NIPS 2007.
    .. [2] Q. Zhang, S. Filippi, A. Gretton and D. Sejdinovic, "Large-scale kernel methods for
       independence testing", Statistics and Computing 28, 2018.
    .. [3] L. Song, A. Smola, A. Gretton, J. Bedo and K. Borgwardt, "Feature selection via
       dependence maximization", JMLR 13, 2012, equation (4).

    Examples
    --------
    Dependence without correlation, of a number and a category:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from trickless.inference import hsic_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 1))
    >>> Y = pd.DataFrame({"town": np.where(abs(X[:, 0]) + rng.random(300) > 1.2, "Paris", "Rome")})
    >>> hsic_test(X, Y, neurons_y="tabular", random_state=0).pvalue
    0.001
    >>> Y = Y.sample(frac=1, random_state=0)
    >>> bool(hsic_test(X, Y, neurons_y="tabular", random_state=0).pvalue > 0.05)
    True
    """
    owner, seed = "hsic_test", as_seed(random_state)
    _check(owner, n_neurons, method, n_permutations, n_jobs)
    seeds = generator(seed, Purpose.BLOCKS).integers(2**63, size=2).tolist()
    with linear_algebra(n_jobs), np.errstate(over="ignore", invalid="ignore"):
        model = random_features(
            owner, neurons_x, n_neurons, seeds[0], n_jobs, parameter="neurons_x"
        )
        other = random_features(
            owner, neurons_y, n_neurons, seeds[1], n_jobs, parameter="neurons_y"
        )
        X, Y = table(owner, "X", model, X, 4), table(owner, "Y", other, Y, 4)
        if X.shape[0] != Y.shape[0]:
            raise InvalidValueError(
                f"{owner}: X has {X.shape[0]:,} rows, but Y has {Y.shape[0]:,}",
                "pass one row of Y for each row of X, in the same order; to compare two samples, "
                "use mmd_test",
            )
        x = sample(owner, "X", model, X, "neurons_x")
        y = sample(owner, "Y", other, Y, "neurons_y")
        return dependence_test(owner, x, y, n_neurons, method, n_permutations, seed, n_jobs)


def _check(owner: str, *values: Any) -> None:
    for (name, rule), value in zip(_RULES.items(), values, strict=True):
        check_value(owner, name, value, rule)
