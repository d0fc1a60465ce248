"""Online learning with a kernel that is only observed with noise.

The discussion of Livni et al. 2017 points out that Algorithm 1 needs no neurons. Unbiased estimates
of k(x, x') are enough, such as the frequencies of measurements on a quantum computer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.states import in_one_state
from trickless.docstrings import documented
from trickless.errors import InvalidValueError
from trickless.functions.certificate import check_probability
from trickless.learners.base import store
from trickless.learners.online import (
    Y_RANGE,
    OnlineClassifier,
    OnlineLearner,
    OnlineRegressor,
    SupportLearner,
    schedule_of,
)
from trickless.rules import NONE, anything, either, integer, positive
from trickless.solvers.rounds.estimates import Noisy
from trickless.theory import hoeffding_radius


class _NoisyKernel(SupportLearner):
    r"""Algorithm 1 with unbiased estimates of the kernel.

    Parameters
    ----------
    estimate : callable
        The noisy kernel. ``estimate(X, Y, rng)`` returns an array of shape (len(X), len(Y)). It
        holds independent unbiased estimates of k(x, x') for every row x of X and x' of Y. Rows of
        more dimensions, such as images, are flattened for it. Take all randomness from ``rng``, a
        numpy.random.Generator. Rows of Y may repeat, and their estimates must be independent, too.
    n_samples : int, default=512
        Each learned row uses at most this many estimates of the kernel, one for each support point.
        If there are more support points, some are sampled.
    kernel_bound : float, default=1.0
        The largest k(x, x), which limits the steps.
    estimate_bound : float or None, default=None
        The largest possible absolute value of an estimate, such as 1 for frequencies.
        ``schedule="theorem"`` and :meth:`certify` need it. An estimate beyond it raises a
        ValueError.
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        How steps decay. "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t. Their steps
        never exceed ``1 / (2 * kernel_bound_)``, nor what the noise of the estimates allows.
        "constant" uses a ``step_size`` given as a number, without these limits. "theorem" uses the
        step of Theorem 1 for ``horizon`` rounds of one row. Each round makes as many estimates as
        its guarantee needs with estimates up to ``estimate_bound``. "theorem-fixed" makes as many
        in every round as the paper prints for the worst case.
    batch_size : int or "auto", default="auto"
        Number of rows learned at once. 1 is the paper's algorithm. "auto" is the largest size for
        which ``batch_size * step * kernel_bound_`` is at most 1. A batch is also no larger than
        all rows before it together, or 2 at first.
    max_support : int or None, default=None
        The largest number of support points to keep. The points of the current batch come on top.
        If there are more, an unbiased compression replaces them by fewer. See
        :class:`ShrinkingGradientRegressor`. None keeps every row.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows and of the generators given to ``estimate``. The same integer
        gives the same model.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that are passed to the kernel.

    Attributes
    ----------
    kernel_bound_ : float
        The largest k(x, x).
    noise_variance_ : float
        Variance of an estimate of the kernel, the largest measured along the stream. It is measured
        on pairs of 32 rows of the first batch. It is measured again, with support points, whenever
        the number of rounds has doubled.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Algorithm 1 and the discussion.
    """

    estimate: Any
    n_samples: int
    kernel_bound: float
    estimate_bound: float | None

    _fixed = ("kernel_bound", *OnlineLearner._fixed)
    _rules = OnlineLearner._rules | {
        "estimate": anything(
            "a function of (X, Y, rng)",
            "estimate=lambda X, Y, rng: ... returns an array of shape (len(X), len(Y))",
            callable,
        ),
        "n_samples": integer(1, "n_samples=512 estimates a row is the default"),
        "kernel_bound": positive("kernel_bound=1.0 suits a kernel with k(x, x) = 1"),
        "estimate_bound": either(
            positive("estimate_bound=1.0 suits frequencies, and None sets no bound"), NONE
        ),
    }

    def __init__(
        self,
        estimate: Any,
        *,
        n_samples: int = 512,
        kernel_bound: float = 1.0,
        estimate_bound: float | None = None,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
    ) -> None:
        store(self, locals())

    def _see(self, X: Any, targets: np.ndarray, first: bool) -> None:
        """Measure the noise that the steps have to allow for."""
        self.estimates_.measure(X, self.rounds_)

    @property
    def estimates_(self) -> Noisy:
        """The estimates that rounds use, with the current parameters."""
        return Noisy(
            self.estimate, schedule_of(self), self.n_samples, self.kernel_bound, self.estimate_bound
        )

    @property
    def noise_variance_(self) -> float:
        """Variance of an estimate of the kernel, the largest measured along the stream."""
        check_is_fitted(self)
        return self.rounds_.measured.variance

    @property
    def kernel_bound_(self) -> float:
        """The largest k(x, x)."""
        check_is_fitted(self)
        return float(self.kernel_bound)

    @in_one_state
    def certify(self, confidence: float = 0.95) -> np.ndarray:
        r"""Bound how far the noise of the estimates may move a prediction.

        A prediction is a sum of fresh estimates, one for each support point. By Hoeffding's
        inequality it is within :math:`b \|\alpha\|_2 \sqrt{2 \log(2 / \delta)}` of the prediction
        by the exact kernel, where b is ``estimate_bound`` and δ is 1 − ``confidence``.

        Parameters
        ----------
        confidence : float, default=0.95
            The probability that a prediction is within the bound, for each prediction by itself.

        Returns
        -------
        array of shape (n_outputs,)
            The bound, in the units of y for a regressor, and of decision values for a classifier.

        Raises
        ------
        ValueError
            If ``estimate_bound`` is None.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        check_probability(owner, "confidence", confidence)
        if self.estimate_bound is None:
            raise InvalidValueError(
                f"{owner}: certify with estimate_bound=None, but the bound depends on how large an "
                "estimate may be",
                "estimate_bound=1.0 for frequencies; else the largest absolute estimate",
            )
        length = self.estimate_bound * np.linalg.norm(self.dual_coef_, axis=0)
        radius: np.ndarray = self.targets_.differences(hoeffding_radius(1, length, 1 - confidence))
        return radius

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # rows go to the user's function as they come
        tags.input_tags.three_d_array = True  # which become flat rows
        tags.non_deterministic = True  # the noise at a row depends on the rows beside it
        return tags


@documented
class NoisyKernelRegressor(OnlineRegressor, _NoisyKernel):
    r"""Online regression with a kernel that is observed with noise.

    Learns :math:`f = \sum_i \alpha_i k(x_i, \cdot)` by the rounds of
    :class:`ShrinkingGradientRegressor`. Instead of neurons, it uses a function that returns
    unbiased noisy estimates of k(x, x'). Each round makes fresh estimates, so the noise averages
    out over the rounds, as in any stochastic gradient. The guarantee only needs estimates that are
    unbiased and bounded.

    Rows are learned in mini-batches, small enough for the sum of their steps to be stable. A step
    turns the noise of an estimate into coefficients, whose noise could grow from round to round, so
    steps decay faster where estimates are noisy.

    This learner is for streams, and holds no matrix. If all rows fit in memory, ridge regression on
    a matrix of estimates needs fewer estimates for the same error.

    A prediction makes one fresh estimate for each support point. Their noise adds
    :math:`\sum_i \alpha_i^2 \mathrm{var}(\hat k(x_i, x))` to its variance. The same rows, passed
    together, get the same predictions every time.

    Raises
    ------
    ValueError
        If ``estimate`` returns an array of another shape or values that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from trickless import NoisyKernelRegressor
    >>> def shots(X, Y, rng):
    ...     return rng.binomial(10, rbf_kernel(X, Y)) / 10
    >>> X = np.random.default_rng(0).uniform(-2, 2, (500, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = NoisyKernelRegressor(shots, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    """

    _fixed = (*_NoisyKernel._fixed, "y_range")
    _rules = _NoisyKernel._rules | {"y_range": Y_RANGE}

    def __init__(
        self,
        estimate: Any,
        *,
        n_samples: int = 512,
        kernel_bound: float = 1.0,
        estimate_bound: float | None = None,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        shuffle: bool = True,
        y_range: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
    ) -> None:
        store(self, locals())


@documented
class NoisyKernelClassifier(OnlineClassifier, _NoisyKernel):
    """Online classification with a kernel that is observed with noise.

    Learns each class against the rest, by the squared loss of targets ±1. It uses a function that
    returns unbiased noisy estimates of k(x, x'). See :class:`NoisyKernelRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from trickless import NoisyKernelClassifier
    >>> def shots(X, Y, rng):
    ...     return rng.binomial(10, rbf_kernel(X, Y, gamma=1e-3)) / 10
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NoisyKernelClassifier(shots, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.8)
    True
    """
