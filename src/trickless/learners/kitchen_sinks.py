"""Random Kitchen Sinks: draw K neurons at random, then solve for their coefficients.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008. The solver is in ``solvers/sums``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.devices import beside
from trickless.arrays.states import in_one_state, snapshot
from trickless.arrays.threads import linear_algebra
from trickless.files.checkpoint import Checkpoint
from trickless.functions.network import Network
from trickless.learners.base import Classifier, Regressor, store
from trickless.learners.intake import anew, begin, check_unchanged
from trickless.learners.labels import LabelSets
from trickless.learners.neuron_learner import (
    NeuronLearner,
    begin_stream,
    choose_neurons,
    receive_rows,
)
from trickless.learners.rows import Batch
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
from trickless.solvers.losses import CLASSIFICATION_LOSSES
from trickless.solvers.ridge import Solution
from trickless.solvers.state import parts_of
from trickless.solvers.statistics import Statistics
from trickless.solvers.sums import Options, Sums, check_alpha


class _KitchenSinks(NeuronLearner):
    """Parameters, ``fit`` and the like of both estimators; ``sums_`` is the solver."""

    loss: str = "squared_error"
    alpha: float | str
    weight_bound: float | None
    fit_intercept: bool
    solver: str
    error_bars: bool = False
    search: dict[str, Any] | None
    max_iter: int
    tol: float
    cache_bytes: int
    sums_: Sums

    _fixed = (*NeuronLearner._fixed, "n_neurons")
    _bounded = False
    _on_devices = True
    _rules = NeuronLearner._rules | {
        "alpha": either(
            non_negative("alpha='auto' chooses it by generalised cross-validation"),
            choice("auto", "loo", remedy=""),
        ),
        "weight_bound": either(
            positive("weight_bound=None sets no bound"), anything("None", "", is_none)
        ),
        "fit_intercept": boolean("fit_intercept=False leaves the constant out"),
        "solver": choice("auto", "direct", "iterative", remedy="solver='auto' goes by the columns"),
        "error_bars": boolean("error_bars=True takes the direct solver"),
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
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
    }

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Draw neurons and solve for their coefficients.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
            A classifier with the squared loss also takes several labels a row: (n_rows, n_labels),
            1 where a row has the label, else 0.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows. Only their ratios count: if all are multiplied by a constant, the
            model is the same. ``alpha="auto"`` and error bars take the number of rows as
            (Σ w)² / Σ w², and ``alpha="loo"`` leaves out a row with all its weight. So a row of
            weight 2 is the row twice in the solution for a given alpha, but not in the choice of
            alpha: the row twice says that it was observed twice.
        checkpoint : str or path, optional
            A file in which the state of the fit is saved about once a minute. If the process ends,
            the same call with the same data resumes from there and gives the same model. The file
            is removed when the fit is done. Default: none.

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        _check_error_bars(self)
        with (
            Checkpoint(checkpoint, self) as file,
            anew(self, is_model) as new,
            linear_algebra(self.n_jobs),
        ):
            X, targets, weight = batch = begin(new, X, y, sample_weight, seed=file.seed)
            begin_sums(new, *batch)  # Alg. 1, line 1: draw neurons
            file.received(new.seed_, *batch)
            sums, options = new.sums_, options_of(new)
            if sums.goes_in_passes(X, options):
                with new._progress(self.max_iter, "pass", "solving") as bar:
                    keep, state = file.keep, file.resume()
                    sums.solve_in_passes(X, targets, weight, options, keep, state, bar.update)
            else:
                with new._progress(len(targets), "row", "summing") as bar:  # line 2: activations
                    sums.learn(*batch, options, file.keep, file.resume(), bar.update)
            with new._progress(1, "solution", "solving") as bar:
                if self.alpha == "loo":
                    sums.leave_one_out(X, targets, weight, options)
                sums.solution(options)  # line 3: solve, unless that is done
                bar.update()
            if self.loss != "squared_error":
                loss = new._loss(targets.shape[1])
                with new._progress(self.max_iter, "pass", f"minimising {self.loss}") as bar:
                    sums.minimise(X, targets, weight, loss, options, bar.update)
            sums.function(options)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
        check_parameters(self, self._rules)
        check_streamable(self)
        with anew(self, is_model, goes_on=True) as new, linear_algebra(self.n_jobs):
            if new.__sklearn_is_fitted__():
                batch = receive_rows(new, X, y, sample_weight, classes)
                new.sums_ = new.sums_.branch()
            else:
                batch = begin(new, X, y, sample_weight, classes, stream=True)
                begin_sums(new, *batch)
            new._learn(batch)
        return self

    def _learn(self, batch: Batch) -> None:
        """Add a batch to the sums, if it has rows."""
        if len(batch[1]):
            with self._progress(len(batch[1]), "row") as bar:
                self.sums_.learn(*batch, options_of(self), advance=bar.update)

    def _fit_stream(
        self, batches: Iterable[tuple[Any, ...]], classes: Any = None, checkpoint: Any = None
    ) -> Any:
        check_parameters(self, self._rules)
        owner = type(self).__name__
        with (
            Checkpoint(checkpoint, self, "fit_stream") as file,
            anew(self, is_model, kept=(Exception,)) as new,
        ):
            check_streamable(new)
            n_batches = 0
            try:
                for X, y, weight in _each_batch(owner, batches):
                    with linear_algebra(self.n_jobs):
                        if new.__sklearn_is_fitted__():
                            batch = receive_rows(new, X, y, weight, classes)
                        else:
                            batch = begin(new, X, y, weight, classes, seed=file.seed, stream=True)
                            begin_sums(new, *batch)
                        file.received(new.seed_, *batch)
                        if (state := file.resume()) is not None:
                            new.sums_.take(*parts_of(state, statistics=Statistics))
                        elif not file.behind:  # else the saved state includes this batch
                            new._learn(batch)
                            file.keep(new._state)
                    n_batches += 1
            except Exception as error:
                error.add_note(f"This was at batch {n_batches}, counted from 0.")
                if not file.behind and file.n_batches == n_batches > 0:
                    file.keep(new._state, now=True)  # the batches may not be available again
                raise
            if not new.__sklearn_is_fitted__():
                raise ValueError(
                    f"{owner}: batches held nothing to learn from. Remedy: an iterable of (X, y) "
                    "that has not been used up."
                )
            file.ended()
            if checkpoint is not None:
                new.sums_.function(options_of(new))
        return self

    def _state(self) -> dict[str, Any]:
        return {"statistics": self.sums_.statistics}

    def merge(self, other: Any) -> Any:
        """Add the rows of another model, as if this model had learned from them.

        Models can be fitted to parts of the data, on several machines, and merged in any order. Up
        to rounding, the result is that of one ``fit`` to all rows.

        Parameters
        ----------
        other : estimator of the same class
            Fitted with the same neurons, ``n_neurons``, ``dtype`` and integer ``random_state``. If
            the family estimates anything from the data, such as a length scale, it must be equal in
            both models.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if isinstance(other, _KitchenSinks):
            other = snapshot(other)
        with anew(self, is_model, goes_on=True) as new:
            _check_mergeable(new, other)
            check_streamable(new)
            _check_statistics(other)
            if self._numeric:
                new.targets_ = new.targets_.merged(other.targets_)
            new.sums_ = new.sums_.branch()
            new.sums_.merge(other.sums_, self.n_jobs)
        return self

    def _solution(self) -> Solution:
        check_is_fitted(self)
        check_parameters(self, self._rules)
        return self.sums_.solution(options_of(self))

    def _function(self, X: Any) -> Any:
        return self.network_(X)

    @property
    def _products(self) -> int:
        return self.n_neurons**2

    def _forget_rows(self, error_bars: bool) -> None:
        self.sums_ = self.sums_.without_statistics(options_of(self), error_bars)

    def _calibrates(self) -> bool:
        return getattr(self, "fixed_", {}).get("loss", self.loss) == "squared_error"

    def _temperature(self) -> float | None:
        return self.sums_.temperature(options_of(self)) if self._calibrates() else None

    @property
    @in_one_state
    def statistics_(self) -> Statistics:
        """Sums over the rows so far, from the direct solver."""
        if getattr(self, "compacted_", False):
            raise AttributeError(
                "compact() has left out statistics_. Remedy: the model from before, or fit."
            )
        if self.sums_.statistics is None:
            raise AttributeError(
                "the model was solved in passes over the rows, so there are no statistics_. "
                "Remedy: solver='direct'."
            )
        return self.sums_.statistics

    @property
    def cv_values_(self) -> np.ndarray:
        """Cross-validated mean squared errors at ``cv_alphas_``, shape (n_outputs, n_alphas).

        They are from generalised cross-validation or, for ``alpha="loo"``, leave one row out.
        """
        scores = self._solution().scores
        if scores is None:
            raise AttributeError(
                f"alpha={self.alpha!r} was given, so there are no cv_values_. Remedy: alpha='auto'."
            )
        return scores

    @property
    @in_one_state
    def cv_alphas_(self) -> np.ndarray:
        """The values of alpha that were compared, shape (n_alphas,)."""
        _ = self.cv_values_
        grid = self._solution().grid
        assert grid is not None
        return grid / self.sums_.n_neurons

    @property
    @in_one_state
    def alpha_(self) -> Any:
        """The regularisation strength that is used, for each output if there are several."""
        alpha = self._solution().ridge / self.sums_.n_neurons
        return float(alpha[0]) if len(alpha) == 1 else alpha

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver; 1 for the direct solver."""
        return self._solution().n_iter

    @property
    @in_one_state
    def neuron_coef_(self) -> np.ndarray:
        """Coefficients of the neurons, shape (n_neurons, width, n_outputs)."""
        return self.sums_.by_neuron(self._solution().coef)

    @property
    def intercept_(self) -> np.ndarray:
        """Constants, shape (n_outputs,)."""
        return self._solution().intercept

    @property
    def network_(self) -> Network:
        """The network of the drawn neurons."""
        check_is_fitted(self)
        return self.sums_.function(options_of(self))


class KitchenSinksRegressor(Regressor, _KitchenSinks):
    r"""Regression with Random Kitchen Sinks: ridge regression on random neurons.

    Draws K neurons and minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. Because of the factor K, alpha has the same meaning for any number of
    neurons: :math:`K \sum_j |\beta_j|^2` estimates the squared norm of the function that the
    network samples. The solution approaches kernel ridge regression as K grows.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one, such as "gaussian", "stumps" or "tabular"; see
        :mod:`trickless.neurons`.
    n_neurons : int, default=1000
        How many neurons K to draw. Memory grows with the square of ``n_neurons * width``, but not
        with the number of rows.
    alpha : float, "auto" or "loo", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by generalised
        cross-validation, for each output separately, without another pass over the rows. "loo"
        chooses it by exact leave-one-out errors, which takes a second pass and needs ``fit``.
    weight_bound : float or None, default=None
        The constant C of the paper: no coefficient exceeds C / ``n_neurons``. Least squares is then
        solved with that constraint. An alpha to be chosen is chosen without it, and ``alpha=0``
        works with any number of columns.
    fit_intercept : bool, default=True
        Whether the function has a constant b, which is not penalised. If not, b = 0. The theorem of
        the paper is for ``alpha=0``, ``fit_intercept=False`` and a ``weight_bound``; see
        :func:`trickless.theory.kitchen_sinks_bound`.
    solver : {"auto", "direct", "iterative"}, default="auto"
        How least squares is solved. "direct" sums statistics in one pass over the rows and
        factorises them, in time of order n c² + c³ for c columns (``n_neurons * width``).
        "iterative" takes preconditioned conjugate gradients, with tens of passes over the rows. It
        keeps activations in memory if they fit into ``cache_bytes`` or the memory of the direct
        solver, and otherwise evaluates them in every pass. It needs ``fit`` and a positive alpha or
        "auto". The model then has no ``statistics_``, which ``partial_fit``, ``merge`` and
        ``return_std`` need. "auto" is "direct" for up to 6,144 columns (16,384 if activations
        cannot be kept), in most cases for up to 2,048 rows, and if "iterative" is not possible.
    error_bars : bool, default=False
        Whether predictions must have standard deviations. True takes the direct solver for any
        number of columns, and refuses before the fit what does not go with them. With False they
        are there if the direct solver is taken.
    max_iter : int, default=500
        The most iterations of the iterative solver.
    tol : float, default=1e-5
        The iterative solver stops when the risk is this close to its minimum, relative to the
        decrease of the risk by the solution.
    search : dict or None, default=None
        Parameters of the neurons to choose from, such as
        ``{"neurons__length_scale": [0.5, 1.0, 2.0]}``. All combinations are compared by generalised
        cross-validation, with 256 neurons on at most 4,096 rows of the first batch. The better half
        is compared again with 512 neurons on 16,384 rows, and so on up to 2,048 neurons on 32,768
        rows, as long as that is cheap compared with the fit.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show progress bars: scikit-learn's from 1.9 on, if rich is installed, or tqdm's.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations, and of their products over a few rows if that is accurate
        enough. Sums and solvers always work in float64.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory, and of activations that are needed more than once.
        The rest is drawn or evaluated again when needed.

    Attributes
    ----------
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength that is used, for each output if there are several.
    neuron_coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        Constants.
    cv_values_ : array of shape (n_outputs, n_alphas)
        Cross-validated mean squared error at each of ``cv_alphas_``, if alpha was chosen. It is
        infinite for values of alpha that were not tried.
    cv_alphas_ : array of shape (n_alphas,)
        The values of alpha that were compared.
    n_iter_ : int
        Iterations of the solver; 1 for the direct solver.
    noise_variance_ : float, or array of shape (n_outputs,)
        Variance of the noise, estimated from the residuals.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    feature_importances_ : array of shape (n_features,)
        How much each feature matters, if the family learned that ("relevance").
    search_scores_ : array of shape (n_candidates,)
        Scores of the compared families, relative to that of a constant; smaller is better. The
        families are those of ``search``, in the order of
        :class:`sklearn.model_selection.ParameterGrid`, or those among which the family itself
        chooses, such as length scales. Each score is from the last round that a family was in; more
        rows and neurons make it smaller.
    statistics_ : Statistics
        Sums over the rows so far, from the direct solver. While there are no more rows than
        columns, it holds their activations and targets instead.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1;
       the constraint on the largest coefficient is replaced by a ridge, as in their section 4,
       unless ``weight_bound`` is given.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

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
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    @in_one_state
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets, with standard deviations if wanted.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        return_std : bool, default=False
            Whether to return standard deviations as well; not with ``weight_bound``.

        Returns
        -------
        y : float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
        std : array of the same shape, if ``return_std``
            Standard deviation of a new target. The model is taken as a Gaussian process whose
            posterior mean is the solution. Its kernel is ``noise_variance_ / (n alpha_)`` times
            that of the drawn neurons, and approaches the family's exact kernel as ``n_neurons``
            grows.
        """
        mean = super().predict(X)
        if not return_std:
            return mean
        _check_deviations(self)
        if self.weight_bound is not None:
            raise ValueError(
                f"{type(self).__name__}: weight_bound={self.weight_bound!r} does not go with "
                "return_std=True. Remedy: weight_bound=None."
            )
        X = self._rows_to_predict(X)
        deviations = beside(X, self.sums_.deviations(X, options_of(self)))
        return mean, self.targets_.shaped(deviations)

    @property
    @in_one_state
    def noise_variance_(self) -> Any:
        """Variance of the noise: residual sum of squares over residual degrees of freedom."""
        check_is_fitted(self)
        _check_deviations(self)
        noise = self.sums_.noise(options_of(self))
        return float(noise[0]) if self.targets_.is_vector else noise

    def fit_stream(
        self,
        batches: Iterable[tuple[Any, ...]],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> KitchenSinksRegressor:
        """Start a new model, and learn from all batches of an iterable.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            As for ``partial_fit``.
        checkpoint : str or path, optional
            A file in which the state is saved about once a minute, as for ``fit``. To resume, make
            the same call with the same batches, from the first on. Batches that were learned before
            are read but not learned again.

        Returns
        -------
        self

        Notes
        -----
        If ``batches`` or one of them raises an error, the model has learned from all earlier
        batches, and its state is in ``checkpoint``. ``partial_fit`` can add other batches.
        """
        return self._fit_stream(batches, checkpoint=checkpoint)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> KitchenSinksRegressor:
        """Learn from a batch.

        Up to rounding, the model does not depend on how rows are grouped and ordered, and is that
        of one ``fit``, if the family estimates nothing from the data. Median length scales and the
        cuts of stumps come from the first batch. So make it representative, or pass
        ``Gaussian(length_scale=...)``. The problem is solved when coefficients are first needed.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)


class KitchenSinksClassifier(Classifier, _KitchenSinks):
    r"""Classification with Random Kitchen Sinks: least squares on random neurons.

    Draws K neurons and fits ±1 targets, one class against the rest, by

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. ``predict_proba`` calibrates the decision values on rows that are
    left out.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one, such as "gaussian", "stumps" or "tabular"; see
        :mod:`trickless.neurons`.
    n_neurons : int, default=1000
        How many neurons K to draw. Memory grows with the square of ``n_neurons * width``, but not
        with the number of rows.
    loss : str, default="squared_error"
        The loss: "squared_error", "log_loss", "hinge", "squared_hinge" or "exponential". All but
        the first need ``fit``, with about a hundred passes over the activations ("hinge" up to a
        thousand). Activations are kept if they fit into ``cache_bytes``, and otherwise evaluated in
        every pass. These losses minimise the mean loss plus :math:`(\alpha K / 2) \sum_j
        |\beta_j|^2`. ``alpha="auto"`` is then chosen for the squared loss, and multiplied by the
        loss's curvature if that is below 1. "log_loss" is the logistic loss for two classes and the
        softmax loss for more.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows: {label: weight}, where classes
        that are not named have weight 1; or "balanced", by which all classes weigh the
        same, with the weights of their rows. "balanced" needs all rows, so it works with ``fit``
        only, and not with ``merge``.
    alpha : float, "auto" or "loo", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by generalised
        cross-validation, and "loo" by leave-one-out errors; see :class:`KitchenSinksRegressor`.
    weight_bound : float or None, default=None
        The constant C of the paper: no coefficient exceeds C / ``n_neurons``; for every loss. An
        alpha to be chosen is chosen without it.
    fit_intercept : bool, default=True
        Whether the function has a constant b, which is not penalised; see
        :class:`KitchenSinksRegressor`.
    solver : {"auto", "direct", "iterative"}, default="auto"
        How least squares is solved, for ``loss="squared_error"``; see
        :class:`KitchenSinksRegressor`.
    max_iter : int, default=500
        The most iterations of the iterative solver, and for losses other than "squared_error". An
        iteration takes about one pass.
    tol : float, default=1e-5
        The iterative solver stops when the risk is this close to its minimum, relative to the
        decrease of the risk by the solution. Losses other than "squared_error" are solved when no
        entry of the preconditioned gradient is larger than this times the root of the risk of the
        best constant, or when the risk no longer decreases. Within a ``weight_bound`` they are
        solved when the risk is proved to be this close to its minimum, relative to the risk of the
        best constant.
    search : dict or None, default=None
        Parameters of the neurons to choose from, such as
        ``{"neurons__length_scale": [0.5, 1.0, 2.0]}``; see :class:`KitchenSinksRegressor`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show progress bars: scikit-learn's from 1.9 on, if rich is installed, or tqdm's.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations, and of their products over a few rows if that is accurate
        enough. Sums and solvers always work in float64.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory, and of activations that are needed more than once.
        The rest is drawn or evaluated again when needed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength that is used, for each output if there are several.
    neuron_coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        Constants.
    cv_values_ : array of shape (n_outputs, n_alphas)
        Cross-validated mean squared error at each of ``cv_alphas_``, if alpha was chosen; also for
        other losses, as alpha is chosen by the squared loss. It is infinite for values of alpha
        that were not tried.
    cv_alphas_ : array of shape (n_alphas,)
        The values of alpha that were compared.
    n_iter_ : int
        Iterations of the solver; 1 for the direct solver.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    feature_importances_ : array of shape (n_features,)
        How much each feature matters, if the family learned that ("relevance").
    search_scores_ : array of shape (n_candidates,)
        Scores of the compared families, relative to that of a constant; smaller is better. Their
        order is that of :class:`KitchenSinksRegressor`.
    statistics_ : Statistics
        Sums over the rows so far, from the direct solver.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1;
       the constraint on the largest coefficient is replaced by a ridge, as in their section 4,
       unless ``weight_bound`` is given.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KitchenSinksClassifier(n_neurons=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _fixed = ("loss", *_KitchenSinks._fixed)
    _rules = _KitchenSinks._rules | {
        "loss": choice(
            *CLASSIFICATION_LOSSES, "exponential", remedy="loss='squared_error' is the fastest"
        ),
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

    def fit_stream(
        self,
        batches: Iterable[tuple[Any, ...]],
        classes: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> KitchenSinksClassifier:
        """Start a new model, and learn from all batches; for ``loss="squared_error"``.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            As for ``partial_fit``.
        classes : array of shape (n_classes,), optional
            All labels that may occur. Default: those of the first batch.
        checkpoint : str or path, optional
            A file in which the state is saved; see :meth:`KitchenSinksRegressor.fit_stream`.

        Returns
        -------
        self
        """
        return self._fit_stream(batches, classes, checkpoint)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> KitchenSinksClassifier:
        """Learn from a batch, for ``loss="squared_error"``.

        The order and grouping of rows do not matter: see :meth:`KitchenSinksRegressor.partial_fit`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All labels that may occur, for the first call. Default: those of the first batch.
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight, classes)


def options_of(learner: _KitchenSinks) -> Options:
    """The parameters of a learner that its solver needs."""
    apart: dict[str, Any] = {
        "owner": type(learner).__name__,
        "classifies": isinstance(learner, Classifier),
        "label_sets": isinstance(learner.targets_, LabelSets),
    }
    given = {name: getattr(learner, name) for name in Options._fields if name not in apart}
    return Options(**apart, **given)


def begin_sums(
    learner: _KitchenSinks, X: Any, targets: np.ndarray, weight: np.ndarray | None
) -> None:
    """Choose the neurons of a learner that has received its first batch, and make its solver."""
    choose_neurons(learner, X, targets, weight, _families(learner))
    begin_stream(learner, learner.cache_bytes)
    origin = np.average(targets, axis=0, weights=weight)
    learner.sums_ = Sums(learner.stream_, learner.n_neurons, origin)


def is_model(learner: _KitchenSinks) -> bool:
    """Whether a learner that was interrupted can predict."""
    sums: Sums | None = getattr(learner, "sums_", None)
    squared = learner.loss == "squared_error" and learner.alpha != "loo"
    return squared and sums is not None and sums.statistics is not None


def _families(learner: _KitchenSinks) -> list[Neurons]:
    """The families to choose from, not fitted."""
    plain = clone(learner).set_params(search=None)
    if learner.search is None:
        return [clone(make_neurons(plain.neurons))]
    known = sorted(f"neurons__{name}" for name in make_neurons(plain.neurons).get_params())
    for name in learner.search:
        if name not in known:
            raise ValueError(
                f"{type(learner).__name__}: search={dict(learner.search)!r} names {name!r}, which "
                f"is not a parameter of the neurons. Remedy: one of {', '.join(known) or 'none'}."
            )
    return [
        clone(make_neurons(clone(plain).set_params(**params).neurons))
        for params in sklearn.model_selection.ParameterGrid(learner.search)
    ]


def check_streamable(learner: _KitchenSinks) -> None:
    """Raise an error if sums over the rows, as from a stream, are not enough for the parameters."""
    owner = type(learner).__name__
    check_alpha(owner, learner.alpha)
    _check_error_bars(learner)
    _check_statistics(learner)
    begun = getattr(learner, "fixed_", {}).get("loss", "squared_error")
    for loss in (learner.loss, begun):
        if loss != "squared_error":
            raise ValueError(
                f"{owner}: loss={loss!r} needs several passes over all rows, so it cannot be "
                "learned from a stream. Remedy: loss='squared_error', fit, or "
                "DoublyStochasticClassifier."
            )


def _check_error_bars(learner: _KitchenSinks) -> None:
    """Raise an error if predictions must have standard deviations, and could not."""
    wrong = {
        "solver": learner.solver == "iterative",
        "weight_bound": learner.weight_bound is not None,
    }
    for name, is_wrong in wrong.items():
        if learner.error_bars and is_wrong:
            raise ValueError(
                f"{type(learner).__name__}: error_bars=True does not go with "
                f"{name}={getattr(learner, name)!r}, which gives no standard deviations. Remedy: "
                f"{name}={'None' if name == 'weight_bound' else repr('direct')}, or "
                "error_bars=False."
            )


def _check_deviations(learner: _KitchenSinks) -> None:
    """Raise an error if a fitted model cannot give standard deviations."""
    if not learner.sums_.has_deviations:
        _check_statistics(learner)


def _check_statistics(learner: _KitchenSinks) -> None:
    """Raise an error if a model has, or will have, no sums over the rows."""
    fitted = learner.__sklearn_is_fitted__()
    if getattr(learner, "compacted_", False):
        raise ValueError(
            f"{type(learner).__name__}: compact() has left out the sums over the rows, which "
            "partial_fit, merge, return_std and noise_variance_ need. Remedy: the model from "
            "before, or compact(error_bars=True) for standard deviations."
        )
    none = learner.sums_.statistics is None if fitted else learner.solver == "iterative"
    if none:
        raise ValueError(
            f"{type(learner).__name__}: solved in passes over all rows, as solver='iterative' does "
            "and 'auto' for many columns, a model keeps no statistics, which partial_fit, merge, "
            "return_std and noise_variance_ need. Remedy: error_bars=True (for a regressor) or "
            "solver='direct' from the beginning."
        )


def _check_mergeable(model: Any, other: Any) -> None:
    """Check that the statistics of both models are of the same activations and targets."""
    owner = type(model).__name__
    if type(other) is not type(model):
        raise TypeError(
            f"{owner}: merge takes another {owner}, not a {type(other).__name__}. Remedy: fit the "
            "parts with the same class."
        )
    if not other.__sklearn_is_fitted__():
        raise ValueError(f"{owner}: other={other!r} is not fitted. Remedy: fit it first.")
    for name, mine in model.fixed_.items():
        check_unchanged(owner, name, other.fixed_[name], mine)
    by_class, in_other = getattr(model, "class_weight", None), getattr(other, "class_weight", None)
    if isinstance(by_class, str) or by_class != in_other:
        raise ValueError(
            f"{owner}: class_weight={by_class!r} here and {in_other!r} in other, but parts that "
            "are merged must weigh their rows alike, and 'balanced' goes by the rows of each part. "
            "Remedy: the same dictionary of weights in all parts, such as "
            "class_weight={0: 1.0, 1: 5.0}, or None."
        )
    for name in ("classes_", "n_outputs_", "n_features_in_", "feature_names_in_"):
        here, there = getattr(model, name, 0), getattr(other, name, 0)
        if not np.array_equal(here, there):
            raise ValueError(
                f"{owner}: {name} is {there!r} in other and {here!r} here. Remedy: fit the parts "
                "on the same columns, and with classes= if some lack a label."
            )
    encoder, in_other = model.rows_.encoder, other.rows_.encoder
    if getattr(encoder, "codes", None) != getattr(in_other, "codes", None):
        raise ValueError(
            f"{owner}: the columns of other hold other categories than those here, so their codes "
            "differ. Remedy: the same columns of the type category, with the same categories, in "
            "both parts."
        )
    if encoder is not None and not encoder.same_as(in_other):
        raise ValueError(
            f"{owner}: columns of other are read in another way than those here, for instance as "
            "differences from another date. Remedy: begin both parts with the same batch, or copy "
            "one that has seen a batch."
        )
    mine, theirs = model.stream_.fingerprint(), other.stream_.fingerprint()
    drawn_alike = np.allclose(mine, theirs, rtol=1e-4)
    if not (drawn_alike and _same_fit(vars(model.neurons_), vars(other.neurons_))):
        raise ValueError(
            f"{owner}: the neurons of other={type(other).__name__}(random_state="
            f"{other.random_state!r}) are not those of this model, so their statistics do not add "
            "up. Remedy: the same integer random_state, and a family that takes nothing from the "
            "data, such as Gaussian(length_scale=1.0)."
        )


def _same_fit(mine: Any, theirs: Any) -> bool:
    """Whether two families estimated the same from the data, by their fitted attributes."""
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):  # or memory maps
        if mine.dtype.kind != "f":
            return np.array_equal(mine, theirs)
        return mine.shape == theirs.shape and np.allclose(
            mine, theirs, rtol=1e-4, atol=0, equal_nan=True
        )
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, dict):
        names = [name for name in mine if name.endswith("_")]
        return all(name in theirs and _same_fit(mine[name], theirs[name]) for name in names)
    if isinstance(mine, list | tuple):
        return len(mine) == len(theirs) and all(map(_same_fit, mine, theirs))
    if hasattr(mine, "get_params"):
        return _same_fit(vars(mine), vars(theirs))
    return True


def _each_batch(owner: str, batches: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Rows, targets and weights of each batch; weights are None if it has none."""
    what = "batches must be an iterable of (X, y) or (X, y, sample_weight)"
    if not isinstance(batches, Iterable) or isinstance(batches, str | bytes):
        raise TypeError(
            f"{owner}: batches is a {type(batches).__name__}, but {what}. Remedy: a generator or a "
            "list of batches."
        )
    for i, batch in enumerate(batches):
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            found = f"a {type(batch).__name__}"
            if isinstance(batch, tuple | list):
                found += f" of length {len(batch)}"
            raise TypeError(
                f"{owner}: batch {i} is {found}, but {what}. Remedy: [(X, y)] for a single batch."
            )
        yield batch[0], batch[1], batch[2] if len(batch) == 3 else None
