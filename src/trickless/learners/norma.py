"""NORMA: stochastic gradient descent in the space of a kernel, a row a round.

J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE Transactions on Signal
Processing 52(8), 2004. The rounds are in ``solvers/norma``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.states import in_one_state
from trickless.arrays.threads import linear_algebra
from trickless.functions.stream import Purpose, generator
from trickless.learners.base import (
    Classifier,
    Regressor,
    partial_fit_labels,
    partial_fit_numbers,
    store,
)
from trickless.learners.intake import anew, begin, receive
from trickless.learners.kernel_learner import KernelLearner
from trickless.rules import (
    anything,
    boolean,
    check_parameters,
    choice,
    either,
    integer,
    is_none,
    non_negative,
    positive,
)
from trickless.solvers.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES
from trickless.solvers.norma import NORMA, Options


class _NORMA(KernelLearner):
    """Online gradient descent on a regularised loss, by the solver ``rounds_``."""

    loss: str
    alpha: float | str
    step_size: float | str
    schedule: str
    average: bool
    max_support: int | None
    shuffle: bool
    rounds_: NORMA
    intercept_: np.ndarray

    _fixed = ("loss", "average", "max_support", *KernelLearner._fixed)
    _rules = KernelLearner._rules | {
        "alpha": either(non_negative("alpha=1e-3 regularises lightly"), choice("auto", remedy="")),
        "step_size": either(
            positive("step_size='auto' suits every loss and kernel"), choice("auto", remedy="")
        ),
        "schedule": choice(
            "inverse", "sqrt", "constant", remedy="schedule='sqrt' divides the step by √t"
        ),
        "average": boolean("average=False predicts with the last f"),
        "max_support": either(
            integer(2, "max_support=10_000 keeps the latest so many terms, None all"),
            anything("None", "", is_none),
        ),
        "shuffle": boolean("shuffle=True lets fit visit the rows in a random order"),
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
        check_parameters(self, self._rules)
        with anew(self, is_model) as new, linear_algebra(self.n_jobs):
            X, targets, _ = begin(new, X, y)
            begin_rounds(new, targets)
            order = np.arange(X.shape[0])
            if self.shuffle:
                order = generator(new.seed_, Purpose.SHUFFLE).permutation(order)
            new._learn(X[order], targets[order])
        return self

    def _partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        check_parameters(self, self._rules)
        with anew(self, is_model, goes_on=True) as new, linear_algebra(self.n_jobs):
            if new.__sklearn_is_fitted__():
                X, targets, _ = receive(new, X, y, classes=classes)
                new.rounds_ = new.rounds_.branch()
            else:
                X, targets, _ = begin(new, X, y, classes=classes, stream=True)
                begin_rounds(new, targets)
            new._learn(X, targets)
        return self

    def _learn(self, X: Any, targets: np.ndarray) -> None:
        """Make a round for each row of a batch, in the order given."""
        b, loss = self.intercept_, self._loss(targets.shape[1])

        def error(f: np.ndarray, y: np.ndarray) -> np.ndarray:
            return self.targets_.error(f + b, y + b)

        options = Options(self.kernel_, loss, error, self.alpha, self.step_size, self.schedule)
        with self._progress(len(targets), "row") as bar:
            self.rounds_.learn(X, targets - b, options, bar.update)

    def _calibrates(self) -> bool:
        return True

    def _temperature(self) -> float | None:
        has_link = self._loss(self.targets_.n_outputs).has_link
        return None if has_link else self.rounds_.temperature()

    def _function(self, X: Any) -> np.ndarray:
        return super()._function(X) + self.intercept_

    @property
    def support_vectors_(self) -> Any:
        """Support points, shape (t, n_features)."""
        check_is_fitted(self)
        assert self.rounds_.support is not None
        return self.rounds_.support.rows

    @property
    @in_one_state
    def dual_coef_(self) -> np.ndarray:
        """Coefficients that predict, shape (t, n_outputs)."""
        check_is_fitted(self)
        rounds = self.rounds_
        return rounds.average() if self.fixed_["average"] else rounds.coefficients.rows.copy()

    @property
    def kernel_bound_(self) -> float:
        """The largest k(x, x) so far."""
        check_is_fitted(self)
        return self.rounds_.largest_square

    @property
    def n_rounds_(self) -> int:
        """Rows learned."""
        check_is_fitted(self)
        return self.rounds_.n_rounds

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each block, before a row was learned: (n, 2).

        Beyond 8,192 blocks, neighbours are merged.
        """
        check_is_fitted(self)
        return np.array(self.rounds_.curve)


def begin_rounds(learner: _NORMA, targets: np.ndarray) -> None:
    """Begin the rounds of a learner that has begun."""
    if learner.average and learner.max_support is not None:
        raise ValueError(
            f"{type(learner).__name__}: average=True with max_support={learner.max_support!r}, but "
            "an average over rounds needs the terms that are dropped. Remedy: average=False, or "
            "max_support=None."
        )
    learner.intercept_ = learner.targets_.intercept(targets)
    calibrated = isinstance(learner, Classifier)
    learner.rounds_ = NORMA(targets.shape[1], learner.max_support, calibrated)


def is_model(learner: _NORMA) -> bool:
    """Whether a learner has made a round."""
    rounds: NORMA | None = getattr(learner, "rounds_", None)
    return rounds is not None and rounds.n_rounds > 0


class NORMARegressor(Regressor, _NORMA):
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
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. 0 is allowed, and never forgets. "auto"
        is 1e-3. For "epsilon_insensitive", whose slope is ±1 in any unit of y, alpha has the unit
        1 / y, and "auto" is 1e-3 / (mean distance so far of an output from its intercept).
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
        Whether to show progress bars: scikit-learn's from 1.9 on, if rich is installed, or tqdm's.
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

    _fixed = ("epsilon", *_NORMA._fixed)
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
        alpha: float | str = "auto",
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
        store(self, locals())

    partial_fit = partial_fit_numbers


class NORMAClassifier(Classifier, _NORMA):
    r"""Online kernel classification with NORMA.

    Round t sees one row, and descends the gradient of its regularised loss,
    :math:`l(f(x_t), y_t) + \frac{\alpha}{2} \|f\|^2`, in the space of the kernel:

    .. math:: f_{t+1} = (1 - \eta_t \alpha) f_t - \eta_t\, l'(f_t(x_t), y_t)\, k(x_t, \cdot)

    A round costs a kernel value for every term so far, and the model keeps every row whose loss has
    a slope, or the latest ``max_support`` of them. There is no offset: that
    of the paper, learned along with f, is left out.

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
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. 0 is allowed, and never forgets. "auto"
        is 1e-3.
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
        Only the latest so many terms are kept, and older ones are dropped. A small number goes with
        ``schedule="constant"``: :class:`NORMARegressor` says why. None keeps every term.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show progress bars: scikit-learn's from 1.9 on, if rich is installed, or tqdm's.
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
        "loss": choice(*CLASSIFICATION_LOSSES, remedy="loss='log_loss' gives probabilities")
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "log_loss",
        alpha: float | str = "auto",
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
        store(self, locals())

    partial_fit = partial_fit_labels
