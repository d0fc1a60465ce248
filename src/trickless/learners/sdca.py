"""Stochastic dual coordinate ascent with a kernel.

S. Shalev-Shwartz and T. Zhang, "Stochastic dual coordinate ascent methods for regularized loss
minimization", Journal of Machine Learning Research 14, 2013. With p_i the shares of the rows (1/n
without weights), primal and dual objective are (Equations 1 and 2)

    P(f) = Σ p_i l(f(x_i), y_i) + (α/2) ‖f‖²
    D(a) = −Σ p_i l*(−a_i) − (α/2) ‖f_a‖²,    f_a = Σ (p_i / α) a_i k(x_i, ·)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import exp
from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from trickless.arrays.growing import growing_like
from trickless.arrays.threads import row_blocks
from trickless.checks.kernels import check_positive_semidefinite
from trickless.files.checkpoint import Checkpoint
from trickless.functions.stream import Purpose, generator
from trickless.learners.old_kernels import KernelRows, RegularisedLoss, rows_at_once
from trickless.learners.old_tasks import Classification, Regression
from trickless.rules import CLASS_WEIGHT, choice, integer, non_negative, positive, warn
from trickless.solvers.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss

#: Iterations of Newton's method for one dual variable of the logistic loss, and their accuracy.
_NEWTON, _ACCURACY = 40, 1e-13
#: What stands for 0 in a denominator: k(x, x) = 0 where x is the zero of a linear kernel.
_SMALL = 1e-200


class _Dual(ABC):
    """The conjugate of a loss, and the best value of one dual variable."""

    @abstractmethod
    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        """l*(−a), elementwise, where it is finite."""

    @abstractmethod
    def best(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        """The b that maximises −l*(−b) − f (b − a) − (q/2) (b − a)², with q = p_i k(x_i, x_i) / α.

        It is the a_i + Δα_i of the paper, for each output of one row.
        """


class _Squared(_Dual):
    """½ (f − y)²."""

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return a * a / 2 - a * y

    def best(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return (y - f + q * a) / (1 + q)


class _Huber(_Squared):
    """½ (f − y)² with its slope held to ε, which bounds the dual variable."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def best(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return np.clip(super().best(a, f, y, q), -self.epsilon, self.epsilon)


class _EpsilonInsensitive(_Dual):
    """max(0, |f − y| − ε)."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.epsilon * np.abs(a) - a * y

    def best(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        free = y - f + q * a
        return np.sign(free) * np.clip((np.abs(free) - self.epsilon) / q, 0, 1)


class _Hinge(_Dual):
    """max(0, 1 − y f)."""

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -a * y

    def best(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return y * np.clip((1 - y * f + q * y * a) / q, 0, 1)


class _SquaredHinge(_Dual):
    """max(0, 1 − y f)²."""

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return a * a / 4 - a * y

    def best(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        return y * np.maximum((1 - y * f + q * y * a) / (0.5 + q), 0)


class _Logistic(_Dual):
    """log(1 + exp(−y f))."""

    def conjugate(self, a: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -entr(a * y) - entr(1 - a * y)

    def best(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: float) -> np.ndarray:
        pairs = zip((y * a).tolist(), (y * f).tolist(), strict=True)
        return y * np.array([_logistic(share, margin, q) for share, margin in pairs])


def _logistic(share: float, margin: float, q: float) -> float:
    """The s in (0, 1) with logit(s) + margin + q (s − share) = 0.

    Newton's method for z = logit(s). Where a step would leave the interval that has the root, or is
    more than half of the one before, the interval is halved instead.
    """
    low, high = -margin - q * (1 - share), -margin + q * share
    z, before = (low + high) / 2, high - low
    for _ in range(_NEWTON):
        s = _sigmoid(z)
        value = z + margin + q * (s - share)
        if abs(value) <= _ACCURACY * (1 + q):
            break
        low, high = (low, z) if value > 0 else (z, high)
        step = value / (1 + q * s * (1 - s))
        if not low < z - step < high or abs(step) > before / 2:
            step = z - (low + high) / 2
        z, before = z - step, abs(step)
    return s


def _sigmoid(z: float) -> float:
    small = exp(-abs(z))
    return 1 / (1 + small) if z > 0 else small / (1 + small)


def _make_dual(loss: str, epsilon: float) -> _Dual:
    match loss:
        case "squared_error":
            return _Squared()
        case "huber":
            return _Huber(epsilon)
        case "epsilon_insensitive":
            return _EpsilonInsensitive(epsilon)
        case "hinge":
            return _Hinge()
        case "squared_hinge":
            return _SquaredHinge()
        case "log_loss":
            return _Logistic()
    raise ValueError(f"loss={loss!r} is not a known loss")


class _SDCA(RegularisedLoss):
    """Procedure SDCA-Perm; all outputs share the kernel."""

    max_iter: int
    tol: float
    cache_bytes: int

    _rules = RegularisedLoss._rules | {
        "max_iter": integer(1, "max_iter=200 makes at most so many epochs"),
        "tol": positive("tol=1e-3 is a thousandth of the objective of f = 0"),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of kernel values"),
    }

    def _loss(self, n_outputs: int) -> Loss:
        return super()._loss(1)  # one class against the rest

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Visit all rows again and again, until the duality gap is small.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows in the mean loss.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        n = X.shape[0]
        share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
        y = targets - self.intercept_
        a, f = np.zeros_like(y), np.zeros_like(y)  # dual variables, and f at the rows
        self._gap(a, f, y, share)
        start = self.objective_
        wanted = self.tol * start
        r = share / self.alpha
        q = np.maximum(r * self._diagonal(X), _SMALL)
        kernel_rows = KernelRows(self, X, self.cache_bytes)
        self.n_iter_ = 0
        with self._progress(self.max_iter, "epoch") as bar:
            while (self.dual_gap_ > wanted).any() and self.n_iter_ < self.max_iter:
                outputs = np.flatnonzero(self.dual_gap_ > wanted)
                self._epoch(kernel_rows, a, f, y, q, r, outputs)
                self._gap(a, f, y, share)
                bar.update()
        self._support = growing_like(X)
        kept = a.any(axis=1)
        self._support.append(X[kept])
        self._coef = r[kept, None] * a[kept]
        if (self.dual_gap_ > wanted).any():
            worst = (self.dual_gap_ / np.maximum(start, _SMALL)).max()
            warn(
                f"{type(self).__name__}: after max_iter={self.max_iter} epochs the duality gap is "
                f"{worst:.2g} of the objective of f = 0, above tol={self.tol!r}. Remedy: a larger "
                "max_iter, tol or alpha.",
                ConvergenceWarning,
            )

    def _epoch(
        self,
        kernel_rows: KernelRows,
        a: np.ndarray,
        f: np.ndarray,
        y: np.ndarray,
        q: np.ndarray,
        r: np.ndarray,
        outputs: np.ndarray,
    ) -> None:
        """Visit every row once, for the outputs that are still learned."""
        order = generator(self.seed_, Purpose.SHUFFLE, self.n_iter_).permutation(len(a))
        for block in row_blocks(len(a), rows_at_once(len(a))):
            rows = order[block]
            K = kernel_rows[rows]
            where = np.ix_(rows, outputs)
            own = K[:, rows] * r[rows, None]
            new = self._ascend(own, a[where], f[where], y[where], q[rows])
            f[:, outputs] += K.T @ (r[rows, None] * (new - a[where]))  # SDCA-Perm: w^(t)
            a[where] = new
        self.n_iter_ += 1

    def _ascend(
        self, own: np.ndarray, a: np.ndarray, f: np.ndarray, y: np.ndarray, q: np.ndarray
    ) -> np.ndarray:
        """Dual variables of a block of rows after a visit to each in turn.

        f at the rows to come is kept up to date; ``own[i]`` is what a change of 1 adds to it.
        """
        dual = _make_dual(self.loss, self.epsilon)
        for i in range(len(a)):
            best = dual.best(a[i], f[i], y[i], q[i])  # SDCA-Perm: "find Δα_i to maximize"
            change = best - a[i]
            if change.any():
                a[i] = best  # SDCA-Perm: α^(t) ← α^(t−1) + Δα_i e_i
                f[i + 1 :] += own[i, i + 1 :, None] * change
        return a

    def _gap(self, a: np.ndarray, f: np.ndarray, y: np.ndarray, share: np.ndarray) -> None:
        """Objective and duality gap of each output.

        Since α ‖f‖² = Σ p_i a_i f(x_i), the gap is Σ p_i (l(f(x_i)) + l*(−a_i) + a_i f(x_i)), whose
        terms are not negative, whatever f is.
        """
        squares = share @ (a * f)  # α ‖f‖²
        check_positive_semidefinite(type(self).__name__, squares, share @ np.abs(a * f))
        loss = self._loss(1)
        value = np.column_stack([loss.value(*pair) for pair in _columns(f, y)])
        gap = value + _make_dual(self.loss, self.epsilon).conjugate(a, y) + a * f
        self.objective_ = share @ value + squares / 2
        self.dual_gap_ = share @ np.maximum(gap, 0)

    def _alpha(self) -> np.ndarray:
        return self._coef


def _columns(*arrays: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """The same column of each array, shape (n_rows, 1), for every column."""
    return [tuple(a[:, [j]] for a in arrays) for j in range(arrays[0].shape[1])]


class SDCARegressor(Regression, _SDCA):
    r"""Kernel regression, by stochastic dual coordinate ascent.

    Minimises :math:`\mathrm{mean}\big(l(f(x), y)\big) + \frac{\alpha}{2} \|f\|^2` by
    maximising its dual. Each row has one dual variable, and they stand for the function

    .. math:: f = \frac{1}{\alpha n} \sum_i a_i\, k(x_i, \cdot)

    Each epoch visits all rows in a random order, and sets the dual variable of each to the maximum
    along it. The difference of both objectives, the duality gap, bounds how far the objective is
    from its minimum; it is worked out after each epoch, and decides when to stop. To bring it below
    ε takes of the order of :math:`(1 + c / (\alpha n)) \log(1/\varepsilon)` epochs where c is
    the curvature of a smooth loss times the largest k(x, x), and
    :math:`1 + c / (\alpha n \varepsilon)` where the loss has kinks. An epoch looks at
    :math:`n^2` kernel values; see ``cache_bytes``.

    The (weighted) mean of the targets is subtracted and added back as ``intercept_``; there is no
    other offset. With the squared loss the model is kernel ridge regression.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of one of scikit-learn's kernels, or a function of two rows that returns a number;
        see :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    kernel_params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.5}``.
    loss : {"squared_error", "huber", "epsilon_insensitive"}, default="squared_error"
        The loss l. "epsilon_insensitive" is support vector regression.
    epsilon : float, default=0.1
        Half-width of the tube in which "epsilon_insensitive" is 0, and the error from which "huber"
        is linear, in units of y.
    alpha : float, default=1e-3
        Regularisation strength, relative to the mean loss; C = 1 / (n_rows × alpha) in the words of
        support vector machines.
    max_iter : int, default=200
        Epochs at most. If the gap has not closed by then, a ConvergenceWarning says so.
    tol : float, default=1e-3
        The duality gap, relative to the objective of f = 0, at which an output is learned.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that the kernel is given.
    cache_bytes : int, default=2**28
        Bytes of kernel values to keep in memory: by default the whole matrix of up to 5,792 rows,
        and the first rows met of more. The others are worked out again when needed, with the same
        result but for rounding. Besides, a few copies of a block of up to 256 rows in 16 MiB are
        held, or of one row if that is larger.

    Attributes
    ----------
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points x_i: rows whose coefficients are not all 0.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients α_i.
    intercept_ : array of shape (n_outputs,)
        Mean of the targets.
    n_iter_ : int
        Epochs made.
    objective_ : array of shape (n_outputs,)
        The objective that was reached.
    dual_gap_ : array of shape (n_outputs,)
        The duality gap: the objective is at most so far above its minimum.
    n_features_in_ : int
        Number of features.

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` epochs.

    References
    ----------
    .. [1] S. Shalev-Shwartz and T. Zhang, "Stochastic dual coordinate ascent methods for
       regularized loss minimization", Journal of Machine Learning Research 14, 2013: procedure
       SDCA-Perm, Equations 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import SDCARegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SDCARegressor(kernel_params={"gamma": 10.0}, alpha=1e-2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _rules = _SDCA._rules | {
        "loss": choice(*REGRESSION_LOSSES, remedy="loss='squared_error' estimates the mean"),
        "epsilon": non_negative("epsilon=0.1 suits standardised targets"),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        alpha: float = 1e-3,
        max_iter: int = 200,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
        cache_bytes: int = 2**28,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.loss = loss
        self.epsilon = epsilon
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes


class SDCAClassifier(Classification, _SDCA):
    r"""Kernel classification, by stochastic dual coordinate ascent.

    Minimises :math:`\mathrm{mean}\big(l(f(x), y)\big) + \frac{\alpha}{2} \|f\|^2`, one class
    against the rest, by maximising its dual. Each row has one dual variable, and they stand for the
    function

    .. math:: f = \frac{1}{\alpha n} \sum_i a_i\, k(x_i, \cdot)

    Each epoch visits all rows in a random order, and sets the dual variable of each to the maximum
    along it. The difference of both objectives, the duality gap, bounds how far the objective is
    from its minimum; it is worked out after each epoch, and decides when to stop. To bring it below
    ε takes of the order of :math:`(1 + c / (\alpha n)) \log(1/\varepsilon)` epochs where c is
    the curvature of a smooth loss times the largest k(x, x), and
    :math:`1 + c / (\alpha n \varepsilon)` where the loss has kinks. An epoch looks at
    :math:`n^2` kernel values; see ``cache_bytes``.

    There is no offset.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of one of scikit-learn's kernels, or a function of two rows that returns a number;
        see :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    kernel_params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.5}``.
    loss : {"hinge", "log_loss", "squared_hinge", "squared_error"}, default="hinge"
        The loss l. "hinge" is the support vector machine.
    alpha : float, default=1e-3
        Regularisation strength, relative to the mean loss; C = 1 / (n_rows × alpha) in the words of
        other support vector machines.
    max_iter : int, default=200
        Epochs at most. If the gap has not closed by then, a ConvergenceWarning says so.
    tol : float, default=1e-3
        The duality gap, relative to the objective of f = 0, at which an output is learned.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced" weighs each class by
        the inverse of its share.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that the kernel is given.
    cache_bytes : int, default=2**28
        Bytes of kernel values to keep in memory: by default the whole matrix of up to 5,792 rows,
        and the first rows met of more. The others are worked out again when needed, with the same
        result but for rounding. Besides, a few copies of a block of up to 256 rows in 16 MiB are
        held, or of one row if that is larger.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points x_i: rows whose coefficients are not all 0.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients α_i.
    n_iter_ : int
        Epochs made.
    objective_ : array of shape (n_outputs,)
        The objective that was reached.
    dual_gap_ : array of shape (n_outputs,)
        The duality gap: the objective is at most so far above its minimum.
    n_features_in_ : int
        Number of features.

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` epochs.

    References
    ----------
    .. [1] S. Shalev-Shwartz and T. Zhang, "Stochastic dual coordinate ascent methods for
       regularized loss minimization", Journal of Machine Learning Research 14, 2013: procedure
       SDCA-Perm, Equations 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import SDCAClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SDCAClassifier(kernel_params={"gamma": 1e-3}, tol=1e-2, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95)
    True
    """

    _rules = _SDCA._rules | {
        "loss": choice(*CLASSIFICATION_LOSSES, remedy="loss='log_loss' gives probabilities"),
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "hinge",
        alpha: float = 1e-3,
        max_iter: int = 200,
        tol: float = 1e-3,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
        cache_bytes: int = 2**28,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.loss = loss
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes
