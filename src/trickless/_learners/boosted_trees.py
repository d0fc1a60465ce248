"""Boosted trees: functional gradients on trees, each the best of a few random draws.

The steps follow B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable
kernel methods via doubly stochastic gradients", NIPS 2014, with neurons that are chosen instead of
drawn blindly. The solver is in ``_solvers/boosting``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.interrupts import uninterrupted
from trickless._arrays.likes import ArrayLike, MatrixLike, RandomStateLike
from trickless._arrays.loops import MOST_LEVELS
from trickless._arrays.memory import physical_memory
from trickless._arrays.stated import Array
from trickless._arrays.states import in_one_state
from trickless._arrays.threads import linear_algebra
from trickless._arrays.weighted import effective_rows, median
from trickless._docstrings import completed_by, documented
from trickless._errors import InvalidValueError
from trickless._functions.network import Network, check_alike
from trickless._functions.stream import Purpose, generator
from trickless._learners import refusals
from trickless._learners.arguments import GROWING, HELD_OUT, LEARNING, NUMBERS, PREDICTING
from trickless._learners.base import Learner, store
from trickless._learners.callbacks import is_watched, watch_rows
from trickless._learners.classifier import Classifier
from trickless._learners.constraints import interactions, monotonic_signs
from trickless._learners.held_out_rows import (
    check_validation,
    groups_of,
    rows_apart,
    watch_held_out,
)
from trickless._learners.neuron_learner import NeuronLearner, choose_neurons, receive_rows
from trickless._learners.no_better import warn_if_no_better
from trickless._learners.quantiles import QUANTILE
from trickless._learners.regressor import Regressor
from trickless._learners.row_ages import age, lapses
from trickless._learners.training_copy import training_copy
from trickless._rows.rows import Batch
from trickless._rules import (
    AUTO,
    CLASS_WEIGHT,
    Rule,
    anything,
    boolean,
    choice,
    either,
    integer,
    is_real,
    non_negative,
)
from trickless._solvers.boosting.boosting import Boosted, Interrupted, Stopping, boost
from trickless._solvers.boosting.course import Rows, Search, seed_of, size_of_fit
from trickless._solvers.boosting.forest import Forest
from trickless._solvers.boosting.stream import learn_batch
from trickless._solvers.clock import HALF_LIFE, Clock
from trickless._solvers.constants import starting
from trickless._solvers.held_out import SHARE, Holding, rarity
from trickless._solvers.named_losses import LINK_LOSSES, QUANTILE_LOSSES
from trickless._solvers.pinball import Quantile
from trickless.conformal.unseen import Unseen
from trickless.neurons import Trees

#: The most trees, if their number is "auto", and λ relative to the mean curvature of a leaf.
_TREES, _DAMPING = 2000, 0.15
#: Columns for each candidate of a cut, and the least and the most candidates.
_COLUMNS_PER_CANDIDATE, _LEAST_CANDIDATES, _MOST_CANDIDATES = 8, 8, 64
#: Rows from which early stopping is the default, and the most trees with fewer rows.
_WORTH_STOPPING, _TREES_OF_FEW = 10, 100
#: Rows of the first batch of which some are the background of Shapley values.
_ROWS_OF_SHAP = 1000
#: Rows below which each is held out in one of a few folds, their number, and the most rows that
#: count as so few by their weights.
_FEW_ROWS, _FOLDS, _MOST_ROWS = 1000, 4, 10_000
_RATE = Rule(
    "a number above 0 and at most 1",
    "learning_rate='auto' suits the number of trees",
    is_real,
    lambda rate: 0 < rate <= 1,
)
_CONSTRAINTS = "leave it out, and columns are free"


def _not_before_the_end(new: Any) -> bool:
    """Tell that a batch is learned as a whole, or not at all."""
    return False


class BoostedTrees(NeuronLearner):
    r"""Parameters, ``fit`` and streams of both estimators; ``_forest_`` has the trees.

    Parameters
    ----------
    n_trees : int or "auto", default="auto"
        The largest number of trees. With ``early_stopping``, held-out rows decide how many are
        best. "auto" is 2,000, or 100 for fewer than ten rows.
    learning_rate : float or "auto", default="auto"
        The share of a Newton step that each tree takes [2]_. "auto" is 3 over the root of
        ``n_trees``, from 0.02 to 0.5. ``fit`` raises it from 10,000 rows on, up to one and a half
        times with 22,500 rows.
    max_depth : int or "auto", default="auto"
        The most cuts from the root of a tree to a leaf, from 1 to 16. A tree has fewer if more
        would only fit noise. "auto" is 2 to 12, so that a leaf has 16 rows on average.
    n_candidates : int or "auto", default="auto"
        How many columns are drawn for each cut, at up to eight thresholds each. The best cut is
        taken. 1 draws cuts at random, as neurons are drawn in [1]_. "auto" is an eighth of the
        columns, from 8 to 64.
    l2_regularization : float or "auto", default="auto"
        The regularisation of the values of leaves, relative to the mean curvature of a leaf. "auto"
        is 0.15, and more if classes are rare.
    leaves : {"auto", "constant", "linear"}, default="auto"
        What a leaf predicts: a constant, or a linear function of the columns of numbers in the
        first four cuts of its tree, which stays bounded beyond the training rows. With "auto",
        linear leaves are used if 20 trees with them lose one per cent less on held-out rows.
    shape : {"auto", "oblivious", "binary"}, default="auto"
        Whether all branches of a level share a cut [3]_, or each node has its own. With "auto",
        trees are oblivious, unless there are 65,536 rows or more, and binary trees lose less on
        held-out rows.
    early_stopping : bool or "auto", default="auto"
        Whether held-out rows find the best number of trees. All rows are learned from in the end.
        The held-out rows also give ``predict_interval`` and ``predict_set``, until ``partial_fit``.
        They are a tenth of the rows. Of fewer than 1,000 rows, each is held out once, in four
        folds. "auto" is True for ten rows or more.
    monotonic_cst : array-like of int, dict or None, default=None
        For each feature 1 if predictions must not fall as it grows, -1 if they must not rise, and 0
        if they are free; or a dictionary from names of features to such numbers. For a classifier,
        which must have two classes, it is about the probability of the second. Leaves are constant
        then.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets or None, default=None
        Features that may be in one tree, as in
        :class:`~sklearn.ensemble.HistGradientBoostingRegressor`. Features that no set has are a set
        of their own. None means all.
    half_life : float, timedelta or None, default=None
        How ``partial_fit`` forgets: after so many later rows, or so much time by ``timestamps``,
        trees have faded to half. Trees that have faded to 1/256 are dropped, as are the oldest
        beyond ``n_trees``. ``fit`` weights rows by their age, in their order. None forgets nothing.
        See :doc:`/guides/streams`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws of cuts and the held-out rows. The same integer gives the same model.

    Attributes
    ----------
    n_trees_ : int
        Number of trees.
    validation_scores_ : list of float
        Scores of the held-out rows: the share of their loss that is explained, as the mean over
        outputs. Each row counts once if there are folds.
    feature_importances_ : array of shape (n_features,)
        The share of each feature in the cuts of the trees, or 0 if there are no cuts.
    neurons_ : Trees
        The family of trees, which maps values to bins.
    neuron_coef_ : array of shape (n_trees, width, n_outputs)
        The values of leaves.
    network_ : Network
        The network that predicts.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Algorithm 1 (functional gradients on random neurons).
    .. [2] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
       Statistics 29(5), 2001.
    .. [3] L. Prokhorenkova, G. Gusev, A. Vorobev, A. V. Dorogush and A. Gulin, "CatBoost: unbiased
       boosting with categorical features", NeurIPS 2018 (boosting of oblivious trees).
    """

    n_trees: int | str
    learning_rate: float | str
    max_depth: int | str
    n_candidates: int | str
    l2_regularization: float | str
    leaves: str
    shape: str
    early_stopping: bool | str
    monotonic_cst: Any
    interaction_cst: Any
    half_life: Any

    _clock_: Clock | None = None
    _forest_: Forest

    _fixed: ClassVar[tuple[str, ...]] = (
        "max_depth",
        "leaves",
        "shape",
        "monotonic_cst",
        "interaction_cst",
    )
    _by_leaves = True
    _row_dtype = "float64"  # so that bins tell all rows apart
    _smaller = "a smaller max_depth, a smaller n_trees, or fewer rows at a time"
    _refusals = refusals.BOOSTING
    _rules = Learner._rules | {
        "n_trees": either(integer(1, "n_trees='auto' suits most data"), AUTO),
        "learning_rate": either(_RATE, AUTO),
        "max_depth": either(
            integer(1, "max_depth=6 has up to 64 leaves a tree", MOST_LEVELS), AUTO
        ),
        "n_candidates": either(integer(1, "n_candidates=8 suits few columns", 1000), AUTO),
        "l2_regularization": either(
            non_negative("l2_regularization=0.15 suits most data; it is relative"), AUTO
        ),
        "leaves": Trees._rules["leaves"],
        "shape": Trees._rules["shape"],
        "early_stopping": either(
            boolean("early_stopping=True finds the best number of trees by held-out rows"), AUTO
        ),
        "monotonic_cst": anything(
            "None, numbers from -1 to 1, or a dictionary", _CONSTRAINTS, lambda value: True
        ),
        "interaction_cst": anything(
            "None, 'pairwise', 'no_interactions' or sets of features", _CONSTRAINTS,
            lambda value: True,
        ),
        "half_life": HALF_LIFE,
    }  # fmt: skip

    @property
    def neurons(self) -> Trees:  # type: ignore[override]
        """The family of trees."""
        return Trees(self.max_depth, self.shape, leaves=self.leaves)

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
        """Grow trees, as many as held-out rows find best.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, relative to their mean. A row of weight 2 is not quite that row
            twice, since the number of rows says how much of a gain is noise, and how deep to go.
        """
        check_validation(self, X_val, y_val, sample_weight_val)
        with training_copy(self, BoostedTrees._is_model) as new, linear_algebra(self.n_jobs):
            sample_weight = age(new, X, sample_weight, timestamps).weight
            batch = new._receive_first(X, y, sample_weight)
            choose_neurons(new, *batch)
            new._begin(*batch)
            apart = None
            if X_val is not None:
                apart = rows_apart(new, X_val, y_val, sample_weight_val)
                watch_rows(new, X_val, y_val)
            numbers = None if groups is None else groups_of(new, groups, y, sample_weight)
            stopping = new._stopping(batch, apart, numbers)
            if stopping is not None and stopping.held_once:
                held_out = stopping.sides(batch[1])[0][0]
                watch_held_out(new, X, y, sample_weight, held_out)
            new._boost(batch, stopping)
            if new._forest_.scores and np.ptp(batch[1], axis=0).any():
                warn_if_no_better(new, max(new._forest_.scores), len(batch[1]))
        return self

    def _stopping(
        self, batch: Batch, apart: Batch | None, groups: np.ndarray | None
    ) -> Stopping | None:
        """Return how rows ``apart``, or some of the batch, decide on the number of trees."""
        _, targets, weight = batch
        forest, loss = self._forest_, self._loss(self._targets_.n_outputs)
        n_effective = effective_rows(len(targets), weight)
        stops = self.early_stopping
        if apart is not None or stops == "auto":
            stops = apart is not None or n_effective >= _WORTH_STOPPING
        if not stops:
            return None
        few = n_effective < _FEW_ROWS and len(targets) <= _MOST_ROWS
        holding = Holding.of(type(self).__name__, self._seed_, SHARE, loss, forest.start)
        rows = None if apart is None else self._read(*apart)
        return Stopping(holding, _FOLDS if few else 1, rows, groups)

    def _boost(self, batch: Batch, stopping: Stopping | None) -> None:
        """Grow trees on rows."""
        forest, n_trees = self._forest_, self._planned_neurons
        if (
            isinstance(self.n_trees, str)
            and effective_rows(len(batch[1]), batch[2]) < _WORTH_STOPPING
        ):
            n_trees = _TREES_OF_FEW
        self._check_memory(n_trees)
        search = self._search(size_of_fit(n_trees, len(batch[1])))
        rows = self._read(*batch)
        with self._progress(n_trees, "tree") as bar:

            def advance(n: int, so_far: Callable[[], Boosted]) -> None:
                if is_watched(self):
                    self._take(so_far())
                bar.update(n)

            try:  # Alg. 1
                found = boost(search, rows, forest.start, n_trees, stopping, self.n_jobs, advance)
            except Interrupted as interrupt:
                self._take(interrupt.found)
                raise
            bar.complete()
        self._take(found)

    def _check_memory(self, n_trees: int) -> None:
        """Check that there is memory for the values of the leaves of so many trees."""
        width, n_outputs = self.neurons_.width, self._targets_.n_outputs
        needed = 4 * n_trees * width * n_outputs
        if needed > (most := physical_memory()):
            raise InvalidValueError(
                f"{type(self).__name__}: {n_trees:,} trees of {width:,} leaves with {n_outputs} "
                f"outputs have {needed / 2**30:.1f} GiB of coefficients, but this machine has "
                f"{most / 2**30:.1f} GiB of memory",
                "a smaller max_depth, or a smaller n_trees",
            )

    def _take(self, found: Boosted) -> None:
        """Take over trees that were found."""
        with uninterrupted():
            forest, self.neurons_ = self._forest_, found.family
            forest.begin(found.family)
            forest.append(found.weights, found.coef)
            forest.intercept = forest.start + found.level
            forest.scores, forest.scored, forest.unseen = found.scores, found.scored, found.unseen
            forest.taken = float(len(forest))

    def _begin(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Begin with a constant."""
        self._fit_loss(targets, weight)
        loss = self._loss(self._targets_.n_outputs)
        start = starting(loss, targets, weight, self._numeric)
        seed = seed_of(generator(self._seed_, Purpose.CANDIDATES))
        bins = self.neurons_.bins_(X[:: max(1, len(X) // _ROWS_OF_SHAP)])
        self._forest_ = Forest(self.neurons_, start, bins, seed)
        self._forest_.count(loss, targets, weight)

    def _fit_loss(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Take what the loss needs from the first targets."""

    def _search(self, learning_rate: float) -> Search:
        """Return how trees are found."""
        family, forest, loss = self.neurons_, self._forest_, self._loss(self._targets_.n_outputs)
        n_candidates, damping = self.n_candidates, self.l2_regularization
        if isinstance(n_candidates, str):
            share = self.n_features_in_ // _COLUMNS_PER_CANDIDATE
            n_candidates = min(max(share, _LEAST_CANDIDATES), _MOST_CANDIDATES)
        if isinstance(damping, str):
            damping = _DAMPING * rarity(loss, forest.start)
        if not isinstance(self.learning_rate, str):
            learning_rate = self.learning_rate
        signs = monotonic_signs(self)
        return Search(
            family, loss, n_candidates, learning_rate, damping, forest.seed, forest.spread,
            signs, interactions(self),
        )  # fmt: skip

    def _read(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> Rows:
        """Return rows as the search reads them, before gaps are filled for linear leaves."""
        return Rows(np.ascontiguousarray(self.neurons_.bins_(X, self.n_jobs).T), targets, weight)

    def _partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        classes: Any = None,
        timestamps: Any = None,
    ) -> Any:
        """Grow trees on a batch of a stream, with which the learner begins if it is not fitted."""
        with (
            training_copy(self, _not_before_the_end, resumes=True) as new,
            linear_algebra(self.n_jobs),
        ):
            passed = lapses(new, X, timestamps)
            batch: Batch
            if new.__sklearn_is_fitted__():
                batch = receive_rows(new, X, y, sample_weight, classes, learned=True)
                new._forest_ = new._forest_.fork()
                new._forest_.count(new._loss(new._targets_.n_outputs), *batch[1:])
            else:
                batch = new._receive_first(X, y, sample_weight, classes, stream=True)
                choose_neurons(new, *batch)
                new._begin(*batch)
            new._forest_.unseen = None
            n_trees = new._planned_neurons
            rows = new._read(*batch)
            with new._progress(len(batch[1]), "row") as bar:
                learn_batch(new._forest_, new._search, rows, n_trees, passed, self.n_jobs)
                bar.update(len(batch[1]))
        return self

    @property
    def _planned_neurons(self) -> int:
        return _TREES if isinstance(self.n_trees, str) else self.n_trees

    def _is_model(self) -> bool:
        """Return whether the learner has grown trees."""
        return hasattr(self, "_forest_") and bool(len(self._forest_))

    def check_state(self) -> None:
        super().check_state()
        check_alike("neurons of _forest_", self._forest_.neurons, self.neurons_)
        self._check_outputs("_forest_", len(self._forest_.intercept))

    @in_one_state
    @completed_by(PREDICTING)
    def shap_values(self, X: MatrixLike) -> np.ndarray:
        """Compute how much each feature adds to the decision values of rows (Shapley values).

        They are exact [1]_. A feature is without its value if it has that of a row of the
        background, up to 100 of the training rows, over which the values are averaged. The values
        of a row and ``shap_base_`` sum to its decision values, which are ``predict(X)`` for
        regressors without a log link. Plots of the package shap take them by
        ``shap.Explanation(model.shap_values(X), model.shap_base_, X)``.

        Returns
        -------
        array of shape (n_rows, n_features) for one output, or (n_rows, n_features, n_outputs)
            The values, in units of the decision values.

        References
        ----------
        .. [1] S. M. Lundberg et al., "From local explanations to global understanding with
           explainable AI for trees", Nature Machine Intelligence 2, 2020.
        """
        from trickless._solvers.boosting.shap import shap_values  # late, since numba loads slowly

        forest, X = self._forest_, self._rows_to_predict(X)
        rows, background = (
            np.ascontiguousarray(self.neurons_.filled(each))
            for each in (self.neurons_.bins_(X, self.n_jobs), forest.background)
        )
        trees = forest.trees.weights, forest.coef.rows
        values = shap_values(self.neurons_, *trees, rows, background, self.n_jobs)
        return values[:, :, 0] if values.shape[2] == 1 else values

    @property
    def shap_base_(self) -> Any:
        """The mean of the decision values at the background of ``shap_values``."""
        check_is_fitted(self)
        forest = self._forest_
        found = forest.function(self.n_jobs)(self.neurons_.filled(forest.background)).mean(axis=0)
        return float(found[0]) if len(found) == 1 else found

    def _unseen(self) -> Unseen | None:
        return self._forest_.unseen

    def _function(self, X: Any) -> Any:
        return self._forest_.function(self.n_jobs)(X)

    def _importances(self) -> np.ndarray | None:
        wins = self._forest_.wins
        return self.neurons_.importances(wins) if wins.any() else np.zeros(len(wins))

    @property
    def n_trees_(self) -> int:
        """Number of trees."""
        return len(self._forest_)

    @property
    def neuron_coef_(self) -> np.ndarray:
        """The values of leaves, shape (n_trees, width, n_outputs)."""
        check_is_fitted(self)
        return self._forest_.coef.rows.copy()

    @property
    def intercept_(self) -> np.ndarray:
        """The constant of the decision values, shape (n_outputs,)."""
        return self._forest_.intercept.copy()

    @property
    def validation_scores_(self) -> list[float]:
        """Scores of the held-out rows, with ``early_stopping``."""
        return self._forest_.scores

    @property
    def network_(self) -> Network:
        """A copy of the network of all trees so far."""
        check_is_fitted(self)
        return self._forest_.function(self.n_jobs).copied()


@documented
class BoostedTreesRegressor(Regressor, BoostedTrees):
    r"""Regression with boosted trees.

    Each tree is a Newton step on the loss: its cuts are the best of a few random ones, and it is as
    deep as pays off beyond noise. Data frames with categories, missing values and dates are read
    directly.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss. "squared_error" learns the mean. "huber" is robust to outliers: it is linear from
        the median distance of the targets from their median on. "absolute_error" predicts the
        median, and "quantile" the quantiles of ``quantile``, by the pinball loss. Three losses have
        a log link: ``predict`` returns the mean, and ``network_`` its logarithm. They are "poisson"
        for counts, "gamma" for positive numbers, and "tweedie", with the power 1.5, for positive
        numbers and zeros. See :doc:`/guides/counts`, also for different exposures.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import BoostedTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BoostedTreesRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    loss: str
    #: From where on the loss "huber" is linear, for each output.
    _epsilon_: Annotated[np.ndarray, Array("f8", "n_outputs_", least=0)] | None = None

    _fixed = ("loss", "quantile", *BoostedTrees._fixed)
    _rules = BoostedTrees._rules | {
        "loss": choice(
            *("squared_error", "huber", *QUANTILE_LOSSES, *LINK_LOSSES),
            remedy="loss='squared_error' for the mean; loss='quantile' for quantiles; "
            "loss='poisson' for counts",
        ),
        "quantile": QUANTILE,
    }

    def __init__(
        self,
        n_trees: int | str = "auto",
        *,
        learning_rate: float | str = "auto",
        max_depth: int | str = "auto",
        n_candidates: int | str = "auto",
        l2_regularization: float | str = "auto",
        loss: str = "squared_error",
        quantile: Quantile = 0.5,
        leaves: str = "auto",
        shape: str = "auto",
        early_stopping: bool | str = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        half_life: Any = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        store(self, locals())

    def _fit_loss(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        if self.loss == "huber":
            off = [np.abs(each - median(each, weight)) for each in targets.T]
            self._epsilon_ = np.array([median(each, weight) or each.mean() or 1.0 for each in off])

    def _value(self, name: str) -> Any:
        if name == "epsilon" and self._epsilon_ is not None:
            return self._epsilon_
        return super()._value(name)

    @completed_by(NUMBERS, LEARNING)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Grow trees on a batch of a stream: one for every 1,024 rows.

        A batch of fewer rows takes a proportionally smaller step, so rows count equally, however
        they are grouped. Bins and depth come from the first batch. Trees are added, also beyond
        ``n_trees``, unless a ``half_life`` drops old ones.
        """
        return self._partial_fit(X, y, sample_weight, timestamps=timestamps)


@documented
class BoostedTreesClassifier(Classifier, BoostedTrees):
    r"""Classification with boosted trees.

    Each tree is a Newton step on the log loss: its cuts are the best of a few random ones, and it
    is as deep as pays off beyond noise. Data frames with categories, missing values and dates are
    read directly.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from trickless import BoostedTreesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostedTreesClassifier(random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.95)
    True
    """

    _constants = BoostedTrees._constants | {"loss": "log_loss"}

    _rules = BoostedTrees._rules | {"class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        n_trees: int | str = "auto",
        *,
        learning_rate: float | str = "auto",
        max_depth: int | str = "auto",
        n_candidates: int | str = "auto",
        l2_regularization: float | str = "auto",
        leaves: str = "auto",
        shape: str = "auto",
        early_stopping: bool | str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        half_life: Any = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
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
        """Grow trees on a batch of a stream: one for every 1,024 rows.

        See :meth:`BoostedTreesRegressor.partial_fit` for the sizes of batches and steps.
        """
        return self._partial_fit(X, y, sample_weight, classes, timestamps)
