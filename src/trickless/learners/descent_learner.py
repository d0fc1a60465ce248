"""What both estimators of Doubly Stochastic Gradients share: parameters, ``fit`` and attributes.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014. The solver is in ``solvers/descent``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.threads import linear_algebra
from trickless.conformal.unseen import Unseen
from trickless.docstrings import completed_by
from trickless.functions.network import Network, check_alike
from trickless.functions.stream import NeuronStream
from trickless.learners import refusals
from trickless.learners.arguments import LEARNING
from trickless.learners.callbacks import watch_rows
from trickless.learners.descents import (
    RULES,
    begin_descent,
    check_validation,
    continued,
    groups_of,
    is_model,
    race,
    rows_apart,
    size_up,
    warn_of_known_rows,
    watch_held_out,
)
from trickless.learners.neuron_learner import NeuronLearner, choose_neurons, receive_rows
from trickless.learners.row_ages import age
from trickless.learners.training_copy import training_copy
from trickless.solvers.clock import HALF_LIFE, Clock
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.options import NEURONS, may_be_newton
from trickless.solvers.descent.passes import FitRows, learn_all
from trickless.solvers.descent.race import some_of


class DescentLearner(NeuronLearner):
    r"""A learner with the solver ``descent_``.

    Parameters
    ----------
    n_neurons : int or "auto", default="auto"
        The number of neurons that ``fit`` draws. It takes ``n_neurons / neurons_per_step`` steps,
        or more if blocks become smaller. "auto" is at most 2,000 trees with Newton steps.
        Otherwise it is 20,000, or 32 blocks if these are more, up to 32,768. They are more from
        about 20,000 rows.
    fit_intercept : bool, default=True
        Whether the function starts from a constant, which is not penalised: the mean target of the
        first batch, or the log-odds of its classes. If False, it starts from 0 as in the paper, and
        nothing moves the intercept. The theorem needs False, because a constant that comes from the
        rows is not independent of them. See :func:`trickless.theory.doubly_stochastic_bound`.
    decay : float or "auto", default="auto"
        The constant c of the schedule "inverse". "auto" is :math:`\gamma \alpha`. Step sizes are
        then nearly constant for about :math:`1 / (\gamma \alpha)` steps, a million by default.
        After that they equal the steps of the theorem with :math:`\theta \alpha = 1`.
    preconditioner : {"auto", "block", "newton"} or None, default="auto"
        How steps are preconditioned. None is the algorithm of the paper. "block" is the algorithm
        of the authors' code. It multiplies each step by the inverse of the covariance of its own
        activations, :math:`(Z^\top Z / b + \mathrm{reg} I)^{-1}`, and does not divide by k, so each
        block is fitted to the residuals. "newton" takes Newton steps on trees, whose covariance is
        diagonal. The coefficient of a leaf is :math:`\gamma \sum g / (\sum h + \lambda)`, with
        slopes g = -l' and curvatures h of the loss at its rows. "auto" is "newton" for trees.
        Otherwise it is "block" for steps on 1,024 rows or more that have at least eight rows for
        each column of the block. It is None for fewer rows, for ``schedule="theorem"``, and if
        ``step_size`` is a number.
    damping : float or "auto", default="auto"
        The regularisation of a preconditioned step: reg, or λ for Newton steps. It is relative to
        the mean of the covariance's diagonal, which is the mean curvature of a leaf for Newton
        steps. "auto" is 1e-4, or 0.15 for Newton steps, and more for trees if classes are rare.
    batch_size : int or "auto", default="auto"
        The number b of rows in a step. "auto" is 512 for plain steps. With a preconditioner it is
        all rows of ``fit``, or of one call of ``partial_fit``, up to 32,768 (131,072 for Newton
        steps).
    neurons_per_step : int or "auto", default="auto"
        The number k of neurons that each step draws. "auto" is 32 for plain steps and 1 for Newton
        steps. With the preconditioner "block" it is as many neurons as give one column for each 16
        rows of the step, and at most 2,048 columns. Memory must hold the activations of these rows
        and neurons. In ``fit`` with ``step_size="auto"``, every third block that explains nothing
        halves the later blocks, down to 64 columns.
    n_candidates : int or "auto", default="auto"
        The number of neurons to draw for each neuron that is used. With more than 1, each step
        draws several neurons and keeps the best. The best gives the largest gain on a fresh sample
        of rows. 1 is the algorithm of the paper, which descends the expected loss over random
        neurons. With more, steps descend the loss itself, greedily, as boosting does. In trees,
        each cut is chosen in this way among ``n_candidates`` columns, with as many thresholds for
        each column (8 at most). A tree stops growing when further cuts bring no gain. "auto" is 1
        for other neurons. For trees it is an eighth of the columns, at least 8 and at most 64.
        Chosen neurons are stored, not drawn again.
    learned_prior : bool, default=True
        Whether the cuts of trees draw columns in proportion to 1 + how often each was chosen so
        far. If False, they draw all columns equally often. This needs several candidates.
    validation_fraction : float, default=0.1
        Share of the rows to hold out for ``early_stopping``. Of fewer than 1,000 rows, trees hold
        out each once in four folds instead. Rows given as ``X_val`` replace the share.
    n_iter_no_change : int, default=5
        Number of scores without progress after which ``early_stopping`` stops, or a quarter of all
        scores so far if that is more. A score counts half unless it is worse by a standard error.
    tol : float, default=1e-3
        The least progress that counts for ``early_stopping``: how much less the held-out rows must
        lose than at the last progress, relative to what they lose now. Progress must also be more
        than its standard error.
    warm_start : bool, default=False
        Whether ``fit`` keeps the neurons of the fitted model and adds neurons up to ``n_neurons``.
        For trees with early stopping, give ``X_val`` and ``y_val`` as well, because an earlier fit
        has learned from all rows of X.
    half_life : float, timedelta or None, default=None
        How ``partial_fit`` forgets: after so many later rows, or so much time by ``timestamps``,
        coefficients have faded to half. Neurons that have faded to 1/256 are dropped, as are the
        oldest beyond ``n_neurons``, so memory stays bounded. Steps have a constant size, and each
        batch of at most ``batch_size`` rows takes whole steps. They are limited to an eighth of a
        half-life. What coefficients lose on average goes into the intercept. ``fit`` weights rows
        by their age, in their order. None forgets nothing.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons, the order of rows and the held-out rows. The same integer gives the
        same model.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and coefficients.
    cache_bytes : int, default=2**28
        Memory in bytes for drawn weights. The rest is drawn again when needed.
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. "auto" is 1e-6, or 0 with Newton steps,
        which ``damping`` regularises. For the regression losses "epsilon_insensitive",
        "absolute_error" and "quantile", whose slopes have no unit, alpha has the unit 1 / y, and
        "auto" is 1e-6 / (mean distance of an output from its intercept). For the losses of counts
        and positive numbers, "auto" is 1e-6 times the mean curvature at the start, which is the
        mean of y for "poisson", so that rates may have any unit.
    step_size : float or "auto", default="auto"
        The first step :math:`\gamma`, or θ for ``schedule="theorem"``. The value of "auto" depends
        on the kind of step:

        - Plain steps: half of the largest step that is stable in mean square, for the largest
          eigenvalue of the kernel operator on 1,024 rows of the first batch. It is limited so that
          all steps together add little noise compared with the noise of the targets.
        - With a preconditioner: the length of each step is found by generalised cross-validation of
          its block. A block that would only fit noise takes no step.
        - Newton steps: 3 over the square root of ``n_neurons``, from 0.02 to 0.5.
        - ``schedule="theorem"``: 1 / alpha.

        For these losses, a step is in units of the mean distance of each output's targets
        from the intercept, or from f with a preconditioner. For streams with "auto", set
        ``n_neurons`` to about the number that will be drawn. Beyond it, the steps of "inverse" fall
        as i^(-3/4).
    schedule : {"inverse", "constant", "theorem"}, default="inverse"
        The size of step i = 0, 1, ... "inverse" is :math:`\gamma / (1 + c i)` with c = ``decay``,
        "constant" is :math:`\gamma`, and "theorem" is :math:`\theta / (i + 1)`. For "theorem", the
        paper proves that the mean square distance to the minimiser falls as 1/i if :math:`\theta
        \alpha` is in (1, 2) or a positive integer. Its first steps are of size 1 / alpha, so it
        suits strong regularisation. If it diverges, there is a warning or an error. The theorem
        covers one pass over the rows, and assumes that the slope of the loss is bounded and
        Lipschitz continuous, as for "huber" and "log_loss". The other losses give a warning: the
        slope of "squared_error" and "squared_hinge" has no bound, and the slope of
        "epsilon_insensitive" and "hinge" jumps.
    early_stopping : bool or "auto", default="auto"
        Whether ``fit`` holds rows out, and stops before ``n_neurons`` when they make no more
        progress. The score is the share of the loss of these rows that is explained. It is computed
        after every pass, or every twentieth of ``n_neurons``. For trees it is computed a hundred
        times. The best number of trees is kept, and learned from all rows in the end. The intercept
        of a classifier is moved to the mean probabilities of the held-out rows. These rows also
        give ``predict_interval`` and ``predict_set``, until ``partial_fit``. "auto" is True if the
        neurons are trees and there are at least 40 rows. Of rows with weights, their effective
        number counts, (Σw)² / Σw².

    Attributes
    ----------
    neuron_coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    loss_curve_ : array of shape (n_steps,)
        Mean loss of the rows of each step before the step.
    validation_scores_ : list of float
        Scores of the held-out rows, with ``early_stopping``: the share of their loss that is
        explained, as the mean over outputs. Each row counts once if there are folds.
    n_iter_ : int
        Number of steps taken.
    preconditioner_ : str or None
        The preconditioner of the last ``fit`` or ``partial_fit``, also if the parameter is "auto".
    batch_size_ : int
        The value of ``batch_size`` in use.
    neurons_per_step_ : int
        The value of ``neurons_per_step`` in use.
    n_neurons_ : int
        The value of ``n_neurons`` in use.
    n_candidates_ : int
        The value of ``n_candidates`` in use.
    alpha_ : float
        The value of ``alpha`` in use.
    damping_ : float
        The value of ``damping`` in use.
    early_stopping_ : bool
        The value of ``early_stopping`` in use.
    feature_importances_ : array of shape (n_features,)
        How much each feature matters. If the cuts of trees were chosen, this is the feature's share
        of the cuts. Otherwise it is the share of the relevance that the family learned. See
        ``length_scale="relevance"`` of :class:`~trickless.neurons.Gaussian`.
    network_ : Network
        The network that predicts.

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
    clock_: Clock | None = None
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
    stream_: NeuronStream
    descent_: Descent
    preconditioner_: str | None
    batch_size_: int
    neurons_per_step_: int
    n_neurons_: int

    _fixed = (*NeuronLearner._fixed, "loss", "fit_intercept")
    _by_leaves = True
    _on_devices = True

    _refusals = refusals.DESCENT
    _rules = NeuronLearner._rules | RULES | {"half_life": HALF_LIFE}

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
            training_copy(self, is_model, resumes=warm) as new,
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

    def check_state(self) -> None:
        super().check_state()
        check_alike("neurons of stream_", self.stream_.neurons, self.neurons_)
        check_alike("neurons of descent_", self.descent_.neurons, self.neurons_)
        self._check_outputs("descent_", len(self.descent_.intercept))

    def _unseen(self) -> Unseen | None:
        return self.descent_.unseen

    def _function(self, X: Any) -> Any:
        return self.descent_.function(self.n_jobs)(X)

    @property
    def neuron_coef_(self) -> np.ndarray:
        """Coefficients of the neurons so far, shape (n_neurons, width, n_outputs)."""
        check_is_fitted(self)
        return self.descent_.coef.rows.copy()

    @property
    def intercept_(self) -> np.ndarray:
        """The constant of the network, shape (n_outputs,)."""
        return self.descent_.intercept.copy()

    @property
    def _planned_neurons(self) -> int:
        return NEURONS if isinstance(self.n_neurons, str) else self.n_neurons

    @property
    def _may_be_newton(self) -> bool:
        return may_be_newton(self.preconditioner, self.schedule)

    def _importances(self) -> np.ndarray | None:
        wins = self.descent_.wins
        return self.neurons_.importances(wins) if wins.any() else super()._importances()

    @property
    def n_iter_(self) -> int:
        """Number of steps taken."""
        return self.descent_.n_steps

    @property
    def validation_scores_(self) -> list[float]:
        """Scores of the held-out rows, with ``early_stopping``."""
        return self.descent_.validation_scores

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error before each step, shape (n_steps, 2)."""
        check_is_fitted(self)
        return np.array([(seen.n_rows, seen.error) for seen in self.descent_.history])

    @property
    def loss_curve_(self) -> np.ndarray:
        """Mean loss of its rows before each step, shape (n_steps,)."""
        check_is_fitted(self)
        return np.array([seen.loss for seen in self.descent_.history])

    @property
    def network_(self) -> Network:
        """A copy of the network of all neurons so far."""
        check_is_fitted(self)
        return self.descent_.function(self.n_jobs).copied()
