"""Doubly Stochastic Gradients: steps that are stochastic in the rows and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014, Algorithm 1.

``Descent`` starts with a stream of neurons and learns by steps. Each step takes a batch of rows and
fresh neurons. The function is the network of all neurons so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from trickless.arrays.devices import (
    cho_solve,
    cholesky,
    double,
    matching,
    plus_ridge,
    take,
    to_host,
)
from trickless.arrays.growing import Growing
from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.namespaces import namespace
from trickless.arrays.threads import linear_algebra
from trickless.functions.activations import activations, by_neuron, together
from trickless.functions.network import Network
from trickless.functions.stream import Later, NeuronStream, Purpose, generator
from trickless.neurons import Weights
from trickless.neurons.checks import check_finite_activations
from trickless.solvers.divergence import check_progress
from trickless.solvers.losses import Loss
from trickless.solvers.state import Keep, Measure, State, forget, ignore
from trickless.solvers.step_sizes import Steps, check_steps, stable_step, unit_of

#: Rows and neurons from which the largest stable step is estimated.
_PILOT_ROWS, _PILOT_NEURONS = 1024, 256
#: Early stopping scores the held-out rows at least this many times, even if passes are longer.
_CHECKS = 20


class Options(NamedTuple):
    """Parameters of the learner that may change between batches, and its name for messages."""

    owner: str
    loss: Loss
    alpha: float
    step_size: float | str
    schedule: str
    decay: float | str
    preconditioner: str | None
    damping: float
    batch_size: int
    neurons_per_step: int
    n_neurons: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    n_jobs: int | None


class Batch:
    """Rows of a batch, and the values of f there when the batch was last visited.

    f at a row is a sum over neurons. So a visit evaluates only the neurons drawn since the last
    one, and each neuron is evaluated once at each row, however many passes there are.
    """

    def __init__(self, rows: np.ndarray, n_outputs: int) -> None:
        self.rows = rows
        self.f = np.zeros((len(rows), n_outputs))
        self.n_neurons, self.n_steps = 0, 0


class Seen(NamedTuple):
    """Number of rows of a step, and their mean error and loss before it was taken."""

    n_rows: int
    error: float
    loss: float


class Descent:
    """Functional gradient descent on a batch of rows and a block of fresh neurons a step.

    The function starts from the constant ``intercept``. ``coef`` are the coefficients so far, shape
    (n_neurons, width, n_outputs). ``history`` has a record of each step, and ``validation_scores``
    the scores of the held-out rows, if there are any.
    """

    def __init__(self, stream: NeuronStream, intercept: np.ndarray, measure: Measure) -> None:
        n_outputs = len(intercept)
        self.stream, self.neurons = stream, stream.neurons
        self.intercept = intercept
        self.measure = measure
        self.coef = Growing()
        self.coef.append(np.zeros((0, self.neurons.width, n_outputs), dtype=stream.dtype))
        self.history: list[Seen] = []
        self.validation_scores: list[float] = []
        self.n_rows, self.total_weight = 0, 0.0
        #: Weight of the heaviest batch of a fit, in units of the mean weight.
        self.heaviest = 1.0
        #: Mean distance of the targets from the intercept.
        self.spread = np.zeros(n_outputs)
        self.largest_loss = 0.0
        self.eigenvalue = 0.0
        self.steps = Steps("constant", 0.0, 0.0)

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return len(self.history)

    def copy(self) -> Descent:
        """An independent copy."""
        other = copy(self)
        other.coef, other.history = deepcopy(self.coef), list(self.history)
        other.validation_scores = list(self.validation_scores)
        return other

    def function(self, n_jobs: int | None) -> Network:
        """The network of all neurons so far. The next step changes its coefficients."""
        return Network(self.neurons, self.stream, self.coef.rows, self.intercept, n_jobs)

    # If all rows are available: passes over batches.

    def learn_all(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        options: Options,
        keep: Keep = forget,
        state: State | None = None,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Take steps on batches of all rows until there are ``n_neurons`` neurons.

        ``keep`` receives the state after each step, ``state`` is one from which to resume, and
        ``advance`` is called with numbers of neurons, to show progress.
        """
        since = len(self.validation_scores), self.n_steps
        held_out, training = self.split(len(targets), options)
        some = None if weight is None else weight[training]
        self.size_steps(lambda rows: take(X, training[rows]), targets[training], some, options)
        n_outputs = targets.shape[1]
        batches = [Batch(rows, n_outputs) for rows in self.batches(training, options)]
        self.find_heaviest([batch.rows for batch in batches], weight)
        validation = None if held_out is None else Batch(held_out, n_outputs)
        visited = batches if validation is None else [*batches, validation]
        if state is not None:
            self._resume(state, visited)

        def step(number: int, k: int) -> None:
            batch, rows = batches[number], batches[number].rows
            part = None if weight is None else weight[rows]
            self.step(take(X, rows), targets[rows], part, k, batch, options)

        score = None
        if validation is not None:
            part = None if weight is None else weight[held_out]

            def score() -> float:
                self._bring_up_to_date(validation, take(X, held_out), options)
                return self.measure.score(validation.f + self.intercept, targets[held_out], part)

        self.descend(
            since,
            len(batches),
            step,
            score,
            lambda: keep(lambda: self._state(visited)),
            advance,
            options,
        )

    def descend(
        self,
        since: tuple[int, int],
        n_batches: int,
        step: Callable[[int, int], None],
        score: Callable[[], float] | None,
        after: Callable[[], object],
        advance: Callable[[int], object],
        options: Options,
    ) -> None:
        """Take steps until there are ``n_neurons`` neurons, or the held-out score stops improving.

        ``since`` are the numbers of scores and of steps before this fit, which do not count for
        early stopping. ``step(number, k)`` takes a step on one of the batches and the next k
        neurons. ``score`` computes the score of the held-out rows, if there are any. ``after`` is
        called after each step except the last.
        """
        n_scores_before, n_steps_before = since
        per_step, n_neurons = options.neurons_per_step, options.n_neurons
        wait = min(n_batches, -(-n_neurons // (per_step * _CHECKS)))
        for number in self.in_random_order(n_batches):
            k = min(per_step, n_neurons - len(self.coef))
            step(number, k)
            advance(k)
            if score is not None and (self.n_steps - n_steps_before) % wait == 0:
                self.validation_scores.append(score())
                scores = self.validation_scores[n_scores_before:]
                if stalled(scores, options.n_iter_no_change, options.tol):
                    break
            if len(self.coef) == n_neurons:
                break
            after()

    def split(self, n_rows: int, options: Options) -> tuple[np.ndarray | None, np.ndarray]:
        """Held-out rows for early stopping, if any, and training rows."""
        if not options.early_stopping:
            return None, np.arange(n_rows)
        share = options.validation_fraction
        n_held_out = int(np.ceil(share * n_rows))
        if not 2 <= n_held_out < n_rows:
            raise ValueError(
                f"{options.owner}: validation_fraction={share!r} of {n_rows} rows is {n_held_out}, "
                f"which leaves {n_rows - n_held_out} to learn from; early_stopping needs at least "
                "two rows held out and one to learn from. Remedy: more rows, another "
                "validation_fraction, or early_stopping=False."
            )
        order = generator(self.stream.seed, Purpose.VALIDATION).permutation(n_rows)
        return order[:n_held_out], np.sort(order[n_held_out:])

    def batches(self, rows: np.ndarray, options: Options) -> list[np.ndarray]:
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

    def find_heaviest(self, batches: list[np.ndarray], weight: np.ndarray | None) -> None:
        """Find the mean weight of the heaviest batch of a fit, by which ``shares`` divides."""
        if weight is not None:
            heaviest = max(float(weight[rows].mean()) for rows in batches)
            self.heaviest = max(1.0, heaviest * self.n_rows / self.total_weight)

    def _state(self, visited: list[Batch]) -> State:
        """Everything that the steps of a fit change."""
        return {
            "coef": self.coef.rows,
            "history": np.array(self.history),
            "validation_scores": self.validation_scores,
            "largest_loss": self.largest_loss,
            "f": np.concatenate([batch.f for batch in visited]),
            "visits": np.array([(batch.n_neurons, batch.n_steps) for batch in visited]),
        }

    def _resume(self, state: State, visited: list[Batch]) -> None:
        """Restore a state."""
        ends = np.cumsum([len(batch.f) for batch in visited])[:-1]
        values = np.split(state["f"], ends)
        for batch, f, times in zip(visited, values, state["visits"], strict=True):
            batch.f[:] = f
            batch.n_neurons, batch.n_steps = times.tolist()
        with uninterrupted():
            self.coef = Growing()
            self.coef.append(state["coef"])
            self.history = [Seen(int(rows), *rest) for rows, *rest in state["history"].tolist()]
            self.validation_scores = state["validation_scores"]
            self.largest_loss = state["largest_loss"]

    # Streams: each row is visited once.

    def learn(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        options: Options,
        advance: Callable[[int], object] = ignore,
    ) -> None:
        """Take steps on equal batches of some rows of a stream, in their order."""
        self.size_steps(lambda rows: take(X, rows), targets, weight, options)
        n_batches = -(-X.shape[0] // options.batch_size)
        for index in np.array_split(np.arange(X.shape[0]), n_batches):
            rows = slice(index[0], index[-1] + 1)  # a slice makes views, an index would copy
            part = None if weight is None else weight[rows]
            batch = Batch(index, targets.shape[1])
            self.step(
                take(X, rows),
                targets[rows],
                part,
                options.neurons_per_step,
                batch,
                options,
                len(index) / options.batch_size,
            )
            advance(len(index))

    # The sizes of steps.

    def size_steps(
        self,
        pick: Callable[[np.ndarray], Any],
        targets: np.ndarray,
        weight: np.ndarray | None,
        options: Options,
    ) -> None:
        """Count the rows and their weights, and set the sizes of steps.

        ``pick`` returns the rows with given numbers. At the start, the largest eigenvalue is
        estimated from a few of them.
        """
        if not self.history:
            self.eigenvalue = self._largest_eigenvalue(pick, len(targets), weight, options)
        count = len(targets) if weight is None else weight.sum()
        spread = np.average(np.abs(targets - self.intercept), axis=0, weights=weight)
        spread = self.spread + count / (self.total_weight + count) * (spread - self.spread)
        first = self._first_step(spread, options)
        decay = first * options.alpha if options.alpha else np.zeros_like(first)
        if not isinstance(options.decay, str):
            decay = np.full_like(first, options.decay)
        steps = Steps(options.schedule, _of_outputs(first), _of_outputs(decay))
        if not self.history or steps != self.steps:
            check_steps(options.owner, steps, options.alpha)
        self.steps = steps
        with uninterrupted():
            self.spread = spread
            self.n_rows += len(targets)
            self.total_weight += count

    def _largest_eigenvalue(
        self,
        pick: Callable[[np.ndarray], Any],
        n_rows: int,
        weight: np.ndarray | None,
        options: Options,
    ) -> float:
        """Estimate of the largest eigenvalue of the kernel operator, from some rows and neurons."""
        rows = np.arange(n_rows)
        if len(rows) > _PILOT_ROWS:
            rng = generator(self.stream.seed, Purpose.PILOT)
            rows = np.sort(rng.choice(rows, _PILOT_ROWS, replace=False))
        size = min(len(rows), _PILOT_NEURONS * self.neurons.width)
        with linear_algebra(options.n_jobs, size**3):
            some = pick(rows)
            Z = self.neurons(some, self.stream.between(0, _PILOT_NEURONS, some))
            Z = to_host(Z).astype(np.float64)
            check_finite_activations(type(self.neurons).__name__, Z)
            if weight is not None:
                Z *= np.sqrt(weight[rows] / weight.mean())[:, None]
            square = Z.T @ Z if len(Z) > Z.shape[1] else Z @ Z.T
            top = linalg.eigvalsh(square, subset_by_index=[size - 1] * 2)
        return float(top[0]) / (len(Z) * _PILOT_NEURONS)

    def _first_step(self, spread: np.ndarray, options: Options) -> np.ndarray:
        """Size of step 0, common or for each output, given the targets' spread."""
        if not isinstance(options.step_size, str):
            return np.array(options.step_size, dtype=float)
        if options.schedule == "theorem":
            return np.array(1 / options.alpha if options.alpha else np.inf)
        return np.asarray(self._stable_step(spread, options))

    def _stable_step(self, spread: np.ndarray, options: Options) -> Any:
        curvature: Any = options.loss.curvature
        if options.loss.piecewise_linear:  # a slope of ±1 moves f equally far in any unit of y
            curvature = curvature / unit_of(spread)
        if options.preconditioner == "block":
            return 1 / curvature
        return stable_step(
            curvature,
            options.alpha,
            self.eigenvalue,
            self.neurons.bound**2,
            options.batch_size,
            options.neurons_per_step,
            options.n_neurons,
        )

    # One step.

    @np.errstate(over="ignore", invalid="ignore")  # divergence is reported
    def step(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        k: int,
        batch: Batch,
        options: Options,
        size: float = 1.0,
    ) -> None:
        """One step of Algorithm 1 on a batch of rows and the next k neurons of the stream.

        A batch with a fraction ``size`` of the usual rows takes that fraction of the usual step.
        """
        gamma = size * self.steps(self.n_steps)
        self._bring_up_to_date(batch, X, options)  # Alg. 1, line 4: predict with earlier neurons
        seen = self.record(self.outcome(batch.f, targets, options.loss), gamma, options)
        first = len(self.coef)
        weights = self.stream.between(first, first + k, X)  # line 3: neurons from a seed
        Z = self.activations(X, weights, options.n_jobs)
        shares = self.shares(targets, weight)
        slopes = self.slopes(Z, batch.f, targets, shares, shares.sum(), options)
        new = self.append(*slopes, k, gamma, seen, options)
        batch.f *= 1 - gamma * options.alpha
        with linear_algebra(options.n_jobs, Z.shape[0] * new.size):
            batch.f += to_host(Z @ matching(Z, new))
        batch.n_neurons, batch.n_steps = first + k, self.n_steps

    def _bring_up_to_date(self, batch: Batch, X: Any, options: Options) -> None:
        """Apply the decays and add the neurons since the batch was last visited to its f."""
        missed = np.arange(batch.n_steps, self.n_steps)
        batch.f *= np.prod(1 - self.steps(missed) * options.alpha, axis=0)
        missing = Network(
            self.neurons,
            Later(self.stream, batch.n_neurons),
            self.coef.rows[batch.n_neurons :],
            n_jobs=options.n_jobs,
        )
        batch.f += to_host(missing(X))
        batch.n_neurons, batch.n_steps = len(self.coef), self.n_steps

    def activations(self, X: Any, weights: Weights, n_jobs: int | None) -> Any:
        """Activations of all rows of a batch by some neurons."""
        return activations(self.neurons, together(weights), X, weights[0].shape[0], n_jobs)

    def outcome(self, f: np.ndarray, targets: np.ndarray, loss: Loss) -> np.ndarray:
        """Sums over rows for the history: their number, loss, loss of a constant, and error."""
        start = np.broadcast_to(self.intercept, targets.shape)
        f = f + self.intercept
        each = loss.value(f, targets), loss.value(start, targets), self.measure.error(f, targets)
        return np.array([len(targets), *(value.sum() for value in each)])

    def slopes(
        self,
        Z: Any,
        f: np.ndarray,
        targets: np.ndarray,
        shares: np.ndarray,
        total: float,
        options: Options,
    ) -> tuple[np.ndarray, Any]:
        """The gradient of a step and, with a preconditioner, the covariance of the activations.

        Both are sums over rows, weighted by their shares. The covariance is divided by ``total``,
        the sum of the shares of the whole batch.
        """
        slope = options.loss.derivative(f + self.intercept, targets)
        n_rows, n_columns = Z.shape
        with linear_algebra(options.n_jobs, n_columns * slope.size):
            gradient = to_host(Z.T @ matching(Z, slope * shares[:, None]))
        if options.preconditioner is None:
            return gradient, None
        # A batch of small weights has a small gradient, but not a small covariance.
        root = Z * matching(Z, np.sqrt(shares / (total or 1.0))[:, None])
        with linear_algebra(options.n_jobs, n_rows * n_columns**2):
            return gradient, root.T @ root

    def shares(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Weights of the rows in the mean over a batch.

        They are in units of the mean weight of all rows. So a batch of small weights makes a small
        step. In a fit, all are divided by the sum for the heaviest batch, so that every step is
        stable. A stream does not know that sum in advance; there a heavy batch counts less.
        """
        if weight is None:
            return np.full(len(targets), 1 / len(targets))
        shares = weight / (len(weight) * self.total_weight / self.n_rows)
        return shares / max(self.heaviest, shares.sum())

    def record(self, outcome: np.ndarray, gamma: np.ndarray, options: Options) -> Seen:
        """The record of a step for the history; raise an error if the loss has grown too far."""
        n_rows, value, start, error = outcome / [1, *3 * [outcome[0]]]
        self._check_progress(value, start, gamma, options)
        return Seen(int(n_rows), float(error), float(value))

    def append(
        self,
        gradient: np.ndarray,
        covariance: Any,
        k: int,
        gamma: np.ndarray,
        seen: Seen,
        options: Options,
    ) -> np.ndarray:
        """Append the next k neurons, and return their coefficients in the order of columns."""
        direction = (
            gradient / k
            if covariance is None
            else _preconditioned(gradient, covariance, seen.n_rows, options)
        )
        with np.errstate(over="ignore"):
            new = -gamma.astype(direction.dtype) * direction  # line 5
            most = self.neurons.bound * np.abs(new).sum(axis=0)  # the largest change of f
        if not np.isfinite(most).all():
            self._check_progress(np.inf, 0.0, gamma, options)
        with uninterrupted():  # an interrupt leaves whole steps
            decay = (1 - gamma * options.alpha).astype(self.coef.rows.dtype)
            self.coef.rows[:] *= decay  # line 6: decay the earlier ones
            self.coef.append(by_neuron(new, self.neurons.width))
            self.history.append(seen)
        return new

    def _check_progress(
        self, value: float, start: float, gamma: np.ndarray, options: Options
    ) -> None:
        """Raise an error if the loss is far above that of the intercept alone.

        The theorem's first steps may go that far. They stop only if numbers overflow.
        """
        if options.schedule == "theorem" and np.isfinite(value):
            return
        self.largest_loss = max(self.largest_loss, float(start))
        longest = gamma.max()
        stable = min(float(np.min(self._stable_step(self.spread, options))), longest / 2)
        remedy = (
            f"step_size={options.step_size!r} gave steps of about {longest:g}; take one below "
            f"{stable:g}, or a larger batch_size or neurons_per_step; the bound of the neurons "
            "must hold, too"
        )
        if options.preconditioner == "block":
            columns = self.neurons.width * options.neurons_per_step
            remedy = (
                f"a block of {columns} columns needs batches of several times as many rows, and "
                f"batch_size={options.batch_size!r}; or take a step_size below {stable:g}, or a "
                "larger damping"
            )
        check_progress(options.owner, value, self.largest_loss, self.n_steps, remedy)


def _preconditioned(
    gradient: np.ndarray, covariance: Any, n_rows: int, options: Options
) -> np.ndarray:
    """(Zᵀ Z / b + reg I)⁻¹ times the gradient, as in the authors' code (not in the paper)."""
    covariance = double(covariance)
    n_columns = covariance.shape[0]
    mean = float(namespace(covariance).linalg.trace(covariance)) / n_columns
    damping = options.damping * max(mean, np.finfo(gradient.dtype).tiny)
    try:
        factor = cholesky(plus_ridge(covariance, damping))
    except linalg.LinAlgError as error:
        raise ValueError(
            f"{options.owner}: damping={options.damping!r} is too small: the covariance of the "
            f"{n_columns} activations of a block over {n_rows} rows is singular to working "
            "precision. Remedy: a larger damping (1e-4 is the default), or dtype='float64'."
        ) from error
    return cho_solve(factor, gradient).astype(gradient.dtype)


def stalled(scores: list[float], n_iter_no_change: int, tol: float) -> bool:
    """Whether the last ``n_iter_no_change`` scores improved the best before by less than tol."""
    last = n_iter_no_change
    return len(scores) > last and max(scores[-last:]) < max(scores[:-last]) + tol


def _of_outputs(size: Any) -> float | tuple[float, ...]:
    """A size common to all outputs, or one for each, as plain numbers."""
    return tuple(size.tolist()) if np.size(size) > 1 else float(np.squeeze(size))
