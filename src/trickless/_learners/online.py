"""Learners that use the rounds of Algorithm 1: Shrinking Gradient and two others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.stated import check_is
from trickless._arrays.states import in_one_state
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by
from trickless._functions.stream import Purpose, generator
from trickless._learners import refusals
from trickless._learners.arguments import LEARNING
from trickless._learners.base import Learner
from trickless._learners.classifier import Classifier
from trickless._learners.no_better import warn_if_hardly_learned
from trickless._learners.training_copy import training_copy
from trickless._rules import (
    AUTO,
    NONE,
    anything,
    boolean,
    choice,
    either,
    integer,
    is_range,
    positive,
)
from trickless._solvers.calibration import recent_rows
from trickless._solvers.rounds.compression import Projection, Unbiased
from trickless._solvers.rounds.regret import regret_bound, regret_curve
from trickless._solvers.rounds.rounds import Recipe, Rounds
from trickless._solvers.rounds.schedules import Schedule
from trickless._targets.targets import Range
from trickless.conformal.unseen import Unseen

#: Rule of the range of targets, which regressors take.
Y_RANGE = anything(
    "'auto' or a pair (low, high) of finite numbers with low < high",
    "y_range='auto' takes it from the first batch",
    lambda v: (isinstance(v, str) and v == "auto") or is_range(v),
)


class OnlineLearner(Learner):
    r"""A learner of an expansion, by the rounds of Algorithm 1 on mini-batches.

    A learner has ``estimates_``, which the rounds use, and ``_see``, which is shown every batch
    before it is learned. The solver is ``_rounds_``.

    Parameters
    ----------
    norm_bound : float, default=10.0
        The norm B: the learner competes with functions of norm up to B, on targets in [-1, 1].
    step_size : float or "auto", default="auto"
        The step :math:`\eta`. "auto", for the schedules "sqrt" and "inverse", is ``norm_bound / 2``
        divided by the largest k(x, x), which is estimated from the first rows.
    horizon : int or None, default=None
        The total number of rows, for ``schedule="theorem"``. More rows raise a ValueError.
    average : bool, default=True
        Whether to predict with the average of f over the rounds, as in the guarantee for new data.
        If False, the last f predicts.
    y_range : "auto" or (float, float), default="auto"
        The interval that contains all targets, which is mapped linearly to [-1, 1]. A target
        outside of a declared range raises a ValueError. "auto" is the range of the first batch. If
        a later target is outside, it grows around its middle, with a warning, and predictions stay.

    Attributes
    ----------
    online_error_ : array of shape (n_batches, 2)
        Number of rows of each batch, and their error before they were learned: the share
        misclassified, or the mean squared error on targets in [-1, 1], summed over the outputs.
    """

    norm_bound: float
    step_size: float | str
    schedule: str
    horizon: int | None
    batch_size: int | str
    average: bool
    max_support: int | None
    _rounds_: Rounds

    #: The estimates that rounds use, with the current parameters.
    estimates_: Any
    #: What they measure along a stream.
    _measures: ClassVar[type]
    #: Takes note of a batch, and of whether it is the first, or raises an error.
    _see: Callable[[Any, np.ndarray, bool], None]

    _refusals = refusals.ROUNDS
    _rules = Learner._rules | {
        "norm_bound": positive("norm_bound=10.0 competes with functions of norm up to 10"),
        "step_size": either(
            positive("step_size='auto' is norm_bound / 2, which the 'sqrt' schedule divides by √t"),
            AUTO,
        ),
        "schedule": choice(
            "sqrt",
            "inverse",
            "constant",
            "theorem",
            "theorem-fixed",
            remedy="schedule='sqrt' needs no number of rounds",
        ),
        "horizon": either(
            integer(1, "it is the number of rows to come, for schedule='theorem'"), NONE
        ),
        "batch_size": either(
            integer(1, "batch_size='auto' keeps the sum of the steps of a batch stable"), AUTO
        ),
        "average": boolean("average=True predicts with the average over rounds"),
        "max_support": either(
            integer(2, "max_support=10_000 keeps at most 10,000 support points, None all"), NONE
        ),
    }

    def check_state(self) -> None:
        super().check_state()
        self._check_outputs("_rounds_", self._rounds_.coefficients.n_outputs)
        if (measured := self._rounds_.measured) is not None:
            check_is("measured", measured, self._measures)
        if len(self._rounds_.coefficients):
            self._check_stored("support points", self._rounds_.rows)

    @completed_by(LEARNING)
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Learn in one online pass over the rows, in a random order.

        ``partial_fit``, and any learner that forgets rows, takes them in the order given.
        """
        with training_copy(self, is_model) as new, linear_algebra(self.n_jobs):
            X, targets, _ = new._receive_first(X, y)
            begin_rounds(new, X, targets)
            order = np.arange(X.shape[0])
            if self._value("half_life") is None:
                order = generator(new._seed_, Purpose.SHUFFLE).permutation(order)
            new._learn(X[order], targets[order])
            new.estimates_.function(new._rounds_, new.average)  # frozen once, if at all
            of_numbers = not isinstance(new, Classifier) and new.estimates_.kernel is not None
            if of_numbers and not schedule_of(new).is_theorem:
                warn_if_hardly_learned(new, X[order], targets[order])
        return self

    def _partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        with training_copy(self, is_model, resumes=True) as new, linear_algebra(self.n_jobs):
            if new.__sklearn_is_fitted__():
                X, targets, _ = new._receive_later(X, y, classes=classes, learned=True)
                new._rounds_ = new._rounds_.fork()
                if len(targets):
                    new._see(X, targets, False)
            else:
                X, targets, _ = new._receive_first(X, y, classes=classes, stream=True)
                begin_rounds(new, X, targets)
            if len(targets):
                new._learn(X, targets)
        return self

    def _learn(self, X: Any, targets: np.ndarray) -> None:
        """Take a round for each row."""
        with self._progress(len(targets), "row") as bar:
            self._rounds_.learn(X, targets, recipe_of(self), bar.update)

    def _function(self, X: Any) -> Any:
        return self.estimates_.function(self._rounds_, self.average)(X)

    def _calibrates(self) -> bool:
        return True

    def _unseen(self) -> Unseen | None:
        return recent_rows(self._rounds_.recent, self._rounds_.n_rounds, self._targets_.shown)

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each batch, before learning, shape (n_batches, 2).

        Beyond 8,192 batches, neighbours are merged.
        """
        check_is_fitted(self)
        return np.array(self._rounds_.online)

    @property
    @in_one_state
    def regret_(self) -> np.ndarray:
        """Rounds and the regret up to them, shape (n, 2).

        It is available for up to 10,000 rows and a kernel in closed form.
        """
        check_is_fitted(self)
        kernel, owner = self.estimates_.kernel, type(self).__name__
        return regret_curve(self._rounds_, kernel, self.norm_bound, owner)

    @property
    @in_one_state
    def regret_bound_(self) -> np.ndarray | None:
        """Upper bound of the expected regret at the rounds of ``regret_``, shape (n,).

        It uses the largest variance of the run, so it depends on the draws. It is known for a
        constant step or a schedule of the theorem. Rows must be learned one by one, from draws or
        the exact kernel. Otherwise it is None.
        """
        check_is_fitted(self)
        return regret_bound(self._rounds_, self.estimates_.kernel, schedule_of(self))


def range_of(self: Any, y: np.ndarray, classes: Any) -> Range:
    """Return what maps the targets of a regressor to [-1, 1]; ``y_range`` holds all of them."""
    return Range(type(self).__name__, y, self._value("dtype"), self.y_range)


def y_range_(self: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the targets' range, each of shape (n_outputs,)."""
    return self._targets_.low, self._targets_.high


def is_model(learner: OnlineLearner) -> bool:
    """Return whether a learner has taken rounds."""
    return hasattr(learner, "_rounds_") and learner._rounds_.n_rounds > 0


def begin_rounds(learner: OnlineLearner, X: Any, targets: np.ndarray) -> None:
    """Begin the rounds of a learner that has received its first batch, and show it the batch."""
    calibrated = isinstance(learner, Classifier)
    learner._rounds_ = Rounds(targets.shape[1], learner._seed_, learner._targets_, calibrated)
    learner._see(X, targets, True)


def schedule_of(learner: OnlineLearner) -> Schedule:
    """Sizes of a learner's steps and batches."""
    return Schedule(
        owner=type(learner).__name__,
        name=learner.schedule,
        step_size=learner.step_size,
        batch_size=learner.batch_size,
        norm_bound=learner.norm_bound,
        horizon=learner.horizon,
        half_life=learner._value("half_life"),
    )


def recipe_of(learner: OnlineLearner) -> Recipe:
    """Return how a learner's rounds are taken."""
    estimate, schedule = learner.estimates_, schedule_of(learner)
    if (most := learner.max_support) is None:
        return Recipe(estimate, schedule, None)
    if estimate.kernel is None:  # which a projection needs
        return Recipe(estimate, schedule, Unbiased(most, schedule.owner))
    projection = Projection(most, estimate, schedule.owner, learner.n_jobs)
    return Recipe(estimate, schedule, projection)
