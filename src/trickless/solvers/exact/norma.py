"""NORMA: stochastic gradient descent in the space of a kernel, one row at a time.

J. Kivinen, A. Smola and R. Williamson, "Online learning with kernels", IEEE Transactions on Signal
Processing 52(8), 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.growing import Growing, GrowingSparse, growing_like
from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.sparse import check_rows
from trickless.arrays.stated import (
    Stated,
    check_array,
    check_count,
    check_is,
    check_list,
    check_number,
)
from trickless.errors import InvalidValueError
from trickless.functions.exact_kernel import BLOCK_ROWS, ExactKernel, rows_at_once
from trickless.rules import warn
from trickless.solvers.calibration import check_noted, note_rows
from trickless.solvers.exact.alpha import automatic_alpha
from trickless.solvers.losses import Loss, unit_of
from trickless.solvers.outputs import NewOutputs
from trickless.solvers.progress import Curve, check_progress, extend, ignore

#: How often a step goes into the first step if f is lost where only the latest terms are kept.
_FADED = 10


class Update(NamedTuple):
    """How a round updates f. ``error(f, y)`` gives the error of each row, for the curve."""

    kernel: ExactKernel
    loss: Loss
    error: Callable[[np.ndarray, np.ndarray], np.ndarray]
    alpha: float | str
    step_size: float | str
    schedule: str
    average: bool


class NORMA(Stated):
    """Rounds of NORMA. Kernel values are computed for a block of rounds at once.

    If ``max_support`` is a number, only this many of the latest terms are kept. ``coefficients``
    are the α_i of the last f, and ``totals`` their sums over the rounds, for the average.
    ``spread`` is the mean size of all targets so far, for each output. To calibrate probabilities,
    ``recent`` holds decision values of the last rows before they were learned, and their targets.
    """

    def __init__(self, n_outputs: int, max_support: int | None, calibrated: bool = False) -> None:
        self.max_support = max_support
        self.support: Growing | GrowingSparse | None = None
        self.coefficients, self.totals = Growing(), Growing()
        self.n_rounds = 0
        self.largest_square = 0.0
        self.curve: Curve = []
        self.recent: Growing | None = Growing() if calibrated else None
        self.spread = np.zeros(n_outputs)
        self._largest_loss = 0.0

    def check_state(self) -> None:
        n, n_outputs = len(self.coefficients), len(self.spread)
        check_is("support", self.support, Growing | GrowingSparse | None)
        if self.support is not None:
            check_rows("support", self.support.rows, n, None)
            for name in ("coefficients", "totals"):
                check_array(name, getattr(self, name).rows, "f4 f8", (n, n_outputs))
        check_array("spread", self.spread, "f8", (None,))
        check_count("n_rounds", self.n_rounds, 0)
        if self.max_support is not None:
            check_count("max_support", self.max_support, 1)
        for name in ("largest_square", "_largest_loss"):
            check_number(name, getattr(self, name), 0)
        check_list("curve", self.curve, tuple)
        check_noted("recent", self.recent, 2 * n_outputs)

    def learn(
        self, X: Any, y: np.ndarray, update: Update, advance: Callable[[int], object] = ignore
    ) -> None:
        """Make a round for each row, in the order given; ``advance`` shows the progress."""
        squares = update.kernel.diagonal(X)
        self._see(y)
        check_forgetting(update, self._alpha(update))
        if self.support is None:
            self.support = growing_like(X)
            self._append(X[:0], y[:0], y[:0])
        X = self.support.like(X)
        forgot, start = self._forgets(update), 0
        while start < len(y):
            rows = slice(start, min(start + self._rounds_at_once(), len(y)))
            self._rounds(X[rows], y[rows], self._steps(squares[rows], update), update)
            advance(rows.stop - start)
            start = rows.stop
        self._warn_if_forgotten(forgot, update)

    def fork(self) -> NORMA:
        """Rounds that continue from these, and leave these unchanged."""
        other = copy(self)
        other.support = None if self.support is None else self.support.fork()
        other.coefficients, other.totals = self.coefficients.copy(), self.totals.copy()
        other.curve = list(self.curve)
        other.recent = None if self.recent is None else self.recent.fork()
        return other

    def with_outputs(self, new: NewOutputs, measure: object) -> NORMA:
        """Rounds that have been made on the same rows with other outputs."""
        other = self.fork()
        other.coefficients = self.coefficients.mapped(new.of_differences)
        other.totals = self.totals.mapped(new.of_differences)
        other.spread = new.of_each(self.spread)
        if self.recent is not None:
            other.recent = self.recent.mapped(new.of_pairs)
        return other

    def average(self) -> np.ndarray:
        """Coefficients of the average of f over the rounds, each before its round."""
        return self.totals.rows / self.n_rounds

    def _see(self, y: np.ndarray) -> None:
        """Count the targets of a batch in their mean size."""
        spread = np.abs(y).mean(axis=0)
        share = len(y) / (self.n_rounds + len(y))
        self.spread = self.spread + share * (spread - self.spread)

    def _alpha(self, update: Update) -> Any:
        """Return the regularisation strength, of all outputs or each."""
        if not isinstance(update.alpha, str):
            return update.alpha
        return automatic_alpha(update.loss, self.spread)

    def _rounds_at_once(self) -> int:
        """Rounds whose kernel values are computed at once; truncation then drops old terms."""
        rounds = rows_at_once(len(self.coefficients) + BLOCK_ROWS)
        return rounds if self.max_support is None else min(rounds, self.max_support)

    def _steps(self, squares: np.ndarray, update: Update) -> np.ndarray:
        """η_t for the rounds of rows with these k(x, x), of all outputs or each: (n, 1 or more)."""
        t = self.n_rounds + 1 + np.arange(len(squares))[:, None]
        first = self._first(squares, update)
        self.largest_square = max(self.largest_square, float(squares.max()))
        return first / self._divisor(t, first, update)

    def _first(self, squares: np.ndarray, update: Update) -> Any:
        """Return the first step η, from k(x, x) of the rows: (n, 1 or more), or a number."""
        if not isinstance(update.step_size, str):
            return update.step_size
        largest = np.maximum.accumulate(np.append(self.largest_square, squares))[1:, None]
        curvature: Any = update.loss.curvature
        if update.loss.piecewise_linear:  # a slope of ±1 moves f as much in any unit of y
            curvature = curvature / unit_of(self.spread)
        steepest = curvature * largest + self._alpha(update)
        return np.divide(1, steepest, out=np.zeros_like(steepest), where=steepest > 0)

    def _divisor(self, t: np.ndarray, first: Any, update: Update) -> np.ndarray:
        """By what the first step is divided in rounds t: (n, 1 or more)."""
        match update.schedule:
            case "sqrt":
                return np.sqrt(t)
            case "inverse":
                return np.asarray(1 + first * self._alpha(update) * (t - 1))
        return np.ones(t.shape)

    @np.errstate(over="ignore", invalid="ignore")  # divergence is reported below
    def _rounds(self, X: Any, y: np.ndarray, steps: np.ndarray, update: Update) -> None:
        """Make a round for each row of a block.

        ``f`` holds the values at all rows of the block. They are updated for the rows to come. For
        past rows they remain what was predicted.
        """
        assert self.support is not None
        kernel, loss, alpha = update.kernel, update.loss, self._alpha(update)
        past, own = kernel.matrix(X, self.support.rows), kernel(X, X)
        old, old_total = self.coefficients.rows, self.totals.rows
        f, total = past @ old, past @ old_total
        new, new_total = np.zeros_like(y), np.zeros_like(y)
        n_terms, dropped = len(old), 0
        scale, lasting = 1.0, 0.0  # old terms are scale × old now, and lasting × old summed
        for t, eta in enumerate(steps):
            lasting += scale
            total[t:] += f[t:]
            new_total[:t] += new[:t]
            decay = 1 - eta * alpha
            scale *= decay
            new[:t] *= decay  # Sec. III: α_i ← (1 − η_t λ) α_i for i < t
            f[t + 1 :] *= decay
            slope = loss.derivative(f[t : t + 1], y[t : t + 1])[0]
            new[t] = -eta * slope  # Sec. III: α_t = −η_t l′(f_t(x_t), y_t)
            f[t + 1 :] += own[t, t + 1 :, None] * new[t]
            n_terms += bool(new[t].any())
            if self.max_support is not None and n_terms > self.max_support:  # truncation
                gone = past[t + 1 :, dropped, None]
                f[t + 1 :] -= gone * (scale * old[dropped])
                total[t + 1 :] -= gone * (old_total[dropped] + lasting * old[dropped])
                n_terms, dropped = n_terms - 1, dropped + 1
        self._check_progress(f, y, update)
        mean_error = float(update.error(f, y).mean())
        kept = new.any(axis=1)
        with uninterrupted():  # all that the rounds change
            extend(self.curve, len(y), mean_error)
            if self.recent is not None:
                average = total / (self.n_rounds + 1 + np.arange(len(y))[:, None])
                note_rows(self.recent, average if update.average else f, y)
            old_total += lasting * old
            old *= scale
            if dropped:
                for terms in (self.support, self.coefficients, self.totals):
                    terms.keep(np.arange(dropped, len(old)))
            self._append(X[kept], new[kept], new_total[kept])
            self.n_rounds += len(y)

    def _append(self, X: Any, coefficients: np.ndarray, totals: np.ndarray) -> None:
        assert self.support is not None
        self.support.append(X)
        self.coefficients.append(coefficients)
        self.totals.append(totals)

    def _forgets(self, update: Update) -> bool:
        """Return whether old terms are dropped faster than small steps can replace them."""
        if self.max_support is None or len(self.coefficients) < self.max_support:
            return False
        first = self._first(np.array([self.largest_square]), update)
        return bool((self._divisor(np.array([[self.n_rounds]]), first, update) > _FADED).all())

    def _warn_if_forgotten(self, already: bool, update: Update) -> None:
        """Warn once if the rounds now forget, and did not ``already`` do so."""
        if not already and self._forgets(update):
            warn(
                f"{update.kernel.owner}: schedule={update.schedule!r} with max_support="
                f"{self.max_support}: after {self.n_rounds} rows, steps are below 1/{_FADED} of "
                f"the first step, and only the latest {self.max_support} terms are kept. New terms "
                "are too small to replace the terms that are dropped, so what was learned is "
                "forgotten. Remedy: schedule='auto', which keeps steps constant; or "
                "max_support=None."
            )

    def _check_progress(self, f: np.ndarray, y: np.ndarray, update: Update) -> None:
        """Raise an error if the loss of a block is far above the loss of predicting nothing."""
        loss, step_size = update.loss, update.step_size
        start = float(loss.value(np.zeros_like(y), y).mean())
        self._largest_loss = max(self._largest_loss, start)
        remedy = "k(x, x) differs too much between rows; scale them, or take another kernel"
        if not isinstance(step_size, str):
            stable = 1 / (loss.curvature * max(self.largest_square, 1e-300))
            remedy = f"step_size={step_size!r} is too large; take 'auto', or up to {stable:.3g}"
        now = float(loss.value(f, y).mean())
        n_rounds = self.n_rounds + len(y)
        check_progress(update.kernel.owner, now, self._largest_loss, n_rounds, remedy)


def check_forgetting(update: Update, alpha: Any) -> None:
    """Raise an error for a step that decays coefficients to 0, or reverses their signs."""
    owner, alpha, step_size = update.kernel.owner, float(np.max(alpha)), update.step_size
    if isinstance(step_size, str) or update.schedule == "inverse":
        return
    if step_size * alpha >= 1:
        raise InvalidValueError(
            f"{owner}: step_size={step_size!r} with alpha={alpha!r} decays earlier terms by "
            f"1 - step * alpha = {1 - step_size * alpha:g}, which must be above 0",
            f"a step_size below {1 / alpha:g}, or a smaller alpha",
        )
