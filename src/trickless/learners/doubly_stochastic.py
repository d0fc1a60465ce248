"""Doubly Stochastic Gradients: stochastic in the data and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.devices import (
    cho_solve,
    cholesky,
    double,
    empty,
    matching,
    plus_ridge,
    take,
    to_host,
)
from trickless.arrays.growing import Growing
from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.threads import linear_algebra, map_rows, namespace
from trickless.checks.learners import check_more_neurons, check_progress, check_validation_rows
from trickless.checks.neurons import check_finite_activations, check_independent
from trickless.files.checkpoint import Checkpoint
from trickless.functions.columns import by_neuron
from trickless.functions.network import Network
from trickless.functions.stream import Later, NeuronStream, Purpose, generator
from trickless.learners.neuron_learner import NeuronLearner
from trickless.learners.tasks import Classification, Regression
from trickless.neurons import Neurons
from trickless.rules import (
    CLASS_WEIGHT,
    anything,
    choice,
    either,
    fraction,
    integer,
    is_none,
    non_negative,
    positive,
)
from trickless.solvers.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss, make_loss
from trickless.solvers.step_sizes import Steps, check_steps, stable_step, unit_of

#: Rows and neurons from which the largest stable step is estimated.
_PILOT_ROWS, _PILOT_NEURONS = 1024, 256

#: Times that early stopping looks at the validation rows, if passes are longer.
_CHECKS = 20


class _Batch:
    """Rows that are met again and again, and f at them as it was when they were last met.

    f at a row is a sum over neurons, so a row need only be shown the neurons drawn since: each
    neuron is evaluated once a row, however many passes there are.
    """

    def __init__(self, rows: np.ndarray, n_outputs: int) -> None:
        self.rows = rows
        self.f = np.zeros((len(rows), n_outputs))
        self.n_neurons, self.n_steps = 0, 0


class _DoublyStochastic(NeuronLearner):
    """Functional gradient descent on a fresh batch of rows and a fresh block of neurons a step."""

    loss: str
    epsilon: float = 0.1
    alpha: float
    step_size: float | str
    schedule: str
    _heaviest: float = 1.0  # in files of earlier versions
    decay: float | str
    preconditioner: str | None
    damping: float
    batch_size: int
    neurons_per_step: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    cache_bytes: int
    validation_scores_: list[float]
    _steps: Steps
    _coef: Growing
    _history: list[tuple[int, float, float]]

    _fixed = (*NeuronLearner._fixed, "loss")
    _on_devices = True

    _rules = NeuronLearner._rules | {
        "alpha": non_negative("alpha=1e-6 regularises lightly"),
        "step_size": either(
            positive("step_size='auto' suits every loss and bounded family"),
            choice("auto", remedy=""),
        ),
        "schedule": choice(
            "inverse", "constant", "theorem", remedy="schedule='inverse' decays slowly"
        ),
        "decay": either(
            non_negative("decay='auto' is the product of step and alpha"),
            choice("auto", remedy=""),
        ),
        "preconditioner": either(
            choice("block", remedy="preconditioner=None is the algorithm of the paper"),
            anything("None", "", is_none),
        ),
        "damping": positive("damping=1e-4 suits batches of several rows a column"),
        "batch_size": integer(1, "batch_size=512 is the default"),
        "neurons_per_step": integer(1, "neurons_per_step=32 is the default"),
        "early_stopping": anything(
            "a boolean",
            "early_stopping=True holds rows out and stops when they are predicted no better",
            lambda v: isinstance(v, bool | np.bool_),
        ),
        "validation_fraction": fraction("validation_fraction=0.1 holds a tenth of the rows out"),
        "n_iter_no_change": integer(1, "n_iter_no_change=5 is the default"),
        "tol": non_negative("tol=1e-3 is the default"),
        "warm_start": anything(
            "a boolean",
            "warm_start=True lets fit go on from the neurons there are",
            lambda v: isinstance(v, bool | np.bool_),
        ),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
    }

    def _loss(self, n_outputs: int) -> Loss:
        # Before fit there is only the parameter; after it, what the model was begun with counts.
        name = getattr(self, "_begun_with", {}).get("loss", self.loss)
        return make_loss(name, n_outputs, self.epsilon)

    def _offset(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Constant that the network starts from."""
        return np.zeros(targets.shape[1])

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Take steps on batches of the rows until ``n_neurons`` neurons have been drawn.

        The rows are parted into batches once, and every pass goes through them in an order of its
        own. f at a row is kept between visits (8 bytes a row and output), so that a visit
        evaluates only the neurons drawn since: the cost is that of each neuron once a row, and
        not of all earlier neurons once a step.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, in units of their mean. Where those of some batch sum to more than
            its number of rows, all steps are shorter by that factor.
        checkpoint : str or path, optional
            A file to keep the state of the fit in, about once a minute. After the end of the
            process, the same call with the same data goes on from there, to the same model. The
            file is removed when the fit is done. Default: none.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, checkpoint)

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        since = self._from_here()
        held_out, training = self._split(len(targets))
        some = None if weight is None else weight[training]
        self._begin(lambda rows: take(X, training[rows]), targets[training], some)
        n_outputs = targets.shape[1]
        batches = [_Batch(rows, n_outputs) for rows in self._batches(training)]
        self._weigh([batch.rows for batch in batches], weight)
        aside = None if held_out is None else _Batch(held_out, n_outputs)
        if (state := checkpoint.resume()) is not None:
            self._go_on(state, batches, aside)

        def step(number: int, k: int) -> None:
            batch, rows = batches[number], batches[number].rows
            part = None if weight is None else weight[rows]
            self._step(take(X, rows), targets[rows], part, k, batch)

        score = None
        if aside is not None:
            part = None if weight is None else weight[held_out]

            def score() -> float:
                self._bring_up_to_date(aside, take(X, held_out))
                return self._score(aside.f + self.intercept_, targets[held_out], part)

        def keep() -> None:
            checkpoint.keep(lambda: self._state(batches, aside))

        self._descend(since, len(batches), step, score, keep)

    def _from_here(self) -> tuple[int, int]:
        """Looks at rows held out, and steps, before those to come, which leave no trace there."""
        check_more_neurons(type(self).__name__, self.n_neurons, len(self._coef))
        # A warm start that fails leaves the arrays that it began with as they were.
        self._coef, self._history = deepcopy(self._coef), list(self._history)
        self.validation_scores_ = list(self.validation_scores_)
        return len(self.validation_scores_), self.n_iter_

    def _descend(
        self,
        since: tuple[int, int],
        n_batches: int,
        step: Callable[[int, int], None],
        score: Callable[[], float] | None,
        after: Callable[[], None],
    ) -> None:
        """Take steps until there are ``n_neurons`` neurons, or rows held out get no better.

        Parameters
        ----------
        since : tuple of int
            Looks and steps before this fit.
        n_batches : int
            Batches of the training rows.
        step : callable
            ``step(number, k)`` takes a step on a batch and the next k neurons.
        score : callable or None
            The score of the rows held out, if there are any.
        after : callable
            What is done after each step but the last.
        """
        looked, begun = since
        wait = min(n_batches, -(-self.n_neurons // (self.neurons_per_step * _CHECKS)))
        with self._progress(self.n_neurons - len(self._coef), "neuron") as bar:
            for number in self._in_random_order(n_batches):
                k = min(self.neurons_per_step, self.n_neurons - len(self._coef))
                step(number, k)
                bar.update(k)
                if score is not None and (self.n_iter_ - begun) % wait == 0:
                    self.validation_scores_.append(score())
                    if self._stalled(self.validation_scores_[looked:]):
                        break
                if len(self._coef) == self.n_neurons:
                    break
                after()

    def _state(self, batches: list[_Batch], held_out: _Batch | None) -> dict[str, Any]:
        """What the steps of a fit change."""
        met = batches if held_out is None else [*batches, held_out]
        return {
            "coef": self._coef.rows,
            "history": np.array(self._history),
            "validation_scores": self.validation_scores_,
            "largest_loss": self._largest_loss,
            "f": np.concatenate([batch.f for batch in met]),
            "met": np.array([(batch.n_neurons, batch.n_steps) for batch in met]),
        }

    def _go_on(self, state: dict[str, Any], batches: list[_Batch], held_out: _Batch | None) -> None:
        """Take up a state."""
        met = batches if held_out is None else [*batches, held_out]
        ends = np.cumsum([len(batch.f) for batch in met])[:-1]
        for batch, f, times in zip(met, np.split(state["f"], ends), state["met"], strict=True):
            batch.f[:] = f
            batch.n_neurons, batch.n_steps = times.tolist()
        with uninterrupted():
            self._coef = Growing()
            self._coef.append(state["coef"])
            self._history = [(int(rows), *rest) for rows, *rest in state["history"].tolist()]
            self.n_iter_ = len(self._history)
            self.validation_scores_ = state["validation_scores"]
            self._largest_loss = state["largest_loss"]

    def _learn(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self._begin(lambda rows: take(X, rows), targets, weight)
        n_batches = -(-X.shape[0] // self.batch_size)
        with self._progress(X.shape[0], "row") as bar:
            for index in np.array_split(np.arange(X.shape[0]), n_batches):
                rows = slice(index[0], index[-1] + 1)  # views, where an index would copy
                part = None if weight is None else weight[rows]
                size = len(index) / self.batch_size
                met_once = _Batch(index, targets.shape[1])
                some = take(X, rows)
                self._step(some, targets[rows], part, self.neurons_per_step, met_once, size)
                bar.update(len(index))

    def _split(self, n_rows: int) -> tuple[np.ndarray | None, np.ndarray]:
        """Rows held out, if any, and rows to learn from."""
        if not self.early_stopping:
            return None, np.arange(n_rows)
        n_held_out = int(np.ceil(self.validation_fraction * n_rows))
        check_validation_rows(type(self).__name__, self.validation_fraction, n_held_out, n_rows)
        order = generator(self.seed_, Purpose.VALIDATION).permutation(n_rows)
        return order[:n_held_out], np.sort(order[n_held_out:])

    def _batches(self, rows: np.ndarray) -> list[np.ndarray]:
        """The rows in batches of one size, or one row less."""
        order = generator(self.seed_, Purpose.SHUFFLE).permutation(rows)
        return np.array_split(order, -(-len(rows) // self.batch_size))

    def _in_random_order(self, n_batches: int) -> Iterator[int]:
        """The numbers of all batches, again and again; each pass in an order of its own."""
        visit = self.n_iter_
        while True:
            order = generator(self.seed_, Purpose.SHUFFLE, 1 + visit // n_batches)
            for number in order.permutation(n_batches)[visit % n_batches :].tolist():
                yield number
                visit += 1

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        if self.schedule == "theorem":  # steps share blocks of the stream
            check_independent(type(self).__name__, "schedule='theorem'", self.neurons_)
        self.stream_ = NeuronStream(self.neurons_, self.seed_, self.dtype, self.cache_bytes)
        self.intercept_ = self._offset(targets, weight)
        self._coef = Growing()
        shape = (0, self.neurons_.width, targets.shape[1])
        self._coef.append(np.zeros(shape, dtype=self.dtype))
        self.n_iter_ = 0
        self._n_rows, self._weight = 0, 0.0
        self._heaviest = 1.0
        self._spread = np.zeros(targets.shape[1])  # mean distance of targets from the intercept
        self._history = []
        self.validation_scores_ = []
        self._largest_loss = 0.0

    def _begin(
        self,
        pick: Callable[[np.ndarray], Any],
        targets: np.ndarray,
        weight: np.ndarray | None,
    ) -> None:
        """Count rows and their weights, whose mean is the unit of weight, and size the steps.

        ``pick`` gives the rows with some numbers; the first steps go by a few of them.
        """
        if self.n_iter_ == 0:
            self._pilot = self._largest_eigenvalue(pick, len(targets), weight)
        count = len(targets) if weight is None else weight.sum()
        spread = np.average(np.abs(targets - self.intercept_), axis=0, weights=weight)
        spread = self._spread + count / (self._weight + count) * (spread - self._spread)
        first = self._first_step(self._loss(targets.shape[1]), spread)
        decay = first * self.alpha if self.alpha else np.zeros_like(first)
        if not isinstance(self.decay, str):
            decay = np.full_like(first, self.decay)
        steps = Steps(self.schedule, _of_outputs(first), _of_outputs(decay))
        if self.n_iter_ == 0 or steps != self._steps:
            check_steps(type(self).__name__, steps, self.alpha)
        self._steps = steps
        with uninterrupted():
            self._spread = spread
            self._n_rows += len(targets)
            self._weight += count

    def _has_learned_since(self, before: dict[str, Any]) -> bool:
        history = self.__dict__.get("_history")
        return history is not before.get("_history") and bool(history)

    def _largest_eigenvalue(
        self, pick: Callable[[np.ndarray], Any], n_rows: int, weight: np.ndarray | None
    ) -> float:
        """Estimate of the largest eigenvalue of the kernel operator, from some rows and neurons."""
        rows = np.arange(n_rows)
        if len(rows) > _PILOT_ROWS:
            rng = generator(self.seed_, Purpose.PILOT)
            rows = np.sort(rng.choice(rows, _PILOT_ROWS, replace=False))
        size = min(len(rows), _PILOT_NEURONS * self.neurons_.width)
        with linear_algebra(self.n_jobs, size**3):
            some = pick(rows)
            Z = self.neurons_(some, self.stream_.between(0, _PILOT_NEURONS, some))
            Z = to_host(Z).astype(np.float64)
            check_finite_activations(type(self.neurons_).__name__, Z)
            if weight is not None:
                Z *= np.sqrt(weight[rows] / weight.mean())[:, None]
            square = Z.T @ Z if len(Z) > Z.shape[1] else Z @ Z.T
            top = linalg.eigvalsh(square, subset_by_index=[size - 1] * 2)
        return float(top[0]) / (len(Z) * _PILOT_NEURONS)

    def _first_step(self, loss: Loss, spread: np.ndarray) -> np.ndarray:
        """Step 0 of all outputs, or of each, for targets so far from the intercept."""
        if not isinstance(self.step_size, str):
            return np.array(self.step_size, dtype=float)
        if self.schedule == "theorem":
            return np.array(1 / self.alpha if self.alpha else np.inf)
        return np.asarray(self._stable_step(loss, spread))

    def _stable_step(self, loss: Loss, spread: np.ndarray) -> Any:
        curvature: Any = loss.curvature
        if loss.piecewise_linear:  # a slope of ±1 moves f by as much in any unit of an output
            curvature = curvature / unit_of(spread)
        if self.preconditioner == "block":
            return 1 / curvature
        return stable_step(
            curvature,
            self.alpha,
            self._pilot,
            self.neurons_.bound**2,
            self.batch_size,
            self.neurons_per_step,
            self.n_neurons,
        )

    @np.errstate(over="ignore", invalid="ignore")  # divergence is reported
    def _step(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        k: int,
        batch: _Batch,
        size: float = 1.0,
    ) -> None:
        """One step of Algorithm 1 on a batch of rows and the next k neurons of the stream.

        A batch of a share ``size`` of the usual rows takes that share of the usual step.
        """
        gamma = size * self._steps(self.n_iter_)
        self._bring_up_to_date(batch, X)  # Alg. 1, line 4: predict with all earlier neurons
        seen = self._look(self._outcome(batch.f, targets), gamma)
        first = len(self._coef)
        weights = self.stream_.between(first, first + k, X)  # line 3: neurons from a seed
        Z = self._activations(X, weights)
        shares = self._shares(targets, weight)
        new = self._append(*self._slopes(Z, batch.f, targets, shares, shares.sum()), k, gamma, seen)
        batch.f *= 1 - gamma * self.alpha
        with linear_algebra(self.n_jobs, Z.shape[0] * new.size):
            batch.f += to_host(Z @ matching(Z, new))
        batch.n_neurons, batch.n_steps = first + k, self.n_iter_

    def _outcome(self, f: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """What rows add to the history: their number, loss, loss of a constant, and error."""
        loss = self._loss(targets.shape[1])
        start = np.broadcast_to(self.intercept_, targets.shape)
        f = f + self.intercept_
        each = loss.value(f, targets), loss.value(start, targets), self._error(f, targets)
        return np.array([len(targets), *(value.sum() for value in each)])

    def _slopes(
        self,
        Z: Any,
        f: np.ndarray,
        targets: np.ndarray,
        shares: np.ndarray,
        total: float,
    ) -> tuple[np.ndarray, Any]:
        """What rows add to a step: the gradient, and with a preconditioner the covariance.

        Both are sums over rows by their shares; the covariance in units of the batch's ``total``.
        """
        slope = self._loss(targets.shape[1]).derivative(f + self.intercept_, targets)
        n_rows, n_columns = Z.shape
        with linear_algebra(self.n_jobs, n_columns * slope.size):
            gradient = to_host(Z.T @ matching(Z, slope * shares[:, None]))
        if self.preconditioner is None:
            return gradient, None
        # A light batch has a small gradient, not a small covariance.
        root = Z * matching(Z, np.sqrt(shares / (total or 1.0))[:, None])
        with linear_algebra(self.n_jobs, n_rows * n_columns**2):
            return gradient, root.T @ root

    def _look(self, outcome: np.ndarray, gamma: np.ndarray) -> tuple[int, float, float]:
        """What the history says of a batch; stop if the loss has grown too far."""
        n_rows, value, start, error = outcome / [1, *3 * [outcome[0]]]
        self._check_progress(value, start, gamma)
        return int(n_rows), float(error), float(value)

    def _append(
        self,
        gradient: np.ndarray,
        covariance: Any,
        k: int,
        gamma: np.ndarray,
        seen: tuple[int, float, float],
    ) -> np.ndarray:
        """Append the next k neurons; their coefficients, a row a column of their activations."""
        direction = (
            gradient / k
            if covariance is None
            else self._precondition(gradient, covariance, seen[0])
        )
        with np.errstate(over="ignore"):
            new = -gamma.astype(direction.dtype) * direction  # line 5
            most = self.neurons_.bound * np.abs(new).sum(axis=0)  # that f can change by
        if not np.isfinite(most).all():
            self._check_progress(np.inf, 0.0, gamma)
        with uninterrupted():  # all that a step changes
            decay = (1 - gamma * self.alpha).astype(self._coef.rows.dtype)
            self._coef.rows[:] *= decay  # line 6: decay the earlier ones
            self._coef.append(by_neuron(new, self.neurons_.width))
            self._history.append(seen)
            self.n_iter_ += 1
        return new

    def _bring_up_to_date(self, batch: _Batch, X: Any) -> None:
        """Apply the decays and add the neurons that the rows of the batch have not met yet."""
        missed = np.arange(batch.n_steps, self.n_iter_)
        batch.f *= np.prod(1 - self._steps(missed) * self.alpha, axis=0)
        missing = Network(
            self.neurons_,
            Later(self.stream_, batch.n_neurons),
            self._coef.rows[batch.n_neurons :],
            n_jobs=self.n_jobs,
        )
        batch.f += to_host(missing(X))
        batch.n_neurons, batch.n_steps = len(self._coef), self.n_iter_

    def _activations(self, X: Any, weights: Any) -> Any:
        """Activations of all rows of a batch."""
        Z = empty((X.shape[0], self.neurons_.width * weights[0].shape[0]), X)

        def fill(rows: slice) -> None:
            Z[rows, ...] = self.neurons_(take(X, rows), weights)

        map_rows(fill, X, Z.shape[1], self.n_jobs)
        return Z

    def _precondition(self, gradient: np.ndarray, covariance: Any, n_rows: int) -> np.ndarray:
        """(Zᵀ Z / b + reg I)⁻¹ times the gradient: the authors' released code, not the paper."""
        covariance = double(covariance)
        n_columns = covariance.shape[0]
        mean = float(namespace(covariance).linalg.trace(covariance)) / n_columns
        damping = self.damping * max(mean, np.finfo(gradient.dtype).tiny)
        try:
            factor = cholesky(plus_ridge(covariance, damping))
        except linalg.LinAlgError as error:
            raise ValueError(
                f"{type(self).__name__}: damping={self.damping!r} is too small: the covariance of "
                f"the {n_columns} activations of a block over {n_rows} rows is singular to "
                "working precision. Remedy: a larger damping (1e-4 is the default), or "
                "dtype='float64'."
            ) from error
        return cho_solve(factor, gradient).astype(gradient.dtype)

    def _stalled(self, scores: list[float]) -> bool:
        """Whether the last ``n_iter_no_change`` scores are no better than the best before."""
        last = self.n_iter_no_change
        return len(scores) > last and max(scores[-last:]) < max(scores[:-last]) + self.tol

    def _shares(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Weights of the rows in the mean over a batch.

        They are in units of the mean weight of all rows, so a light batch makes a small step. In a
        fit all are divided by what those of the heaviest batch sum to, so that no step is larger
        than is stable. A stream does not know that before: there a heavy batch counts less.
        """
        if weight is None:
            return np.full(len(targets), 1 / len(targets))
        shares = weight / (len(weight) * self._weight / self._n_rows)
        return shares / max(self._heaviest, shares.sum())

    def _weigh(self, batches: list[np.ndarray], weight: np.ndarray | None) -> None:
        """Find the heaviest batch of a fit: shares of one batch are then those of all."""
        if weight is not None:
            heaviest = max(float(weight[rows].mean()) for rows in batches)
            self._heaviest = max(1.0, heaviest * self._n_rows / self._weight)

    def _check_progress(self, value: float, start: float, gamma: np.ndarray) -> None:
        """Stop before a step if the loss has grown far beyond that of predicting nothing.

        The theorem's first steps may go that far: they stop only where numbers overflow.
        """
        if self.schedule == "theorem" and np.isfinite(value):
            return
        self._largest_loss = max(self._largest_loss, float(start))
        longest = gamma.max()
        stable = np.min(self._stable_step(self._loss(len(self.intercept_)), self._spread))
        stable = min(float(stable), longest / 2)
        remedy = (
            f"step_size={self.step_size!r} gave steps of about {longest:g}; take one below "
            f"{stable:g}, or a larger batch_size or neurons_per_step; the bound of the neurons "
            "must hold, too"
        )
        if self.preconditioner == "block":
            columns = self.neurons_.width * self.neurons_per_step
            remedy = (
                f"a block of {columns} columns needs batches of several times as many rows, and "
                f"batch_size={self.batch_size!r}; or take a step_size below {stable:g}, or a "
                "larger damping"
            )
        check_progress(type(self).__name__, value, self._largest_loss, self.n_iter_, remedy)

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the neurons so far, shape (n_neurons, width, n_outputs)."""
        check_is_fitted(self)
        return self._coef.rows.copy()

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each step, before it was taken, shape (n_steps, 2)."""
        check_is_fitted(self)
        return np.array([(rows, error) for rows, error, _ in self._history])

    @property
    def loss_curve_(self) -> np.ndarray:
        """Mean loss of the rows of each step, before it was taken, shape (n_steps,)."""
        check_is_fitted(self)
        return np.array([value for _, _, value in self._history])

    @property
    def network_(self) -> Network:
        """The network of all neurons so far."""
        check_is_fitted(self)
        network = self._network()
        network.coef = network.coef.copy()  # training goes on in place
        return network

    def _network(self) -> Network:
        return Network(self.neurons_, self.stream_, self._coef.rows, self.intercept_, self.n_jobs)


def _of_outputs(size: Any) -> float | tuple[float, ...]:
    """A size of all outputs, or of each of them, as plain numbers."""
    return tuple(size.tolist()) if np.size(size) > 1 else float(np.squeeze(size))


class DoublyStochasticRegressor(Regression, _DoublyStochastic):
    r"""Regression with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, predicts the batch with all earlier
    neurons, gives each fresh neuron the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and multiplies the earlier ones by :math:`1 - \gamma_i \alpha`. Neurons come back from a seed:
    the model is its coefficients. The mean of the first batch's targets is subtracted and added
    back by the network's intercept.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one.
    n_neurons : int, default=20_000
        How many neurons ``fit`` draws in all. It takes ``n_neurons / neurons_per_step`` steps.
    loss : {"squared_error", "huber", "epsilon_insensitive"}, default="squared_error"
        The loss l.
    epsilon : float, default=0.1
        The distance, in units of y, up to which "epsilon_insensitive" is 0 and "huber" is
        quadratic; the default suits targets of a spread of about 1.
    alpha : float, default=1e-6
        Regularisation strength, relative to the mean loss.
    step_size : float or "auto", default="auto"
        The first step :math:`\gamma`, or θ for ``schedule="theorem"``. "auto" is half of the
        largest step that is stable in mean square, by the largest eigenvalue of the kernel operator
        on 1,024 rows of the first batch, limited so that the noise of the steps to come stays small
        against that of the targets;
        1 / (curvature of the loss) with a preconditioner; for "epsilon_insensitive" both in
        units of the mean distance of each output's targets so far from the intercept; 1 / alpha
        for ``schedule="theorem"``. With "auto", streams should set ``n_neurons`` to about what they
        will draw.
    schedule : {"inverse", "constant", "theorem"}, default="inverse"
        Step i = 0, 1, ... is :math:`\gamma / (1 + c i)` with c = ``decay``, :math:`\gamma`, or
        :math:`\theta / (i + 1)`. For the last the paper proves that the mean square distance to
        the minimiser falls as 1/i if :math:`\theta \alpha` is in (1, 2) or a positive integer.
        Its first steps are as long as 1 / alpha, so it suits strong regularisation; elsewhere a
        UserWarning or an error about divergence says so.
    decay : float or "auto", default="auto"
        The constant c of the schedule "inverse". "auto" is :math:`\gamma \alpha`, so that after
        about :math:`1 / (\gamma \alpha)` steps (a million by default) the steps are the theorem's,
        with :math:`\theta \alpha = 1`, and nearly constant before.
    preconditioner : {"block"} or None, default=None
        "block" multiplies each step by the inverse of the covariance of its own activations,
        :math:`(Z^\top Z / b + \mathrm{reg} I)^{-1}`, and does not divide by k: each block is fitted
        to what is left to explain. It is what the authors' released code does, not the paper, and
        far faster where blocks are large: ``neurons_per_step=512, batch_size=16_384``. Batches
        must have several rows a column. None is the algorithm of the paper.
    damping : float, default=1e-4
        reg, relative to the mean of the covariance's diagonal.
    batch_size : int, default=512
        Rows b a step.
    neurons_per_step : int, default=32
        Neurons k drawn a step. A step holds the activations of its rows by its neurons.
    early_stopping : bool, default=False
        Whether ``fit`` holds rows out and stops before ``n_neurons`` when they are predicted no
        better. They are looked at after every pass, or every twentieth of ``n_neurons``.
    validation_fraction : float, default=0.1
        Share of the rows that ``early_stopping`` holds out.
    n_iter_no_change : int, default=5
        How many looks without an improvement by ``tol`` stop ``fit``.
    tol : float, default=1e-3
        Improvement of the score (R² or accuracy) that counts.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the neurons there are until there are ``n_neurons``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons, of the order of rows and of those held out.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and coefficients.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory. The rest comes back from the seed when needed.

    Attributes
    ----------
    coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        Mean of the first batch's targets.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step and their mean squared error, summed over the outputs, before
        the step was taken.
    loss_curve_ : array of shape (n_steps,)
        Mean loss of the rows of each step before it was taken.
    validation_scores_ : list of float
        Scores of the rows held out, if ``early_stopping``.
    n_iter_ : int
        Steps taken.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import DoublyStochasticRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DoublyStochasticRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _rules = _DoublyStochastic._rules | {
        "loss": choice(*REGRESSION_LOSSES, remedy="loss='squared_error' estimates the mean"),
        "epsilon": non_negative("epsilon=0.1 suits standardised targets"),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 20_000,
        *,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        alpha: float = 1e-6,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        decay: float | str = "auto",
        preconditioner: str | None = None,
        damping: float = 1e-4,
        batch_size: int = 512,
        neurons_per_step: int = 32,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        tol: float = 1e-3,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.loss = loss
        self.epsilon = epsilon
        self.alpha = alpha
        self.step_size = step_size
        self.schedule = schedule
        self.decay = decay
        self.preconditioner = preconditioner
        self.damping = damping
        self.batch_size = batch_size
        self.neurons_per_step = neurons_per_step
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes

    def _offset(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return np.average(targets, axis=0, weights=weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> DoublyStochasticRegressor:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        A batch of fewer rows takes a proportionally smaller step, so that rows count alike however
        they are grouped; for a stream of small batches set ``batch_size`` to their size. Each step
        adds ``neurons_per_step`` neurons, however many there are already.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, in units of their mean so far. A batch whose weights sum to more
            than its number of rows counts as if they summed to that, since its step would not be
            stable: heavy rows count less than in ``fit``, the more so the smaller the batches.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)


class DoublyStochasticClassifier(Classification, _DoublyStochastic):
    r"""Classification with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, predicts the batch with all earlier
    neurons, gives each fresh neuron the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and multiplies the earlier ones by :math:`1 - \gamma_i \alpha`. Neurons come back from a seed:
    the model is its coefficients.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one.
    n_neurons : int, default=20_000
        How many neurons ``fit`` draws in all. It takes ``n_neurons / neurons_per_step`` steps.
    loss : {"log_loss", "hinge", "squared_hinge", "squared_error"}, default="log_loss"
        The loss l. "log_loss" is the logistic loss for two classes and the softmax loss for more;
        the others take one class against the rest.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of the rows are multiplied: {label: weight}, where
        a class that is not named has weight 1, or inversely proportional to their frequencies.
        "balanced" needs all rows, and so is for ``fit`` only.
    alpha : float, default=1e-6
        Regularisation strength, relative to the mean loss.
    step_size : float or "auto", default="auto"
        The first step :math:`\gamma`, or θ for ``schedule="theorem"``. "auto" is half of the
        largest step that is stable in mean square, by the largest eigenvalue of the kernel operator
        on 1,024 rows of the first batch, limited so that the noise of the steps to come stays small
        against that of the targets;
        1 / (curvature of the loss) with a preconditioner; 1 / alpha for ``schedule="theorem"``.
        With "auto", streams should set ``n_neurons`` to about what they will draw.
    schedule : {"inverse", "constant", "theorem"}, default="inverse"
        Step i = 0, 1, ... is :math:`\gamma / (1 + c i)` with c = ``decay``, :math:`\gamma`, or
        :math:`\theta / (i + 1)`. For the last the paper proves that the mean square distance to
        the minimiser falls as 1/i if :math:`\theta \alpha` is in (1, 2) or a positive integer.
        Its first steps are as long as 1 / alpha, so it suits strong regularisation; elsewhere a
        UserWarning or an error about divergence says so.
    decay : float or "auto", default="auto"
        The constant c of the schedule "inverse". "auto" is :math:`\gamma \alpha`, so that after
        about :math:`1 / (\gamma \alpha)` steps (a million by default) the steps are the theorem's,
        with :math:`\theta \alpha = 1`, and nearly constant before.
    preconditioner : {"block"} or None, default=None
        "block" multiplies each step by the inverse of the covariance of its own activations,
        :math:`(Z^\top Z / b + \mathrm{reg} I)^{-1}`, and does not divide by k: each block is fitted
        to what is left to explain. It is what the authors' released code does, not the paper, and
        far faster where blocks are large: ``neurons_per_step=512, batch_size=16_384``. Batches
        must have several rows a column. None is the algorithm of the paper.
    damping : float, default=1e-4
        reg, relative to the mean of the covariance's diagonal.
    batch_size : int, default=512
        Rows b a step.
    neurons_per_step : int, default=32
        Neurons k drawn a step. A step holds the activations of its rows by its neurons.
    early_stopping : bool, default=False
        Whether ``fit`` holds rows out and stops before ``n_neurons`` when they are predicted no
        better. They are looked at after every pass, or every twentieth of ``n_neurons``.
    validation_fraction : float, default=0.1
        Share of the rows that ``early_stopping`` holds out.
    n_iter_no_change : int, default=5
        How many looks without an improvement by ``tol`` stop ``fit``.
    tol : float, default=1e-3
        Improvement of the score (R² or accuracy) that counts.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the neurons there are until there are ``n_neurons``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons, of the order of rows and of those held out.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and coefficients.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory. The rest comes back from the seed when needed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step and the share misclassified before the step was taken.
    loss_curve_ : array of shape (n_steps,)
        Mean loss of the rows of each step before it was taken.
    validation_scores_ : list of float
        Scores of the rows held out, if ``early_stopping``.
    n_iter_ : int
        Steps taken.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import DoublyStochasticClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DoublyStochasticClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _rules = _DoublyStochastic._rules | {
        "loss": choice(*CLASSIFICATION_LOSSES, remedy="loss='log_loss' gives probabilities"),
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 20_000,
        *,
        loss: str = "log_loss",
        class_weight: dict[Any, float] | str | None = None,
        alpha: float = 1e-6,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        decay: float | str = "auto",
        preconditioner: str | None = None,
        damping: float = 1e-4,
        batch_size: int = 512,
        neurons_per_step: int = 32,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        tol: float = 1e-3,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.loss = loss
        self.class_weight = class_weight
        self.alpha = alpha
        self.step_size = step_size
        self.schedule = schedule
        self.decay = decay
        self.preconditioner = preconditioner
        self.damping = damping
        self.batch_size = batch_size
        self.neurons_per_step = neurons_per_step
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> DoublyStochasticClassifier:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        A batch of fewer rows takes a proportionally smaller step, so that rows count alike however
        they are grouped; for a stream of small batches set ``batch_size`` to their size. Each step
        adds ``neurons_per_step`` neurons, however many there are already.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All labels that may occur; used in the first call. Default: those of the first batch.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, in units of their mean so far. A batch whose weights sum to more
            than its number of rows counts as if they summed to that, since its step would not be
            stable: heavy rows count less than in ``fit``, the more so the smaller the batches.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight, classes)
