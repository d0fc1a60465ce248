"""An ensemble of machines of several length scales that forget at several rates.

Each expert is recursive least squares on random neurons of one length scale, with one half-life and
one ridge. Experts of one length scale share their activations. Their predictions are mixed with
weights that follow from how well each predicted the rows so far. This is an online ensemble of
Gaussian processes of random features (Q. Lu, G. V. Karanikolas and G. B. Giannakis, "Incremental
ensemble Gaussian processes", IEEE TPAMI 45(2), 2023), with forgetting in its experts, and of its
weights (D. Waxman and P. M. Djurić, "Dynamic online ensembles of basis expansions", TMLR 2024).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from trickless._arrays.stated import (
    Amount,
    Array,
    Count,
    Finite,
    Length,
    Size,
    Stated,
    check_same,
    stated,
)
from trickless._arrays.threads import linear_algebra
from trickless._functions.activations import activations
from trickless._functions.network import check_finite
from trickless._functions.stream import NeuronStream
from trickless._solvers.calibration import Temperatures
from trickless._solvers.experts.answers import LabelAnswer, NumberAnswer
from trickless._solvers.experts.noise import NoiseVariances
from trickless._solvers.experts.reach import Reach
from trickless._solvers.experts.recursion import MOST_HALVINGS, MOST_PENDING, Ahead, Recursion
from trickless._solvers.experts.shares import Shares
from trickless._solvers.outputs import NewOutputs
from trickless.conformal.unseen import Counted, Scores, Unseen

#: Half-lives of ``half_life="auto"``, in rows.
HALF_LIVES = (10.0, 100.0, 1000.0, np.inf)
#: Ratios of noise to signal of ``alpha="auto"``: the ridge over the mean square of a row.
RATIOS = (0.01, 0.1)
#: The most rows whose predictions are kept, for intervals and sets, and the least number of rows
#: after which they count for less.
_RECENT, _SLOW = 1024, 100.0


class Predicted(NamedTuple):
    """Predictions of rows.

    Attributes
    ----------
    decisions, deviations : arrays of shape (n_rows, n_outputs)
        Decision values, and standard deviations of new targets.
    """

    decisions: np.ndarray
    deviations: np.ndarray


@stated
class Recent(NamedTuple):
    """The last rows, as they were predicted before they were learned.

    Attributes
    ----------
    decisions, deviations, targets : arrays of shape (n_rows, n_outputs)
    """

    decisions: Annotated[np.ndarray, Array("f8", "n", "answer.n_outputs")]
    deviations: Annotated[np.ndarray, Array("f8", "n", "answer.n_outputs")]
    targets: Annotated[np.ndarray, Array("f8", "n", "answer.n_outputs")]


@dataclass(eq=False, repr=False)
class Experts(Stated):
    """Machines, their noise, and their weights.

    Nothing that is here is changed in place, so a fork shares all arrays.

    Parameters
    ----------
    streams : list of NeuronStream
        Neurons of each length scale.
    factors : list of float
        Length scales, relative to that of the family.
    n_neurons : int
        Number of neurons of each length scale.
    half_lives : array of shape (n_rates,)
        In the unit of time: rows, or that of time stamps.
    alpha : float or "auto"
        Regularisation strength relative to the mean loss. "auto" has an expert for each of several
        ratios of noise to signal.
    fit_intercept : bool
    answer : Answer
        What is predicted.
    step : float
        Time between the latest row and rows that are predicted.

    Attributes
    ----------
    now, folded : float
        Times of the latest row, and as of which the sums of all machines are.
    lengths : array of shape (n_groups,)
        Sums over all rows of the squares of activations.
    mass : array of shape (n_rates,)
        Sums of the weights of rows, as of the last fold.
    reaches : list of Reach
        For numbers, how far each output may be from its prediction.
    unit : float
        What weights of rows are divided by, so that they are about 1.
    """

    has_unseen = True

    streams: list[NeuronStream]
    factors: Annotated[list[float], Length("streams")]
    n_neurons: Size
    half_lives: Annotated[np.ndarray, Array("f8", "n_rates", least=0)]
    alpha: float | str
    fit_intercept: bool
    answer: NumberAnswer | LabelAnswer
    step: Finite = 1.0
    origin: Annotated[np.ndarray, Array("f8", "answer.n_outputs")] = field(init=False)
    n_rows: Count = 0
    now: Finite = 0.0
    folded: Finite = 0.0
    unit: Amount = 1.0
    lengths: Annotated[np.ndarray, Array("f8", "n_groups", least=0)] = field(init=False)
    mass: Annotated[np.ndarray, Array("f8", "n_rates", least=0)] = field(init=False)
    groups: list[Recursion] = field(default_factory=list)
    noise: NoiseVariances = field(init=False)
    shares: Shares = field(init=False)
    reaches: list[Reach] = field(init=False)
    recent: Recent = field(init=False)
    #: Scores of the true classes of the last rows, if they are known.
    scores: Scores | None = None

    def __post_init__(self) -> None:
        answer, n_rates, n_outputs = self.answer, len(self.half_lives), self.answer.n_outputs
        self.origin = np.zeros(n_outputs)
        self.lengths = np.zeros(self.n_groups)
        self.mass = np.zeros(n_rates)
        rates = np.tile(np.repeat(1 / self.half_lives, self.n_ridges), self.n_groups)
        self.noise = NoiseVariances(rates, answer.n_targets)
        self.shares = Shares(len(rates) * answer.n_each, answer.n_weights)
        self.reaches = [Reach() for _ in range(n_outputs * isinstance(answer, NumberAnswer))]
        none = np.zeros((0, n_outputs))
        self.recent = Recent(none, none, none)

    def check_state(self) -> None:
        n_targets = self.answer.n_targets
        n_rates = len(self.half_lives)
        check_same("length of groups", len(self.groups), self.n_groups if self.n_rows else 0)
        n_machines = self.n_groups * n_rates * self.n_ridges
        for group, stream in zip(self.groups, self.streams, strict=False):
            size = self.n_neurons * stream.neurons.width + self.fit_intercept
            group.check(size, n_rates, self.n_ridges, n_targets)
        check_same("machines of noise", self.noise.squares.shape, (n_machines, n_targets))
        wanted = n_machines * self.answer.n_each, self.answer.n_weights
        check_same("experts of shares", self.shares.weights.shape, wanted)

    @property
    def n_groups(self) -> int:
        """Number of length scales."""
        return len(self.streams)

    @property
    def n_ridges(self) -> int:
        """Number of ridges of each length scale and half-life."""
        return len(RATIOS) if isinstance(self.alpha, str) else 1

    @property
    def recent_weights(self) -> np.ndarray:
        """How much each of the last rows counts for new ones: what is left of it, over experts.

        When weights move to experts of short half-lives, after a change, so do the errors by which
        intervals are made.
        """
        shape = self.answer.n_each, self.n_groups, len(self.half_lives), self.n_ridges
        of_rates = self.shares.weights.mean(axis=1).reshape(shape).sum(axis=(0, 1, 3))
        ages = np.arange(len(self.recent.targets) - 1, -1, -1)
        kept: np.ndarray = (1 - 1 / np.maximum(self.mass, _SLOW)) ** ages[:, None]
        return kept @ of_rates

    @property
    def stream(self) -> NeuronStream:
        """The neurons of the family's own length scale."""
        return self.streams[self.factors.index(1.0)]

    def fork(self) -> Experts:
        """Return experts that continue from these, and leave these unchanged."""
        other = copy(self)
        other.groups = [group.fork() for group in self.groups]
        other.scores = None
        return other

    def with_outputs(self, new: NewOutputs, measure: Any) -> Experts:
        """Return experts of other classes, with the weights that were learned without new ones."""
        other, answer = self.fork(), self.answer
        assert isinstance(answer, LabelAnswer)
        source, sign = answer.sources(new)
        other.groups = [group.with_outputs(source, sign) for group in self.groups]
        other.noise = self.noise.with_outputs(source)
        other.answer = LabelAnswer(len(new.source), True, spare=True)
        other.origin = np.zeros(len(new.source))
        other.recent = Recent(
            answer.mixed_with_new(self.recent.decisions, new),
            self.recent.deviations[:, new.source],
            new.of_targets(self.recent.targets),
        )
        return other

    @property
    def has_statistics(self) -> bool:
        """Whether any rows were learned."""
        return self.n_rows > 0

    def function(self, problem: Any) -> Callable[[Any], np.ndarray]:
        """Return the function that predicts decision values."""
        return lambda X: self.ahead(X).decisions

    def unseen(self, problem: Any) -> Unseen:
        """Return the last rows, as they were predicted before they were learned."""
        weight = self.recent_weights
        return Unseen(self.recent.decisions, self.recent.targets, Counted(weight, weight))

    def temperatures(self, problem: Any, each: bool) -> Temperatures:
        """Return temperatures of probabilities: decision values are logarithms of odds."""
        return 1.0, 1.0

    def without_statistics(self, *how: Any) -> Experts:
        """Return a copy that can predict but not learn."""
        other = copy(self)
        other.groups = [group.without_sums() for group in self.groups]
        return other

    def ahead(self, X: Any) -> Predicted:
        """Predict rows that come after the latest row."""
        with linear_algebra(1):
            time = self.now + self.step - self.folded
            each = zip(self.groups, self._activations(X), strict=True)
            mean, spread = _together([group.ahead(Z, time) for group, Z in each])
            unknown = np.zeros((1, self.answer.n_targets))  # the next row's
            _, first = self.answer.after(unknown)
            squares = np.broadcast_to(unknown, (len(mean), *unknown.shape))
            _, variance, _ = self.noise.after(np.array([self.step]), squares, first)
            variances = variance * spread[:, :, None]
            mixed, square = self.answer.mixed(self.shares.weights[None], mean, variances)
        return Predicted(mixed + self.origin, np.sqrt(square))

    def learn(
        self, X: Any, Y: np.ndarray, weight: np.ndarray | None, times: np.ndarray
    ) -> Predicted:
        """Learn rows in their order, and return how each was predicted before it was learned."""
        weight = np.ones(len(Y)) if weight is None else weight / self.unit
        with linear_algebra(1):
            if not self.n_rows:
                self.origin = self.answer.origin(Y[0])
            activated = self._activations(X)
            if not self.n_rows:
                self._begin([Z[0] for Z in activated], float(times[0]))
            predicted, start = [], 0
            while start < len(Y):
                stop = self._next_fold(times, start)
                part = slice(start, stop)
                rows = [Z[part] for Z in activated]
                predicted.append(self._learn_near(rows, Y[part], weight[part], times[part]))
                late = self.now - self.folded >= MOST_HALVINGS / 2 * self.half_lives.min()
                if late or self.n_rows == _fold_after(self.n_rows - 1):
                    self._fold(self.now)
                start += len(predicted[-1].decisions)
        return Predicted(*(np.concatenate(each) for each in zip(*predicted, strict=True)))

    def _activations(self, X: Any) -> list[np.ndarray]:
        """Activations of each length scale in double precision."""
        n, found = self.n_neurons, []
        for stream in self.streams:
            pieces = partial(stream.pieces, 0, n)
            if X.shape[0] <= MOST_PENDING:  # without the work of sharing out rows
                Z = np.hstack([stream.neurons(X, weights) for _, weights in pieces()])
            else:
                Z = activations(stream.neurons, pieces, X, n, 1)
            Z = Z.astype(np.float64)
            check_finite(type(stream.neurons).__name__, Z)
            found.append(Z)
        return found

    def _begin(self, first: list[np.ndarray], time: float) -> None:
        """Begin with the prior, on the scale of the first row."""
        self.folded = self.now = time
        rates, n_targets = 1 / self.half_lives, self.answer.n_targets
        self.groups = [
            Recursion.of_no_rows(
                rates, self._ridges(float(z @ z)), len(z), n_targets, self.fit_intercept
            )
            for z in first
        ]

    def _ridges(self, mean_square: float) -> np.ndarray:
        """Ridges of the machines of a length scale, (n_rates, n_ridges)."""
        if isinstance(self.alpha, str):
            ratios = (mean_square or 1.0) * np.array(RATIOS)
            return np.tile(ratios, (len(self.half_lives), 1))
        return self.alpha * self.n_neurons * np.maximum(self.mass, 1.0)[:, None]

    def _next_fold(self, times: np.ndarray, start: int) -> int:
        """Return the row before which the next fold is. Fold now if much time has passed.

        Folds come after rows rather than before, so that ``ahead`` predicts by the same machines.
        """
        most, stop = MOST_HALVINGS * self.half_lives.min(), _fold_after(self.n_rows) - self.n_rows
        if times[start] - self.folded > most:
            self._fold(float(times[start]))
        since = times[start : start + stop] - self.folded
        late = int(np.searchsorted(since, most / 2)) + 1
        return start + min(late, int(np.searchsorted(since, most, side="right")))

    def _learn_near(
        self, activated: list[np.ndarray], Y: np.ndarray, weight: np.ndarray, times: np.ndarray
    ) -> Predicted:
        """Learn rows until one whose targets are beyond reach, which are clipped."""
        before, root = self.fork(), np.sqrt(weight)[:, None]
        predicted = self._learn(activated, Y, weight, times)
        if not self.reaches:
            return predicted
        self.reaches = reaches = [copy(reach) for reach in self.reaches]
        for i, row in enumerate(((Y - predicted.decisions) * root).tolist()):
            near = [reach(residual) for reach, residual in zip(reaches, row, strict=True)]
            if near != row:
                vars(self).update(vars(before) | {"reaches": reaches})
                until, Y = slice(i + 1), Y[: i + 1].copy()
                Y[i] = np.where(np.equal(near, row), Y[i], predicted.decisions[i] + near / root[i])
                rows = [Z[until] for Z in activated]
                return self._learn(rows, Y, weight[until], times[until])
        return predicted

    def _learn(
        self, activated: list[np.ndarray], Y: np.ndarray, weight: np.ndarray, times: np.ndarray
    ) -> Predicted:
        """Learn rows until the next fold."""
        observed, Y = Y, self.answer.targets(Y - self.origin)
        each = zip(self.groups, activated, strict=True)
        since = times - self.folded
        mean, spread = _together([group.learn(Z, Y, since, weight) for group, Z in each])
        answer, first = self.answer.after(Y)
        relative = (spread - 1 + 1 / weight)[:, :, None]
        squares = (Y - mean) ** 2 / relative
        noise, variances, freedom = self.noise.after(times - self.now, squares, first)
        scores = answer.scores(Y, mean, variances * relative, freedom)
        shares, weights = self.shares.after(scores)
        mixed, square = answer.mixed(weights, mean, variances * spread[:, :, None])
        self.answer, self.noise, self.shares = answer, noise, shares
        self.now, self.n_rows = float(times[-1]), self.n_rows + len(Y)
        self.lengths = self.lengths + [float(np.vdot(Z, Z)) for Z in activated]
        predicted = Predicted(mixed + self.origin, np.sqrt(square))
        new = Recent(*predicted, observed)
        both = zip(self.recent, new, strict=True)
        self.recent = Recent(*(np.concatenate(pair)[-_RECENT:] for pair in both))
        return predicted

    def _fold(self, time: float) -> None:
        """Solve all machines with the rows so far, as of a time."""
        passed = time - self.folded
        _, _, when, weight = self.groups[0].pending()
        since = np.maximum(passed - when, 0.0) / self.half_lives[:, None]
        self.mass = np.exp2(-passed / self.half_lives) * self.mass + np.exp2(-since) @ weight
        for group, length in zip(self.groups, self.lengths, strict=True):
            group.fold(passed, self._ridges(length / self.n_rows))
        self.folded = time


def _fold_after(n_rows: int) -> int:
    """Return the number of rows at the next fold: the powers of 2 at first, which set the scale."""
    if n_rows < MOST_PENDING:
        return 1 << int(n_rows).bit_length()
    return (n_rows // MOST_PENDING + 1) * MOST_PENDING


def _together(parts: list[Ahead]) -> Ahead:
    """Return the predictions of the machines of all groups."""
    return Ahead(*(np.concatenate(each) for each in zip(*parts, strict=True)))
