"""Doubly Stochastic Gradients: steps that are stochastic in the rows and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014, Algorithm 1.

``Descent`` takes the steps, along a stream of rows or in ``passes`` over all of them. What a step
computes is decided by its kind, which is one of ``steps``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from trickless._arrays.growing_there import growing_at
from trickless._arrays.interrupts import uninterrupted
from trickless._arrays.places import HOST, Place, place_of, take, to_host
from trickless._functions.stream import Purpose, generator
from trickless._solvers.ages import Memory
from trickless._solvers.clock import SPAN
from trickless._solvers.descent.batches import MiniBatch, Values
from trickless._solvers.descent.divergence import check_loss, warn_if_lost
from trickless._solvers.descent.growing_network import GrowingNetwork
from trickless._solvers.descent.history import Awaited, Seen
from trickless._solvers.descent.options import DescentOptions
from trickless._solvers.descent.step_sizes import check_steps, largest_eigenvalue
from trickless._solvers.descent.steps.step import Step
from trickless._solvers.progress import ignore
from trickless.neurons.base import Weights

#: The most steps on a device whose records are read together.
_AWAITED = 64


class Descent(GrowingNetwork):
    """Functional gradient descent, in passes over all rows or along a stream of them."""

    def learn(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        options: DescentOptions,
        advance: Callable[[int], object] = ignore,
        memory: Memory | None = None,
    ) -> None:
        """Take steps on equal batches of some rows of a stream, in their order.

        With a ``memory``, earlier neurons fade before each batch, and a batch of any size takes
        a whole step, which is sized for that.
        """
        step, n_before, self.unseen = options.step, self.n_steps, None
        if memory is None:
            self.size_steps(partial(take, X), targets, weight, options)
        rows, X = X, step.read(self.neurons, X)
        home = options.home(X) if memory is None else HOST
        self.coef, known = growing_at(self.coef, home), home.put(targets)
        planned = step.n_neurons / step.neurons_per_step
        for index in np.array_split(np.arange(len(targets)), -(-len(targets) // step.batch_size)):
            where = slice(index[0], index[-1] + 1)  # a slice makes views, an index would copy
            some = None if weight is None else weight[where]
            part = step.part(len(index))
            batch = MiniBatch(take(X, where), known[where, ...], some)
            if memory is not None:
                part = 1.0
                self.fade(memory.lapses[where].sum(), memory.most - step.neurons_per_step)
                self.size_steps(partial(take, take(rows, where)), targets[where], some, options)
                if memory.levels:
                    self.keep_level(batch, memory.lapses[where].sum(), step.n_jobs)
            try:
                fade = options.sizes.fading(self.taken, planned)
                self.step(batch, step.neurons_per_step, options, part, fade)
            except KeyboardInterrupt:  # which leaves a model
                self.settle(options)
                raise
            advance(len(index))
        self.settle(options)
        warn_if_lost(self, n_before, options)

    def keep_level(self, batch: MiniBatch, half_lives: float, n_jobs: int | None) -> None:
        """Add to the intercept what f at a batch has lost on average as it faded."""
        self.bring_up_to_date(batch, n_jobs)
        lost = np.exp2(min(half_lives, SPAN)) - 1  # as a share of what is left
        self.move(lost * np.average(batch.f, axis=0, weights=batch.weight))

    @np.errstate(over="ignore", invalid="ignore")  # divergence is reported
    def step(
        self,
        batch: MiniBatch,
        k: int,
        options: DescentOptions,
        part: float = 1.0,
        fade: float = 1.0,
    ) -> None:
        """Take one step of Algorithm 1 on a batch of rows and the next k neurons.

        A batch with a fraction ``part`` of the usual rows takes that fraction of the usual step.
        ``fade`` multiplies the step as well.
        """
        step = options.step
        gamma = part * fade * self.steps(self.n_steps)
        self.bring_up_to_date(batch, step.n_jobs)  # Alg. 1, line 4: predict with earlier neurons
        outcome = self.outcome(self.weigh(batch), step.loss)
        seen: Seen | Awaited = Awaited(len(batch), gamma, outcome)
        if batch.place is HOST:
            seen = self.record(outcome, gamma, options)
        slopes, first = step.slopes(self, batch), self.n_drawn
        weights = self.stream.between(first, first + k, batch.X)  # line 3: draw neurons
        Z = step.activations(self.neurons, batch.X, weights, self.stream.dtype)
        sums = step.sums(self, batch, Z, slopes)
        new = self.update(sums, weights, k, gamma, seen, options, part)
        self.add(batch.values, Z, new, gamma, step)
        if len(self.awaited) >= _AWAITED:
            self.settle(options)

    def update(
        self,
        sums: Any,
        weights: Weights,
        k: int,
        gamma: np.ndarray,
        seen: Seen | Awaited,
        options: DescentOptions,
        part: float = 1.0,
    ) -> Any:
        """Append k neurons with the coefficients that follow from sums over the rows."""
        step = options.step
        direction = step.direction(self, sums, k, gamma, seen.n_rows)
        place = place_of(direction)
        with np.errstate(over="ignore"):
            new = place.scaled(direction, -gamma)  # line 5
            # The largest change of f.
            most = self.neurons.bound * place.xp.max(place.xp.sum(place.xp.abs(new), axis=0))
        if isinstance(seen, Awaited):
            seen = seen.with_most(most)
        elif not np.isfinite(most):
            check_loss(self, np.inf, 0.0, gamma, options)
        shift = step.shift(self, sums, seen.n_rows)
        self.append(new, weights, gamma, seen, part, shift)
        return new

    def add(self, values: Values, Z: Any, new: Any, gamma: np.ndarray, step: Step) -> None:
        """Apply the step that was just taken to f at its batch, which was up to date before."""
        if np.any(self.steps.alpha):
            values.f *= place_of(values.f).factor(self.steps.kept(gamma))
        step.add(Z, new, values.f)
        values.n_steps, values.n_neurons = self.n_steps, len(self.coef)

    def settle(self, options: DescentOptions) -> None:
        """Read the records of steps on a device, together, and raise errors that they show."""
        awaited, self.awaited = self.awaited, ()
        if not awaited:
            return
        xp = place_of(awaited[0].numbers).xp
        numbers = to_host(xp.stack([one.numbers for one in awaited]))
        for one, (*outcome, most) in zip(awaited, numbers, strict=True):
            if not np.isfinite(most):
                check_loss(self, np.inf, 0.0, one.gamma, options)
            self.history.append(self.record(np.array(outcome), one.gamma, options))

    def record(self, outcome: np.ndarray, gamma: np.ndarray, options: DescentOptions) -> Seen:
        """Return the record of a step for the history; raise an error if the loss has grown far."""
        n_rows, *sums, weighted, weighted_start = outcome.tolist()
        error, value, start = (total / n_rows for total in sums)
        check_loss(self, value, start, gamma, options)
        return Seen(int(n_rows), error, value, weighted, weighted_start)

    def visits(self, n_batches: int, n_neurons: int, step: Step) -> Iterator[tuple[int, int]]:
        """Yield the number of a batch and how many neurons to draw, up to ``n_neurons`` in all."""
        for number in self.in_random_order(n_batches):
            if len(self.coef) >= n_neurons:
                break
            yield number, min(step.size(self), n_neurons - len(self.coef))

    def begin(
        self,
        pick: Callable[[np.ndarray], Any],
        targets: np.ndarray,
        weight: np.ndarray | None,
        training: np.ndarray,
        options: DescentOptions,
        home: Place = HOST,
    ) -> list[np.ndarray]:
        """Size steps by the training rows, and return these in batches. Steps compute at ``home``.

        ``pick`` returns the rows with given numbers.
        """
        some = None if weight is None else weight[training]
        self.size_steps(lambda rows: pick(training[rows]), targets[training], some, options)
        self.coef = growing_at(self.coef, home)
        batches = self.batches(training, options)
        self.find_heaviest(batches, weight)
        return batches

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
        step, loss = options.step, options.step.loss
        if not self.history:
            self.eigenvalue = largest_eigenvalue(
                self.stream, pick, len(targets), weight, step.n_jobs
            )
        count = len(targets) if weight is None else weight.sum()
        new = count / (self.total_weight + count)
        spread = loss.spread(self.constant, targets, weight)
        spread = self.spread + new * (spread - self.spread)
        known = spread, self.eigenvalue, self.neurons.bound
        steps = options.sizes.steps(loss, spread, lambda alpha: step.first_size(alpha, *known))
        if not self.history or steps != self.steps:
            check_steps(step.owner, steps, loss)
        self.steps = steps
        with uninterrupted():
            self.spread = spread
            self.n_rows += len(targets)
            self.around = self.n_rows
            self.total_weight += count

    def batches(self, rows: np.ndarray, options: DescentOptions) -> list[np.ndarray]:
        """Split the rows into random batches, whose sizes differ by at most one row."""
        order = generator(self.stream.seed, Purpose.SHUFFLE).permutation(rows)
        return np.array_split(order, -(-len(rows) // options.step.batch_size))

    def in_random_order(self, n_batches: int) -> Iterator[int]:
        """Yield numbers of batches without end; each pass visits all in a new random order."""
        visit = self.n_steps
        while n_batches == 1:
            yield 0
        while True:
            order = generator(self.stream.seed, Purpose.SHUFFLE, 1 + visit // n_batches)
            for number in order.permutation(n_batches)[visit % n_batches :].tolist():
                yield number
                visit += 1
