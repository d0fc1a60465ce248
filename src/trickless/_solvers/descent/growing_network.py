"""A network that grows by steps: its coefficients, its history, and f at the rows of a batch."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np

from trickless._arrays.growing import Growing
from trickless._arrays.interrupts import uninterrupted
from trickless._arrays.places import HOST, to_host
from trickless._arrays.stated import (
    Amount,
    Array,
    Count,
    Length,
    Stated,
    check_same,
)
from trickless._functions.activations import by_neuron
from trickless._functions.later import Later
from trickless._functions.network import Network, check_alike, check_source
from trickless._functions.stream import NeuronStream, StoredNeurons, pick
from trickless._solvers.ages import NeuronAges
from trickless._solvers.descent.batches import MiniBatch
from trickless._solvers.descent.history import Awaited, Seen, together
from trickless._solvers.descent.step_sizes import Steps
from trickless._solvers.losses import Loss
from trickless._solvers.outputs import NewOutputs
from trickless._solvers.progress import STRETCHES, Measure
from trickless.conformal.unseen import Unseen
from trickless.neurons.base import Neurons, Weights

#: The noise of targets of which nothing is known.
USUAL_NOISE = 0.1


class GrowingNetwork(Stated):
    """A network that grows by a block of neurons in each step, along a functional gradient.

    The function starts from the constant ``intercept``. ``coef`` are the coefficients so far, shape
    (n_neurons, width, n_outputs). ``history`` has a record of each step, and ``validation_scores``
    the scores of the held-out rows, if there are any.
    """

    #: Ages of the neurons, in a stream that forgets.
    ages: NeuronAges | None = None
    #: Steps that share a record of the history with the step before them.
    n_merged: Count = 0
    #: Rows that were held out, as the network was before it learned from them.
    unseen: Unseen | None = None
    #: The last steps, if their records are still on a device. There are none between two calls.
    awaited: tuple[Awaited, ...] = ()

    stream: NeuronStream
    neurons: Neurons
    intercept: Annotated[np.ndarray, Array("f8", "n_outputs")]
    measure: Measure
    coef: Annotated[Growing, Array("f4 f8", "n_neurons", "neurons.width", "n_outputs")]
    history: list[Seen]
    validation_scores: list[float]
    #: Numbers of neurons when the held-out rows were scored.
    scored: Annotated[list[Count], Length("validation_scores")]
    #: Rows so far and their weight, which fade with the neurons.
    n_rows: Amount = 0
    total_weight: Amount = 0.0
    #: Steps taken so far, where a step on a part of a batch counts as that part.
    taken: Amount = 0.0
    #: Weight of the heaviest batch of a fit, in units of the mean weight.
    heaviest: Amount = 1.0
    #: Mean distance of the targets from the intercept.
    spread: Annotated[np.ndarray, Array("f8", "n_outputs")]
    #: How far steps have moved the intercept from the constant that the network started with.
    moved: Annotated[np.ndarray, Array("f8", "n_outputs")]
    #: Rows that steps on blocks have met, where a row of half the mean weight counts half.
    met: Amount = 0.0
    #: Rows in which a batch has its share: those of a fit, or of a stream so far.
    around: Amount = 0.0
    #: Variance of the noise of the targets, relative to that of f for each unit of the kernel.
    noise: Annotated[np.ndarray, Array("f8", "n_outputs")]
    largest_loss: Amount = 0.0
    eigenvalue: Amount = 0.0
    steps: Steps = Steps("constant", 0.0, 0.0)
    #: The neurons that are left, in a stream that forgets. Otherwise, the seed determines them.
    left: StoredNeurons | None = None

    def __init__(self, stream: NeuronStream, intercept: np.ndarray, measure: Measure) -> None:
        n_outputs = len(intercept)
        self.stream, self.neurons = stream, stream.neurons
        self.intercept = intercept
        self.measure = measure
        self.coef = Growing()
        self.coef.append(np.zeros((0, self.neurons.width, n_outputs), dtype=stream.dtype))
        self.history, self.validation_scores, self.scored = [], [], []
        self.spread, self.moved = np.zeros(n_outputs), np.zeros(n_outputs)
        self.noise = np.full(n_outputs, USUAL_NOISE)

    def check_state(self) -> None:
        check_alike("neurons", self.neurons, self.stream.neurons)
        if self.ages is not None:
            check_same("number of ages", len(self.ages), len(self.coef))
        if self.left is not None:
            check_source("left", self.left, self.neurons, len(self.coef))

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self) | {"coef": self.coef.on_host()}
        state.pop("awaited", None)
        return state

    @property
    def source(self) -> NeuronStream | StoredNeurons:
        """Where the neurons so far come from."""
        return self.stream if self.left is None else self.left

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return len(self.history) + self.n_merged + len(self.awaited)

    @property
    def n_drawn(self) -> int:
        """Number of neurons so far, with those that have been dropped."""
        return len(self.coef) + (0 if self.ages is None else self.ages.n_dropped)

    @property
    def constant(self) -> np.ndarray:
        """The constant that the network started with."""
        return self.intercept - self.moved

    def copy(self) -> Self:
        """Return an independent copy."""
        return self._with(self.coef.copy())

    def fork(self) -> Self:
        """Return a network that continues from this one, and does not change it.

        Both share the memory of their coefficients, so neither may decay them.
        """
        return self._with(self.coef.fork())

    def with_outputs(self, new: NewOutputs, measure: Measure) -> Self:
        """Return a network that has learned the same rows with other outputs."""
        other = self._with(self.coef.mapped(new.of_differences))
        other.measure, other.unseen = measure, None
        for name in ("intercept", "spread", "moved", "noise"):
            setattr(other, name, new.of_each(getattr(self, name)))
        other.steps = self.steps.with_outputs(new)
        return other

    def _with(self, coef: Growing) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.coef, other.history = coef, list(self.history)
        other.validation_scores, other.scored = list(self.validation_scores), list(self.scored)
        other.left = None if self.left is None else self.left.fork()
        other.ages = None if self.ages is None else self.ages.copy()
        return other

    def function(self, n_jobs: int | None) -> Network:
        """Return the network of all neurons so far. The next step changes its coefficients."""
        return Network(self.neurons, self.source, self.coef.rows, self.intercept, n_jobs)

    def bring_up_to_date(self, batch: MiniBatch, n_jobs: int | None) -> None:
        """Apply the decays and add the neurons since the last visit to f at a batch."""
        values = batch.values
        if values.n_steps == self.n_steps and values.n_neurons == len(self.coef):
            return
        place, first = batch.place, values.n_neurons
        if first:
            missed = np.arange(values.n_steps, self.n_steps)
            kept = np.prod(self.steps.kept(self.steps(missed)), axis=0)
            values.f *= place.factor(kept)
        coef = self.coef.at(place, first)
        missing = Network(self.neurons, Later(self.source, first), coef, n_jobs=n_jobs)
        # On a device, the record of the step tells whether f is finite.
        added = missing(batch.X) if place is HOST else missing.unchecked(batch.X)
        values.f += place.put(added)
        values.n_neurons, values.n_steps = len(self.coef), self.n_steps

    def find_heaviest(self, batches: list[np.ndarray], weight: np.ndarray | None) -> None:
        """Find the mean weight of the heaviest batch of a fit, by which ``shares`` divides."""
        if weight is not None:
            heaviest = max(float(weight[rows].mean()) for rows in batches)
            self.heaviest = max(1.0, heaviest * self.n_rows / self.total_weight)

    def shares(self, n_rows: int, weight: np.ndarray | None) -> np.ndarray:
        """Return the weights of the rows in the mean over a batch.

        They are in units of the mean weight of all rows, so that a batch of small weights makes a
        small step. In a fit, all are divided by the sum for the heaviest batch, which makes every
        step stable. A stream does not know that sum in advance, so there a heavy batch counts less.
        """
        if weight is None:
            return np.full(n_rows, 1 / n_rows)
        shares = weight / (n_rows * self.total_weight / self.n_rows)
        return shares / max(self.heaviest, shares.sum())

    def relative(self, weight: np.ndarray | None) -> np.ndarray | None:
        """Return weights of rows in units of the mean weight so far."""
        return None if weight is None else weight * (self.n_rows / self.total_weight)

    def f_at(self, batch: MiniBatch) -> Any:
        """Return f with the intercept at a batch that is up to date, where its targets are."""
        return batch.f + batch.place.constant(self.intercept)

    def weigh(self, batch: MiniBatch) -> MiniBatch:
        """Set the shares of a batch's rows, and return the batch."""
        batch.share(self.shares(len(batch), batch.weight))
        return batch

    def outcome(self, batch: MiniBatch, loss: Loss) -> Any:
        """Return sums over the rows of a batch for the history, before a step.

        They are the number of rows, the error, the loss, the loss of a constant, and both losses
        weighted by the shares.
        """
        xp = batch.place.xp
        f, targets, shares = self.f_at(batch), batch.targets, batch.shares_here
        constant = batch.place.constant(self.constant)
        start = loss.value(xp.broadcast_to(constant, targets.shape), targets)
        value, error = loss.value(f, targets), self.measure.error(f, targets)
        sums = *(xp.sum(each) for each in (error, value, start)), shares @ value, shares @ start
        if batch.place is HOST:
            return np.array([len(batch), *sums])
        size = batch.place.constant(np.array([len(batch)], dtype=float))
        return xp.concat(
            [size, xp.stack([xp.astype(each, size.dtype, copy=False) for each in sums])]
        )

    def append(
        self,
        new: Any,
        weights: Weights,
        gamma: np.ndarray,
        seen: Seen | Awaited,
        part: float,
        shift: np.ndarray | float,
    ) -> None:
        """Append neurons with the coefficients ``new``, after a decay of all earlier ones.

        A network that forgets keeps their ``weights``. ``shift`` moves the intercept.
        """
        with uninterrupted():  # an interrupt leaves whole steps
            if np.any(self.steps.alpha):
                self.coef.scale(self.steps.kept(gamma))  # Alg. 1, line 6: decay the earlier ones
            self.coef.append(by_neuron(new, self.neurons.width))
            if self.ages is not None:
                self.ages.append(len(self.coef) - len(self.ages))
                weights = tuple(map(to_host, weights))
                if self.left is None:
                    self.left = StoredNeurons(weights)
                else:
                    self.left.append(weights)
            if isinstance(seen, Seen):
                self.history.append(seen)
            else:
                self.awaited = (*self.awaited, seen)
            self.taken += part
            if np.any(shift):
                self.move(shift)

    def fade(self, half_lives: float, most: int) -> None:
        """Let coefficients fade within some time, and drop the oldest neurons.

        These are neurons that have faded away, and those beyond ``most``. What was measured along
        the stream fades as well, and the history merges neighbours, so that memory stays bounded.
        """
        ages = NeuronAges(len(self.coef)) if self.ages is None else self.ages
        later, kept = ages.after(half_lives, most), float(np.exp2(-half_lives))
        gone, coef, left = later.n_dropped - ages.n_dropped, Growing(), None
        coef.append(self.coef.rows[gone:] * self.coef.rows.dtype.type(kept))
        if n := len(self.coef):
            weights = self.stream.between(0, n) if self.left is None else self.left.weights
            left = StoredNeurons(pick(weights, slice(gone, None)))
        with uninterrupted():
            self.ages, self.coef, self.left = later, coef, left
            self.n_rows, self.total_weight = self.n_rows * kept, self.total_weight * kept
            self.met *= kept
            if len(self.history) >= 2 * STRETCHES:
                half = len(self.history) // 2
                self.n_merged += half
                self.history = together(self.history[: 2 * half]) + self.history[2 * half :]
        self.stream.forget()

    def move(self, shift: np.ndarray | float) -> None:
        """Move the intercept."""
        self.intercept, self.moved = self.intercept + shift, self.moved + shift
