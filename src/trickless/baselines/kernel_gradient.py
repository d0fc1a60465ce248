"""Online gradient descent with an exact kernel, to compare Shrinking Gradient with.

This is Algorithm 1 of Livni et al. 2017 (``solvers/rounds``) with the exact E_t = ⟨f_t, Φ(x_t)⟩. It
equals NORMA (Kivinen, Smola and Williamson 2004) with the squared loss and no regularisation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.errors import InvalidValueError
from trickless.learners.base import Classifier, partial_fit_labels, store
from trickless.learners.kernel_learner import KernelLearner
from trickless.learners.online import COMPRESSION, Y_RANGE, OnlineLearner, OnlineRegressor
from trickless.rules import choice, either, positive
from trickless.solvers.rounds.estimates import Exact


class _KernelGradient(OnlineLearner, KernelLearner):
    """Algorithm 1 with the exact kernel."""

    kernel_bound: float | str
    kernel_bound_: float

    _parts = (*KernelLearner._parts, "kernel_bound_", "rounds_")
    _rules = (
        OnlineLearner._rules
        | KernelLearner._rules
        | {
            "kernel_bound": either(
                positive("kernel_bound='auto' takes the largest k(x, x) of the first batch"),
                choice("auto", remedy=""),
            ),
            "compression": COMPRESSION,
        }
    )

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        kernel_bound: float | str = "auto",
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        compression: str = "projection",
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
    ) -> None:
        store(self, locals())

    def _see(self, X: Any, targets: np.ndarray, first: bool) -> None:
        """Raise an error if k(x, x) exceeds the bound that sets the size of the steps."""
        diagonal = self.kernel_.diagonal(X)
        if first:
            auto = isinstance(self.kernel_bound, str)
            self.kernel_bound_ = float(diagonal.max() if auto else self.kernel_bound)
        _check_bound(type(self).__name__, diagonal, self.kernel_bound_)

    @property
    def estimates_(self) -> Exact:
        """The values that rounds use: the expansion itself, with the current parameters."""
        return Exact(self.kernel_, self.kernel_bound_)

    @property
    def support_vectors_(self) -> Any:
        """Support points, shape (t, n_features)."""
        check_is_fitted(self)
        return self.rounds_.rows

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients that predict, shape (t, n_outputs)."""
        check_is_fitted(self)
        return self.rounds_.alpha(self.average)


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


class KernelGradientRegressor(OnlineRegressor, _KernelGradient):
    r"""Online regression with an exact kernel.

    Learns :math:`f = \sum_i \alpha_i k(x_i, \cdot)` by the rounds of
    :class:`ShrinkingGradientRegressor`, with exact predictions instead of estimates. Use it as a
    reference for Shrinking Gradient. A round needs as many kernel values as there are rows so far.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of one of scikit-learn's kernels, or a function of two rows that returns a number.
        See :func:`sklearn.metrics.pairwise.pairwise_kernels`. With "precomputed", X holds kernel
        values with the training rows: it is square in ``fit``.
    kernel_params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.5}``.
    kernel_bound : float or "auto", default="auto"
        The largest k(x, x), which limits the steps. "auto" takes the largest of the first batch. A
        later row that exceeds it raises a ValueError.
    norm_bound : float, default=10.0
        The norm B: the learner competes with functions of norm up to B, on targets scaled to
        [-1, 1].
    step_size : float or "auto", default="auto"
        The step :math:`\eta`. "auto" is ``norm_bound / 2``, for the schedules "sqrt" and "inverse".
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        How steps decay. "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t. Their steps
        never exceed ``1 / (2 * kernel_bound_)``. "constant" uses a ``step_size`` given as a number,
        without that limit. "theorem" uses the step of Theorem 1 for ``horizon`` rounds of one row.
    horizon : int or None, default=None
        The total number of rows, for ``schedule="theorem"``. More rows raise a ValueError.
    batch_size : int or "auto", default="auto"
        Number of rows learned at once. 1 is the paper's algorithm. "auto" is the largest size for
        which ``batch_size * step * kernel_bound_`` is at most 1. A batch is also no larger than
        all rows before it together, or 2 at first.
    average : bool, default=True
        Whether to predict with the average of f over the rounds. If False, the last f predicts.
    max_support : int or None, default=None
        The largest number of support points to keep. The points of the current batch come on top.
        If there are more, a compression replaces them by fewer. None keeps every row.
    compression : {"projection", "unbiased"}, default="projection"
        How support points are replaced by fewer. See :class:`ShrinkingGradientRegressor`. Here a
        projection uses the kernel itself.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    y_range : "auto" or (float, float), default="auto"
        The interval that contains all targets. It is mapped linearly to [-1, 1]. "auto" takes the
        smallest and the largest target of the first batch. A target outside raises a ValueError.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows, and of the compression. The same integer gives the same model.
    n_jobs : int or None, default=None
        Number of threads. None uses as many threads as NumPy's linear algebra, often all cores.
        -1 uses all cores.
    verbose : bool, default=False
        Whether to show progress bars, from scikit-learn 1.9 or later with rich, or else from tqdm.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that are passed to the kernel.

    Attributes
    ----------
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points x_i.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients α_i, for targets scaled to [-1, 1].
    kernel_bound_ : float
        The largest k(x, x).
    y_range_ : tuple of (array, array)
        Lower and upper ends of the targets' range, each of shape (n_outputs,).
    online_error_ : array of shape (n_batches, 2)
        Number of rows of each batch, and their mean squared error before they were learned. It is
        summed over the outputs, on targets scaled to [-1, 1].
    regret_ : array of shape (n, 2)
        Rounds, and the regret up to them. See :class:`ShrinkingGradientRegressor`.
    regret_bound_ : array of shape (n,) or None
        An upper bound of the expected regret, or None if none is known. See
        :class:`ShrinkingGradientRegressor`.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Algorithm 1.
    .. [2] J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE
       Transactions on Signal Processing 52(8), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.baselines import KernelGradientRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, (1000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = KernelGradientRegressor(kernel_params={"gamma": 1.0}, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _fixed = (*_KernelGradient._fixed, "y_range")
    _rules = _KernelGradient._rules | {"y_range": Y_RANGE}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        kernel_bound: float | str = "auto",
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        compression: str = "projection",
        shuffle: bool = True,
        y_range: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
    ) -> None:
        store(self, locals())


class KernelGradientClassifier(Classifier, _KernelGradient):
    r"""Online classification with an exact kernel.

    Learns each class against the rest, by the squared loss of targets ±1. The rounds are the same
    as in :class:`ShrinkingGradientClassifier`, with exact predictions instead of estimates.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of one of scikit-learn's kernels, or a function of two rows that returns a number.
        See :func:`sklearn.metrics.pairwise.pairwise_kernels`. With "precomputed", X holds kernel
        values with the training rows: it is square in ``fit``.
    kernel_params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.5}``.
    kernel_bound : float or "auto", default="auto"
        The largest k(x, x), which limits the steps. "auto" takes the largest of the first batch. A
        later row that exceeds it raises a ValueError.
    norm_bound : float, default=10.0
        The norm B: the learner competes with functions of norm up to B.
    step_size : float or "auto", default="auto"
        The step :math:`\eta`. "auto" is ``norm_bound / 2``, for the schedules "sqrt" and "inverse".
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        How steps decay. "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t, within
        limits. "constant" uses a ``step_size`` given as a number. "theorem" uses the step of
        Theorem 1 for ``horizon`` rounds. See :class:`KernelGradientRegressor`.
    horizon : int or None, default=None
        The total number of rows, for ``schedule="theorem"``. More rows raise a ValueError.
    batch_size : int or "auto", default="auto"
        Number of rows learned at once. 1 is the paper's algorithm. "auto" is the largest size that
        is stable. See :class:`KernelGradientRegressor`.
    average : bool, default=True
        Whether to predict with the average of f over the rounds. If False, the last f predicts.
    max_support : int or None, default=None
        The largest number of support points to keep. The points of the current batch come on top.
        If there are more, a compression replaces them by fewer. None keeps every row.
    compression : {"projection", "unbiased"}, default="projection"
        How support points are replaced by fewer. See :class:`ShrinkingGradientRegressor`. Here a
        projection uses the kernel itself.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows, and of the compression. The same integer gives the same model.
    n_jobs : int or None, default=None
        Number of threads. None uses as many threads as NumPy's linear algebra, often all cores.
        -1 uses all cores.
    verbose : bool, default=False
        Whether to show progress bars, from scikit-learn 1.9 or later with rich, or else from tqdm.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that are passed to the kernel.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points x_i.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients α_i.
    kernel_bound_ : float
        The largest k(x, x).
    online_error_ : array of shape (n_batches, 2)
        Number of rows of each batch, and the share misclassified before they were learned.
    regret_ : array of shape (n, 2)
        Rounds, and the regret up to them. See :class:`ShrinkingGradientRegressor`.
    regret_bound_ : array of shape (n,) or None
        An upper bound of the expected regret, or None if none is known. See
        :class:`ShrinkingGradientRegressor`.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless.baselines import KernelGradientClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelGradientClassifier(kernel_params={"gamma": 1e-3}, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85)
    True
    """

    partial_fit = partial_fit_labels
