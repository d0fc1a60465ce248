"""Doubly Stochastic Gradients: stochastic in the data and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014. The solver is in ``_solvers/descent``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from trickless._arrays.likes import ArrayLike, MatrixLike, RandomStateLike
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by, documented
from trickless._learners import refusals
from trickless._learners.arguments import GROWING, HELD_OUT, LEARNING, NUMBERS
from trickless._learners.base import store
from trickless._learners.callbacks import watch_rows
from trickless._learners.classifier import Classifier
from trickless._learners.descent_attributes import DescentAttributes
from trickless._learners.descent_sizes import begin_descent, continued, size_up, size_up_stream
from trickless._learners.held_out_rows import (
    check_validation,
    groups_of,
    hold_out,
    rows_apart,
    warn_of_known_rows,
)
from trickless._learners.neuron_learner import choose_neurons, receive_rows
from trickless._learners.no_better import warn_if_no_better
from trickless._learners.quantiles import QUANTILE
from trickless._learners.regressor import Regressor
from trickless._learners.row_ages import age, lapses
from trickless._learners.training_copy import training_copy
from trickless._rows.rows import Batch
from trickless._rules import (
    AUTO,
    CLASS_WEIGHT,
    boolean,
    choice,
    count,
    either,
    integer,
    non_negative,
    positive,
)
from trickless._solvers.clock import HALF_LIFE, Clock
from trickless._solvers.descent.options import NEURONS
from trickless._solvers.descent.passes import FitRows, learn_all
from trickless._solvers.named_losses import OF_LABELS, OF_NUMBERS
from trickless._solvers.pinball import Quantile
from trickless.neurons import Neurons


class DoublyStochastic(DescentAttributes):
    r"""Parameters, ``fit`` and streams of both estimators; ``_descent_`` is the solver.

    Parameters
    ----------
    n_neurons : int or "auto", default="auto"
        The number of neurons that ``fit`` draws. "auto" is 20,000, or up to 32,768 for many rows.
    fit_intercept : bool, default=True
        Whether the function starts from a constant, which is not penalised: the mean target of the
        first batch, or the log-odds of its classes. The theorem needs False. See
        :func:`trickless.theory.doubly_stochastic_bound`.
    batch_size : int or "auto", default="auto"
        The number b of rows in a step. "auto" is all rows of a call, up to 32,768, and 512 for
        plain steps.
    neurons_per_step : int or "auto", default="auto"
        The number k of neurons that each step draws. "auto" gives a block as many columns as rows,
        between 64 and 512, or more for many rows. It is 32 for plain steps.
    warm_start : bool, default=False
        Whether ``fit`` keeps the neurons of the fitted model and adds neurons up to ``n_neurons``.
    half_life : float, timedelta or None, default=None
        How many later rows, or how much time by ``timestamps``, fade coefficients to half in
        ``partial_fit``. Neurons that have faded to 1/256 are dropped, as are the oldest beyond
        ``n_neurons``. ``fit`` weights rows by their age, in their order. None forgets nothing.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons, the order of rows and the held-out rows. The same integer gives the
        same model.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and coefficients.
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. "auto" is chosen for steps on blocks by
        rows that are left out. It is 1e-6 in units of the loss for plain steps.
    step_size : float or "auto", default="auto"
        The first step :math:`\gamma`, or :math:`\theta` for ``schedule="theorem"``. "auto" is found
        from each block, or is 1 / alpha for "theorem". For other plain steps, it is a stable step.
    schedule : {"auto", "block", "inverse", "constant", "theorem"}, default="auto"
        How steps are taken. "block" fits each block of neurons to the residuals, damped by the
        noise of the targets. With a number as ``step_size``, it is the algorithm of the authors'
        code. The others are the algorithm of the paper [1]_, with step i = 0, 1, ... of size
        :math:`\gamma / (1 + \gamma \alpha i)` for "inverse", :math:`\gamma` for "constant", and
        :math:`\theta / (i + 1)` for "theorem". The last has the guarantee of the paper. "auto" is
        "block", or "inverse" with a number as ``step_size``.
    early_stopping : bool or "auto", default="auto"
        Whether ``fit`` holds a tenth of the rows out, and stops when they make no more progress.
        The held-out rows also give ``predict_interval`` and ``predict_set``. "auto" is True if
        ``fit`` gets ``X_val``.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Algorithms 1 and 2.
    """

    n_neurons: int | str
    early_stopping: bool | str
    warm_start: bool
    half_life: Any

    _fixed = (*DescentAttributes._fixed, "loss", "fit_intercept")
    _on_devices = True

    _refusals = refusals.DESCENT
    _rules = DescentAttributes._rules | {
        "n_neurons": either(count("n_neurons='auto' suits most data; it counts draws of w"), AUTO),
        "alpha": either(non_negative("alpha=1e-6 regularises lightly"), AUTO),
        "step_size": either(positive("step_size='auto' suits every loss and bounded family"), AUTO),
        "schedule": choice(
            "auto",
            "block",
            "inverse",
            "constant",
            "theorem",
            remedy="schedule='auto' suits most data",
        ),
        "fit_intercept": boolean("fit_intercept=False starts from f = 0, as the paper does"),
        "batch_size": either(integer(1, "batch_size='auto' depends on the number of rows"), AUTO),
        "neurons_per_step": either(integer(1, "neurons_per_step='auto' suits the rows"), AUTO),
        "early_stopping": either(
            boolean("early_stopping=True stops when rows held out gain no more"), AUTO
        ),
        "warm_start": boolean("warm_start=True lets fit add neurons to the fitted model"),
        "half_life": HALF_LIFE,
    }

    @completed_by(LEARNING, HELD_OUT)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: MatrixLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Take steps on batches of the rows until ``n_neurons`` neurons have been drawn.

        The rows are split into random batches once, and each pass visits the batches in a new
        order. The value of f at each row is kept between visits, with 8 bytes for each row and
        output, so a visit evaluates only the neurons drawn since the last visit. Each neuron is
        evaluated once at each row.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, relative to their mean. If the weights of some batch sum to more
            than its number of rows, all steps are divided by that factor.
        """
        warm = self.warm_start and self.__sklearn_is_fitted__()
        check_validation(self, X_val, y_val, sample_weight_val)
        with (
            training_copy(self, DescentAttributes._is_model, resumes=warm) as new,
            linear_algebra(self.n_jobs),
        ):
            if warm:  # ages count within the rows of this call
                new._clock_ = Clock()
            sample_weight = age(new, X, sample_weight, timestamps).weight
            if warm:
                batch = receive_rows(new, X, y, sample_weight, stream=False)
                new._descent_ = continued(new)
            else:
                batch = new._receive_first(X, y, sample_weight)
                choose_neurons(new, *batch)
                new._descent_ = begin_descent(new, *batch)
            descent, apart, held_out, numbers = new._descent_, None, None, None
            if groups is not None:
                numbers = groups_of(new, groups, y, sample_weight)
            if X_val is not None:
                apart = rows_apart(new, X_val, y_val, sample_weight_val)
                watch_rows(new, X_val, y_val)
            elif self.early_stopping and not isinstance(self.early_stopping, str):
                warn_of_known_rows(new)
                held_out = hold_out(new, X, y, sample_weight, batch[1], numbers)
            rows = FitRows(*batch, numbers, held_out, apart)
            options = size_up(new, len(batch[1]))
            n_left = options.step.n_neurons - len(descent.coef)
            with new._progress(n_left, "neuron") as bar:  # Alg. 1
                learn_all(descent, rows, options, bar.update)
            if descent.validation_scores and np.ptp(batch[1], axis=0).any():
                warn_if_no_better(new, max(descent.validation_scores), len(batch[1]))
        return self

    def _partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        classes: Any = None,
        timestamps: Any = None,
    ) -> Any:
        """Take steps on a batch of a stream, with which the learner begins if it is not fitted."""
        with (
            training_copy(self, DescentAttributes._is_model, resumes=True) as new,
            linear_algebra(self.n_jobs),
        ):
            passed = lapses(new, X, timestamps)
            batch: Batch
            if new.__sklearn_is_fitted__():
                batch = receive_rows(new, X, y, sample_weight, classes, learned=True)
                new._descent_ = new._descent_.copy()
            else:
                batch = new._receive_first(X, y, sample_weight, classes, stream=True)
                choose_neurons(new, *batch)
                new._descent_ = begin_descent(new, *batch)
            new._learn(batch, passed)
        return self

    def _learn(self, batch: Batch, passed: np.ndarray | None) -> None:
        """Take steps on the rows that count, before which some half-lives have passed."""
        if n_rows := len(batch[1]):
            options, memory = size_up_stream(self, n_rows, passed)
            with self._progress(n_rows, "row") as bar:
                self._descent_.learn(*batch, options, bar.update, memory)
        elif passed is not None:
            self._descent_.fade(float(passed.sum()), len(self._descent_.coef))

    @property
    def _planned_neurons(self) -> int:
        return NEURONS if isinstance(self.n_neurons, str) else self.n_neurons


@documented
class DoublyStochasticRegressor(Regressor, DoublyStochastic):
    r"""Regression with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, and predicts the batch with all
    earlier neurons. Each fresh neuron gets the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and earlier coefficients are multiplied by :math:`1 - \gamma_i \alpha`. See
    :doc:`/explanation/doubly-stochastic`.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss l. "squared_error" learns the mean. "huber" and "epsilon_insensitive" are robust
        to outliers. "absolute_error" predicts the median, and "quantile" the quantiles of
        ``quantile``. Three losses learn f = log of the mean, and ``predict`` returns the mean:
        "poisson" for counts, "gamma" for positive numbers, and "tweedie", with the power 1.5, for
        positive numbers and zeros. See :doc:`/guides/counts`.

    Attributes
    ----------
    intercept_ : array of shape (n_outputs,)
        Mean of the first batch's targets, or its logarithm for losses with a log link, or their
        quantile, or 0. With a ``half_life`` it moves to their present level.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step, and their mean squared error before the step, summed over the
        outputs.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import DoublyStochasticRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DoublyStochasticRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _fixed = ("quantile", *DoublyStochastic._fixed)
    _rules = DoublyStochastic._rules | OF_NUMBERS | {"quantile": QUANTILE}

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int | str = "auto",
        *,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        quantile: Quantile = 0.5,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        step_size: float | str = "auto",
        schedule: str = "auto",
        batch_size: int | str = "auto",
        neurons_per_step: int | str = "auto",
        early_stopping: bool | str = "auto",
        warm_start: bool = False,
        half_life: Any = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
    ) -> None:
        store(self, locals())

    @completed_by(NUMBERS, LEARNING)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        A batch of fewer rows takes a proportionally smaller step, so rows count equally, however
        they are grouped. The first batch chooses the regularisation, so it should not be tiny.
        Parameters that are "auto" depend on the rows of each call. Each step adds
        ``neurons_per_step`` neurons, also beyond ``n_neurons``.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, relative to their mean so far. If the weights of a batch sum to
            more than its number of rows, they are scaled down to that number. That keeps the step
            stable, so heavy rows count less than in ``fit``, especially in small batches.
        """
        return self._partial_fit(X, y, sample_weight, timestamps=timestamps)


@documented
class DoublyStochasticClassifier(Classifier, DoublyStochastic):
    r"""Classification with Doubly Stochastic Gradients.

    The steps are as for :class:`DoublyStochasticRegressor`, with a loss of labels. With
    "log_loss", the network starts with the log-odds of the first batch's classes as its intercept.
    Steps on blocks move the intercept, so that probabilities average to the shares of the classes.

    Attributes
    ----------
    intercept_ : array of shape (n_outputs,)
        The constant of the decision values.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step, and the share misclassified before the step.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import DoublyStochasticClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DoublyStochasticClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _rules = DoublyStochastic._rules | OF_LABELS | {"class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int | str = "auto",
        *,
        loss: str = "log_loss",
        class_weight: dict[Any, float] | str | None = None,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        step_size: float | str = "auto",
        schedule: str = "auto",
        batch_size: int | str = "auto",
        neurons_per_step: int | str = "auto",
        early_stopping: bool | str = "auto",
        warm_start: bool = False,
        half_life: Any = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
    ) -> None:
        store(self, locals())

    @completed_by(GROWING, LEARNING)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        See :meth:`DoublyStochasticRegressor.partial_fit` for weights and the sizes of batches.
        """
        return self._partial_fit(X, y, sample_weight, classes, timestamps)
