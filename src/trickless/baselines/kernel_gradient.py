"""Online gradient descent with an exact kernel, to compare Shrinking Gradient with.

This is Algorithm 1 of Livni et al. 2017 (``solvers/rounds``) with the exact E_t = ⟨f_t, Φ(x_t)⟩. It
equals NORMA (Kivinen, Smola and Williamson 2004) with the squared loss and no regularisation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.docstrings import documented
from trickless.errors import InvalidValueError
from trickless.learners.base import store
from trickless.learners.kernel_learner import KernelLearner
from trickless.learners.online import (
    COMPRESSION,
    Y_RANGE,
    OnlineClassifier,
    OnlineLearner,
    OnlineRegressor,
    SupportLearner,
)
from trickless.rules import AUTO, either, positive
from trickless.solvers.rounds.estimates import Exact


class _KernelGradient(SupportLearner, KernelLearner):
    r"""Algorithm 1 with the exact kernel.

    Parameters
    ----------
    kernel_bound : float or "auto", default="auto"
        The largest k(x, x), which limits the steps. "auto" takes the largest of the first batch. A
        later row that exceeds it raises a ValueError.
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        How steps decay. "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t. Their steps
        never exceed ``1 / (2 * kernel_bound_)``. "constant" uses a ``step_size`` given as a number,
        without that limit. "theorem" uses the step of Theorem 1 for ``horizon`` rounds of one row.
    batch_size : int or "auto", default="auto"
        Number of rows learned at once. 1 is the paper's algorithm. "auto" is the largest size for
        which ``batch_size * step * kernel_bound_`` is at most 1. A batch is also no larger than
        all rows before it together, or 2 at first.
    max_support : int or None, default=None
        The largest number of support points to keep. The points of the current batch come on top.
        If there are more, a compression replaces them by fewer. None keeps every row.
    compression : {"projection", "unbiased"}, default="projection"
        How support points are replaced by fewer. See :class:`ShrinkingGradientRegressor`. Here a
        projection uses the kernel itself.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows, and of the compression. The same integer gives the same model.

    Attributes
    ----------
    kernel_bound_ : float
        The largest k(x, x).
    regret_ : array of shape (n, 2)
        Rounds, and the regret up to them. See :class:`ShrinkingGradientRegressor`.
    regret_bound_ : array of shape (n,) or None
        An upper bound of the expected regret, or None if none is known. See
        :class:`ShrinkingGradientRegressor`.
    """

    kernel_bound: float | str
    kernel_bound_: float

    _parts = (*KernelLearner._parts, "kernel_bound_", "rounds_")
    _rules = (
        OnlineLearner._rules
        | KernelLearner._rules
        | {
            "kernel_bound": either(
                positive("kernel_bound='auto' takes the largest k(x, x) of the first batch"), AUTO
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
class KernelGradientRegressor(OnlineRegressor, _KernelGradient):
    r"""Online regression with an exact kernel.

    Learns :math:`f = \sum_i \alpha_i k(x_i, \cdot)` by the rounds of
    :class:`ShrinkingGradientRegressor`, with exact predictions instead of estimates. Use it as a
    reference for Shrinking Gradient. A round needs as many kernel values as there are rows so far.

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


@documented
class KernelGradientClassifier(OnlineClassifier, _KernelGradient):
    """Online classification with an exact kernel.

    Learns each class against the rest, by the squared loss of targets ±1. The rounds are the same
    as in :class:`ShrinkingGradientClassifier`, with exact predictions instead of estimates.

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
