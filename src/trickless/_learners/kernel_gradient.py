"""The rounds of Algorithm 1 with a kernel that is given, exactly or with noise.

The discussion of Livni et al. 2017 points out that Algorithm 1 needs no neurons. Unbiased estimates
of k(x, x') are enough, such as the frequencies of measurements on a quantum computer. Exact values
are those without noise, with which the rounds are NORMA (Kivinen, Smola and Williamson 2004) with
the squared loss and no regularisation.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.likes import RandomStateLike
from trickless._arrays.stated import Amount
from trickless._arrays.states import in_one_state
from trickless._docstrings import documented, pages
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._functions.certificate import check_probability
from trickless._functions.exact_kernel import ExactKernel
from trickless._learners import refusals
from trickless._learners.base import store
from trickless._learners.classifier import Classifier, partial_fit_labels
from trickless._learners.online import (
    Y_RANGE,
    OnlineLearner,
    range_of,
    schedule_of,
    y_range_,
)
from trickless._learners.regressor import Regressor, partial_fit_numbers
from trickless._rules import AUTO, NONE, anything, either, integer, positive
from trickless._solvers.rounds.estimates import Exact, Noisy
from trickless._solvers.rounds.measured import Noise
from trickless.theory.concentration import hoeffding_radius

#: Names of scikit-learn's kernels, and those that take sparse rows.
KERNELS = "cosine", "laplacian", "linear", "poly", "polynomial", "rbf", "sigmoid"
_OF_SPARSE = "rbf", "linear", "poly", "sigmoid", "cosine"


class KernelGradient(OnlineLearner):
    r"""Algorithm 1 with a kernel that is given.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of a kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`: "rbf",
        "laplacian", "linear", "poly", "sigmoid" or "cosine". Or a function ``kernel(X, Y, rng)``
        that returns an array of shape (len(X), len(Y)). It holds independent unbiased estimates of
        k(x, x'), also where rows of Y repeat. Take all randomness from ``rng``, a
        numpy.random.Generator. Rows of more dimensions, such as images, are flattened. With a
        kernel that is named, the algorithm is NORMA [2]_ for the squared loss, without
        regularisation.
    kernel_params : dict or None, default=None
        Parameters of a kernel that is named, such as ``{"gamma": 0.5}``.
    n_draws : int, default=512
        The most values of a function that each learned row uses. If there are more support points,
        some are sampled. A kernel that is named uses all.
    kernel_bound : float or "auto", default="auto"
        The largest k(x, x), which limits the steps. "auto" is 1 for a function. For a kernel that
        is named it is the largest of the first batch, and a later row that exceeds it raises a
        ValueError.
    estimate_bound : float or None, default=None
        The largest absolute value of an estimate, such as 1 for frequencies. For a function,
        ``schedule="theorem"`` and :meth:`certify` need it. An estimate beyond it raises a
        ValueError.
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        How steps decay. "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t. Their steps
        never exceed ``1 / (2 * kernel_bound_)``, nor what the noise of the estimates allows.
        "constant" uses a ``step_size`` given as a number, without these limits. "theorem" uses the
        step of Theorem 1 for ``horizon`` rounds of one row, with as many estimates as its guarantee
        needs. "theorem-fixed" makes as many as the paper prints for the worst case.
    step_size : float or "auto", default="auto"
        The step :math:`\eta`. "auto", for the schedules "sqrt" and "inverse", is ``norm_bound / 2``
        divided by ``kernel_bound_``.
    batch_size : int or "auto", default="auto"
        Number of rows learned at once. 1 is the paper's algorithm [1]_. "auto" keeps
        ``batch_size * step * kernel_bound_`` at 1 or less.
    max_support : int or None, default=None
        The largest number of support points to keep, besides those of the current batch. Beyond it,
        they are replaced by fewer: as in :class:`~trickless.ShrinkingGradientRegressor` for a
        kernel that is named, and for a function by half of ``max_support`` at random, so that f
        keeps its expectation. None keeps every row.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows, of the compression, and of the generators given to ``kernel``.
        The same integer gives the same model.

    Attributes
    ----------
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points :math:`x_i`.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients :math:`\alpha_i`, for targets in [-1, 1].
    kernel_bound_ : float
        The largest k(x, x).
    noise_variance_ : float
        Variance of an estimate of the kernel, the largest measured along the stream. It is 0 for a
        kernel that is named.
    regret_ : array of shape (n, 2)
        Rounds, and the regret up to them, for a kernel that is named. See
        :class:`~trickless.ShrinkingGradientRegressor`.
    regret_bound_ : array of shape (n,) or None
        An upper bound of the expected regret, or None if none is known. See
        :class:`~trickless.ShrinkingGradientRegressor`.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Algorithm 1 and the discussion.
    .. [2] J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE
       Transactions on Signal Processing 52(8), 2004.
    """

    _doc_link_template = pages("trickless.kernels")
    kernel: Any
    kernel_params: dict[str, Any] | None
    n_draws: int
    kernel_bound: float | str
    estimate_bound: float | None
    kernel_bound_: Amount

    _fixed: ClassVar[tuple[str, ...]] = ("kernel", "kernel_params")
    _refusals = refusals.KERNEL
    _rules = OnlineLearner._rules | {
        "kernel": anything(
            f"a function of (X, Y, rng) or one of {', '.join(KERNELS)}",
            "kernel='rbf' is the Gaussian kernel",
            lambda v: callable(v) or (isinstance(v, str) and v in KERNELS),
        ),
        "kernel_params": either(
            anything("a dictionary", "kernel_params={'gamma': 0.5}", lambda v: isinstance(v, dict)),
            NONE,
        ),
        "n_draws": integer(1, "n_draws=512 estimates a row is the default"),
        "kernel_bound": either(positive("kernel_bound=1.0 is for kernels with k(x, x) = 1"), AUTO),
        "estimate_bound": either(
            positive("estimate_bound=1.0 suits frequencies, and None sets no bound"), NONE
        ),
    }

    _constants = OnlineLearner._constants | {"dtype": "float64"}
    _measures = Noise

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        n_draws: int = 512,
        kernel_bound: float | str = "auto",
        estimate_bound: float | None = None,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        store(self, locals())

    def _see(self, X: Any, targets: np.ndarray, first: bool) -> None:
        """Measure what limits the steps: k(x, x), or the noise of a function."""
        owner = type(self).__name__
        if first:
            _check_kernel(owner, self.kernel, self.kernel_params)
        if not isinstance(self.kernel, str):
            self.kernel_bound_ = 1.0 if self.kernel_bound == "auto" else float(self.kernel_bound)
            self.estimates_.measure(X, self._rounds_)
            return
        diagonal = self.kernel_.diagonal(X)
        if first:
            auto = isinstance(self.kernel_bound, str)
            self.kernel_bound_ = float(diagonal.max() if auto else self.kernel_bound)
        _check_bound(owner, diagonal, self.kernel_bound_)

    @property
    @in_one_state
    def kernel_(self) -> ExactKernel:
        """The kernel that the model was begun with, if it was named."""
        name, params = self._fixed_["kernel"], self._fixed_["kernel_params"]
        return ExactKernel(name, params, type(self).__name__, self.n_jobs)

    @property
    def estimates_(self) -> Any:
        """The values that rounds use, with the current parameters."""
        if isinstance(kernel := self._fixed_["kernel"], str):
            return Exact(self.kernel_, self.kernel_bound_)
        bounds = self.kernel_bound_, self.estimate_bound
        return Noisy(kernel, schedule_of(self), self.n_draws, *bounds)

    @property
    def support_vectors_(self) -> Any:
        """Support points, shape (t, n_features)."""
        check_is_fitted(self)
        return self._rounds_.rows

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients that predict, shape (t, n_outputs)."""
        check_is_fitted(self)
        return self._rounds_.alpha(self.average)

    @property
    def noise_variance_(self) -> float:
        """Variance of an estimate of the kernel, the largest measured along the stream."""
        check_is_fitted(self)
        measured: Any = self._rounds_.measured
        return 0.0 if measured is None else measured.variance

    @in_one_state
    def certify(self, confidence: float = 0.9) -> np.ndarray:
        r"""Bound how far the noise of the estimates may move a prediction.

        A prediction is a sum of fresh estimates, one for each support point. By Hoeffding's
        inequality it is within :math:`b \|\alpha\|_2 \sqrt{2 \log(2 / \delta)}` of the prediction
        by the exact kernel, where b is ``estimate_bound`` and δ is 1 − ``confidence``. The bound is
        0 for a kernel that is named.

        Parameters
        ----------
        confidence : float, default=0.9
            The probability that a prediction is within the bound, for each prediction by itself.

        Returns
        -------
        array of shape (n_outputs,)
            The bound, in the units of y for a regressor, and of decision values for a classifier.

        Raises
        ------
        ValueError
            If the kernel is a function and ``estimate_bound`` is None.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        check_probability(owner, "confidence", confidence)
        if isinstance(self.kernel, str):
            return np.zeros(self.dual_coef_.shape[1])
        assert self.estimate_bound is not None
        length = self.estimate_bound * np.linalg.norm(self.dual_coef_, axis=0)
        radius: np.ndarray = self._targets_.differences(hoeffding_radius(1, length, 1 - confidence))
        return radius

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = callable(self.kernel) or self.kernel in _OF_SPARSE
        tags.input_tags.three_d_array = True  # which become flat rows
        tags.non_deterministic = callable(self.kernel)  # its noise depends on the rows of a call
        return tags


def _check_kernel(owner: str, kernel: Any, params: dict[str, Any] | None) -> None:
    """Raise an error for what does not go with a kernel."""
    if isinstance(kernel, BaseEstimator):
        raise InvalidTypeError(
            f"{owner}: kernel={kernel!r} is a family of neurons, not a kernel",
            "ShrinkingGradient, which learns from neurons; or the name of a kernel, such as "
            "kernel='rbf' with kernel_params={'gamma': 0.5}",
        )
    known: list[str] = []
    if isinstance(kernel, str):
        function = sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS[kernel]
        known = list(signature(function).parameters)[2:]
    unknown = [name for name in params or {} if name not in known]
    if unknown:
        raise InvalidValueError(
            f"{owner}: kernel_params={params!r}, but kernel={kernel!r} has no parameter "
            f"{unknown[0]!r}",
            f"it takes {', '.join(known) or 'none'}",
        )


def _check_bound(owner: str, diagonal: np.ndarray, bound: float) -> None:
    """Raise an error if k(x, x) exceeds the bound that sets the size of the steps."""
    if bound <= 0:
        raise InvalidValueError(
            f"{owner}: the kernel gives k(x, x) = 0 for every row of the first batch, but the "
            "largest must be positive, since the steps depend on it",
            "another kernel, or other kernel_params",
        )
    if diagonal.max() > bound * (1 + 1e-6):
        row = int(diagonal.argmax())
        raise InvalidValueError(
            f"{owner}: k(x, x) is {diagonal[row]:g} for row {row}, above the kernel_bound of "
            f"{bound:g} that the steps depend on",
            f"kernel_bound={diagonal[row]:.3g} from the start, or a kernel with k(x, x) = 1",
        )


@documented
class KernelGradientRegressor(Regressor, KernelGradient):
    r"""Online regression with a kernel that is given, exactly or with noise.

    Learns :math:`f = \sum_i \alpha_i k(x_i, \cdot)` by the rounds of
    :class:`~trickless.ShrinkingGradientRegressor`. Instead of neurons, it uses a kernel that is
    named, or a function that returns unbiased noisy estimates of k(x, x'). With a kernel that is
    named, predictions are exact.

    With a function, a prediction makes one fresh estimate for each support point. Their noise adds
    :math:`\sum_i \alpha_i^2 \mathrm{var}(\hat k(x_i, x))` to its variance. The same rows, passed
    together, get the same predictions every time. See :doc:`/explanation/shrinking-gradient`.

    Attributes
    ----------
    y_range_ : tuple of (array, array)
        Lower and upper ends of the targets' range, each of shape (n_outputs,).

    Raises
    ------
    ValueError
        If ``kernel`` returns an array of another shape or values that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.kernels import KernelGradientRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, (500, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = KernelGradientRegressor(kernel_params={"gamma": 1.0}, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    _fixed = (*KernelGradient._fixed, "y_range")
    _rules = KernelGradient._rules | {"y_range": Y_RANGE}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        n_draws: int = 512,
        kernel_bound: float | str = "auto",
        estimate_bound: float | None = None,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        y_range: Any = "auto",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        store(self, locals())

    partial_fit = partial_fit_numbers
    _new_targets = range_of
    y_range_ = property(y_range_)


@documented
class KernelGradientClassifier(Classifier, KernelGradient):
    """Online classification with a kernel that is given, exactly or with noise.

    Learns each class against the rest, by the squared loss of targets ±1. See
    :class:`KernelGradientRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless.kernels import KernelGradientClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelGradientClassifier(kernel_params={"gamma": 1e-3}, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85)
    True
    """

    partial_fit = partial_fit_labels
