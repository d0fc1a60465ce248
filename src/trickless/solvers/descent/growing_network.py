"""A network that grows by steps of Algorithm 1 of Dai et al. 2014 (``descent``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from trickless.arrays.growing import Growing
from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.places import HOST, matching, place_of, to_host
from trickless.arrays.stated import (
    Stated,
    check_array,
    check_count,
    check_is,
    check_list,
    check_number,
)
from trickless.arrays.threads import linear_algebra
from trickless.errors import InvalidValueError
from trickless.functions.activations import activations, by_neuron, together
from trickless.functions.network import Network, check_alike, check_source
from trickless.functions.stream import Later, NeuronStream, StoredNeurons, moved
from trickless.neurons import Weights
from trickless.neurons.turns import Turns
from trickless.rules import warn
from trickless.solvers.batches import Batch, Rows
from trickless.solvers.descent.candidates import Chooser, typical_of
from trickless.solvers.descent.newton import (
    Leaves,
    Units,
    damped,
    excess,
    largest,
    leaf_coefficients,
    leaves_of,
    safe_share,
    terms,
    units_of,
)
from trickless.solvers.descent.step_sizes import (
    DescentOptions,
    Steps,
    automatic_step,
    check_steps,
    largest_eigenvalue,
    searched,
    steps_of,
    unit_of,
)
from trickless.solvers.descent.turns import Draw, DrawOfPart
from trickless.solvers.losses import Loss
from trickless.solvers.progress import check_progress
from trickless.solvers.state import Measure, check_measure

#: Steps, and the share of a constant's loss, from which there is a warning that nothing is learned.
_LEAST_LOST, _LOST = 8, 1.3
#: The most rows of a Newton step that are evaluated for the history.
_RECORDED = 4096
#: More cuts than a feature can win. Sums of fewer do not overflow.
_MOST_WINS = 2**53
#: The least columns of a block, and how many blocks that explain nothing halve the next ones.
_LEAST_BLOCK, _TRIES = 64, 3


class Seen(NamedTuple):
    """Number of rows of a step, and their mean error and loss before it was taken.

    ``weighted`` is the sum of their losses times their shares of the step, and ``start`` the same
    sum if nothing had been learned.
    """

    n_rows: int
    error: float
    loss: float
    weighted: float
    start: float


class Slopes(NamedTuple):
    """Sums over the rows of a batch, weighted by their shares, that decide a step.

    They are the gradient and, with the preconditioner "block", the covariance of the activations.
    If the length of the step is searched for, they include the sums that ``searched`` needs. For
    Newton steps, they are the sums by leaf of −l′ and of the curvatures, in their units; ``top``
    has the largest curvatures of rows, which show outliers. The ``level`` has the sums of the
    shares, of −l′ and of the curvatures, which move the intercept.
    """

    gradient: np.ndarray
    covariance: Any = None
    squares: np.ndarray | None = None
    curvature: np.ndarray | None = None
    top: np.ndarray | None = None
    level: np.ndarray | None = None

    @classmethod
    def total(cls, parts: Iterable[Slopes]) -> Slopes:
        """The sums over the rows of several parts."""
        fields = dict(zip(cls._fields, zip(*parts, strict=True), strict=True))
        top = fields.pop("top")
        sums: dict[str, Any] = {
            name: None if each[0] is None else sum(each) for name, each in fields.items()
        }
        return cls(**sums, top=None if top[0] is None else largest(np.concatenate(top, axis=1)))


class GrowingNetwork(Stated):
    """A network that grows by a block of neurons in each step, along a functional gradient.

    The function starts from the constant ``intercept``. ``coef`` are the coefficients so far, shape
    (n_neurons, width, n_outputs). ``history`` has a record of each step, and ``validation_scores``
    the scores of the held-out rows, if there are any.
    """

    # In files of older versions.
    moved: np.ndarray | float = 0.0
    level: np.ndarray | float = 0.0
    typical: np.ndarray | float = 0.0
    levelled: float = 0.0
    idle: int = 0

    def __init__(self, stream: NeuronStream, intercept: np.ndarray, measure: Measure) -> None:
        n_outputs = len(intercept)
        self.stream, self.neurons = stream, stream.neurons
        self.intercept = intercept
        self.measure = measure
        self.coef = Growing()
        self.coef.append(np.zeros((0, self.neurons.width, n_outputs), dtype=stream.dtype))
        self.history: list[Seen] = []
        self.validation_scores: list[float] = []
        #: Numbers of neurons when the held-out rows were scored.
        self.scored: list[int] = []
        self.n_rows, self.total_weight = 0, 0.0
        #: Steps taken so far, where a step on a part of a batch counts as that part.
        self.taken = 0.0
        #: Weight of the heaviest batch of a fit, in units of the mean weight.
        self.heaviest = 1.0
        #: Mean distance of the targets from the intercept.
        self.spread = np.zeros(n_outputs)
        #: How far steps have moved the intercept from the constant that the network started with.
        self.moved = np.zeros(n_outputs)
        #: What the held-out rows would add to the intercept, at the best score of a fit.
        self.level = np.zeros(n_outputs)
        #: Rows that have moved the intercept, where a row of half the mean weight counts half.
        self.levelled = 0.0
        #: Blocks of a fit that explained nothing.
        self.idle = 0
        #: What a Newton step from the intercept gains for each output; 0 before the first batch.
        self.typical = np.zeros(n_outputs)
        self.largest_loss = 0.0
        self.eigenvalue = 0.0
        self.steps = Steps("constant", 0.0, 0.0, 0.0)
        #: The neurons, if they were chosen among candidates and not drawn from the stream.
        self.chosen: StoredNeurons | None = None
        #: How often each feature was chosen for the cut of a tree.
        self.wins = np.zeros(self.neurons.n_features_in_, dtype=int)
        self.units = Units()

    def check_state(self) -> None:
        n_outputs = len(self.intercept)
        check_is("stream", self.stream, NeuronStream)
        check_alike("neurons", self.neurons, self.stream.neurons)
        check_measure(self.measure)
        check_array("intercept", self.intercept, "f8", (None,))
        check_array("spread", self.spread, "f8", (n_outputs,))
        for name in ("moved", "level", "typical"):
            value = getattr(self, name)
            if isinstance(value, float):  # in files of older versions
                check_number(name, value)
            else:
                check_array(name, value, "f8", (n_outputs,))
        for name in ("levelled", "total_weight", "taken", "heaviest", "largest_loss", "eigenvalue"):
            check_number(name, getattr(self, name), 0)
        check_count("idle", self.idle, 0)
        check_array("coef", self.coef.rows, "f4 f8", (None, self.neurons.width, n_outputs))
        check_list("history", self.history, Seen)
        if {type(value) for seen in self.history for value in seen} - {int, float}:
            raise ValueError("history: there are values that are not numbers")
        check_list("validation_scores", self.validation_scores, int | float)
        check_list("scored", self.scored, int, len(self.validation_scores))
        for scored in self.scored:
            check_count("scored", scored, 0)
        check_array("wins", self.wins, "i8", (self.neurons.n_features_in_,), 0, _MOST_WINS)
        for unit in self.units:
            if isinstance(unit, np.ndarray):
                check_array("units", unit, "f8", (n_outputs,), 0)
        check_is("units", self.units, Units)
        check_is("steps", self.steps, Steps)
        self.steps.check(n_outputs)
        check_count("n_rows", self.n_rows, 0)
        if self.chosen is not None:
            check_source("chosen", self.chosen, self.neurons, len(self.coef))

    @property
    def source(self) -> NeuronStream | StoredNeurons:
        """Where the neurons so far come from."""
        return self.stream if self.chosen is None else self.chosen

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return len(self.history)

    @property
    def constant(self) -> np.ndarray:
        """The constant that the network started with."""
        return self.intercept - self.moved

    def rarity(self, loss: Loss) -> float:
        """By what the damping of trees is multiplied where classes are rare, else 1.

        Their curvature is small, and the damping is relative to it. So a few rows would move f far.
        """
        if not loss.has_link:
            return 1.0
        equal, start = (
            loss.newton(f[None], np.ones((1, len(f))))[1].mean()
            for f in (np.zeros_like(self.constant), self.constant)
        )
        return float(np.sqrt(equal / start))

    def copy(self) -> Self:
        """An independent copy."""
        return self._with(self.coef.copy())

    def fork(self) -> Self:
        """A network that continues from this one, and does not change it.

        Both share the memory of their coefficients, so neither may decay them.
        """
        return self._with(self.coef.fork())

    def _with(self, coef: Growing) -> Self:
        """The same network with other coefficients."""
        other = copy(self)
        other.coef, other.history = coef, list(self.history)
        other.validation_scores, other.scored = list(self.validation_scores), list(self.scored)
        other.chosen = None if self.chosen is None else self.chosen.fork()
        return other

    def function(self, n_jobs: int | None) -> Network:
        """The network of all neurons so far. The next step changes its coefficients."""
        return Network(self.neurons, self.source, self.coef.rows, self.intercept, n_jobs)

    def read(self, X: Any, options: DescentOptions) -> Any:
        """Rows as steps read them. Newton steps take place on the host, wherever the rows are."""
        if place_of(X) is not HOST and not options.newton:
            return X  # in the precision in which activations are wanted there
        return self.neurons.read(to_host(X), options.n_jobs)

    def size_steps(
        self,
        pick: Callable[[np.ndarray], Any],
        targets: np.ndarray,
        weight: np.ndarray | None,
        options: DescentOptions,
    ) -> None:
        """Count the rows and their weights, and set the sizes of steps.

        ``pick`` returns the rows with given numbers. At the start, the largest eigenvalue is
        estimated from a few of them.
        """
        if not self.history and not options.newton:
            self.eigenvalue = largest_eigenvalue(
                self.stream, pick, len(targets), weight, options.n_jobs
            )
        count = len(targets) if weight is None else weight.sum()
        spread = np.average(np.abs(targets - self.constant), axis=0, weights=weight)
        spread = self.spread + count / (self.total_weight + count) * (spread - self.spread)
        steps = steps_of(options, spread, self.eigenvalue, self.neurons.bound)
        if not self.history or steps != self.steps:
            check_steps(options.owner, steps, options.loss)
        self.steps = steps
        typical, first = self.typical, (self.constant, targets, weight, unit_of(spread))
        if options.newton or options.n_candidates > 1:
            self.units = self.units.at_least(units_of(options.loss, *first))
            new = typical_of(options.loss, *first)
            typical = typical + count / (self.total_weight + count) * (new - typical)
        with uninterrupted():
            self.spread, self.typical = spread, typical
            self.n_rows += len(targets)
            self.total_weight += count

    @np.errstate(over="ignore", invalid="ignore")  # divergence is reported
    def step(
        self,
        rows: Rows,
        k: int,
        options: DescentOptions,
        part: float = 1.0,
        fade: float = 1.0,
        pool: Rows | None = None,
    ) -> None:
        """One step of Algorithm 1 on a batch of rows and the next k neurons.

        A batch with a fraction ``part`` of the usual rows takes that fraction of the usual step.
        ``fade`` multiplies the step as well. Neurons are chosen by the rows of the ``pool``, by
        default those of the batch.
        """
        X, targets, weight, batch = rows
        gamma = part * fade * self.steps(self.n_steps)
        self.bring_up_to_date(batch, X, options)  # Alg. 1, line 4: predict with earlier neurons
        shares = self.shares(targets, weight)
        seen = self.record(self.outcome(batch.f, targets, shares, options), gamma, options)
        turn = self.turn(options)
        some = turn.rows(rows)
        terms = self.terms(batch.f, targets, weight, options) if turn.options.newton else None
        if pool is None or not turn.chooses:
            weights = self.fresh(k, turn, rows, len(targets), terms)  # line 3
        else:
            self.bring_up_to_date(pool.batch, pool.X, options)
            weights = self.fresh(k, turn, pool, len(targets))
        Z = self.activations(some.X, turn.own(weights), turn.options, turn.family)
        shares = self.shares(some.targets, some.weight)
        f, total = some.batch.f, shares.sum()
        slopes = self.slopes(Z, f, some.targets, shares, total, turn.options, terms)
        new = self.coefficients(slopes, k, turn.share * gamma, seen, turn.options)
        shift = self.shift(slopes, len(targets), options)
        self.append(turn.columns(new), weights, gamma, seen, options, part, shift)
        self.complete(batch, Z, new, gamma, options)

    def turn(self, options: DescentOptions) -> Draw:
        """The family whose turn it is: the network's own, unless that is a mixture with trees."""
        if not isinstance(self.neurons, Turns):
            return Draw(self.neurons, options)
        taken = None if self.chosen is None else self.chosen.weights
        return DrawOfPart(self.neurons, taken, options)

    def fresh(
        self, k: int, turn: Draw, pool: Rows, n_rows: int, terms: np.ndarray | None = None
    ) -> Weights:
        """The weights of the next k neurons: those of the stream, or the best of candidates.

        ``pool`` are the rows by which they are chosen, with f up to date, and ``terms`` those of
        these rows, if they are known. The step itself takes ``n_rows`` rows.
        """
        first = len(self.coef)
        drawn = turn.drawn(self.stream, first, k, pool.X)
        if not turn.chooses:
            return drawn
        X, targets, weight, batch = turn.rows(pool)
        scale = unit_of(self.spread)
        of = self.stream, turn.family, self.units, scale, self.typical, turn.options
        args = X, batch.f + self.intercept, targets, self.relative(weight)
        chosen = Chooser(*of).choose(*args, first, k, n_rows, self.wins, terms)
        return turn.whole(chosen, drawn)

    def relative(self, weight: np.ndarray | None) -> np.ndarray | None:
        """Weights of rows in units of the mean weight so far."""
        return None if weight is None else weight * (self.n_rows / self.total_weight)

    def terms(
        self, f: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, options: DescentOptions
    ) -> np.ndarray:
        """Slopes and curvatures of rows for a Newton step."""
        f, scale = f + self.intercept, unit_of(self.spread)
        weight = self.relative(weight)
        return terms(options.loss, f, targets, weight, self.units, scale, options.n_jobs)

    def bring_up_to_date(self, batch: Batch, X: Any, options: DescentOptions) -> None:
        """Apply the decays and add the neurons since the batch was last visited to its f."""
        if batch.n_steps == self.n_steps and batch.n_neurons == len(self.coef):
            return
        missed = np.arange(batch.n_steps, self.n_steps)
        batch.f *= np.prod(self.steps.kept(self.steps(missed)), axis=0)
        missing = Network(
            self.neurons,
            Later(self.source, batch.n_neurons),
            self.coef.rows[batch.n_neurons :],
            n_jobs=options.n_jobs,
        )
        batch.f += to_host(missing(X))
        batch.n_neurons, batch.n_steps = len(self.coef), self.n_steps

    def activations(
        self, X: Any, weights: Weights, options: DescentOptions, family: Any = None
    ) -> Any:
        """Activations of all rows of a batch by some neurons; for Newton steps, their leaves.

        The neurons are of the given family, by default the network's own.
        """
        family = self.neurons if family is None else family
        if options.newton:
            return leaves_of(family, X, weights, options.n_jobs)
        weights = moved(weights, X)
        k = weights[0].shape[0]
        # In the precision of the learner, since the rows of trees are bytes.
        place = place_of(X)
        Z = place.empty((X.shape[0], k * family.width), self.stream.dtype)
        return activations(family, together(weights), X, k, options.n_jobs, Z, place)

    def outcome(
        self,
        f: np.ndarray,
        targets: np.ndarray,
        shares: np.ndarray,
        options: DescentOptions,
        n_recorded: int | None = None,
    ) -> np.ndarray:
        """Sums over rows for the history.

        They are the number of rows, and how many of them are evaluated, the first ``n_recorded``.
        Of these they are the error, the loss, the loss of a constant, and both losses weighted by
        the shares.
        """
        n_rows, loss = len(targets), options.loss
        n = recorded(n_rows, options) if n_recorded is None else n_recorded
        f, targets, shares = f[:n] + self.intercept, targets[:n], shares[:n]
        start = loss.value(np.broadcast_to(self.constant, targets.shape), targets)
        value, error = loss.value(f, targets), self.measure.error(f, targets)
        sums = error.sum(), value.sum(), start.sum(), shares @ value, shares @ start
        return np.array([n_rows, n, *sums])

    def slopes(
        self,
        Z: Any,
        f: np.ndarray,
        targets: np.ndarray,
        shares: np.ndarray,
        total: float,
        options: DescentOptions,
        terms: np.ndarray | None = None,
    ) -> Slopes:
        """The sums over rows that decide a step.

        The covariance is divided by ``total``, the sum of the shares of the whole batch. Newton
        steps need the ``terms`` of the rows.
        """
        if isinstance(Z, Leaves):
            whole = np.asarray(terms)
            g, h = np.split(Z.sums(whole, options.n_jobs), 2, axis=2)
            return Slopes(g, curvature=h, top=largest(whole[len(whole) // 2 :]))
        slope = options.loss.derivative(f + self.intercept, targets)
        n_rows, n_columns = Z.shape
        with linear_algebra(options.n_jobs, n_columns * slope.size):
            gradient = to_host(Z.T @ matching(Z, slope * shares[:, None]))
        if options.preconditioner is None:
            return Slopes(gradient)
        level = None
        if options.loss.has_link:
            ones = np.ones_like(slope)
            terms_of_level = ones, *options.loss.newton(f + self.intercept, targets)
            level = np.stack([shares @ values for values in terms_of_level])
        squares = None
        if options.searches:
            each = np.broadcast_to(shares[:, None], slope.shape)
            bend = options.loss.bend(f + self.intercept, targets)
            values = (each, each**2, *(each * value for value in (slope**2, *bend)))
            squares = np.array([value.sum(axis=0) for value in values])
        # A batch of small weights has a small gradient, but not a small covariance.
        root = Z * matching(Z, np.sqrt(shares / (total or 1.0))[:, None])
        with linear_algebra(options.n_jobs, n_rows * n_columns**2):
            return Slopes(gradient, root.T @ root, squares, level=level)

    def find_heaviest(self, batches: list[np.ndarray], weight: np.ndarray | None) -> None:
        """Find the mean weight of the heaviest batch of a fit, by which ``shares`` divides."""
        if weight is not None:
            heaviest = max(float(weight[rows].mean()) for rows in batches)
            self.heaviest = max(1.0, heaviest * self.n_rows / self.total_weight)

    def shares(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Weights of the rows in the mean over a batch.

        They are in units of the mean weight of all rows. So a batch of small weights makes a small
        step. In a fit, all are divided by the sum for the heaviest batch, so that every step is
        stable. A stream does not know that sum in advance, so there a heavy batch counts less.
        """
        if weight is None:
            return np.full(len(targets), 1 / len(targets))
        shares = weight / (len(weight) * self.total_weight / self.n_rows)
        return shares / max(self.heaviest, shares.sum())

    def record(self, outcome: np.ndarray, gamma: np.ndarray, options: DescentOptions) -> Seen:
        """The record of a step for the history; raise an error if the loss has grown too far."""
        n_rows, n, *sums, weighted, weighted_start = outcome.tolist()
        error, value, start = (total / n for total in sums)
        self._check_progress(value, start, gamma, options)
        scale = n_rows / n
        return Seen(int(n_rows), error, value, scale * weighted, scale * weighted_start)

    def coefficients(
        self, slopes: Slopes, k: int, gamma: np.ndarray, seen: Seen, options: DescentOptions
    ) -> np.ndarray:
        """Coefficients of k new neurons, in the order of columns."""
        if slopes.curvature is not None:
            sums = slopes.gradient, slopes.curvature
            above = excess(np.asarray(slopes.top))
            whole = leaf_coefficients(*sums, self.units, options.damping, above)
            whole *= safe_share(whole, gamma, options.loss)
            direction = -(whole / k).astype(self.coef.rows.dtype)
        elif slopes.covariance is None:
            direction = slopes.gradient / k
        else:
            direction = _preconditioned(slopes, seen.n_rows, options)
            if slopes.squares is not None:  # gamma stands for the share of the step that is found
                direction /= np.asarray(self.steps.first, dtype=direction.dtype)
                self.idle += not direction.any()
        with np.errstate(over="ignore"):
            new = -gamma.astype(direction.dtype) * direction  # line 5
            most = self.neurons.bound * np.abs(new).sum(axis=0)  # the largest change of f
        if not np.isfinite(most).all():
            self._check_progress(np.inf, 0.0, gamma, options)
        return new

    def shift(self, slopes: Slopes, n_rows: int, options: DescentOptions) -> np.ndarray | float:
        """How far a step of blocks moves the intercept, so that probabilities have the right mean.

        It is a Newton step. Where one class is rare, the curvature is small, and steps along the
        gradient would take too long. Each batch has the share of its rows in all rows so far. The
        theorem is about steps without an intercept.
        """
        if slopes.level is None or options.newton or options.schedule == "theorem":
            return 0.0
        total, g, h = slopes.level
        rows = n_rows * float(total.mean())
        share = min(1.0, rows / min(self.levelled + rows, self.n_rows))
        self.levelled += rows
        return damped(share * np.divide(g, h, out=np.zeros_like(g), where=h > 0), options.loss)

    def append(
        self,
        new: np.ndarray,
        weights: Weights,
        gamma: np.ndarray,
        seen: Seen,
        options: DescentOptions,
        part: float = 1.0,
        shift: np.ndarray | float = 0.0,
    ) -> None:
        """Append neurons with the coefficients ``new``, after a decay of all earlier ones.

        Their ``weights`` are needed only if the network keeps them. ``shift`` moves the intercept.
        """
        with uninterrupted():  # an interrupt leaves whole steps
            if options.alpha:
                decay = self.steps.kept(gamma).astype(self.coef.rows.dtype)
                self.coef.rows[:] *= decay  # line 6: decay the earlier ones
            if self.keeps(options):
                self.keep(weights)
            self.coef.append(by_neuron(new, self.neurons.width))
            self.history.append(seen)
            self.taken += part
            self.move(shift)

    def move(self, shift: np.ndarray | float) -> None:
        """Move the intercept."""
        self.intercept, self.moved = self.intercept + shift, self.moved + shift

    def complete(
        self, batch: Batch, Z: Any, new: np.ndarray, gamma: np.ndarray, options: DescentOptions
    ) -> None:
        """Apply the step that was just taken to f at its batch, which was up to date before.

        If it used only some of the rows, the next visit evaluates its neurons.
        """
        if options.alpha:
            batch.f *= self.steps.kept(gamma)
        batch.n_steps = self.n_steps
        if Z.shape[0] < len(batch.f):
            return
        if isinstance(Z, Leaves):
            Z.add(batch.f, new, options.n_jobs)
        else:
            with linear_algebra(options.n_jobs, Z.shape[0] * new.size):
                batch.f += to_host(Z @ matching(Z, new))
        batch.n_neurons = len(self.coef)

    def keeps(self, options: DescentOptions) -> bool:
        """Whether the weights of new neurons are kept, since a seed does not determine them."""
        in_turn = isinstance(self.neurons, Turns)
        return options.n_candidates > 1 or self.chosen is not None or in_turn

    def keep(self, weights: Weights) -> None:
        """Keep neurons that were chosen, and count the features of their cuts."""
        if self.chosen is None:
            n_before = len(self.coef)
            before = self.stream.between(0, n_before) if n_before else tuple(w[:0] for w in weights)
            self.chosen = StoredNeurons(before)
        self.chosen.append(tuple(map(to_host, weights)))
        if self.neurons.has_trees:
            self.wins = self.wins + self.neurons.cuts_by_feature(weights)

    def next_size(self, options: DescentOptions) -> int:
        """How many neurons the next step of a fit draws.

        A block that explains nothing has too many columns for what is left to explain. Some such
        blocks halve the next ones.
        """
        k = options.neurons_per_step
        if options.searches:
            least = min(k, -(-_LEAST_BLOCK // self.neurons.width))
            k = max(k >> (self.idle // _TRIES), least)
        return min(k, options.n_neurons - len(self.coef))

    def keep_first(self, n: int, n_steps: int, options: DescentOptions) -> None:
        """Keep the first n neurons only, as they were after ``n_steps`` steps."""
        coef, later = Growing(), np.arange(n_steps, self.n_steps)
        decay = np.prod(self.steps.kept(self.steps(later)), axis=0)
        coef.append((self.coef.rows[:n] / decay).astype(self.coef.rows.dtype))
        chosen = None if self.chosen is None else self.chosen.first(n)
        wins = self.wins
        if chosen is not None and self.neurons.has_trees:
            wins = self.neurons.cuts_by_feature(chosen.weights)
        with uninterrupted():
            self.coef, self.chosen, self.wins = coef, chosen, wins

    def warn_if_lost(self, n_before: int, options: DescentOptions) -> None:
        """Warn if rows were predicted worse than by a constant before most of the last steps.

        A long stream is checked whenever its number of steps has doubled. ``n_before`` steps had
        been taken at the last check. The theorem's first steps go far beyond the targets, so they
        are checked at the end of a fit.
        """
        last = self.history[len(self.history) // 2 :]
        doubled = self.n_steps.bit_length() > n_before.bit_length()
        if self.n_steps < _LEAST_LOST or not doubled or options.schedule == "theorem":
            return
        weighted, start = (
            sum(getattr(seen, name) for seen in last) for name in ("weighted", "start")
        )
        if weighted > _LOST * start > 0:
            warn(
                f"{options.owner}: nothing is learned: the loss of rows before the last "
                f"{len(last)} steps is {weighted / start:.3g} times that of predicting a constant. "
                f"Remedy: {self._remedy(options)}.",
                ConvergenceWarning,
            )

    def _check_progress(
        self, value: float, start: float, gamma: np.ndarray, options: DescentOptions
    ) -> None:
        """Raise an error if the loss is far above that of the intercept alone.

        The theorem's first steps may go that far. They stop only if numbers overflow.
        """
        if options.schedule == "theorem" and np.isfinite(value):
            return
        self.largest_loss = max(self.largest_loss, float(start))
        remedy = self._remedy(options, gamma.max())
        check_progress(options.owner, value, self.largest_loss, self.n_steps, remedy)

    def _remedy(self, options: DescentOptions, longest: float = np.inf) -> str:
        """The remedy for steps that are too long, the longest of which is about ``longest``."""
        automatic = automatic_step(
            options, np.array(self.steps.alpha), self.spread, self.eigenvalue, self.neurons.bound
        )
        stable = min(float(np.min(automatic)), longest / 2)
        if options.preconditioner == "block":
            columns = self.neurons.width * options.neurons_per_step
            return (
                f"a block of {columns} columns needs batches of several times as many rows, and "
                f"batch_size={options.batch_size!r}; or take a step_size below {stable:g}, or a "
                "larger damping"
            )
        gave = f"gave steps of about {longest:g}; " if np.isfinite(longest) else "is too long; "
        return (
            f"step_size={options.step_size!r} {gave}take one below {stable:g}, or a larger "
            "batch_size or neurons_per_step; the bound of the neurons must hold, too"
        )


def recorded(n_rows: int, options: DescentOptions) -> int:
    """How many rows of a batch are evaluated for the history.

    In Newton steps, which are many and cheap, a few rows are enough.
    """
    return min(n_rows, _RECORDED) if options.newton else n_rows


def _preconditioned(slopes: Slopes, n_rows: int, options: DescentOptions) -> np.ndarray:
    """(Zᵀ Z / b + reg I)⁻¹ times the gradient, as in the authors' code (not in the paper).

    If the length of the step is searched for, the direction is scaled so that a step of the first
    size has that length.
    """
    place = place_of(slopes.covariance).for_double
    gradient, covariance = slopes.gradient, place.double(slopes.covariance)
    n_columns = covariance.shape[0]
    mean = float(place.xp.linalg.trace(covariance)) / n_columns
    damping = options.damping * max(mean, np.finfo(gradient.dtype).tiny)
    try:
        factor = place.cholesky(place.plus_ridge(covariance, damping))
    except linalg.LinAlgError as error:
        raise InvalidValueError(
            f"{options.owner}: damping={options.damping!r} is too small: the covariance of the "
            f"{n_columns} activations of a block over {n_rows} rows is singular to working "
            "precision",
            "a larger damping (1e-4 is the default), or dtype='float64'",
        ) from error
    direction = place.cho_solve(factor, gradient)
    if slopes.squares is not None:
        root = place.solve_lower(factor, place.eye(n_columns, factor.dtype))
        # The trace of the hat matrix: the columns that the damping leaves.
        columns = n_columns - damping * float(place.xp.sum(root * root))
        total = slopes.squares[0]
        slope = (direction * gradient).sum(axis=0) / total**2
        change = (direction * place.times(direction.T, covariance).T).sum(axis=0) / total**2
        direction *= searched(slope, change, slopes.squares, columns, options)
    return direction.astype(gradient.dtype)
