"""Random Kitchen Sinks: draws K neurons at random, and solves for their coefficients.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008. The solver is in
``solvers/least_squares``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from trickless.arrays.places import to_device_of
from trickless.arrays.sparse import dense_if_small
from trickless.arrays.states import in_one_state
from trickless.arrays.threads import linear_algebra
from trickless.docstrings import documented
from trickless.errors import InvalidValueError
from trickless.files.checkpoint import Checkpoint
from trickless.learners.base import store
from trickless.learners.classifier import Classifier
from trickless.learners.ensembles import check_single
from trickless.learners.expert_weights import ExpertWeights
from trickless.learners.forgetting import age
from trickless.learners.gaussian_process import GaussianProcess, process_of
from trickless.learners.hazards import keep_baseline
from trickless.learners.left_out_intervals import LeftOutIntervals
from trickless.learners.many_losses import OF_LOSSES, ManyLosses
from trickless.learners.neuron_learner import begin_stream, choose_neurons
from trickless.learners.prequential import PredictThenLearnLabels, PredictThenLearnNumbers
from trickless.learners.regressor import Regressor
from trickless.learners.solved import SolvedLearner
from trickless.learners.streams import (
    check_response,
    forget_rows,
    learn_batch,
    learn_stream,
    merge_sums,
)
from trickless.learners.training import training_copy
from trickless.neurons import Neurons, make_neurons
from trickless.rules import (
    CLASS_WEIGHT,
    anything,
    boolean,
    check_parameters,
    choice,
    either,
    integer,
    is_grid,
    is_none,
    non_negative,
    positive,
)
from trickless.selection.grid import families_of_grid
from trickless.solvers.clock import HALF_LIVES, are_several
from trickless.solvers.experts.experts import MOST_LAGS
from trickless.solvers.least_squares.sums import Sums
from trickless.solvers.named_losses import (
    CLASSIFICATION_LOSSES,
    FOR_LABELS,
    FOR_MEANS,
    FOR_MORE_NUMBERS,
    LINK_LOSSES,
    QUANTILE_LOSSES,
)
from trickless.solvers.pinball import Quantile


class _KitchenSinks(ExpertWeights, SolvedLearner):
    """Parameters, ``fit`` and the like of both estimators; ``sums_`` is the solver.

    Parameters
    ----------
    n_neurons : int, default=1000
        The number K of neurons to draw. More neurons come closer to the kernel machine. Memory
        grows with the square of ``n_neurons * width``, but not with the number of rows.
    alpha : float, "auto", "loo" or "evidence", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by generalised
        cross-validation, for each output separately, without another pass over the rows. "loo"
        chooses it by exact leave-one-out errors, which takes a second pass and needs ``fit``. With
        no more rows than activations (``n_neurons * width``), "auto" uses these errors as well,
        and classes share one alpha, because there are few rows of each.
        "evidence" maximises the likelihood of the targets, with the coefficients integrated out and
        the best variance of the noise, as Gaussian processes do. It needs no second pass either.
    weight_bound : float or None, default=None
        The constant C of the paper: the risk is minimised so that no coefficient exceeds
        C / ``n_neurons``. ``alpha="auto"`` and "loo" choose alpha without this constraint.
        ``alpha=0`` then works with any number of columns. None sets no constraint.
    fit_intercept : bool, default=True
        Whether the function has a constant b, which is not penalised. If False, b = 0. The theorem
        of the paper is for ``alpha=0``, ``fit_intercept=False`` and a ``weight_bound``. See
        :func:`trickless.theory.kitchen_sinks_bound`.
    solver : {"auto", "direct", "iterative"}, default="auto"
        How least squares is solved. "auto" suits most data. Let c be the number of columns,
        ``n_neurons * width``.

        - "direct" sums statistics in one pass over the rows and factorises them. Its time is of
          order n c² + c³.
        - "iterative" runs preconditioned conjugate gradients, with tens of passes over the rows. It
          keeps activations in memory if they fit into ``cache_bytes`` or the memory of the direct
          solver. Otherwise it evaluates them in every pass. It needs ``fit`` and a positive alpha
          or "auto". The model then has no ``statistics_``, which ``partial_fit``, ``merge`` and
          ``return_std`` need.
        - "auto" is "direct" for up to 6,144 columns, or up to 16,384 if activations cannot be kept.
          In most cases, it is also "direct" for up to 2,048 rows. It is "direct" where "iterative"
          is not possible, and "iterative" otherwise.
    search : dict or None, default=None
        Values of the neurons' parameters to choose from, such as
        ``{"neurons__length_scale": [0.5, 1.0, 2.0]}``. All combinations are compared by generalised
        cross-validation, with 256 neurons on at most 4,096 rows of the first batch. The half with
        the better scores is compared again with 512 neurons on 16,384 rows. This continues up to
        2,048 neurons on 32,768 rows, as long as it is cheap compared with the fit.
    half_life : float, timedelta, list, "auto" or None, default=None
        How long a row counts for half: after so many later rows, its weight is halved, and halved
        again after as many more. Rows are learned in their order, as the newest of a stream. With
        ``timestamps``, the half-life is in their unit, which is seconds for datetimes, or a
        timedelta. alpha, error bars and intervals use the effective number of rows
        (Σ w)² / Σ w², about 2.9 half-lives of a long stream. None forgets nothing.

        If batches of up to 16 rows are learned and predictions are asked for in between, the last
        solution is updated with these rows at the same alpha, up to 30 %. It is solved for again
        when there are twice as many rows, or after 1,024 rows, and for everything except
        ``predict``.

        - "auto" mixes experts with half-lives of 10, 100, 1,000 and infinitely many rows, each at 1
          and 3 times the length scale of the family, between which ``n_neurons`` are shared out.
          With ``alpha="auto"``, there is an expert for each of two ratios of noise to signal, 0.01
          and 0.1. The weight of an expert grows with the probability that it gave to each target
          before it learned it (Lu, Karanikolas and Giannakis, IEEE TPAMI 45(2), 2023). A small part
          of all weights is shared out equally after each row, so that the weights follow changes
          (Herbster and Warmuth, Machine Learning 32, 1998; Waxman and Djurić, TMLR 2024). What the
          family takes from the data comes from the first 256 rows, so the model does not depend on
          how rows are grouped. Sample weights are divided by their mean over these rows, unless the
          first row has the weight 1. Decision values are logarithms of odds, or of probabilities
          for more than two classes. A row takes about as long as 16 updates of recursive least
          squares with half of the neurons.
        - A list has one expert for each of its half-lives, or two with ``alpha="auto"``, all at the
          length scale of the family.
    lags : int, default=0
        For ``half_life="auto"`` or a list: the number p of last targets from which further experts
        predict, instead of neurons. They are linear, an autoregression of order p. With ``lags=1``,
        "the same as the last time" is among the predictions that are mixed. All rows of a call of
        ``predict`` have the same last targets, so this is for rows that are predicted and learned
        one by one, or by ``predict_then_learn``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations, and of their products over a few rows where that is accurate
        enough. Sums and solvers always use float64. With "float64",
        ``alpha="auto"`` may choose much smaller values for 4,096 rows or more.
    cache_bytes : int, default=2**28
        Memory in bytes for drawn weights, and for activations that are needed more than once. The
        rest is drawn or evaluated again when needed.
    max_iter : int, default=500
        The largest number of iterations of the iterative solver, and for losses other than
        "squared_error". An iteration takes about one pass over the rows.
    tol : float, default=1e-5
        Tolerance of the iterative solver. It stops when the risk is this close to its minimum,
        relative to how much the solution decreases the risk. For losses other than
        "squared_error", let r be the risk of the best constant. The solver stops when no entry of
        the preconditioned gradient exceeds ``tol * sqrt(r)``, or when the risk no longer
        decreases. Where the risk is flat, rounding errors then decide among nearly equal
        solutions, so sparse rows of up to 2**21 numbers, zeros included, are solved for as
        dense rows. With a ``weight_bound`` it stops when the risk is proved to be within
        ``tol * r`` of its minimum.

    Attributes
    ----------
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength in use: a number, or one for each of several outputs.
    neuron_coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        The constant b of each output.
    cv_values_ : array of shape (n_outputs, n_alphas)
        Cross-validated mean squared error at each of ``cv_alphas_``, if alpha was chosen from the
        data, whatever the loss is. It is infinite for values of alpha that were not tried.
    cv_alphas_ : array of shape (n_alphas,)
        The values of alpha that were compared.
    n_iter_ : int
        Number of iterations of the solver. It is 1 for the direct solver.
    network_ : Network
        The network that predicts.
    search_scores_ : array of shape (n_candidates,)
        Scores of the compared families, divided by the score of a constant. Smaller is better.
        With ``search``, they are in the order of :class:`sklearn.model_selection.ParameterGrid`.
        Without it, they belong to the choices that the family itself compares, such as length
        scales. Each score is from the last comparison that a family took part in. More rows and
        neurons make it smaller.
    statistics_ : object
        What the direct solver keeps of the rows so far: sums of the products of activations and
        targets. While there are no more rows than activations, it keeps the activations and targets
        of the rows instead.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1;
       the constraint on the largest coefficient is replaced by a ridge, as in their section 4,
       unless ``weight_bound`` is given.
    """

    solver: str
    error_bars: bool = False
    half_life: Any = None
    lags: int = 0
    search: dict[str, Any] | None

    _fixed = (*SolvedLearner._fixed, "n_neurons")
    _bounded = False
    _on_devices = True
    _rules = SolvedLearner._rules | {
        "alpha": either(
            non_negative("alpha='auto' chooses it by generalised cross-validation"),
            choice("auto", "loo", "evidence", remedy=""),
        ),
        "weight_bound": either(
            positive("weight_bound=None sets no bound"), anything("None", "", is_none)
        ),
        "fit_intercept": boolean("fit_intercept=False leaves the constant out"),
        "solver": choice("auto", "direct", "iterative", remedy="solver='auto' suits most data"),
        "error_bars": boolean("error_bars=True uses the direct solver"),
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
        "lags": integer(
            0,
            "lags=1 has experts that predict from the last target alone, and lags=0 has none",
            MOST_LAGS,
        ),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
    }

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Draw neurons and solve for their coefficients.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Training data.
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
            Target values or class labels. A classifier with the squared loss also takes several
            labels for each row: (n_rows, n_labels), with 1 where a row has the label, else 0.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows. Only their ratios matter. For a given alpha, a row of weight 2
            counts like two equal rows. For the choice of alpha it does not, since two equal rows
            are two observations. ``alpha="auto"`` and error bars use (Σ w)² / Σ w² as the number
            of rows. ``alpha="loo"`` leaves out a row with all its weight.
        timestamps : array of shape (n_rows,), optional
            Times of the rows, for a ``half_life`` in time instead of rows: numbers or datetimes
            that never decrease.
        checkpoint : str or path, optional
            A file in which the state of the fit is saved about once a minute. If the process ends,
            make the same call with the same data again. It resumes from the file and gives the
            same model. The file is removed when the fit is done. Default: no file.

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        self._check_error_bars()
        if are_several(self.half_life):
            learn_stream(self, [(X, y, sample_weight, timestamps)], checkpoint=checkpoint)
            return self
        with (
            Checkpoint(checkpoint, self) as file,
            training_copy(self, SolvedLearner._is_model) as new,
            linear_algebra(self.n_jobs),
        ):
            aged = age(new, X, sample_weight, timestamps)
            X, targets, weight = new._receive_first(X, y, aged.weight, seed=file.seed)
            loss = new._loss(targets.shape[1])
            check_response(type(self).__name__, self.loss, loss, targets)
            batch = X, *loss.response(targets, weight)
            new._begin_sums(*batch)  # Alg. 1, line 1: draw neurons
            file.received(new.seed_, X, targets, weight)
            if self.loss != "squared_error":  # its descent may end elsewhere by rounding
                X = dense_if_small(X)
                batch = X, *batch[1:]
            sums, problem = new.sums_, new._problem()
            if sums.goes_in_passes(X, problem, self.solver, self.loss, self.error_bars):
                with new._progress(self.max_iter, "pass", "solving") as bar:
                    keep, state = file.keep, file.resume()
                    sums.solve_in_passes(X, targets, weight, problem, keep, state, bar.update)
            else:
                with new._progress(len(targets), "row", "summing") as bar:  # line 2: activations
                    how = file.keep, file.resume(), bar.update, aged.arrived
                    sums.learn(*batch, problem, *how)
            with new._progress(1, "solution", "solving") as bar:
                if self.alpha == "loo":
                    sums.leave_one_out(*batch, problem)
                sums.solution(problem)  # line 3: solve, unless that is done
                bar.update()
            if self.loss != "squared_error":
                with new._progress(self.max_iter, "pass", f"minimising {self.loss}") as bar:
                    sums.minimise(X, targets, weight, loss, problem, bar.update)
            sums.function(problem)
            keep_baseline(new, X, targets, weight)
        return self

    def _begin_sums(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Choose the neurons by the first batch, and begin with sums over no rows."""
        family = clone(make_neurons(self.neurons))
        families = families_of_grid(type(self).__name__, family, self.search)
        choose_neurons(self, X, targets, weight, families)
        begin_stream(self, self.cache_bytes)
        origin = np.average(targets, axis=0, weights=weight)
        self.sums_ = Sums(self.stream_, self._n_used, origin)

    def _check_error_bars(self) -> None:
        """Raise an error if ``error_bars``, ``noise`` or ``lags`` excludes another parameter."""
        if self.lags and not are_several(self.half_life):
            raise InvalidValueError(
                f"{type(self).__name__}: lags={self.lags} needs several half-lives, but half_life="
                f"{self.half_life!r}",
                "half_life='auto', or lags=0",
            )
        if self.loss != "squared_error":
            for name, default in (("error_bars", False), ("noise", "constant")):
                if getattr(self, name, default) != default:
                    raise InvalidValueError(
                        f"{type(self).__name__}: {name}={getattr(self, name)!r} does not go with "
                        f"loss={self.loss!r}, which has no standard deviations",
                        f"loss='squared_error', or {name}={default!r}",
                    )
        wrong = {
            "solver": self.solver == "iterative",
            "weight_bound": self.weight_bound is not None,
        }
        for name, is_wrong in wrong.items():
            if self.error_bars and is_wrong:
                raise InvalidValueError(
                    f"{type(self).__name__}: error_bars=True does not go with "
                    f"{name}={getattr(self, name)!r}, which gives no standard deviations",
                    f"{name}={'None' if name == 'weight_bound' else repr('direct')}, or "
                    "error_bars=False",
                )

    @property
    def _n_used(self) -> int:
        """Number of neurons in use, if only so many are given."""
        n_given = self.neurons_.n_given
        return self.n_neurons if n_given is None else min(self.n_neurons, n_given)

    @property
    def _products(self) -> int:
        return self.n_neurons**2

    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, timestamps: Any = None) -> Any:
        """Subtract rows that were learned, as if they had never been.

        The model is then the model of the other rows, up to rounding, with its error bars and
        intervals. What the family took from the first batch, such as a length scale, stays.
        ``partial_fit`` with new rows and ``forget`` with old ones make a window that slides.

        Rows that were never learned raise an error, and leave the model unchanged. The model keeps
        up to 2,048 rows to compare with. Among n > 2,048 rows, a row that was never learned raises
        an error with probability 2,048 / n, or if without it the sums would not be sums over rows.
        With a ``half_life`` and more than 2,048 rows, only the sums can tell. Forget rows of the
        first batch before later ones, if they have rare categories that appeared again.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Targets or labels with which the rows were learned.
        sample_weight : array of shape (n_rows,), optional
            Weights with which they were learned.
        timestamps : array of shape (n_rows,), optional
            Their times. They are needed with a ``half_life``.

        Returns
        -------
        self
        """
        forget_rows(self, X, y, sample_weight, timestamps)
        return self

    def merge(self, other: Any) -> Any:
        """Add the rows of another model, as if this model had learned from them.

        A classifier that was begun with ``classes="grow"`` takes the classes of both.

        You can fit models to parts of the data, on several machines, and merge them in any order.
        Up to rounding, the result is the same as after one ``fit`` to all rows.

        Parameters
        ----------
        other : estimator of the same class
            A model fitted with the same neurons, ``n_neurons``, ``dtype`` and integer
            ``random_state``. What the family estimates from the data, such as a length scale, must
            be equal in both models.

        Returns
        -------
        self
        """
        merge_sums(self, other)
        return self


@documented
class KitchenSinksRegressor(
    PredictThenLearnNumbers,
    LeftOutIntervals,
    GaussianProcess,
    ManyLosses,
    Regressor,
    _KitchenSinks,
):
    r"""Regression with Random Kitchen Sinks: ridge regression on random neurons.

    Draws K neurons and minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. The solution approaches kernel ridge regression as K grows.
    :math:`K \sum_j |\beta_j|^2` estimates the squared norm of the function that the network
    samples, so alpha has the same meaning for any number of neurons.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss: "squared_error", "absolute_error", "quantile", "poisson", "gamma", "tweedie" or
        "cox". Those other than "squared_error" minimise the mean loss plus :math:`(\alpha K / 2)
        \sum_j |\beta_j|^2`. They need ``fit``, and tens to hundreds of passes over the
        activations. These are kept if they fit into ``cache_bytes``, and otherwise evaluated in
        every pass. They do not go with ``solver="iterative"``, and give no standard deviations.

        - "absolute_error" predicts the median, and "quantile" other quantiles, by the pinball loss.
          alpha has the unit of 1 / y. ``alpha="auto"`` is chosen for the squared loss, and then
          multiplied by s / (2 σ²). Here σ² is the mean squared residual, and s the median absolute
          residual divided by 0.67. This replaces the variance of normal noise by that of a
          quantile. A share q of the training rows is below the prediction, as the intercept is not
          penalised.
        - "poisson" for counts, "gamma" for positive numbers and "tweedie" for positive numbers and
          zeros are half of the unit deviances. The function is the logarithm of the mean, and
          ``predict`` returns the mean. y has one column.
        - "cox" learns the logarithm of the hazard ratio by Cox's partial likelihood, with ties by
          Efron's method. y is a structured array of a Boolean event and a time, or has the columns
          (time, event). ``predict`` returns a larger value for earlier events.

        For the last two items, ``alpha="auto"`` and "loo" are chosen for the working response at
        the solution, which is repeated until alpha stays [2]_. For "cox", the response belongs to
        Poisson's loss with the same baseline hazard [3]_.
    error_bars : bool, default=False
        Whether predictions must have standard deviations. True uses the direct solver for any
        number of columns. With ``weight_bound`` or ``solver="iterative"``, this raises an error.
        With False, there are standard deviations if the direct solver is used.
    noise : {"constant", "heteroscedastic"}, default="constant"
        Whether the variance of the noise is the same everywhere. With "heteroscedastic", standard
        deviations depend on the noise near the row. Its logarithm is another function of the same
        neurons, learned from up to 2,048 rows that are left out in turn. Predictions and samples
        are unchanged.

    Attributes
    ----------
    noise_variance_ : float, or array of shape (n_outputs,)
        Variance of the noise: residual sum of squares over residual degrees of freedom. With
        ``alpha="evidence"`` and rows of equal weight, this is the variance of greatest likelihood.
    log_marginal_likelihood_ : float, or array of shape (n_outputs,)
        Logarithm of the likelihood of the training targets, with the coefficients integrated out,
        at ``alpha_`` and ``noise_variance_``.

    References
    ----------
    .. [2] C. Gu, "Cross-validating non-Gaussian data", Journal of Computational and Graphical
       Statistics 1(2), 1992.
    .. [3] J. Whitehead, "Fitting Cox's regression model to survival data using GLIM", Applied
       Statistics 29(3), 1980.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    >>> model.set_params(loss="quantile", quantile=[0.05, 0.5, 0.95]).fit(X, y).predict(X).shape
    (442, 3)
    """

    _fixed = ("loss", "quantile", "tweedie_power", *_KitchenSinks._fixed)
    _rules = _KitchenSinks._rules | {
        **OF_LOSSES,
        "loss": choice(
            *("squared_error", *QUANTILE_LOSSES, *LINK_LOSSES),
            remedy=f"{FOR_MEANS}; {FOR_MORE_NUMBERS}",
        ),
        "noise": choice(
            "constant", "heteroscedastic", remedy="noise='constant' is the same everywhere"
        ),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 1000,
        *,
        loss: str = "squared_error",
        quantile: Quantile = 0.5,
        tweedie_power: float = 1.5,
        alpha: float | str = "auto",
        weight_bound: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        error_bars: bool = False,
        noise: str = "constant",
        search: dict[str, Any] | None = None,
        half_life: Any = None,
        lags: int = 0,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    def fit_stream(
        self,
        batches: Iterable[tuple[Any, ...]],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> KitchenSinksRegressor:
        """Start a new model, and learn from all batches of an iterable.

        Parameters
        ----------
        batches : iterable of (X, y), (X, y, sample_weight) or (X, y, sample_weight, timestamps)
            Batches, each as for ``partial_fit``.
        checkpoint : str or path, optional
            A file in which the state is saved about once a minute. To resume, make the same call
            with the same batches, from the first on. Batches that were learned before are read but
            not learned again. Default: no file.

        Returns
        -------
        self

        Notes
        -----
        If the iterable or a batch raises an error, the model has learned from all earlier batches,
        and its state is in ``checkpoint``. ``partial_fit`` can add other batches.
        """
        learn_stream(self, batches, checkpoint=checkpoint)
        return self

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, timestamps: Any = None
    ) -> KitchenSinksRegressor:
        """Learn from a batch.

        If the family estimates nothing from the data, the model is the same as after one ``fit`` to
        all rows, up to rounding. It does not matter how the rows are grouped and ordered. Median
        length scales and the cuts of stumps come from the first batch, so make it representative,
        or pass ``Gaussian(length_scale=...)``. The coefficients are solved for when they are first
        needed.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Target values.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, as for ``fit``.
        timestamps : array of shape (n_rows,), optional
            Times of the rows, as for ``fit``. They continue those of the earlier batches.

        Returns
        -------
        self
        """
        learn_batch(self, X, y, sample_weight, timestamps=timestamps)
        return self


@documented
class KitchenSinksClassifier(PredictThenLearnLabels, Classifier, _KitchenSinks):
    r"""Classification with Random Kitchen Sinks: least squares on random neurons.

    Draws K neurons and learns each class against the rest, with targets ±1. By default it
    minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. ``predict_proba`` calibrates the decision values on rows that are
    left out.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss: "squared_error", "log_loss", "hinge", "squared_hinge" or "exponential". "log_loss"
        is the logistic loss for two classes and the softmax loss for more. "squared_error" is the
        fastest. The others need ``fit``, and about a hundred passes over the activations, or up to
        a thousand for "hinge". Activations are kept if they fit into ``cache_bytes``, and otherwise
        evaluated in every pass. These losses minimise the mean loss plus :math:`(\alpha K / 2)
        \sum_j |\beta_j|^2`. ``alpha="auto"`` is then chosen for the squared loss, and multiplied by
        the curvature of the loss if that is below 1. They do not go with ``solver="iterative"``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``. In a dictionary
        {label: weight}, classes that are not named have weight 1. "balanced" gives all classes the
        same total weight. It needs all rows, so it works with ``fit`` only, and not with ``merge``.

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
    _fixed = ("loss", *_KitchenSinks._fixed)
    _rules = _KitchenSinks._rules | {
        "loss": choice(*CLASSIFICATION_LOSSES, "exponential", remedy=FOR_LABELS),
        "class_weight": CLASS_WEIGHT,
    }

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
        lags: int = 0,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    @property
    def _takes_sets(self) -> bool:
        return self.loss == "squared_error"

    @in_one_state
    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Compute decision values. A larger value means more confidence in a class.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows to predict.
        return_std : bool, default=False
            Whether to return standard deviations as well. They need the direct solver,
            ``loss="squared_error"`` and no ``weight_bound``. ``compact`` leaves them out.

        Returns
        -------
        values : float64 array of shape (n_rows,) for two classes (positive for the second), or
        (n_rows, n_classes)
            Values in the library and on the device of X.
        std : array of the same shape, if ``return_std``
            Standard deviation of the decision value: of the function, without noise. The targets
            ±1 are taken for numbers with normal noise, as in least-squares classification ([1]_,
            Section 6.5).

        References
        ----------
        .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
           Press 2006.
        """
        values = super().decision_function(X)
        if not return_std:
            return values
        check_single(self, "standard deviation of decision values")
        X = self._rows_to_predict(X)
        with process_of(self, "return_std=True") as process:
            deviations = to_device_of(X, np.sqrt(process.variances(X)))
        return values, deviations[:, 0] if deviations.shape[1] == 1 else deviations

    def fit_stream(
        self,
        batches: Iterable[tuple[Any, ...]],
        classes: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> KitchenSinksClassifier:
        """Start a new model, and learn from all batches of an iterable.

        This needs ``loss="squared_error"``.

        Parameters
        ----------
        batches : iterable of (X, y), (X, y, sample_weight) or (X, y, sample_weight, timestamps)
            Batches, each as for ``partial_fit``.
        classes : array of shape (n_classes,) or "grow", optional
            All labels that may occur, or "grow" if new ones may appear, as for ``partial_fit``.
            Default: the labels of the first batch.
        checkpoint : str or path, optional
            A file in which the state is saved. See :meth:`KitchenSinksRegressor.fit_stream`.
            Default: no file.

        Returns
        -------
        self
        """
        learn_stream(self, batches, classes, checkpoint)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
    ) -> KitchenSinksClassifier:
        """Learn from a batch.

        This needs ``loss="squared_error"``. It does not matter how rows are grouped and ordered.
        See :meth:`KitchenSinksRegressor.partial_fit`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Training data.
        y : array of shape (n_rows,)
            Class labels.
        classes : array of shape (n_classes,) or "grow", optional
            All labels that may occur, for the first call. With "grow", new labels may appear in
            this batch and later ones. The model is then the same as if they had been declared from
            the beginning. ``classes_`` and the columns of probabilities stay sorted, and a first
            batch may hold a single class, which is then predicted. With several half-lives, "grow"
            is for the first call as well, and only the weights of the experts were learned without
            the new classes. Default: the labels of the first batch.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, as for ``fit``.
        timestamps : array of shape (n_rows,), optional
            Times of the rows, as for ``fit``. They continue those of the earlier batches.

        Returns
        -------
        self
        """
        learn_batch(self, X, y, sample_weight, classes, timestamps)
        return self
