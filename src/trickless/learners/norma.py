"""NORMA: stochastic gradient descent in the space of a kernel, a row a round.

J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE Transactions on Signal
Processing 52(8), 2004.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.growing import Growing, growing_like
from trickless.arrays.interrupts import uninterrupted
from trickless.checks.learners import check_forgetting, check_no_average
from trickless.files.checkpoint import Checkpoint
from trickless.functions.stream import Purpose, generator
from trickless.learners.old_kernels import BLOCK_ROWS, RegularisedLoss, rows_at_once
from trickless.learners.old_tasks import Classification, Regression
from trickless.rules import (
    anything,
    choice,
    either,
    integer,
    is_none,
    non_negative,
    positive,
)
from trickless.solvers.divergence import check_progress
from trickless.solvers.error_curve import Curve, extend
from trickless.solvers.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES
from trickless.solvers.step_sizes import unit_of


class _NORMA(RegularisedLoss):
    """Rounds of NORMA. Kernel values are worked out for a block of rounds at once."""

    step_size: float | str
    schedule: str
    average: bool
    max_support: int | None
    shuffle: bool

    _fixed = ("average", "max_support", *RegularisedLoss._fixed)

    _rules = RegularisedLoss._rules | {
        "alpha": non_negative("alpha=1e-3 regularises lightly"),
        "step_size": either(
            positive("step_size='auto' suits every loss and kernel"), choice("auto", remedy="")
        ),
        "schedule": choice(
            "inverse", "sqrt", "constant", remedy="schedule='sqrt' divides the step by √t"
        ),
        "average": anything(
            "True or False",
            "average=False predicts with the last f",
            lambda v: isinstance(v, bool | np.bool_),
        ),
        "max_support": either(
            integer(2, "max_support=10_000 keeps the latest so many terms, None all"),
            anything("None", "", is_none),
        ),
        "shuffle": anything(
            "True or False",
            "shuffle=True lets fit visit the rows in a random order",
            lambda v: isinstance(v, bool | np.bool_),
        ),
    }

    def fit(self, X: Any, y: Any) -> Any:
        """Learn in one online pass over the rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        order = np.arange(X.shape[0])
        if self.shuffle:
            order = generator(self.seed_, Purpose.SHUFFLE).permutation(order)
        self._learn(X[order], targets[order], None)

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        super()._initialise(targets, weight)
        owner = type(self).__name__
        check_no_average(owner, self.average, self.max_support)
        check_forgetting(owner, self.schedule, self.step_size, self.alpha)
        self.kernel_bound_ = 0.0
        self._spread = np.zeros(targets.shape[1])
        self.n_rounds_ = 0
        self._support: Any = None
        self._coef = Growing()
        self._total = Growing()  # coefficients summed over the rounds, for the average
        self._online: Curve = []
        self._largest_loss = 0.0

    def _learn(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        check_forgetting(type(self).__name__, self.schedule, self.step_size, self.alpha)
        diagonal = self._diagonal(X)
        self._see(targets)
        if self._support is None:
            self._support = growing_like(X)
            self._append(X[:0], targets[:0], targets[:0])
        X = self._support.like(X)
        start, n_rows = 0, X.shape[0]
        with self._progress(n_rows, "row") as bar:
            while start < n_rows:
                rows = slice(start, min(start + self._rounds_at_once(), n_rows))
                steps = self._steps(diagonal[rows])
                self._rounds(X[rows], targets[rows] - self.intercept_, steps)
                bar.update(rows.stop - start)
                start = rows.stop

    def _see(self, targets: np.ndarray) -> None:
        """Keep the mean distance of all targets so far from the intercept, of each output."""
        spread = np.abs(targets - self.intercept_).mean(axis=0)
        share = len(targets) / (self.n_rounds_ + len(targets))
        self._spread = self._spread + share * (spread - self._spread)

    def _rounds_at_once(self) -> int:
        """Rounds whose kernel values are worked out at once; truncation then drops old terms."""
        rounds = rows_at_once(len(self._support) + BLOCK_ROWS)
        return rounds if self.max_support is None else min(rounds, self.max_support)

    def _steps(self, diagonal: np.ndarray) -> np.ndarray:
        """η_t for the rounds of rows with these k(x, x), of all outputs or each: (n, 1 or more)."""
        t = self.n_rounds_ + 1 + np.arange(len(diagonal))[:, None]
        first: Any = self.step_size
        if isinstance(first, str):
            largest = np.maximum.accumulate(np.append(self.kernel_bound_, diagonal))[1:, None]
            loss = self._loss(len(self.intercept_))
            curvature: Any = loss.curvature
            if loss.piecewise_linear:  # a slope of ±1 moves f by as much in any unit of an output
                curvature = curvature / unit_of(self._spread)
            steepest = curvature * largest + self.alpha
            first = np.divide(1, steepest, out=np.zeros_like(steepest), where=steepest > 0)
        self.kernel_bound_ = max(self.kernel_bound_, float(diagonal.max()))
        if self.schedule == "sqrt":
            return first / np.sqrt(t)
        if self.schedule == "inverse":
            return first / (1 + first * self.alpha * (t - 1))
        return first + 0.0 * t

    @np.errstate(over="ignore", invalid="ignore")  # divergence is reported below
    def _rounds(self, X: Any, y: np.ndarray, steps: np.ndarray) -> None:
        """A round for each row of a block.

        ``f`` holds the values at all rows of the block. They are kept up to date for the rows to
        come, and stay what was predicted for the rows that are over.
        """
        loss, b = self._loss(y.shape[1]), len(y)
        past, own = self._matrix(X, self._support.rows), self._kernel(X, X)
        old, old_total = self._coef.rows, self._total.rows
        f = past @ old
        new, new_total = np.zeros_like(y), np.zeros_like(y)
        n_terms, dropped = len(old), 0
        scale, lasting = 1.0, 0.0  # old terms are scale × old now, and lasting × old summed
        for t, eta in enumerate(steps):
            lasting += scale
            new_total[:t] += new[:t]
            decay = 1 - eta * self.alpha
            scale *= decay
            new[:t] *= decay  # Sec. III: α_i ← (1 − η_t λ) α_i for i < t
            f[t + 1 :] *= decay
            slope = loss.derivative(f[t : t + 1], y[t : t + 1])[0]
            new[t] = -eta * slope  # Sec. III: α_t = −η_t l′(f_t(x_t), y_t)
            f[t + 1 :] += own[t, t + 1 :, None] * new[t]
            n_terms += bool(new[t].any())
            if self.max_support is not None and n_terms > self.max_support:  # truncation
                f[t + 1 :] -= past[t + 1 :, dropped, None] * (scale * old[dropped])
                n_terms, dropped = n_terms - 1, dropped + 1
        self._check_progress(f, y)
        error = float(self._error(f + self.intercept_, y + self.intercept_).mean())
        kept = new.any(axis=1)
        with uninterrupted():  # all that the rounds change
            extend(self._online, b, error)
            old_total += lasting * old
            old *= scale
            if dropped:
                self._keep(np.arange(dropped, len(old)))
            self._append(X[kept], new[kept], new_total[kept])
            self.n_rounds_ += b

    def _append(self, X: Any, coef: np.ndarray, total: np.ndarray) -> None:
        self._support.append(X)
        self._coef.append(coef)
        self._total.append(total)

    def _keep(self, index: np.ndarray) -> None:
        for terms in (self._support, self._coef, self._total):
            terms.keep(index)

    def _check_progress(self, f: np.ndarray, y: np.ndarray) -> None:
        """Stop if the loss of a block has grown far beyond that of predicting nothing."""
        loss = self._loss(y.shape[1])
        start = float(loss.value(np.zeros_like(y), y).mean())
        self._largest_loss = max(self._largest_loss, start)
        if isinstance(self.step_size, str):
            remedy = "k(x, x) differs too much between rows; scale them, or take another kernel"
        else:
            stable = 1 / (loss.curvature * max(self.kernel_bound_, 1e-300))
            remedy = (
                f"step_size={self.step_size!r} is too large; take 'auto', or up to {stable:.3g}"
            )
        now = float(loss.value(f, y).mean())
        n_rounds = self.n_rounds_ + len(y)
        check_progress(type(self).__name__, now, self._largest_loss, n_rounds, remedy)

    def _alpha(self) -> np.ndarray:
        if self._begun_with["average"]:
            return self._total.rows / self.n_rounds_
        return self._coef.rows.copy()

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each block, before a row was learned: (n, 2).

        Beyond 8,192 blocks, neighbours are merged.
        """
        check_is_fitted(self)
        return np.array(self._online)


class NORMARegressor(Regression, _NORMA):
    r"""Online kernel regression with NORMA.

    Round t sees one row, and descends the gradient of its regularised loss,
    :math:`l(f(x_t), y_t) + \frac{\alpha}{2} \|f\|^2`, in the space of the kernel:

    .. math:: f_{t+1} = (1 - \eta_t \alpha) f_t - \eta_t\, l'(f_t(x_t), y_t)\, k(x_t, \cdot)

    A round costs a kernel value for every term so far, and the model keeps every row whose loss has
    a slope, or the latest ``max_support`` of them. Kernel values are worked out for up to 256
    rounds at once, in at most 16 MiB; the result is that of row after row.

    The mean of the first batch's targets is subtracted and added back as ``intercept_``. There is
    no other offset: the offset of the paper, learned along with f, is left out.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of one of scikit-learn's kernels, or a function of two rows that returns a number;
        see :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    kernel_params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.5}``.
    loss : {"squared_error", "huber", "epsilon_insensitive"}, default="squared_error"
        The loss l.
    epsilon : float, default=0.1
        Half-width of the tube in which "epsilon_insensitive" is 0, and the error from which "huber"
        is linear, in units of y.
    alpha : float, default=1e-3
        Regularisation strength, relative to the mean loss. 0 is allowed, and never forgets.
    step_size : float or "auto", default="auto"
        The first step :math:`\eta`. "auto" is 1 / (curvature of the loss × the largest k(x, x) so
        far + alpha), with which no step overshoots the row that it is taken on. For
        "epsilon_insensitive", whose slope is ±1 in any unit of y, the curvature is 1 / (mean
        distance so far of an output from its intercept), and steps may overshoot.
    schedule : {"inverse", "sqrt", "constant"}, default="inverse"
        "inverse" takes :math:`\eta / (1 + \eta \alpha (t - 1))` in round t, which tends to
        :math:`1 / (\alpha t)`. The paper is about "sqrt", :math:`\eta / \sqrt{t}`, and
        "constant".
    average : bool, default=False
        Whether to predict with the average of f_1 ... f_T, each as it was before its round, or with
        the last f.
    max_support : int or None, default=None
        Only the latest so many terms are kept, and older ones are dropped. With a slope of the loss
        of at most C and k(x, x) at most X², the terms older than the last τ rounds have a norm of
        at most :math:`(C X / \alpha) \prod (1 - \eta_t \alpha)`, the product over these τ rounds:
        Proposition 1 of the paper, where it is :math:`(1 - \eta \alpha)^\tau` for a constant
        step. With steps that decay it tends to 1 in a long stream, so a small ``max_support`` goes
        with ``schedule="constant"``. None keeps every term.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that the kernel is given.

    Attributes
    ----------
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points x_i: rows whose coefficients are not all 0.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients α_i.
    intercept_ : array of shape (n_outputs,)
        Mean of the first batch's targets.
    kernel_bound_ : float
        The largest k(x, x) so far.
    n_rounds_ : int
        Rows learned.
    online_error_ : array of shape (n_blocks, 2)
        Number of rows of each block of rounds and their mean squared error, each row before it was
        learned.
    n_features_in_ : int
        Number of features.

    Raises
    ------
    ValueError
        If a step times ``alpha`` reaches 1, which would turn the signs of all that was learned; or
        if the mean loss of a block of rows grows beyond a thousand times that of a constant.

    References
    ----------
    .. [1] J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE
       Transactions on Signal Processing 52(8), 2004: the update of Section III, truncation as in
       its Proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import NORMARegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, (1000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = NORMARegressor(kernel_params={"gamma": 1.0}, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _rules = _NORMA._rules | {
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
        step_size: float | str = "auto",
        schedule: str = "inverse",
        average: bool = False,
        max_support: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.loss = loss
        self.epsilon = epsilon
        self.alpha = alpha
        self.step_size = step_size
        self.schedule = schedule
        self.average = average
        self.max_support = max_support
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype

    def partial_fit(self, X: Any, y: Any) -> NORMARegressor:
        """Go on learning from more rows, in the order given.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)

        Returns
        -------
        self
        """
        return self._partial_fit(X, y)


class NORMAClassifier(Classification, _NORMA):
    r"""Online kernel classification with NORMA.

    Round t sees one row, and descends the gradient of its regularised loss,
    :math:`l(f(x_t), y_t) + \frac{\alpha}{2} \|f\|^2`, in the space of the kernel:

    .. math:: f_{t+1} = (1 - \eta_t \alpha) f_t - \eta_t\, l'(f_t(x_t), y_t)\, k(x_t, \cdot)

    A round costs a kernel value for every term so far, and the model keeps every row whose loss has
    a slope, or the latest ``max_support`` of them. Kernel values are worked out for up to 256
    rounds at once, in at most 16 MiB; the result is that of row after row.

    There is no offset: that of the paper, learned along with f, is left out.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The name of one of scikit-learn's kernels, or a function of two rows that returns a number;
        see :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    kernel_params : dict or None, default=None
        Parameters of the kernel, such as ``{"gamma": 0.5}``.
    loss : {"log_loss", "hinge", "squared_hinge", "squared_error"}, default="log_loss"
        The loss l. "log_loss" is the logistic loss for two classes and the softmax loss for more;
        the others take one class against the rest.
    alpha : float, default=1e-3
        Regularisation strength, relative to the mean loss. 0 is allowed, and never forgets.
    step_size : float or "auto", default="auto"
        The first step :math:`\eta`. "auto" is 1 / (curvature of the loss × the largest k(x, x) so
        far + alpha), with which no step overshoots the row that it is taken on.
    schedule : {"inverse", "sqrt", "constant"}, default="inverse"
        "inverse" takes :math:`\eta / (1 + \eta \alpha (t - 1))` in round t, which tends to
        :math:`1 / (\alpha t)`. The paper is about "sqrt", :math:`\eta / \sqrt{t}`, and
        "constant".
    average : bool, default=False
        Whether to predict with the average of f_1 ... f_T, each as it was before its round, or with
        the last f.
    max_support : int or None, default=None
        Only the latest so many terms are kept, and older ones are dropped. With a slope of the loss
        of at most C and k(x, x) at most X², the terms older than the last τ rounds have a norm of
        at most :math:`(C X / \alpha) \prod (1 - \eta_t \alpha)`, the product over these τ rounds:
        Proposition 1 of the paper, where it is :math:`(1 - \eta \alpha)^\tau` for a constant
        step. With steps that decay it tends to 1 in a long stream, so a small ``max_support`` goes
        with ``schedule="constant"``. None keeps every term.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the rows that the kernel is given.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    support_vectors_ : array or CSR matrix of shape (t, n_features)
        The support points x_i: rows whose coefficients are not all 0.
    dual_coef_ : array of shape (t, n_outputs)
        Their coefficients α_i.
    kernel_bound_ : float
        The largest k(x, x) so far.
    n_rounds_ : int
        Rows learned.
    online_error_ : array of shape (n_blocks, 2)
        Number of rows of each block of rounds and the share misclassified, each row before it was
        learned.
    n_features_in_ : int
        Number of features.

    Raises
    ------
    ValueError
        If a step times ``alpha`` reaches 1, which would turn the signs of all that was learned; or
        if the mean loss of a block of rows grows beyond a thousand times that of a constant.

    References
    ----------
    .. [1] J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE
       Transactions on Signal Processing 52(8), 2004: the update of Section III, truncation as in
       its Proposition 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import NORMAClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NORMAClassifier(kernel_params={"gamma": 1e-3}, loss="hinge", random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85)
    True
    """

    _rules = _NORMA._rules | {
        "loss": choice(*CLASSIFICATION_LOSSES, remedy="loss='log_loss' gives probabilities"),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "log_loss",
        alpha: float = 1e-3,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        average: bool = False,
        max_support: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float64",
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.loss = loss
        self.alpha = alpha
        self.step_size = step_size
        self.schedule = schedule
        self.average = average
        self.max_support = max_support
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> NORMAClassifier:
        """Go on learning from more rows, in the order given.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All labels that may occur; used in the first call. Default: those of the first batch.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes=classes)
