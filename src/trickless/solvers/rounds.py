"""Algorithm 1 of Livni, Carmon and Globerson 2017: an expansion learned online.

Round t estimates E_t ≈ ⟨f_t, Φ(x_t)⟩ and appends a support point with a coefficient against the
gradient, or shrinks all of them. How the estimate comes about is the learner's: from drawn neurons
(Shrinking Gradient), from noisy values of a kernel, or from the exact kernel.

Two misprints are corrected here. Algorithm 1 prints the coefficient of a new support point with the
opposite sign, which would ascend the loss; the analysis takes a step against the gradient
(E_t − y_t) Φ(x_t), so the coefficient is η (y_t − E_t). And the theorem states the step B/√T, while
its proof uses B/(2√T); the latter is used here.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.growing import Growing, growing_like
from trickless.arrays.interrupts import uninterrupted
from trickless.checks.inputs import check_range, check_targets
from trickless.files.checkpoint import NOWHERE, Checkpoint
from trickless.functions.sampling import thin
from trickless.functions.stream import Purpose, generator
from trickless.learners.old_base import Learner
from trickless.learners.old_tasks import Classification, Regression
from trickless.rules import (
    anything,
    choice,
    either,
    integer,
    is_none,
    is_range,
    positive,
)
from trickless.solvers.coefficients import Coefficients
from trickless.solvers.divergence import check_progress
from trickless.solvers.error_curve import Curve, extend
from trickless.solvers.losses import Loss, Squared
from trickless.solvers.regret import regret_curve
from trickless.theory import ShrinkingGradientConstants, shrinking_gradient_constants

#: Estimates of at least SHRINK_AT × norm_bound shrink the coefficients.
SHRINK_AT = 16
#: Decaying schedules start at half the step that would fit a row exactly, for bound 1.
LARGEST_STEP = 1 / 2
#: By so much a kernel may exceed the bound of the theorem, from rounding.
_ROUNDING = 1e-9
#: Share of ``max_support`` that an unbiased compression leaves.
KEPT = 1 / 2


class OnlineGradient(Learner):
    """Algorithm 1 on mini-batches, one expansion for all outputs.

    Subclasses implement ``_estimate`` and ``_square_bound``, and ``_kernel`` where there is one.
    """

    norm_bound: float
    step_size: float | str
    schedule: str
    horizon: int | None
    batch_size: int | str
    average: bool
    max_support: int | None
    shuffle: bool

    #: What rounds change.
    _changing: ClassVar[tuple[str, ...]] = ("_support", "_coefficients", "_online", "_played")

    _rules = Learner._rules | {
        "norm_bound": positive("norm_bound=10.0 competes with functions of norm up to 10"),
        "step_size": either(
            positive("step_size='auto' is norm_bound / 2, which the 'sqrt' schedule divides by √t"),
            choice("auto", remedy=""),
        ),
        "schedule": choice(
            "sqrt",
            "inverse",
            "constant",
            "theorem",
            remedy="schedule='sqrt' needs no number of rounds",
        ),
        "horizon": either(
            integer(1, "it is the number of rows to come, for schedule='theorem'"),
            anything("None", "", is_none),
        ),
        "batch_size": either(
            integer(1, "batch_size='auto' keeps the sum of the steps of a batch stable"),
            choice("auto", remedy=""),
        ),
        "average": anything(
            "True or False",
            "average=True predicts with the average over rounds",
            lambda v: isinstance(v, bool | np.bool_),
        ),
        "max_support": either(
            integer(2, "max_support=10_000 keeps at most so many support points, None all"),
            anything("None", "", is_none),
        ),
        "shuffle": anything(
            "True or False",
            "shuffle=True lets fit visit the rows in a random order",
            lambda v: isinstance(v, bool | np.bool_),
        ),
    }

    def _estimate(self, X: Any) -> np.ndarray:
        """E_t ≈ ⟨f_t, Φ(x)⟩ for each row and output; there is at least one support point."""
        raise NotImplementedError

    def _square_bound(self) -> float:
        """Supremum of k(x, x)."""
        raise NotImplementedError

    def _kernel(self, X: Any, Y: Any) -> np.ndarray:
        """The kernel in closed form."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, *, checkpoint: str | os.PathLike[str] | None = None) -> Any:
        """Learn in one online pass over the rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        checkpoint : str or path, optional
            A file to keep the state of the fit in, about once a minute. After the end of the
            process, the same call with the same data goes on from there, to the same model. The
            file is removed when the fit is done. Default: none.

        Returns
        -------
        self
        """
        return self._fit(X, y, checkpoint=checkpoint)

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        order = np.arange(X.shape[0])
        if self.shuffle:
            order = generator(self.seed_, Purpose.SHUFFLE).permutation(order)
        self._learn(X[order], targets[order], None, checkpoint)

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self._support: Any = None
        self._coefficients = Coefficients(targets.shape[1])
        self._online: Curve = []
        self._played: Growing | None = Growing()

    def _learn(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        checkpoint: Checkpoint = NOWHERE,
    ) -> None:
        if self.schedule == "theorem":
            self._check_theorem(X.shape[0])
        self._check_step()
        if self._support is None:
            self._support = growing_like(X)
        X = self._support.like(X)
        start, n_rows = 0, X.shape[0]
        if (state := checkpoint.resume()) is not None:
            start = state["rows"]
            self.__dict__.update({name: state[name] for name in self._changing})
        with self._progress(n_rows, "row") as bar:
            bar.update(start)
            while start < n_rows:
                rows = slice(start, min(start + self._batch_rows(), n_rows))
                self._round(X[rows], targets[rows], self._step_size())
                self._compress()
                bar.update(rows.stop - start)
                start = rows.stop
                changed = {name: getattr(self, name) for name in self._changing}
                checkpoint.keep(partial(dict, changed, rows=start))

    def _round(self, X: Any, targets: np.ndarray, eta: float) -> None:
        """One round of Algorithm 1 for each row of a batch, all with the estimates of f_t.

        An output shrinks once a batch if any of its estimates is large.
        """
        n_support = len(self._support)
        estimates = self._estimate(X) if n_support else np.zeros(targets.shape)  # Alg. 1, line 4
        self._check_progress(estimates, targets)
        error = float(self._error(estimates, targets).mean())
        small: np.ndarray = np.abs(estimates) < SHRINK_AT * self.norm_bound  # line 5
        new = np.where(small, eta * (targets - estimates), 0)  # line 6
        with uninterrupted():  # all that a round changes
            self._remember(targets, error, n_support)
            self._coefficients.count_rounds(len(targets))
            if not small.all():
                self._coefficients.shrink(np.logical_not(small.all(axis=0)))  # line 8
            self._support.append(X)
            self._coefficients.append(new)

    def _has_learned_since(self, before: dict[str, Any]) -> bool:
        now = self.__dict__.get("_coefficients")
        return now is not None and now is not before.get("_coefficients") and now.n_rounds > 0

    def _check_progress(self, estimates: np.ndarray, targets: np.ndarray) -> None:
        """Stop before a round if its loss is far beyond that of predicting 0 for targets of ±1.

        Shrinking bounds estimates by 16 B. The theorem, which counts on that, is left alone.
        """
        if self.schedule != "theorem":
            loss = float(Squared().value(estimates, targets).mean())
            owner, n_rounds = type(self).__name__, self._coefficients.n_rounds
            check_progress(owner, loss, targets.shape[1] / 2, n_rounds, self._stability())

    def _stability(self) -> str:
        """What to change where training diverges, although every batch of steps is stable."""
        raise NotImplementedError

    def _remember(self, targets: np.ndarray, error: float, n_support: int) -> None:
        """Keep what the curves show: the mean error of a batch, and what the regret needs."""
        extend(self._online, len(targets), error)
        if self._played is not None:
            start = np.full((len(targets), 1), float(n_support))
            self._played.append(np.hstack([start, targets]))

    def _compress(self) -> None:
        """Replace more than ``max_support`` points by fewer."""
        if self.max_support is not None and len(self._support) > self.max_support:
            self._replace(generator(self.seed_, Purpose.COMPRESS, self._coefficients.n_rounds))

    def _replace(self, rng: np.random.Generator) -> None:
        """Let fewer points take the place of all, with the same expectation of f.

        The average begins anew: later rounds make up for what a compression adds to f, but nothing
        would for what it adds to an average of rounds that are over.
        """
        assert self.max_support is not None
        c = self._coefficients
        index, factor = thin(np.linalg.norm(c.last(), axis=1), int(KEPT * self.max_support), rng)
        with uninterrupted():
            self._support.keep(index)
            c.keep(index, factor)
            self._played = None

    def _check_step(self) -> None:
        """The summed step of a batch must be stable."""
        if self.schedule == "constant" and isinstance(self.step_size, str):
            raise ValueError(
                f"{type(self).__name__}: schedule='constant' with step_size='auto', but a "
                "constant step must be given. Remedy: step_size=0.05, or schedule='sqrt'."
            )
        eta, rows = self._step_size(), self._batch_rows()
        limit = 1 / self._square_bound()
        if eta * rows > limit * (1 + 1e-9):
            raise ValueError(
                f"{type(self).__name__}: batch_size={self.batch_size!r} with steps up to {eta:g} "
                f"lets the summed step of a batch reach {eta * rows:g}, and above {limit:g} it "
                "may diverge. Remedy: batch_size='auto', or a step_size of at most "
                f"{limit / rows:g}."
            )

    def _check_theorem(self, n_rows: int) -> None:
        """What Theorem 1 assumes must hold, also with the rows to come."""
        owner = type(self).__name__
        if self.horizon is None:
            raise ValueError(
                f"{owner}: schedule='theorem' with horizon=None, but the theorem "
                "needs the number of rounds. Remedy: horizon=len(X), or schedule='sqrt'."
            )
        if self.max_support is not None:
            raise ValueError(
                f"{owner}: schedule='theorem' with max_support={self.max_support!r}, but the "
                "theorem is about runs that keep every support point. Remedy: max_support=None, or "
                "schedule='sqrt'."
            )
        rounds = self._coefficients.n_rounds + n_rows
        if rounds > self.horizon:
            raise ValueError(
                f"{owner}: horizon={self.horizon}, but with this batch there are "
                f"{rounds} rows, and the guarantee ends with the horizon. Remedy: a larger "
                "horizon from the start, or schedule='sqrt'."
            )
        if self._square_bound() > 1 + _ROUNDING:
            raise ValueError(
                f"{owner}: schedule='theorem' with neurons of bound "
                f"{self._square_bound() ** 0.5:g}, but the theorem holds for a bound of 1. Remedy: "
                "scale the activations or the kernel, or schedule='sqrt'."
            )

    def _step_size(self) -> float:
        """η for the next round."""
        t = self._coefficients.n_rounds + 1
        if self.schedule == "theorem":
            return self._constants().step_size
        first = self.norm_bound / 2 if isinstance(self.step_size, str) else self.step_size
        if self.schedule == "constant":
            return first
        decay = np.sqrt(t) if self.schedule == "sqrt" else t
        return min(first / decay, self._largest_step())

    def _largest_step(self) -> float:
        """What decaying schedules may not exceed in the next round."""
        return LARGEST_STEP / self._square_bound()

    def _constants(self) -> ShrinkingGradientConstants:
        assert self.horizon is not None
        return shrinking_gradient_constants(self.horizon, self.norm_bound)

    def _batch_rows(self) -> int:
        """Rows of the next batch."""
        if self.schedule == "theorem":
            return 1
        if not isinstance(self.batch_size, str):
            return self.batch_size
        stable = max(1, int(1 / (self._step_size() * self._square_bound()) + 1e-9))
        # A batch counts for the average from its end on, so none is most of what there is.
        return min(stable, max(2, self._coefficients.n_rounds))

    def _alpha(self) -> np.ndarray:
        """The coefficients that predict: the average over rounds, or the last."""
        c = self._coefficients
        return c.average() if self.average else c.last()

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each batch, before it was learned: (n, 2).

        Beyond 8,192 batches, neighbours are merged.
        """
        check_is_fitted(self)
        return np.array(self._online)

    @property
    def regret_(self) -> np.ndarray:
        """Rounds and regret up to them: (n, 2); for up to 10,000 rows of a known kernel."""
        check_is_fitted(self)
        return regret_curve(self)


class OnlineRegression(Regression, OnlineGradient):
    """Targets mapped to [-1, 1], which the guarantee is about, from a range that is declared."""

    y_range: Any

    _rules = OnlineGradient._rules | {
        "y_range": anything(
            "'auto' or a pair (low, high) of finite numbers with low < high",
            "y_range='auto' takes it from the first batch",
            lambda v: (isinstance(v, str) and v == "auto") or is_range(v),
        ),
    }

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        """Map targets to [-1, 1]."""
        targets = super()._targets(y, classes, first)
        if first:
            low, high = (
                (targets.min(axis=0), targets.max(axis=0))
                if isinstance(self.y_range, str)
                else (np.full(targets.shape[1], float(end)) for end in self.y_range)
            )
            self.y_range_ = low, high
            dtype = self._begun_with["dtype"]
            check_targets(type(self).__name__, np.stack([low, high]), dtype, "y_range")
        check_range(type(self).__name__, targets, *self.y_range_)
        middle, half = self._scale()
        return (targets - middle) / half

    def _scale(self) -> tuple[np.ndarray, np.ndarray]:
        """Middle and half-width of the range; half-width 1 where all targets are the same."""
        low, high = self.y_range_
        return (low + high) / 2, np.where(high > low, (high - low) / 2, 1.0)

    def _decide(self, X: Any) -> np.ndarray:
        """Decision values in the units of y."""
        values = super()._decide(X)
        middle, half = self._scale()
        return values * half + middle

    def partial_fit(self, X: Any, y: Any) -> Any:
        """Go on learning from more rows, in the order given.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)

        Returns
        -------
        self
        """
        return self._partial_fit(X, y)


class OnlineClassification(Classification, OnlineGradient):
    """Squared loss on ±1 targets, one class against the rest."""

    def _loss(self, n_outputs: int) -> Loss:
        return Squared()

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Go on learning from more rows, in the order given.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All labels that may occur; used in the first call. Default: those of the first batch.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes=classes)
