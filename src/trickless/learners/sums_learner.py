"""What both estimators of Random Kitchen Sinks share: parameters, ``fit`` and attributes.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008. The solver is in ``solvers/least_squares``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from trickless.arrays.sparse import dense_if_small
from trickless.arrays.threads import linear_algebra
from trickless.docstrings import completed_by
from trickless.learners import refusals
from trickless.learners.arguments import LEARNING
from trickless.learners.expert_weights import ExpertWeights
from trickless.learners.neuron_learner import begin_stream, choose_neurons
from trickless.learners.row_ages import age
from trickless.learners.solved import SolvedLearner
from trickless.learners.streams import forget_rows, learn_stream, merge_sums
from trickless.learners.training_copy import training_copy
from trickless.neurons import make_neurons
from trickless.rules import (
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
from trickless.selection.grid import families_of_grid
from trickless.solvers.clock import HALF_LIVES, are_several
from trickless.solvers.experts.experts import MOST_LAGS
from trickless.solvers.least_squares.sums import Sums


class SumsLearner(ExpertWeights, SolvedLearner):
    """Parameters, ``fit`` and the like of both estimators; ``sums_`` is the solver.

    Parameters
    ----------
    n_neurons : int, default=1000
        The number K of neurons to draw. More neurons come closer to the kernel machine. Memory
        grows with the square of ``n_neurons * width``, but not with the number of rows.
    alpha : float, "auto" or "evidence", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by exact leave-one-out
        errors of up to 2,048 kept rows, which are left out of the sums of *all* rows. It takes no
        other pass over the rows. Outputs of a regressor have an alpha each, and classes share one.
        With a loss other than the squared, the loss of left-out decision values counts, at rows of
        which each class has an equal part. Among alphas whose error is higher by less than half a
        standard error, the largest is chosen. "evidence" is for the squared loss. It maximises the
        likelihood of the targets, with the coefficients integrated out and the best variance of the
        noise, as Gaussian processes do.
    weight_bound : float or None, default=None
        The constant C of the paper: the risk is minimised so that no coefficient exceeds
        C / ``n_neurons``. ``alpha="auto"`` chooses alpha without this constraint.
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
        ``{"neurons__length_scale": [0.5, 1.0, 2.0]}``. All combinations are compared by
        leave-one-out errors, with 256 neurons on at most 4,096 rows of the first batch. The half
        with the better scores is compared again with 512 neurons on 16,384 rows. This continues up
        to 2,048 neurons on 32,768 rows, as long as it is cheap compared with the fit.
    half_life : float, timedelta, list, "auto" or None, default=None
        How long a row counts for half: after so many later rows, its weight is halved, and halved
        again after as many more. Rows are learned in their order, as the newest of a stream. With
        ``timestamps``, the half-life is in their unit, which is seconds for datetimes, or a
        timedelta. Error bars and intervals use the effective number of rows
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
          for more than two classes. After some rows, a target of a regressor counts as at most 20
          recent root mean squared errors away from its prediction, or ten times as much after each
          target that was further away. A row takes about as long as 16 updates of recursive least
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
        Mean loss of left-out rows at each of ``cv_alphas_``, if alpha was chosen from the data. It
        is infinite for values of alpha that were not tried.
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
    _refusals = refusals.SUMS
    _rules = SolvedLearner._rules | {
        "alpha": either(
            non_negative("alpha='auto' chooses it by rows that are left out"),
            choice("auto", "evidence", remedy=""),
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

    @completed_by(LEARNING)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
    ) -> Any:
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
        """
        if are_several(self.half_life):
            learn_stream(self, [(X, y, sample_weight, timestamps)])
            return self
        with (
            training_copy(self, SolvedLearner._is_model) as new,
            linear_algebra(self.n_jobs),
        ):
            aged = age(new, X, sample_weight, timestamps)
            X, targets, weight = new._receive_first(X, y, aged.weight)
            loss = new._loss(targets.shape[1])
            new._begin_sums(X, targets, weight)  # Alg. 1, line 1: draw neurons
            if self.loss != "squared_error":  # its descent may end elsewhere by rounding
                X = dense_if_small(X)
            batch = X, targets, weight
            sums, problem = new.sums_, new._problem()
            if sums.goes_in_passes(X, problem, self.solver, self.loss, self.error_bars):
                with new._progress(self.max_iter, "pass", "solving") as bar:
                    sums.solve_in_passes(X, targets, weight, problem, bar.update)
            else:
                with new._progress(len(targets), "row", "summing") as bar:  # line 2: activations
                    sums.learn(*batch, problem, bar.update, aged.of_batch(new, y, batch).arrival)
            if self.loss == "squared_error":
                with new._progress(1, "solution", "solving") as bar:
                    sums.solution(problem)  # line 3: solve, unless that is done
                    bar.update()
            else:
                with new._progress(self.max_iter, "pass", f"minimising {self.loss}") as bar:
                    sums.minimise(X, targets, weight, loss, problem, bar.update)
            sums.function(problem)
        return self

    def _begin_sums(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Choose the neurons by the first batch, and begin with sums over no rows."""
        family = clone(make_neurons(self.neurons))
        families = families_of_grid(type(self).__name__, family, self.search)
        choose_neurons(self, X, targets, weight, families)
        begin_stream(self, self.cache_bytes)
        origin = np.average(targets, axis=0, weights=weight)
        self.sums_ = Sums(self.stream_, self._n_used, origin)

    @property
    def _n_used(self) -> int:
        """Number of neurons in use, if only so many are given."""
        n_given = self.neurons_.n_given
        return self.n_neurons if n_given is None else min(self.n_neurons, n_given)

    @property
    def _products(self) -> int:
        return self.n_neurons**2

    @completed_by(LEARNING)
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
        """
        forget_rows(self, X, y, sample_weight, timestamps)
        return self

    @completed_by(LEARNING)
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
        """
        merge_sums(self, other)
        return self
