"""The coefficients of an online expansion: they shrink as a whole, and are averaged over rounds."""

from __future__ import annotations

from copy import copy
from typing import Annotated

import numpy as np

from trickless._arrays.growing import Growing
from trickless._arrays.stated import (
    Amount,
    Array,
    Count,
    Stated,
    check_array,
    check_count,
)
from trickless._solvers.clock import SPAN
from trickless._solvers.outputs import NewOutputs

#: What a shrink divides coefficients by.
SHRINK_BY = 4


class Coefficients(Stated):
    """Coefficients α that shrink as a whole, and their average over rounds.

    Neither a shrink nor a round touches the coefficients, however many there are. Rounds are
    counted in epochs, separately for each output. A shrink ends an epoch. A coefficient is kept as
    it was when it was appended, with the epoch and the number of rounds in that epoch so far, so
    its current value is α 4^-(epochs since). Its sum over rounds is α times a sum of rounds with
    the same weights.

    When a compression replaces the support points, coefficients start over.

    If they fade, a coefficient also keeps when it was appended, in half-lives. A round s half-lives
    ago has the weight 2^−s in the average, and a coefficient was 2^s times as large then. Its sum
    over rounds is therefore again its current value times a number of rounds.
    """

    n_rounds: Count
    _rounds_of_epoch: list[list[int]]
    _alpha: Annotated[Growing, Array("f4 f8", "n_support", "n_outputs")]
    _epoch: Annotated[Growing, Array("i8", "n_support", "n_outputs", least=0)]
    _round: Annotated[Growing, Array("i8", "n_support", "n_outputs", least=0)]
    _past: Annotated[np.ndarray, Array("f4 f8", None, "n_outputs")]
    _n_past: Amount
    _n_averaged: Amount
    # Until anything fades:
    _time: Amount = 0.0
    _born: Annotated[Growing, Array("f8", "n_support", least=0)] | None = None
    _counted: Amount | None = None

    def __init__(self, n_outputs: int) -> None:
        self.n_rounds = 0
        self._begin(np.zeros((0, n_outputs)))

    def check_state(self) -> None:
        for epochs, rounds in zip(self._epoch.rows.T, self._rounds_of_epoch, strict=True):
            check_array("_epoch", epochs, "i8", (None,), 0, len(rounds))
        check_count("rows of _past", len(self._past), 0, len(self._alpha))

    @property
    def n_outputs(self) -> int:
        """Number of coefficients of each support point."""
        return len(self._rounds_of_epoch)

    def _begin(self, alpha: np.ndarray) -> None:
        """Begin to count rounds, with some coefficients."""
        self._alpha, self._epoch, self._round = Growing(), Growing(), Growing()
        self._rounds_of_epoch = [[0] for _ in range(alpha.shape[1])]
        self._n_averaged = 0
        self._past = alpha[:0]  # the average over rounds before, and how many
        self._n_past = 0
        self._born = None if self._born is None else Growing()
        self.append(alpha)

    def __len__(self) -> int:
        return len(self._alpha)

    def fork(self) -> Coefficients:
        """Coefficients that continue from these, and leave these unchanged."""
        other = copy(self)
        for name in ("_alpha", "_epoch", "_round"):
            setattr(other, name, getattr(self, name).fork())
        other._born = None if self._born is None else self._born.fork()
        other._rounds_of_epoch = [list(rounds) for rounds in self._rounds_of_epoch]
        return other

    def with_outputs(self, new: NewOutputs) -> Coefficients:
        """Coefficients of the same support points for other targets."""
        other = self.fork()
        other._alpha = self._alpha.mapped(new.of_differences)
        other._epoch, other._round = (
            each.mapped(new.of_each) for each in (self._epoch, self._round)
        )
        other._rounds_of_epoch = [list(self._rounds_of_epoch[output]) for output in new.source]
        other._past = new.of_differences(self._past)
        return other

    def count_rounds(self, n: int) -> None:
        """Count n rounds with the current coefficients."""
        self.n_rounds += n
        self._n_averaged += n
        if self._counted is not None:
            self._counted += n
        for rounds in self._rounds_of_epoch:
            rounds[-1] += n

    def append(self, alpha: np.ndarray) -> None:
        """Append coefficients of new support points, shape (n, n_outputs)."""
        self._alpha.append(alpha)
        self._epoch.append(np.tile(self._now(), (len(alpha), 1)))
        self._round.append(np.tile([r[-1] for r in self._rounds_of_epoch], (len(alpha), 1)))

        if self._born is not None:
            self._born.append(np.full(len(alpha), self._time))

    @property
    def n_counted(self) -> float:
        """Rounds so far, by the shares that they still have."""
        return self.n_rounds if self._counted is None else self._counted

    def fade(self, half_lives: float) -> None:
        """Multiply all coefficients, and the weights of all rounds, by 2^−half_lives."""
        if self._born is None:
            self._born = Growing()
            self._born.append(np.zeros(len(self)))
        kept = float(np.exp2(-half_lives))
        self._time += half_lives
        self._counted = self.n_counted * kept
        self._n_averaged, self._n_past = self._n_averaged * kept, self._n_past * kept

    @property
    def n_faded(self) -> int:
        """How many coefficients, the first ones, have faded away."""
        if self._born is None:
            return 0
        return int(np.searchsorted(self._born.rows, self._time - SPAN))

    def drop(self, n: int) -> None:
        """Drop the first n coefficients."""
        index = np.arange(n, len(self))
        for each in (self._alpha, self._epoch, self._round, self._born):
            if each is not None:
                each.keep(index)
        self._past = self._past[n:]

    def shrink(self, outputs: np.ndarray) -> None:
        """Divide the coefficients of the outputs that are marked."""
        for output in np.flatnonzero(outputs):
            self._rounds_of_epoch[output].append(0)

    def keep(self, index: np.ndarray, factor: np.ndarray) -> None:
        """Keep some of the coefficients, each times a factor, and average over rounds from now."""
        self._begin(self.last()[index] * factor[:, None])

    def settle(self, last: np.ndarray, average: np.ndarray) -> None:
        """Continue with other support points: coefficients of the last f, and of the average."""
        n_past = self._n_past + self._n_averaged
        self._begin(last)
        self._past, self._n_past = average, n_past

    @property
    def n_settled(self) -> int:
        """How many support points there were when the average so far was set."""
        return len(self._past)

    def last(self) -> np.ndarray:
        """Coefficients after the last round."""
        last = self._alpha.rows * float(SHRINK_BY) ** (self._epoch.rows - self._now())
        return last if self._born is None else last * self._shares()[:, None]

    def average(self) -> np.ndarray:
        """Coefficients averaged over the rounds, each as it was before the round."""
        if self._n_averaged + self._n_past == 0:
            return self.last()
        average = np.empty_like(self._alpha.rows)
        for output, rounds in enumerate(self._rounds_of_epoch):
            later = np.zeros(len(rounds))  # rounds after an epoch's end, in units of its scale
            for end in range(len(rounds) - 1, 0, -1):
                later[end - 1] = (rounds[end] + later[end]) / SHRINK_BY
            epoch = self._epoch.rows[:, output]
            weighted = np.asarray(rounds)[epoch] - self._round.rows[:, output] + later[epoch]
            average[:, output] = self._alpha.rows[:, output] * weighted
        if self._born is not None:
            average *= self._shares()[:, None]
        average[: len(self._past)] += self._past * self._n_past
        return average / (self._n_averaged + self._n_past)

    def appended(self) -> np.ndarray:
        """Coefficients as they were when each of them was appended."""
        return self._alpha.rows

    def epochs(self) -> np.ndarray:
        """Return how often the coefficients had shrunk when each of them was appended."""
        return self._epoch.rows

    def _shares(self) -> np.ndarray:
        """Return what is left of each coefficient."""
        assert self._born is not None
        return np.exp2(self._born.rows - self._time)

    def _now(self) -> np.ndarray:
        """Return the current epoch of each output."""
        return np.array([len(rounds) - 1 for rounds in self._rounds_of_epoch])
