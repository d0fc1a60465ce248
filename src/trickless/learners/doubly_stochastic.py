"""Doubly Stochastic Gradients: stochastic in the data and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014. The solver is in ``solvers/descent``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from trickless.arrays.threads import linear_algebra
from trickless.docstrings import completed_by, documented
from trickless.learners import refusals
from trickless.learners.arguments import GROWING, LEARNING, NUMBERS
from trickless.learners.base import store
from trickless.learners.callbacks import watch_rows
from trickless.learners.classifier import Classifier
from trickless.learners.descent_attributes import DescentAttributes
from trickless.learners.descent_sizes import begin_descent, continued, size_up, size_up_stream
from trickless.learners.held_out_rows import (
    check_validation,
    groups_of,
    race,
    rows_apart,
    warn_of_known_rows,
    watch_held_out,
)
from trickless.learners.neuron_learner import choose_neurons, receive_rows
from trickless.learners.quantiles import QUANTILE, quantiles_of
from trickless.learners.regressor import Regressor
from trickless.learners.row_ages import age, lapses
from trickless.learners.training_copy import training_copy
from trickless.neurons import Neurons
from trickless.rows.rows import Batch
from trickless.rules import (
    AUTO,
    CLASS_WEIGHT,
    NONE,
    TWEEDIE_POWER,
    boolean,
    choice,
    count,
    either,
    fraction,
    integer,
    non_negative,
    positive,
)
from trickless.solvers.clock import HALF_LIFE, Clock
from trickless.solvers.descent.options import NEURONS, may_be_newton
from trickless.solvers.descent.passes import FitRows, learn_all
from trickless.solvers.descent.race import some_of
from trickless.solvers.named_losses import (
    EPSILON,
    FOR_MEANS,
    FOR_MORE_NUMBERS,
    LINK_LOSSES,
    OF_LABELS,
    QUANTILE_LOSSES,
    REGRESSION_LOSSES,
)
from trickless.solvers.pinball import Quantile
from trickless.targets.means import Means
from trickless.targets.targets import Numbers, Quantiles


class DoublyStochastic(DescentAttributes):
    r"""Parameters, ``fit`` and streams of both estimators; ``descent_`` is the solver.

    Parameters
    ----------
    n_neurons : int or "auto", default="auto"
        The number of neurons that ``fit`` draws. "auto" is at most 2,000 trees with Newton steps.
        Otherwise it is 20,000, or up to 32,768 for many rows.
    fit_intercept : bool, default=True
        Whether the function starts from a constant, which is not penalised: the mean target of the
        first batch, or the log-odds of its classes. The theorem needs False, as in the paper. See
        :func:`trickless.theory.doubly_stochastic_bound`.
    decay : float or "auto", default="auto"
        The constant c of the schedule "inverse". "auto" is :math:`\gamma \alpha`.
    preconditioner : {"auto", "block", "newton"} or None, default="auto"
        How steps are preconditioned. None is the algorithm of the paper. "block" is the algorithm
        of the authors' code, which fits each block of neurons to the residuals. "newton" takes
        Newton steps on the leaves of trees. "auto" is "newton" for trees, "block" for steps on many
        rows, and otherwise None.
    damping : float or "auto", default="auto"
        The regularisation of a preconditioned step, relative to the mean of the covariance's
        diagonal. "auto" is 1e-4, or 0.15 for Newton steps, and more for trees if classes are rare.
    batch_size : int or "auto", default="auto"
        The number b of rows in a step. "auto" is 512 for plain steps. With a preconditioner it is
        all rows of a call, up to 32,768 (131,072 for Newton steps).
    neurons_per_step : int or "auto", default="auto"
        The number k of neurons that each step draws. "auto" is 32 for plain steps and 1 for Newton
        steps. With "block" it gives one column for each 16 rows of the step, and at most 2,048.
    n_candidates : int or "auto", default="auto"
        The number of neurons to draw for each neuron that is used, which is the best of them on a
        fresh sample of rows. 1 is the algorithm of the paper. With more, steps descend the loss
        greedily, as boosting does. For trees, it is the number of columns that are tried for each
        cut: "auto" is an eighth of all columns, from 8 to 64. For other neurons, "auto" is 1.
    learned_prior : bool, default=True
        Whether the cuts of trees draw columns in proportion to 1 + how often each was chosen so
        far. This needs several candidates.
    validation_fraction : float, default=0.1
        Share of the rows to hold out for ``early_stopping``. Of fewer than 1,000 rows, trees hold
        out each once, in four folds.
    n_iter_no_change : int, default=5
        Number of scores without progress after which ``early_stopping`` stops, and at least a
        quarter of all scores so far.
    tol : float, default=1e-3
        The least progress that counts for ``early_stopping``, relative to what the held-out rows
        lose now.
    warm_start : bool, default=False
        Whether ``fit`` keeps the neurons of the fitted model and adds neurons up to ``n_neurons``.
        Trees with early stopping then need ``X_val`` and ``y_val`` that no fit has learned.
    half_life : float, timedelta or None, default=None
        How ``partial_fit`` forgets: after so many later rows, or so much time by ``timestamps``,
        coefficients have faded to half. Neurons that have faded to 1/256 are dropped, as are the
        oldest beyond ``n_neurons``, so memory stays bounded. ``fit`` weights rows by their age, in
        their order. None forgets nothing.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons, the order of rows and the held-out rows. The same integer gives the
        same model.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and coefficients.
    cache_bytes : int, default=2**28
        Memory in bytes for drawn weights. The rest is drawn again when needed.
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. "auto" is 1e-6 in units of the loss, or
        0 with Newton steps, which ``damping`` regularises.
    step_size : float or "auto", default="auto"
        The first step :math:`\gamma`, or θ for ``schedule="theorem"``. "auto" is a step that is
        stable for the neurons and rows, or 1 / alpha for "theorem". For streams, set ``n_neurons``
        to about the number that will be drawn.
    schedule : {"inverse", "constant", "theorem"}, default="inverse"
        The size of step i = 0, 1, ... "inverse" is :math:`\gamma / (1 + c i)` with c = ``decay``,
        "constant" is :math:`\gamma`, and "theorem" is :math:`\theta / (i + 1)`, which suits strong
        regularisation and has the guarantee of the paper for losses like "huber" and "log_loss".
    early_stopping : bool or "auto", default="auto"
        Whether ``fit`` holds rows out, and stops before ``n_neurons`` when they make no more
        progress. Trees keep their best number, and learn from all rows in the end. The held-out
        rows also give ``predict_interval`` and ``predict_set``, until ``partial_fit``. "auto" is
        True if the neurons are trees and there are at least 40 rows.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Algorithms 1 and 2.
    """

    loss: str
    epsilon: float = 0.1
    n_neurons: int | str  # type: ignore[assignment]
    alpha: float | str
    fit_intercept: bool
    half_life: Any = None
    step_size: float | str
    schedule: str
    decay: float | str
    preconditioner: str | None
    damping: float | str
    batch_size: int | str
    neurons_per_step: int | str
    n_candidates: int | str
    learned_prior: bool
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    cache_bytes: int

    _fixed = (*DescentAttributes._fixed, "loss", "fit_intercept")
    _by_leaves = True
    _on_devices = True

    _refusals = refusals.DESCENT
    _rules = DescentAttributes._rules | {
        "n_neurons": either(count("n_neurons='auto' suits most data; it counts draws of w"), AUTO),
        "alpha": either(non_negative("alpha=1e-6 regularises lightly"), AUTO),
        "step_size": either(positive("step_size='auto' suits every loss and bounded family"), AUTO),
        "schedule": choice(
            "inverse", "constant", "theorem", remedy="schedule='inverse' decays slowly"
        ),
        "fit_intercept": boolean("fit_intercept=False starts from f = 0, as the paper does"),
        "decay": either(non_negative("decay='auto' is the product of step and alpha"), AUTO),
        "preconditioner": either(
            choice(
                "auto",
                "block",
                "newton",
                remedy="preconditioner=None is the algorithm of the paper",
            ),
            NONE,
        ),
        "damping": either(positive("damping='auto' suits batches of several rows a column"), AUTO),
        "batch_size": either(integer(1, "batch_size='auto' depends on the number of rows"), AUTO),
        "neurons_per_step": either(
            integer(1, "neurons_per_step='auto' depends on the number of rows"), AUTO
        ),
        "n_candidates": either(
            integer(1, "n_candidates=1 takes neurons as they are drawn", 1000), AUTO
        ),
        "learned_prior": boolean("learned_prior=False draws all columns equally often"),
        "early_stopping": either(
            boolean(
                "early_stopping=True holds rows out and stops when their score no longer improves"
            ),
            AUTO,
        ),
        "validation_fraction": fraction("validation_fraction=0.1 holds a tenth of the rows out"),
        "n_iter_no_change": integer(1, "n_iter_no_change=5 is the default"),
        "tol": non_negative("tol=1e-3 is the default"),
        "warm_start": boolean("warm_start=True lets fit add neurons to the fitted model"),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
        "half_life": HALF_LIFE,
    }

    @completed_by(LEARNING)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
        timestamps: Any = None,
    ) -> Any:
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
        X_val : array or CSR matrix of shape (n_val, n_features), optional
            Rows for early stopping, which are not learned from. Without them, some of the rows of X
            are held out, and learned from in the end.
        y_val : array of shape (n_val,), or (n_val, n_outputs) for a regressor, optional
            Targets of these rows.
        sample_weight_val : array of shape (n_val,), optional
            Weights of these rows.
        groups : array of shape (n_rows,), optional
            The group of each row, if rows of one group are alike, such as those of one patient.
            Whole groups are then held out for early stopping. Otherwise rows of one group would be
            on both sides, and the scores of the held-out rows would be too good.
        """
        warm = self.warm_start and self.__sklearn_is_fitted__()
        check_validation(self, X_val, y_val, sample_weight_val)
        with (
            training_copy(self, DescentAttributes._is_model, resumes=warm) as new,
            linear_algebra(self.n_jobs),
        ):
            if warm:  # ages count within the rows of this call
                new.clock_ = Clock()
            sample_weight = age(new, X, sample_weight, timestamps).weight
            if warm:
                batch = receive_rows(new, X, y, sample_weight, stream=False)
                new.descent_ = continued(new)
            else:
                batch = new._receive_first(X, y, sample_weight)
                choose_neurons(new, *batch, in_turn=self._may_be_newton)
                new.descent_ = begin_descent(new, *batch[1:])
            rows = FitRows(*batch)
            if groups is not None:
                rows = rows._replace(groups=groups_of(new, groups, y, sample_weight))
            if X_val is not None:
                rows = rows._replace(apart=rows_apart(new, X_val, y_val, sample_weight_val))
            validated = X_val is not None
            options = size_up(new, *batch[1:], validated)
            if not validated:
                warn_of_known_rows(new, options)
            if not warm:
                some = partial(some_of, rows, new.seed_)
                options = race(new, *batch[1:], options, some, validated)
            descent = new.descent_
            if X_val is not None:
                watch_rows(new, X_val, y_val)
            else:
                watch_held_out(new, X, y, sample_weight, rows, options)
            n_left = options.step.n_neurons - len(descent.coef)
            with new._progress(n_left, "neuron") as bar:  # Alg. 1
                learn_all(descent, rows, options, bar.update)
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
                new.descent_ = new.descent_.copy()
            else:
                batch = new._receive_first(X, y, sample_weight, classes, stream=True)
                choose_neurons(new, *batch, in_turn=new._may_be_newton)
                new.descent_ = begin_descent(new, *batch[1:])
            new._learn(batch, passed)
        return self

    def _learn(self, batch: Batch, passed: np.ndarray | None) -> None:
        """Take steps on the rows that count, before which some half-lives have passed."""
        if n_rows := len(batch[1]):
            options, memory = size_up_stream(self, *batch[1:], passed)
            with self._progress(n_rows, "row") as bar:
                self.descent_.learn(*batch, options, bar.update, memory)
        elif passed is not None:
            self.descent_.fade(float(passed.sum()), len(self.descent_.coef))

    @property
    def _planned_neurons(self) -> int:
        return NEURONS if isinstance(self.n_neurons, str) else self.n_neurons

    @property
    def _may_be_newton(self) -> bool:
        return may_be_newton(self.preconditioner, self.schedule)


@documented
class DoublyStochasticRegressor(Regressor, DoublyStochastic):
    r"""Regression with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, and predicts the batch with all
    earlier neurons. Each fresh neuron gets the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and earlier coefficients are multiplied by :math:`1 - \gamma_i \alpha`. The model stores the
    coefficients and a seed, from which neurons are drawn again. The network starts with the mean
    target of the first batch as its intercept, or from 0 with ``fit_intercept=False``.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss l. "squared_error" learns the mean. "huber" and "epsilon_insensitive" are robust
        to outliers. "absolute_error" predicts the median, and "quantile" predicts the quantiles of
        ``quantile``, by the pinball loss. Three losses have a log link. They learn f = log of the
        mean, and ``predict`` returns the mean: "poisson" for counts, "gamma" for positive numbers,
        and "tweedie" for positive numbers and zeros.
    quantile : float or sequence of float, default=0.5
        For ``loss="quantile"``: the share of the targets below the prediction. With an increasing
        sequence, all quantiles are learned in one fit, and ``predict`` returns a column for each.
        They never cross, because the values of a row are sorted. y must be one column then.
    tweedie_power : float, default=1.5
        The power p of ``loss="tweedie"``, above 1 and below 2. The variance of a target is taken
        to be in proportion to the p-th power of its mean.

    Attributes
    ----------
    intercept_ : array of shape (n_outputs,)
        Mean of the first batch's targets, or its logarithm for losses with a log link, or their
        quantile, or 0. With a ``half_life`` it moves to their present level.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step, and their mean squared error before the step. The error is
        summed over the outputs.

    Notes
    -----
    Counts that were observed for different exposures, such as days, are learned as rates:
    ``fit(X, count / exposure, sample_weight=exposure)``. For "poisson" this is the same likelihood
    as that of the counts with log(exposure) as an offset. The expected count of a row is
    ``exposure * predict(X)``. With a log link, ``network_(X)`` is the logarithm of the mean.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import DoublyStochasticRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DoublyStochasticRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    >>> model = DoublyStochasticRegressor(
    ...     "trees", 100, loss="quantile", quantile=[0.05, 0.5, 0.95], random_state=0
    ... )
    >>> model.fit(X, y).predict(X).shape
    (442, 3)

    Counts, and the share of their deviance that is explained:

    >>> counts = DoublyStochasticRegressor("trees", 100, loss="poisson", random_state=0).fit(X, y)
    >>> bool(counts.score(X, y) > 0.4)
    True
    """

    _fixed = ("quantile", "tweedie_power", *DoublyStochastic._fixed)
    _rules = DoublyStochastic._rules | {
        "quantile": QUANTILE,
        "tweedie_power": TWEEDIE_POWER,
        "loss": choice(
            *(*REGRESSION_LOSSES, *QUANTILE_LOSSES, *LINK_LOSSES),
            remedy=f"{FOR_MEANS}; {FOR_MORE_NUMBERS}",
        ),
        "epsilon": EPSILON,
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int | str = "auto",
        *,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        quantile: Quantile = 0.5,
        tweedie_power: float = 1.5,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        decay: float | str = "auto",
        preconditioner: str | None = "auto",
        damping: float | str = "auto",
        batch_size: int | str = "auto",
        neurons_per_step: int | str = "auto",
        n_candidates: int | str = "auto",
        learned_prior: bool = True,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        tol: float = 1e-3,
        warm_start: bool = False,
        half_life: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    def _new_targets(self, y: np.ndarray, classes: Any) -> Numbers:
        owner, loss, levels = type(self).__name__, self.fixed_["loss"], quantiles_of(self)
        if levels is not None:
            return Quantiles(owner, y, self.dtype, len(levels))
        if loss in LINK_LOSSES:
            power = {"poisson": 1, "gamma": 2}.get(loss, self.fixed_["tweedie_power"])
            return Means(owner, y, self.dtype, loss, power)
        return super()._new_targets(y, classes)

    @completed_by(NUMBERS, LEARNING)
    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, timestamps: Any = None
    ) -> Any:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        A batch of fewer rows takes a proportionally smaller step, so rows count equally, however
        they are grouped. For a stream of small batches, set ``batch_size`` to their size.
        Parameters that are "auto" depend on the rows of each call, so calls with 1,024 rows or more
        learn faster. Each step adds ``neurons_per_step`` neurons, also beyond ``n_neurons``.

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

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, and predicts the batch with all
    earlier neurons. Each fresh neuron gets the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and earlier coefficients are multiplied by :math:`1 - \gamma_i \alpha`. The model stores the
    coefficients and a seed, from which neurons are drawn again. With "log_loss", the network starts
    with the log-odds of the first batch's classes as its intercept. Steps on blocks move the
    intercept, so that probabilities average to the shares of the classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``. In a dictionary
        {label: weight}, classes that are not named have weight 1. "balanced" gives all classes the
        same total weight. It needs all rows, so it works with ``fit`` only.

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
        schedule: str = "inverse",
        decay: float | str = "auto",
        preconditioner: str | None = "auto",
        damping: float | str = "auto",
        batch_size: int | str = "auto",
        neurons_per_step: int | str = "auto",
        n_candidates: int | str = "auto",
        learned_prior: bool = True,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        tol: float = 1e-3,
        warm_start: bool = False,
        half_life: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    @completed_by(GROWING, LEARNING)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
    ) -> Any:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        See :meth:`DoublyStochasticRegressor.partial_fit` for the sizes of batches and steps.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, relative to their mean so far. If the weights of a batch sum to
            more than its number of rows, they are scaled down to that number.
        """
        return self._partial_fit(X, y, sample_weight, classes, timestamps)
