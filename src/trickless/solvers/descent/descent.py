"""Doubly Stochastic Gradients: steps that are stochastic in the rows and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014, Algorithm 1.

``Descent`` starts with a stream of neurons and learns by steps. Each step takes a batch of rows and
fresh neurons; a step itself is in ``growing_network``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.growing import Growing
from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.loops import loops
from trickless.arrays.places import take
from trickless.arrays.stated import check_array
from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, StoredNeurons, generator
from trickless.solvers.batches import Batch, Rows
from trickless.solvers.descent.growing_network import GrowingNetwork, Seen
from trickless.solvers.descent.newton import constant_of
from trickless.solvers.descent.step_sizes import DescentOptions, faded
from trickless.solvers.state import Keep, State, forget, ignore, parts_of

#: Early stopping scores the held-out rows at least this many times, even if passes are longer.
_CHECKS = 20
#: The same for trees, whose best number is kept, and the most trees between two scores.
_CHECKS_OF_TREES, _MOST_BETWEEN = 100, 50
#: Rows by which cuts are chosen, where a step does not take all rows.
POOL = 2**16
#: Excess of the curvature of equal classes from which classes are not equal.
_EQUAL = 0.5
#: Rows of a stream for each tree.
_ROWS_PER_TREE = 1024


class HeldOut(NamedTuple):
    """Values of the network at held-out rows, without the intercept; targets and weights."""

    f: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None


class Descent(GrowingNetwork):
    """Functional gradient descent, in passes over all rows or along a stream of them."""

    # If all rows are available: passes over batches.

    def learn_all(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        options: DescentOptions,
        keep: Keep = forget,
        state: State | None = None,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Take steps on batches of all rows until there are ``n_neurons`` neurons.

        ``keep`` receives the state after each step, ``state`` is one from which to resume, and
        ``advance`` is called with numbers of neurons, to show progress.
        """
        if options.newton:
            loops(len(targets) * options.n_neurons)  # loads compiled loops if they are worth it
        since = len(self.validation_scores), self.n_steps
        held_out, training = self.split(targets, options)
        some = None if weight is None else weight[training]
        self.size_steps(lambda rows: take(X, training[rows]), targets[training], some, options)
        batches = self.batches(training, options)
        self.find_heaviest(batches, weight)
        split = Split(
            self.read(X, options),
            targets,
            weight,
            batches if held_out is None else [*batches, held_out],
            self.neurons.has_trees,
        )
        n_pool = self.pooled(batches, options)
        pool = split.first(n_pool) if n_pool and len(batches) > 1 else None
        visited = split.batches if pool is None else [*split.batches, pool.batch]
        if state is not None:
            self._resume(state, visited)

        def step(number: int, k: int) -> None:
            self.step(split.rows(number), k, options, pool=pool)

        apart = None
        if held_out is not None:

            def apart() -> HeldOut:
                rows = split.rows(len(batches))
                self.bring_up_to_date(rows.batch, rows.X, options)
                return HeldOut(rows.batch.f, rows.targets, rows.weight)

        self.descend(
            since,
            len(batches),
            step,
            apart,
            lambda: keep(lambda: self._state(visited)),
            advance,
            options,
        )

    def pooled(self, batches: list[np.ndarray], options: DescentOptions) -> int:
        """How many rows are used to choose the cuts of trees: the first rows of all batches.

        It is 0 if no neurons are chosen, or if they are not trees. Other neurons are chosen by each
        batch.
        """
        if options.n_candidates == 1 or not self.neurons.has_trees:
            return 0
        return len(batches[0]) if len(batches) == 1 else min(POOL, sum(map(len, batches)))

    def descend(
        self,
        since: tuple[int, int],
        n_batches: int,
        step: Callable[[int, int], None],
        apart: Callable[[], HeldOut] | None,
        after: Callable[[], object],
        advance: Callable[[int], object],
        options: DescentOptions,
    ) -> None:
        """Take steps until there are ``n_neurons`` neurons, or the held-out score stops improving.

        ``since`` holds the numbers of scores and of steps before this fit, which do not count for
        early stopping. ``step(number, k)`` takes a step on one of the batches and the next k
        neurons. ``apart`` returns the held-out rows, if there are any. ``after`` is
        called after each step except the last.
        """
        n_scores_before, n_steps_before = since
        per_step, n_neurons = options.neurons_per_step, options.n_neurons
        n_checks, most = (
            (_CHECKS_OF_TREES, _MOST_BETWEEN) if options.newton else (_CHECKS, n_batches)
        )
        wait = min(most, -(-n_neurons // (per_step * n_checks)))
        for number in self.in_random_order(n_batches):
            k = self.next_size(options)
            step(number, k)
            advance(k)
            if apart is not None and (self.n_steps - n_steps_before) % wait == 0:
                self.look(apart(), n_scores_before, options)
                scores = self.validation_scores[n_scores_before:]
                if stalled(scores, options.n_iter_no_change, options.tol):
                    break
            if len(self.coef) == n_neurons:
                break
            after()
        if options.newton and len(self.validation_scores) > n_scores_before:
            best = int(np.argmax(self.validation_scores[n_scores_before:]))
            n_steps = n_steps_before + (best + 1) * wait
            best += n_scores_before
            worse = n_steps_before == 0 and self.validation_scores[best] < 0  # than a constant
            self.keep_first(0 if worse else self.scored[best], n_steps, options)
            if not worse:
                self.move(self.level)
        self.warn_if_lost(0, options)

    def look(self, rows: HeldOut, n_before: int, options: DescentOptions) -> None:
        """Score the held-out rows. If the score is the best of this fit, note their ``level``.

        Rows that trees have learned from have the right mean probability, and new rows of a rare
        class are predicted with too small probabilities. The held-out rows tell by how much.
        """
        score = self.score(*rows, options)
        is_best = score > max(self.validation_scores[n_before:], default=-np.inf)
        rare = self.rarity(options.loss) ** 2 - 1  # 0 for equal classes, which a few rows move
        if is_best and options.newton and rare > _EQUAL:
            f, targets, weight = rows
            f = f + self.intercept
            self.level = constant_of(options.loss, f, targets, weight, 1 / rare)
        self.validation_scores.append(score)
        self.scored.append(len(self.coef))

    def score(
        self, f: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, options: DescentOptions
    ) -> float:
        """The score of held-out rows: the share of their loss that is explained.

        It uses the loss, since the accuracy of a few rows, or of a rare class, is coarse. It is the
        mean over outputs, so that outputs count equally in any units. For the squared loss it is
        R², with the intercept instead of the mean.
        """
        constant = np.broadcast_to(self.constant, targets.shape)
        n_apart = 1 if options.loss.coupled else len(self.intercept)
        outputs = np.split(np.stack([f + self.intercept, constant, targets]), n_apart, axis=2)
        means = [
            [np.average(options.loss.value(some, y), weights=weight) for some in (value, start)]
            for value, start, y in outputs
        ]
        return float(np.mean([1 - lost / start if start > 0 else 0.0 for lost, start in means]))

    def split(
        self, targets: np.ndarray, options: DescentOptions
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """Held-out rows for early stopping, if any, and training rows.

        If classes are rare, the same share of rows of each is held out, up to one row.
        """
        n_rows = len(targets)
        if not options.early_stopping:
            return None, np.arange(n_rows)
        share = options.validation_fraction
        n_held_out = int(np.ceil(share * n_rows))
        if not 2 <= n_held_out < n_rows:
            raise InvalidValueError(
                f"{options.owner}: validation_fraction={share!r} of {n_rows} rows is {n_held_out}, "
                f"which leaves {n_rows - n_held_out} to learn from; early_stopping needs at least "
                "two rows held out and one to learn from",
                "more rows, another validation_fraction, or early_stopping=False",
            )
        order = generator(self.stream.seed, Purpose.VALIDATION).permutation(n_rows)
        if self.rarity(options.loss) ** 2 - 1 > _EQUAL:
            _, stratum = np.unique(targets[order], axis=0, return_inverse=True)
            held_out = np.arange(n_held_out) * n_rows // n_held_out
            where = np.argsort(stratum.ravel(), kind="stable")
            order = order[np.append(where[held_out], np.delete(where, held_out))]
        return order[:n_held_out], np.sort(order[n_held_out:])

    def batches(self, rows: np.ndarray, options: DescentOptions) -> list[np.ndarray]:
        """Split the rows into random batches, whose sizes differ by at most one row."""
        order = generator(self.stream.seed, Purpose.SHUFFLE).permutation(rows)
        return np.array_split(order, -(-len(rows) // options.batch_size))

    def in_random_order(self, n_batches: int) -> Iterator[int]:
        """Numbers of batches, without end; each pass visits all batches in a new random order."""
        visit = self.n_steps
        while True:
            order = generator(self.stream.seed, Purpose.SHUFFLE, 1 + visit // n_batches)
            for number in order.permutation(n_batches)[visit % n_batches :].tolist():
                yield number
                visit += 1

    def _state(self, visited: list[Batch]) -> State:
        """Everything that the steps of a fit change."""
        return {
            "coef": self.coef.rows,
            "history": np.array(self.history),
            "validation_scores": self.validation_scores,
            "scored": self.scored,
            "chosen": None if self.chosen is None else list(self.chosen.weights),
            "wins": self.wins,
            "largest_loss": self.largest_loss,
            "taken": self.taken,
            "intercept": np.stack([self.intercept, self.moved, self.level]),
            "levelled": self.levelled,
            "idle": self.idle,
            "f": np.concatenate([batch.f for batch in visited]),
            "visits": np.array([(batch.n_neurons, batch.n_steps) for batch in visited]),
        }

    def _resume(self, state: State, visited: list[Batch]) -> None:
        """Restore a state."""
        (
            coef,
            history,
            scores,
            scored,
            chosen,
            wins,
            largest_loss,
            taken,
            intercept,
            levelled,
            idle,
            f,
            visits,
        ) = parts_of(
            state,
            coef=np.ndarray,
            history=np.ndarray,
            validation_scores=list,
            scored=list,
            chosen=list | None,
            wins=np.ndarray,
            largest_loss=float,
            taken=float,
            intercept=np.ndarray,
            levelled=float,
            idle=int,
            f=np.ndarray,
            visits=np.ndarray,
        )
        lengths = [len(batch.f) for batch in visited]
        check_array("f", f, "f8", (sum(lengths), len(self.intercept)))
        check_array("visits", visits, "i8", (len(visited), 2), 0)
        check_array("visits", visits[:, 0], "i8", (len(visited),), 0, len(coef) + 1)
        check_array("visits", visits[:, 1], "i8", (len(visited),), 0, len(history) + 1)
        ends = np.cumsum(lengths)[:-1]
        for batch, values, times in zip(visited, np.split(f, ends), visits, strict=True):
            batch.f[:] = values
            batch.n_neurons, batch.n_steps = times.tolist()
        with uninterrupted():
            self.coef = Growing()
            self.coef.append(coef)
            self.history = [Seen(int(rows), *rest) for rows, *rest in history.tolist()]
            self.validation_scores, self.scored = scores, scored
            self.chosen = None if chosen is None else StoredNeurons(tuple(chosen))
            self.wins = wins
            self.largest_loss, self.taken = largest_loss, taken
            self.intercept, self.moved, self.level = intercept
            self.levelled, self.idle = levelled, idle
        self.check_state()

    # Streams: each row is visited once.

    def learn(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        options: DescentOptions,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Take steps on equal batches of some rows of a stream, in their order."""
        n_before = self.n_steps
        self.size_steps(lambda rows: take(X, rows), targets, weight, options)
        X = self.read(X, options)
        n_batches = -(-X.shape[0] // options.batch_size)
        for index in np.array_split(np.arange(X.shape[0]), n_batches):
            where = slice(index[0], index[-1] + 1)  # a slice makes views, an index would copy
            part = None if weight is None else weight[where]
            batch = Batch(index, targets.shape[1])
            rows = Rows(take(X, where), targets[where], part, batch)
            usual = _ROWS_PER_TREE if options.newton else options.batch_size
            for _ in range(max(1, len(index) // usual)):
                share = min(1.0, len(index) / usual)
                k, fade = options.neurons_per_step, faded(self.taken, options)
                self.step(rows, k, options, share, fade)
            advance(len(index))
        self.warn_if_lost(n_before, options)


class Split:
    """The rows of a fit in batches, the last of which may be held out.

    ``together`` says that the rows of a batch are kept side by side, so that a visit copies
    nothing. This needs a copy of all rows, which are bytes for families that look up leaves.
    """

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        batches: list[np.ndarray],
        together: bool,
    ) -> None:
        self.batches = [Batch(rows, targets.shape[1]) for rows in batches]
        self._where: list[Any] = list(batches)
        if together:
            order, ends = np.concatenate(batches), np.cumsum([0, *map(len, batches)])
            self._where = [slice(start, end) for start, end in pairwise(ends.tolist())]
            X = np.take(X.T, order, axis=1).T if isinstance(X, np.ndarray) else take(X, order)
            targets, weight = targets[order], None if weight is None else weight[order]
        self._X, self._targets, self._weight = X, targets, weight

    def rows(self, number: int) -> Rows:
        """The rows of a batch."""
        return self._at(self._where[number], self.batches[number])

    def first(self, n: int) -> Rows:
        """The first n rows, as a batch of their own."""
        return self._at(slice(n), Batch(np.arange(n), self._targets.shape[1]))

    def _at(self, where: Any, batch: Batch) -> Rows:
        weight = None if self._weight is None else self._weight[where]
        return Rows(take(self._X, where), self._targets[where], weight, batch)


def stalled(scores: list[float], n_iter_no_change: int, tol: float) -> bool:
    """Whether the last ``n_iter_no_change`` scores improved the earlier best by less than tol."""
    last = n_iter_no_change
    return len(scores) > last and max(scores[-last:]) < max(scores[:-last]) + tol
