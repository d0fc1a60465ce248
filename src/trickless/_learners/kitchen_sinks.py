"""Random Kitchen Sinks: draws K neurons at random, and solves for their coefficients.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008. The solver is in ``_solvers/least_squares``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from trickless._arrays.likes import ArrayLike, MatrixLike, RandomStateLike
from trickless._arrays.sparse import dense_if_small
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by, documented
from trickless._learners import (
    gaussian_process,
    growing_sums,
    left_out_intervals,
    merged_sums,
    predict_then_learn,
    refusals,
)
from trickless._learners.arguments import LEARNING
from trickless._learners.base import store
from trickless._learners.classifier import Classifier
from trickless._learners.neuron_learner import begin_stream, choose_neurons
from trickless._learners.no_better import warn_if_no_better
from trickless._learners.regressor import Regressor
from trickless._learners.row_ages import age
from trickless._learners.row_groups import check_groups, groups_to_leave_out, warn_of_groups
from trickless._learners.solution_attributes import SolutionAttributes
from trickless._learners.training_copy import training_copy
from trickless._rules import (
    CLASS_WEIGHT,
    anything,
    boolean,
    choice,
    either,
    integer,
    is_grid,
    is_none,
    non_negative,
    positive,
)
from trickless._selection.grid import families_of_grid
from trickless._solvers.clock import HALF_LIVES, are_several
from trickless._solvers.least_squares.sums import Sums
from trickless._solvers.named_losses import OF_LABELS
from trickless.neurons import Neurons
from trickless.neurons.named import make_neurons


class KitchenSinks(SolutionAttributes):
    """Parameters and ``fit`` of both estimators; ``_sums_`` is the solver.

    Parameters
    ----------
    n_neurons : int, default=1000
        The number K of neurons to draw. More come closer to the kernel machine. Memory grows with
        the square of ``n_neurons * width``.
    alpha : float, "auto" or "evidence", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by exact leave-one-out
        errors of up to 2,048 rows. "evidence" maximises the likelihood of the targets. Each output
        of a regressor has its own.
    weight_bound : float or None, default=None
        The constant C of the paper [1]_: no coefficient exceeds C / ``n_neurons``. None sets no
        bound.
    fit_intercept : bool, default=True
        Whether the function has a constant b, which is not penalised. The theorem of the paper
        needs False (see :func:`trickless.theory.kitchen_sinks_bound`).
    solver : {"auto", "direct", "iterative"}, default="auto"
        How least squares is solved. "direct" passes over the rows once. "iterative" makes some tens
        of passes, and keeps no ``statistics_``, which ``partial_fit``, ``merge`` and ``return_std``
        need. "auto" is "iterative" for many rows and more than 6,144 columns, where possible.
    search : dict or None, default=None
        Values of the neurons' parameters, such as ``{"neurons__length_scale": [0.5, 1.0, 2.0]}``.
        All combinations are compared by leave-one-out errors of small models.
    half_life : float, timedelta, list, "auto" or None, default=None
        How many later rows halve the weight of a row. With ``timestamps``, it is in their unit,
        which is seconds for datetimes, or a timedelta. "auto" mixes experts with half-lives of 10,
        100, 1,000 and infinitely many rows. A list has an expert for each half-life. None forgets
        nothing. See :doc:`/guides/streams`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations, and of their products where that is accurate enough. Sums and
        solvers use float64.
    max_iter : int, default=500
        The most iterations of the iterative solver.
    tol : float, default=1e-5
        How close to its minimum the risk must be for the iterative solver to stop, relative to how
        much the solution decreases it.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1,
       with the ridge of section 4 unless ``weight_bound`` is given.
    """

    fit_intercept: bool
    solver: str
    search: dict[str, Any] | None
    half_life: Any
    max_iter: int
    tol: float

    _fixed = (*SolutionAttributes._fixed, "n_neurons")
    _bounded = False
    _on_devices = True
    _refusals = refusals.SUMS
    _rules = SolutionAttributes._rules | {
        "alpha": either(
            non_negative("alpha='auto' chooses it by rows that are left out"),
            choice("auto", "evidence", remedy=""),
        ),
        "weight_bound": either(
            positive("weight_bound=None sets no bound"), anything("None", "", is_none)
        ),
        "fit_intercept": boolean("fit_intercept=False leaves the constant out"),
        "solver": choice("auto", "direct", "iterative", remedy="solver='auto' suits most data"),
        "max_iter": integer(1, "max_iter=500 is the default"),
        "tol": positive("tol=1e-5 is the default"),
        "search": either(
            anything(
                "a dictionary of lists",
                "search={'neurons__length_scale': [0.5, 1.0, 2.0]} compares three length scales",
                is_grid,
            ),
            anything("None", "", is_none),
        ),
        "half_life": HALF_LIVES,
    }

    @completed_by(LEARNING)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Draw neurons and solve for their coefficients.

        Parameters
        ----------
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
            Target values or class labels. A classifier with the squared loss also takes several
            labels for each row: (n_rows, n_labels), with 1 where a row has the label, else 0.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows. Only their ratios matter. For a given alpha, a row of weight 2
            counts like two equal rows. For the choice of alpha it does not, since two equal rows
            are two observations. ``alpha="auto"`` leaves out a row with all its weight. Error bars
            use (Σ w)² / Σ w² as the number of rows.
        groups : array of shape (n_rows,), optional
            The group of each row, if rows of one group are alike, such as those of one patient.
            Rows are then left out with all rows of their group, so that length scales, alpha,
            intervals and probabilities are for new groups. ``partial_fit`` and ``merge`` end that.
        """
        check_groups(self, groups)
        if are_several(self.half_life):
            growing_sums.learn_stream(self, [(X, y, sample_weight, timestamps)])
            return self
        with (
            training_copy(self, SolutionAttributes._is_model) as new,
            linear_algebra(self.n_jobs),
        ):
            aged = age(new, X, sample_weight, timestamps)
            X, targets, weight = new._receive_first(X, y, aged.weight)
            loss, loss_name = new._loss(targets.shape[1]), new._value("loss")
            numbers = groups_to_leave_out(new, groups, y, sample_weight)
            new._begin_sums(X, targets, weight, numbers)  # Alg. 1, line 1: draw neurons
            if loss_name != "squared_error":  # its descent may end elsewhere by rounding
                X = dense_if_small(X)
            batch = X, targets, weight
            sums, problem = new._sums_, new._problem()
            needs_sums = self._value("error_bars") or numbers is not None
            if sums.goes_in_passes(X, problem, self.solver, loss_name, needs_sums):
                with new._progress(self.max_iter, "pass", "solving") as bar:
                    sums.solve_in_passes(X, targets, weight, problem, bar.update)
            else:
                with new._progress(len(targets), "row", "summing") as bar:  # line 2: activations
                    sums.learn(*batch, problem, bar.update, aged.of_batch(new, y, batch).arrival)
            if numbers is not None:
                sums.leave_out_groups(numbers, *batch, problem)
            elif self.half_life is None:
                warn_of_groups(new, X)
            if loss_name == "squared_error":
                with new._progress(1, "solution", "solving") as bar:
                    sums.solution(problem)  # line 3: solve, unless that is done
                    bar.update()
            else:
                with new._progress(self.max_iter, "pass", f"minimising {loss_name}") as bar:
                    sums.minimise(X, targets, weight, loss, problem, bar.update)
            sums.function(problem)
            if loss_name == "squared_error":
                explained = sums.solution(problem).explained(targets, weight)
                warn_if_no_better(new, explained, len(targets))
        return self

    def _begin_sums(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        groups: np.ndarray | None = None,
    ) -> None:
        """Choose the neurons by the first batch, and begin with sums over no rows."""
        family = clone(make_neurons(self.neurons))
        families = families_of_grid(type(self).__name__, family, self.search)
        choose_neurons(self, X, targets, weight, families, groups)
        begin_stream(self)
        origin = np.average(targets, axis=0, weights=weight)
        self._sums_ = Sums(self._stream_, self._n_used, origin)

    @property
    def _n_used(self) -> int:
        """Number of neurons in use, if only so many are given."""
        n_given = self.neurons_._n_given
        return self.n_neurons if n_given is None else min(self.n_neurons, n_given)

    @property
    def _products(self) -> int:
        return self.n_neurons**2

    forget = growing_sums.forget
    merge = merged_sums.merge


@documented
class KitchenSinksRegressor(Regressor, KitchenSinks):
    r"""Regression with Random Kitchen Sinks: ridge regression on random neurons.

    Draws K neurons and minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. The solution approaches kernel ridge regression as K grows. Alpha has
    the same meaning for any K.

    Parameters
    ----------
    error_bars : bool, default=False
        Whether predictions must have standard deviations, which the direct solver gives. True uses
        it for any number of columns, and raises an error with ``weight_bound`` or
        ``solver="iterative"``.

    Attributes
    ----------
    noise_variance_ : float, or array of shape (n_outputs,)
        Variance of the noise: residual sum of squares over residual degrees of freedom.
    log_marginal_likelihood_ : float, or array of shape (n_outputs,)
        Logarithm of the likelihood of the training targets at ``alpha_`` and ``noise_variance_``,
        with the coefficients integrated out.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    _interval_methods = left_out_intervals.METHODS
    _rules = KitchenSinks._rules | {
        "error_bars": boolean("error_bars=True uses the direct solver"),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 1000,
        *,
        alpha: float | str = "auto",
        weight_bound: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        error_bars: bool = False,
        search: dict[str, Any] | None = None,
        half_life: Any = None,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
    ) -> None:
        store(self, locals())

    fit_stream = growing_sums.fit_stream_numbers
    partial_fit = growing_sums.partial_fit_numbers
    predict_then_learn = predict_then_learn.predict_then_learn_numbers
    predict = gaussian_process.predict
    predict_interval = left_out_intervals.predict_interval
    _intervals = left_out_intervals.intervals
    sample_y = gaussian_process.sample_y
    sample_function = gaussian_process.sample_function
    log_marginal_likelihood = gaussian_process.log_marginal_likelihood
    log_marginal_likelihood_ = property(gaussian_process.log_likelihood_of_fit)
    noise_variance_ = property(gaussian_process.noise_variance)
    theta_ = property(gaussian_process.theta_of_fit)


@documented
class KitchenSinksClassifier(Classifier, KitchenSinks):
    r"""Classification with Random Kitchen Sinks: least squares on random neurons.

    Draws K neurons and learns each class against the rest, with targets ±1. It minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    by default. ``predict_proba`` calibrates the decision values on rows that are left out.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss: "squared_error", "log_loss", "hinge" or "squared_hinge". "log_loss" is the
        logistic loss, or the softmax loss for more than two classes. All but "squared_error" need
        ``fit``, do not go with ``solver="iterative"``, and minimise the mean loss plus
        :math:`(\alpha K / 2) \sum_j |\beta_j|^2`. With them, "evidence" chooses alpha in the same
        way as "auto", by this loss.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``. Classes that a dictionary
        {label: weight} does not name have weight 1. "balanced" gives all classes the same total
        weight. It works with ``fit`` only.
    max_iter : int, default=500
        The most iterations of the iterative solver, and for losses other than "squared_error".
    tol : float, default=1e-5
        How close to its minimum the risk must be for the iterative solver to stop, relative to how
        much the solution decreases it. For losses other than "squared_error", no entry of the
        preconditioned gradient exceeds ``tol * sqrt(r)``, where r is the risk of the best constant.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KitchenSinksClassifier(n_neurons=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _spare = False  # the sums determine the output of a class without rows
    _fixed = ("loss", *KitchenSinks._fixed)
    _rules = KitchenSinks._rules | OF_LABELS | {"class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 1000,
        *,
        loss: str = "squared_error",
        class_weight: dict[Any, float] | str | None = None,
        alpha: float | str = "auto",
        weight_bound: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        search: dict[str, Any] | None = None,
        half_life: Any = None,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
    ) -> None:
        store(self, locals())

    @property
    def _takes_sets(self) -> bool:
        return self.loss == "squared_error"

    fit_stream = growing_sums.fit_stream_labels
    partial_fit = growing_sums.partial_fit_labels
    predict_then_learn = predict_then_learn.predict_then_learn_labels
    decision_function = gaussian_process.decision_function
