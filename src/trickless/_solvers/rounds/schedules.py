"""Sizes of steps and batches in the rounds of an online learner."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._errors import InvalidValueError
from trickless._rules import MOST
from trickless._solvers.clock import BATCH
from trickless.theory import shrinking_gradient_constants, shrinking_gradient_draws
from trickless.theory.shrinking_gradient import ShrinkingGradientConstants

#: Decaying schedules take at most half of the step that would fit a row exactly.
LARGEST_STEP = 1 / 2
#: Rounds with more draws, or estimates of a kernel, than this raise an error.
MOST_DRAWS = 10**9
#: Share by which rounding may put the kernel of a bound of 1, or a product, above 1.
_ROUNDING = 1e-9
#: The least sum of steps that is divided by.
_TINY = 1e-300


class Schedule(NamedTuple):
    """Steps η_t and sizes of batches, by the learner's parameters.

    The learner competes with functions of norm up to B, ``norm_bound``. ``horizon`` is the number
    of rounds that the schedules "theorem" and "theorem-fixed" are for. Rows lose half of their
    weight within ``half_life`` rows.
    """

    owner: str
    name: str
    step_size: float | str
    batch_size: int | str
    norm_bound: float
    horizon: int | None
    half_life: float | None = None

    @property
    def is_theorem(self) -> bool:
        """Whether Theorem 1 prescribes the steps."""
        return self.name in ("theorem", "theorem-fixed")

    @property
    def constants(self) -> ShrinkingGradientConstants:
        """The step and the number of draws that Theorem 1 prescribes."""
        assert self.horizon is not None
        return shrinking_gradient_constants(self.horizon, self.norm_bound)

    def draws(self, half_range: float, n_outputs: int) -> int:
        """Draws of a round by Theorem 1, if a draw lies between -half_range and half_range.

        The schedule "theorem" makes as many as the round needs. "theorem-fixed" makes as many as
        the worst case of each output needs, since draws for several outputs have a wider range.
        """
        assert self.horizon is not None
        if self.name == "theorem":
            m = shrinking_gradient_draws(half_range, self.horizon, self.norm_bound)
        else:
            m = self.constants.n_draws * n_outputs
        self.check_draws(m)
        return m

    def step(self, t: float, largest: float, square: float = 1.0) -> float:
        """Size of the step of round t, counted from 1; decaying ones are at most ``largest``.

        An automatic step is ``norm_bound / 2`` for neurons with k(x, x) = 1. They are neurons with
        k(x, x) = ``square`` over its square root.

        With a half-life, t counts rounds by the shares that they still have, so that steps fall to
        those of about 1.44 half-lives, and not further.
        """
        if self.is_theorem:
            return self.constants.step_size
        auto = isinstance(self.step_size, str)
        first = self.norm_bound / (2 * square) if auto else float(self.step_size)
        if self.name == "constant":
            return first
        return min(first / (np.sqrt(t) if self.name == "sqrt" else t), largest)

    def total(self, n_rounds: int, largest: float) -> float:
        """Approximate sum of the steps of ``n_rounds`` rounds. Its inverse is like a ridge."""
        if self.name == "sqrt":
            return self.step(1, largest) * 2 * float(np.sqrt(n_rounds))
        if self.name == "inverse":
            return self.step(1, largest) * (1 + float(np.log(n_rounds)))
        return self.step(1, largest) * n_rounds

    def batch_rows(self, n_rounds: int, step: float, square: float) -> int:
        """Rows of the next batch, after ``n_rounds`` rounds, if k(x, x) ≤ ``square``."""
        if self.is_theorem:
            return 1
        if not isinstance(self.batch_size, str):
            return min(self.batch_size, self._lasting)
        stable = max(1, int(min(1 / max(step * square, _TINY), MOST) + _ROUNDING))
        # The average counts a batch from its end on, so no batch may be most of the rows.
        return min(stable, max(2, n_rounds), self._lasting)

    @property
    def _lasting(self) -> int:
        """The most rows that may fade together."""
        return MOST if self.half_life is None else max(1, int(BATCH * self.half_life))

    def check_step(self, step: float, n_rows: int, square: float) -> None:
        """Raise an error for batches whose steps sum to more than is stable."""
        limit = 1 / square
        if step * n_rows > limit * (1 + _ROUNDING):
            raise InvalidValueError(
                f"{self.owner}: batch_size={self.batch_size!r} with steps up to {step:g} lets the "
                f"summed step of a batch reach {step * n_rows:g}, and above {limit:g} it may "
                "diverge",
                f"batch_size='auto', or a step_size of at most {limit / n_rows:g}",
            )

    def check_theorem(self, n_rounds: int, square_bound: float) -> None:
        """Raise an error if Theorem 1 does not apply; ``n_rounds`` includes rounds to come."""
        assert self.horizon is not None
        if n_rounds > self.horizon:
            raise InvalidValueError(
                f"{self.owner}: horizon={self.horizon}, but with this batch there are {n_rounds} "
                "rows, and the guarantee ends with the horizon",
                "a larger horizon from the start, or schedule='sqrt'",
            )
        if self.name == "theorem-fixed":
            self.check_draws(self.constants.n_draws)
        if square_bound > 1 + _ROUNDING:
            raise InvalidValueError(
                f"{self.owner}: schedule={self.name!r} with neurons of bound "
                f"{square_bound**0.5:g}, but the theorem holds for a bound of 1",
                "scale the activations or the kernel, or schedule='sqrt'",
            )

    def check_draws(self, n_draws: int) -> None:
        """Raise an error for rounds of Theorem 1 whose draws would take hours each."""
        if n_draws > MOST_DRAWS:
            raise InvalidValueError(
                f"{self.owner}: schedule={self.name!r} with horizon={self.horizon!r} and "
                f"norm_bound={self.norm_bound!r} asks for {n_draws:,} draws in a round, but the "
                f"limit is {MOST_DRAWS:,}",
                "schedule='theorem' instead of 'theorem-fixed', "
                "a smaller horizon or norm_bound, or schedule='sqrt', which makes n_draws draws",
            )
