"""Algorithm 1 of Livni, Carmon and Globerson 2017: an expansion learned online.

R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the kernel trick",
ICML 2017, PMLR 70:2198-2207.

``Rounds`` begins with no support points and learns from batches of rows. Round t estimates
E_t ≈ ⟨f_t, Φ(x_t)⟩ and appends a support point with a coefficient against the gradient, or shrinks
all coefficients. Its estimates (``estimates``), its steps (``schedules``) and what limits its
support (``compression``) are passed to it.

Two misprints are corrected here. Algorithm 1 prints the coefficient of a new support point with the
opposite sign, which would ascend the loss. The analysis takes a step against the gradient
(E_t − y_t) Φ(x_t), so the coefficient is η (y_t − E_t). And the theorem states the step B/√T, while
its proof uses B/(2√T), which is used here.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from trickless._arrays.growing import Growing, GrowingSparse, growing_like
from trickless._arrays.interrupts import uninterrupted
from trickless._arrays.sparse import check_rows
from trickless._arrays.stated import Array, Stated, check_array, check_same
from trickless._functions.network import Network
from trickless._functions.stream import Purpose, Seed, generator
from trickless._rules import warn
from trickless._solvers.calibration import check_noted, note_rows
from trickless._solvers.number_losses import Squared
from trickless._solvers.outputs import NewOutputs
from trickless._solvers.progress import Curve, Measure, check_progress, extend, ignore
from trickless._solvers.rounds.coefficients import Coefficients
from trickless._solvers.rounds.measured import Measured, Noise
from trickless._solvers.rounds.schedules import Schedule

#: Estimates of at least SHRINK_AT × norm_bound shrink the coefficients.
SHRINK_AT = 16

#: Rows that tell whether f is of use, and how many times the error of a constant is too much.
_FEW, _LOST = 100, 2.0
#: Share of the mean square of the targets from which on they tell by their variance.
_VARIES = 0.01

#: Share of the support points that are dropped together.
_GONE = 1 / 8

#: Kernel values of rows X with rows Y.
Kernel = Callable[[Any, Any], np.ndarray]


class Estimate(Protocol):
    """How rounds estimate the value of the expansion at a row."""

    @property
    def square_bound(self) -> float:
        """The largest k(x, x) that there may be."""

    def square(self, rounds: Rounds) -> float:
        """Return the largest k(x, x) that steps have to allow for."""

    def __call__(self, X: Any, rounds: Rounds) -> np.ndarray:
        """Estimates E_t for some rows, from at least one support point: (n_rows, n_outputs)."""

    def largest_step(self, rounds: Rounds) -> float:
        """Return the largest step that decaying schedules may take in the next round."""

    def remedy(self, rounds: Rounds) -> str:
        """Return the remedy if training diverges although every batch of steps is stable."""

    def function(self, rounds: Rounds, average: bool) -> Callable[[Any], Any]:
        """Make the function that predicts, from the average over rounds or the last round."""


class Compression(Protocol):
    """How support points are replaced by fewer."""

    @property
    def max_support(self) -> int:
        """The most support points."""

    def __call__(self, rounds: Rounds, rng: np.random.Generator) -> None:
        """Replace the support and the coefficients."""


class Recipe(NamedTuple):
    """How rounds are taken, which may change between batches. No compression keeps every row."""

    estimate: Estimate
    schedule: Schedule
    compression: Compression | None


class Rounds(Stated):
    """Algorithm 1 on mini-batches, one expansion for all outputs.

    Attributes
    ----------
    support : Growing, GrowingSparse or None
        The support points; None before the first round.
    online : Curve
        Rows of each batch, and their mean error before they were learned.
    played : Growing or None
        For each round, the number of support points before it, and the targets. None if a
        compression has replaced rows, or if rows fade.
    drawn : Growing or None
        For each batch with draws: its number of rows, the draws m for each row, the half range r of
        a draw, and 1 for full sums. The variance of an estimate is at most r² / m. None if
        estimates without a known bound were made, or if rows fade.
    measured : Measured, Noise or None
        What the estimates have measured along the stream, and use.
    recent : Growing or None
        Estimates and targets of the last rows before they were learned, to calibrate probabilities.
    lately : array of shape (4, n_outputs)
        For each output, sums over the rows since ``check_use`` last looked: rows, squared errors
        before they were learned, targets, and their squares.
    lost : str
        The remedy that ``check_use`` has warned with, or "".
    frozen : object
        The network that the estimates froze the expansion into, with its parameters. It is dropped
        when rows are learned.
    """

    seed: Seed
    measure: Measure
    support: Growing | GrowingSparse | None
    coefficients: Coefficients
    online: Curve
    played: Growing | None
    drawn: Growing | None
    measured: Measured | Noise | None
    recent: Growing | None
    lately: Annotated[np.ndarray, Array("f8", 4, "coefficients.n_outputs")]
    lost: str
    frozen: tuple[Any, Network] | None

    def __init__(
        self, n_outputs: int, seed: int, measure: Measure, calibrated: bool = False
    ) -> None:
        self.seed = seed
        self.measure = measure
        self.support = None
        self.coefficients = Coefficients(n_outputs)
        self.online = []
        self.played, self.drawn = Growing(), Growing()
        self.measured = None
        self.recent = Growing() if calibrated else None
        self.lately, self.lost = np.zeros((4, n_outputs)), ""
        self.frozen = None

    def check_state(self) -> None:
        n, n_outputs = len(self.coefficients), self.coefficients.n_outputs
        if self.support is not None and n:
            check_rows("support", self.support.rows, n, None)
        check_same("number of support points", 0 if self.support is None else len(self.support), n)
        check_noted("played", self.played, 1 + n_outputs)
        check_noted("drawn", self.drawn, 4)
        check_noted("recent", self.recent, 2 * n_outputs)
        if self.played is not None and len(self.played):
            check_array("played", self.played.rows[:, 0], "f8", (None,), 0, n + 1)

    @property
    def n_rounds(self) -> int:
        """Rounds so far."""
        return self.coefficients.n_rounds

    @property
    def rows(self) -> Any:
        """The support points, shape (t, n_features)."""
        assert self.support is not None
        return self.support.rows

    def fork(self) -> Rounds:
        """Rounds that continue from these, and leave these unchanged."""
        other = copy(self)
        other.coefficients, other.online = self.coefficients.fork(), list(self.online)
        other.support = None if self.support is None else self.support.fork()
        other.played = None if self.played is None else self.played.fork()
        other.drawn = None if self.drawn is None else self.drawn.fork()
        other.recent = None if self.recent is None else self.recent.fork()
        return other

    def with_outputs(self, new: NewOutputs, measure: Measure) -> Rounds:
        """Rounds that have been taken on the same rows with other targets.

        All of them are linear in the targets, apart from shrinks. Errors before rows were learned
        stay as they were measured.
        """
        other = self.fork()
        other.measure, other.frozen = measure, None
        other.coefficients = other.coefficients.with_outputs(new)
        if self.played is not None:
            other.played = self.played.mapped(
                lambda rows: np.hstack([rows[:, :1], new.of_targets(rows[:, 1:])])
            )
        if len(new.source) != self.coefficients.n_outputs:
            other.drawn = None  # draws for more outputs have a wider range
        elif self.drawn is not None:
            widest = np.array([1.0, 1.0, np.abs(new.factor).max(), 1.0])
            other.drawn = self.drawn.mapped(lambda draws: draws * widest)
        if self.measured is not None:
            other.measured = self.measured.with_outputs(new)
        if self.recent is not None:
            other.recent = self.recent.mapped(new.of_pairs)
        n, errors, targets, squares = self.lately
        other.lately = np.stack(
            [
                new.of_each(n),
                new.of_squares(errors),
                new.of_differences(targets),
                new.of_squares(squares),
            ]
        )
        return other

    def note_draws(self, n_rows: int, m: int, half_range: float, full: bool) -> None:
        """Take note of the draws for a batch."""
        if self.drawn is not None:
            self.drawn.append(np.array([[n_rows, m, half_range, float(full)]]))

    def alpha(self, average: bool) -> np.ndarray:
        """Coefficients that predict: their average over rounds, or the last."""
        return self.coefficients.average() if average else self.coefficients.last()

    def learn(
        self,
        X: Any,
        targets: np.ndarray,
        recipe: Recipe,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Take a round for each row, in their order."""
        self.check(X.shape[0], recipe)
        self.frozen = None
        if self.support is None:
            self.support = growing_like(X)
        X = self.support.like(X)
        start = 0
        while start < X.shape[0]:
            eta = self.step(recipe)
            rows = slice(start, min(start + self.batch_rows(eta, recipe), X.shape[0]))
            self.play(X[rows], targets[rows], eta, recipe)
            self.compress(recipe)
            advance(rows.stop - start)
            start = rows.stop

    def play(self, X: Any, targets: np.ndarray, eta: float, recipe: Recipe) -> None:
        """Take a round with step η for each row of a batch, all with the estimates of f_t.

        An output shrinks once a batch if any of its estimates is large.
        """
        c = self.coefficients
        assert self.support is not None
        if recipe.schedule.half_life is not None:
            self.fade(len(targets) / recipe.schedule.half_life)
        n_support = len(self.support)
        estimates = np.zeros(targets.shape)
        if n_support:
            estimates = recipe.estimate(X, self)  # Alg. 1, line 4
        self._check_progress(estimates, targets, recipe)
        error = float(self.measure.error(estimates, targets).mean())
        small: np.ndarray = np.abs(estimates) < SHRINK_AT * recipe.schedule.norm_bound  # line 5
        new = np.where(small, eta * (targets - estimates), 0)  # line 6
        with uninterrupted():  # all that a round changes
            extend(self.online, len(targets), error)
            sums = np.ones_like(targets), (estimates - targets) ** 2, targets, targets**2
            self.lately = self.lately + np.sum(sums, axis=1, dtype=np.float64)
            if self.recent is not None:
                note_rows(self.recent, estimates, targets)
            if self.played is not None:
                start = np.full((len(targets), 1), float(n_support))
                self.played.append(np.hstack([start, targets]))
            c.count_rounds(len(targets))
            if not small.all():
                c.shrink(np.logical_not(small.all(axis=0)))  # line 8
            self.support.append(X)
            c.append(new)

    def fade(self, half_lives: float) -> None:
        """Let f fade within some time, and drop support points that have faded away.

        They are dropped together, once they are a share of all, since the others are copied.
        """
        c, support = self.coefficients, self.support
        assert support is not None
        with uninterrupted():
            c.fade(half_lives)
            self.played = self.drawn = None
            if (gone := c.n_faded) > _GONE * len(c):
                c.drop(gone)
                support.keep(np.arange(gone, len(support)))

    def compress(self, recipe: Recipe) -> None:
        """Replace support points by fewer, if there are too many."""
        c = recipe.compression
        if c is not None and self.support is not None and len(self.support) > c.max_support:
            c(self, generator(self.seed, Purpose.COMPRESS, self.n_rounds))

    def check_use(self, owner: str, cause: str, remedy: str) -> None:
        """Warn once if lately f has been worse than a constant, and start over from now on."""
        n, errors, targets, squares = self.lately
        if n[0] < _FEW:
            return
        self.lately = np.zeros_like(self.lately)
        constant = float((squares - targets**2 / n).sum())
        if constant <= _VARIES * float(squares.sum()):  # no function is better
            return
        times = float(errors.sum()) / constant
        if times > _LOST and not self.lost:
            self.lost = remedy
            warn(
                f"{owner}: within {self.n_rounds} rows, {cause} has lost what was learned: the "
                f"mean squared error of the last {n[0]:.0f} rows is {times:.1f} times that of a "
                f"constant prediction. Remedy: {remedy}."
            )

    def step(self, recipe: Recipe) -> float:
        """Size η of the next step."""
        t = self.coefficients.n_counted + 1
        estimate = recipe.estimate
        return recipe.schedule.step(t, estimate.largest_step(self), estimate.square(self))

    def batch_rows(self, eta: float, recipe: Recipe) -> int:
        """Rows of the next batch, with steps of η."""
        return recipe.schedule.batch_rows(self.n_rounds, eta, recipe.estimate.square(self))

    def check(self, n_rows: int, recipe: Recipe) -> None:
        """Raise an error for a recipe that does not work for the rows to come."""
        estimate, schedule, _ = recipe
        if schedule.is_theorem:
            schedule.check_theorem(self.n_rounds + n_rows, estimate.square_bound)
        eta = self.step(recipe)
        schedule.check_step(eta, self.batch_rows(eta, recipe), estimate.square(self))

    def _check_progress(self, estimates: np.ndarray, targets: np.ndarray, recipe: Recipe) -> None:
        """Raise an error if a round's loss is far above the loss of predicting 0 for targets ±1.

        Shrinking bounds estimates by 16 B. The theorem relies on that, so it is not checked.
        """
        if recipe.schedule.is_theorem:
            return
        loss = float(Squared().value(estimates, targets).mean())
        remedy = self.lost or recipe.estimate.remedy(self)
        check_progress(recipe.schedule.owner, loss, targets.shape[1] / 2, self.n_rounds, remedy)
