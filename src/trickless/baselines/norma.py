"""NORMA: stochastic gradient descent in the space of a kernel, one row at a time.

J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE Transactions on Signal
Processing 52(8), 2004. The rounds are in ``solvers/exact/norma``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.stated import check_is
from trickless.arrays.states import in_one_state
from trickless.arrays.threads import linear_algebra
from trickless.conformal.unseen import Unseen
from trickless.docstrings import completed_by, documented
from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, generator
from trickless.learners.arguments import LEARNING
from trickless.learners.base import store
from trickless.learners.classifier import Classifier, partial_fit_labels
from trickless.learners.kernel_learner import KernelLearner
from trickless.learners.regressor import Regressor, partial_fit_numbers
from trickless.learners.training import training_copy
from trickless.rules import (
    AUTO,
    NONE,
    boolean,
    check_parameters,
    choice,
    either,
    integer,
    non_negative,
    positive,
)
from trickless.solvers.calibration import recent_rows
from trickless.solvers.exact.norma import NORMA, Update
from trickless.solvers.named_losses import OF_LABELS, OF_NUMBERS


class _NORMA(KernelLearner):
    r"""Online gradient descent on a regularised loss, by the solver ``rounds_``.

    Parameters
    ----------
    schedule : {"auto", "inverse", "sqrt", "constant"}, default="auto"
        The step in round t. "inverse" is :math:`\eta / (1 + \eta \alpha (t - 1))`, which tends to
        :math:`1 / (\alpha t)`, and "sqrt" is :math:`\eta / \sqrt{t}`. The paper is about "sqrt"
        and "constant". "auto" is "inverse", or "constant" with ``max_support``.
    average : bool, default=False
        Whether to predict with the average of f_1 ... f_T, where f_t is the function before round
        t, instead of the last f.
    max_support : int or None, default=None
        The number of terms to keep, while older ones are dropped; None keeps every term. Steps are
        then constant by default, so that new terms replace the dropped ones. With decaying steps,
        new terms become too small for that in a long stream, and there is a warning.

        Let the slope of the loss be at most C, and k(x, x) at most X². Then the terms older than
        the last τ rounds have a norm of at most :math:`(C X / \alpha) \prod (1 - \eta_t \alpha)`,
        with the product over these τ rounds. This is Proposition 1 of the paper, where a constant
        step makes the product :math:`(1 - \eta \alpha)^\tau`. With decaying steps, it tends to 1 in
        a long stream.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. With 0, old rows are never forgotten.
        "auto" is 1e-3, except for the regression loss "epsilon_insensitive". Its slope is ±1 in any
        unit of y, so its alpha has the unit 1 / y, and "auto" is 1e-3 / (mean distance so far of an
        output from its intercept).
    step_size : float or "auto", default="auto"
        The first step :math:`\eta`. "auto" is 1 / (c × the largest k(x, x) so far + alpha), where c
        is the curvature of the loss, so that no step overshoots the row that it is taken on. For
        "epsilon_insensitive", c is 1 / (mean distance so far of an output from its intercept), and
        steps may overshoot.

    Attributes
    ----------
    kernel_bound_ : float
        The largest k(x, x) so far.
    n_rounds_ : int
        Number of rows learned.

    Raises
    ------
    ValueError
        If a step times ``alpha`` reaches 1, since such a step would reverse the signs of all
        coefficients. Also if the mean loss of a block of rows grows beyond a thousand times the
        loss of a constant.

    References
    ----------
    .. [1] J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE
       Transactions on Signal Processing 52(8), 2004: the update of Section III, truncation as in
       its Proposition 1.
    """

    loss: str
    alpha: float | str
    step_size: float | str
    schedule: str
    average: bool
    max_support: int | None
    shuffle: bool
    rounds_: NORMA
    intercept_: np.ndarray

    _parts = (*KernelLearner._parts, "intercept_", "rounds_")
    _fixed = ("loss", "average", "max_support", *KernelLearner._fixed)
    _rules = KernelLearner._rules | {
        "alpha": either(non_negative("alpha=1e-3 regularises lightly"), AUTO),
        "step_size": either(positive("step_size='auto' suits every loss and kernel"), AUTO),
        "schedule": choice(
            "auto", "inverse", "sqrt", "constant", remedy="schedule='sqrt' divides the step by √t"
        ),
        "average": boolean("average=False predicts with the last f"),
        "max_support": either(
            integer(2, "max_support=10_000 keeps the latest 10,000 terms, None all"), NONE
        ),
        "shuffle": boolean("shuffle=True lets fit visit the rows in a random order"),
    }

    @completed_by(LEARNING)
    def fit(self, X: Any, y: Any) -> Any:
        """Learn in one online pass over the rows."""
        check_parameters(self, self._rules)
        with training_copy(self, is_model) as new, linear_algebra(self.n_jobs):
            X, targets, _ = new._receive_first(X, y)
            begin_rounds(new, targets)
            order = np.arange(X.shape[0])
            if self.shuffle:
                order = generator(new.seed_, Purpose.SHUFFLE).permutation(order)
            new._learn(X[order], targets[order])
        return self

    def check_state(self) -> None:
        super().check_state()
        if hasattr(self, "rounds_"):
            check_is("rounds_", self.rounds_, NORMA)
            self._check_outputs("rounds_", len(self.rounds_.spread))
            if self.rounds_.support is not None:
                self._check_stored("support points", self.rounds_.support.rows)

    def _partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        check_parameters(self, self._rules)
        with training_copy(self, is_model, resumes=True) as new, linear_algebra(self.n_jobs):
            if new.__sklearn_is_fitted__():
                X, targets, _ = new._receive_later(X, y, classes=classes)
                new.rounds_ = new.rounds_.fork()
            else:
                X, targets, _ = new._receive_first(X, y, classes=classes, stream=True)
                begin_rounds(new, targets)
            new._learn(X, targets)
        return self

    def _follow(self, before: Any) -> None:
        super()._follow(before)
        if (new := self.targets_.since(before)) is not None:
            self.intercept_ = new.of_targets(self.intercept_)

    def _learn(self, X: Any, targets: np.ndarray) -> None:
        """Make a round for each row of a batch, in the order given."""
        b, loss = self.intercept_, self._loss(targets.shape[1])

        def error(f: np.ndarray, y: np.ndarray) -> np.ndarray:
            return self.targets_.error(f + b, y + b)

        schedule = self.schedule
        if schedule == "auto":  # small steps could not replace the terms that are dropped
            schedule = "inverse" if self.max_support is None else "constant"
        update = Update(
            self.kernel_, loss, error, self.alpha, self.step_size, schedule, self.average
        )
        with self._progress(len(targets), "row") as bar:
            self.rounds_.learn(X, targets - b, update, bar.update)

    def _calibrates(self) -> bool:
        return True

    def _unseen(self) -> Unseen | None:
        return recent_rows(self.rounds_.recent, self.rounds_.n_rounds, self.targets_.shown)

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
        """Number of rows learned."""
        check_is_fitted(self)
        return self.rounds_.n_rounds

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each block, before learning, shape (n_blocks, 2).

        Beyond 8,192 blocks, neighbours are merged.
        """
        check_is_fitted(self)
        return np.array(self.rounds_.curve)


def begin_rounds(learner: _NORMA, targets: np.ndarray) -> None:
    """Begin the rounds of a learner that has received its first batch."""
    if learner.average and learner.max_support is not None:
        raise InvalidValueError(
            f"{type(learner).__name__}: average=True with max_support={learner.max_support!r}, but "
            "an average over rounds needs the terms that are dropped",
            "average=False, or max_support=None",
        )
    learner.intercept_ = learner.targets_.intercept(targets)
    calibrated = isinstance(learner, Classifier)
    learner.rounds_ = NORMA(targets.shape[1], learner.max_support, calibrated)


def is_model(learner: _NORMA) -> bool:
    """Return whether a learner has made a round."""
    rounds: NORMA | None = getattr(learner, "rounds_", None)
    return rounds is not None and rounds.n_rounds > 0


@documented
class NORMARegressor(Regressor, _NORMA):
    r"""Online kernel regression with NORMA.

    Round t sees one row. It descends the gradient of the row's regularised loss,
    :math:`l(f(x_t), y_t) + \frac{\alpha}{2} \|f\|^2`, in the space of the kernel:

    .. math:: f_{t+1} = (1 - \eta_t \alpha) f_t - \eta_t\, l'(f_t(x_t), y_t)\, k(x_t, \cdot)

    A round needs a kernel value for every term so far. The model keeps every row at which the loss
    has a slope, or the latest ``max_support`` of these rows. Kernel values are computed for up to
    256 rounds at once, in at most 16 MiB, with the same result.

    The mean target of the first batch is subtracted, and added back as ``intercept_``. The offset
    of the paper, which is learned along with f, is left out.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive"}, default="squared_error"
        The loss l. "huber" and "epsilon_insensitive" are robust to outliers.

    Attributes
    ----------
    intercept_ : array of shape (n_outputs,)
        Mean of the first batch's targets.
    online_error_ : array of shape (n_blocks, 2)
        Number of rows of each block of rounds, and their mean squared error. Each row is predicted
        before it is learned.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.baselines import NORMARegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, (1000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = NORMARegressor(kernel_params={"gamma": 1.0}, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _fixed = ("epsilon", *_NORMA._fixed)
    _rules = _NORMA._rules | OF_NUMBERS

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        alpha: float | str = "auto",
        step_size: float | str = "auto",
        schedule: str = "auto",
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


@documented
class NORMAClassifier(Classifier, _NORMA):
    r"""Online kernel classification with NORMA.

    Round t sees one row. It descends the gradient of the row's regularised loss,
    :math:`l(f(x_t), y_t) + \frac{\alpha}{2} \|f\|^2`, in the space of the kernel:

    .. math:: f_{t+1} = (1 - \eta_t \alpha) f_t - \eta_t\, l'(f_t(x_t), y_t)\, k(x_t, \cdot)

    A round needs a kernel value for every term so far. The model keeps every row at which the loss
    has a slope, or the latest ``max_support`` of these rows. There is no offset. The paper learns
    one along with f.

    Attributes
    ----------
    online_error_ : array of shape (n_blocks, 2)
        Number of rows of each block of rounds, and the share misclassified. Each row is predicted
        before it is learned.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless.baselines import NORMAClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NORMAClassifier(kernel_params={"gamma": 1e-3}, loss="hinge", random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85)
    True
    """

    _rules = _NORMA._rules | OF_LABELS

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        kernel_params: dict[str, Any] | None = None,
        loss: str = "log_loss",
        alpha: float | str = "auto",
        step_size: float | str = "auto",
        schedule: str = "auto",
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
