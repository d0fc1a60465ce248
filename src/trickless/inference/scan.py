r"""Windows of the latest rows of a stream, each compared with a reference by permutations.

The levels of the tests up to row T sum to :math:`T / 2R` for a ``run_length`` of R. By the union
bound, which allows all tests to use the same reference, the average run length is at least

.. math:: \sum_{t \ge 0} P(\text{no alarm up to row } t) \ge \int_0^{2R} (1 - t / 2R) \, dt = R.

:class:`~trickless.inference.DriftDetector` has the rest of the argument, and the papers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from trickless._arrays.stated import Array, Count, Stated, Within, check_count, check_same, stated
from trickless._functions.stream import Purpose, Seed, generator
from trickless.inference.covariances import row_squares
from trickless.inference.dependence import number_at_least
from trickless.inference.features import WhitenedFeatures

#: The least rows of a window, and the share of a window after which it is tested again.
LEAST, _SHARE = 10, 0.25
#: How many permutations may reach the statistic of a test that rejects, at least.
_EXCEEDING = 1
#: Levels times numbers of permutations are integers up to this share.
_ROUNDING = 1e-9
#: The most permutations of a test. Tests are rarer if their level would need more.
_MOST_PERMUTATIONS = 2**18


class WindowSchedule(NamedTuple):
    """When windows of a size are tested: after every ``every`` rows, at a level."""

    size: int
    every: int
    level: float

    def n_orders(self, n_groups: int) -> int:
        """Return how many orders of the rows, each of so many groups, the level needs."""
        return int(np.ceil((1 + _EXCEEDING) / (self.level * n_groups)))


@stated
class Drift(NamedTuple):
    """A change that a :class:`~trickless.inference.DriftDetector` detected.

    Attributes
    ----------
    row : int
        Number of the row at which the change was detected. The first row of the stream is 0.
    change_row : int
        Estimate of the first row after the change. It is at most ``window_size`` − 1 rows before
        ``row``.
    window_size : int
        Number of rows of the window that differs from the reference.
    statistic : float
        Squared distance between the mean whitened features of the window and of the reference.
    pvalue : float
        P-value of the permutations of this window alone.
    """

    row: int
    change_row: int
    window_size: int
    statistic: float
    pvalue: float


def schedules(window_size: int, run_length: int) -> list[WindowSchedule]:
    """Plan the tests of windows of ``window_size`` rows, half as many, and so on.

    The levels of all tests up to any row sum to at most its number divided by 2 ``run_length``.
    """
    sizes = [window_size]
    while sizes[-1] // 2 >= LEAST:
        sizes.append(sizes[-1] // 2)
    per_row = 1 / (2 * run_length * len(sizes))
    rarest = int(np.ceil((1 + _EXCEEDING) / (per_row * _MOST_PERMUTATIONS)))
    every = [max(1, int(_SHARE * size), rarest) for size in sizes]
    return [
        WindowSchedule(n, k, k * per_row) for n, k in zip(sizes[::-1], every[::-1], strict=True)
    ]


@dataclass(eq=False, repr=False)
class Scan(Stated):
    """Tests of the latest rows against a reference.

    ``reference`` has the features of the reference, and ``recent`` of the latest rows, as many as
    the largest window or fewer. ``n_seen`` counts the rows since the last alarm.
    """

    features: WhitenedFeatures
    reference: Annotated[np.ndarray, Array("f8", None, "n_columns")]
    window_size: Annotated[int, Within(LEAST)]
    run_length: Count
    seed: Seed
    recent: Annotated[np.ndarray, Array("f8", "n_recent", "n_columns")] = field(init=False)
    n_seen: Count = 0

    def __post_init__(self) -> None:
        self.recent = np.empty((0, self.reference.shape[1]))

    def check_state(self) -> None:
        check_count("run_length", self.run_length, self.window_size)
        check_count("n_seen", self.n_seen, len(self.recent))
        n_columns = self.features.whitener.shape[1]
        check_same("columns of reference", self.reference.shape[1], n_columns)

    def see(self, Z: np.ndarray, first: int) -> tuple[int, tuple[Drift, np.ndarray] | None]:
        """Test the windows that end in new rows, up to the first alarm.

        ``first`` is the number of the first row in the stream, from which the permutations are
        drawn. Returns how many rows were seen, and the change with the change of mean features.
        """
        plan = schedules(self.window_size, self.run_length)
        rows, before = np.concatenate([self.recent, Z]), len(self.recent)
        for k in range(1, len(Z) + 1):
            end, row = before + k, first + k - 1
            for which, schedule in enumerate(plan):
                if self.n_seen + k < schedule.size or (self.n_seen + k) % schedule.every:
                    continue
                window = rows[end - schedule.size : end]
                found = self._test(window, schedule, row * len(plan) + which)
                if found is not None:
                    latest = rows[max(0, end - self.window_size) : end]
                    n_changed, difference = self._changed(latest, schedule.size)
                    self.recent, self.n_seen = self.recent[:0], 0
                    drift = Drift(row, row + 1 - n_changed, schedule.size, *found)
                    return k, (drift, difference)
        self.recent = rows[max(0, len(rows) - self.window_size) :].copy()
        self.n_seen += len(Z)
        return len(Z), None

    def _test(
        self, window: np.ndarray, schedule: WindowSchedule, index: int
    ) -> tuple[float, float] | None:
        """Return the statistic and the p-value of a window if the test rejects, or else None.

        Each of several orders of the pooled rows, of which the given one is the first, is cut into
        groups of the size of the window. All count as permutations: the p-value stays exact, since
        shifts by whole groups are a group of permutations. The random numbers belong to the
        ``index`` of the test, which ends once it cannot reject any more.
        """
        n, m = len(window), len(self.reference)
        rows = np.concatenate([window, self.reference])
        rows -= rows.mean(axis=0)
        n_groups = (n + m) // n
        n_orders = schedule.n_orders(n_groups)
        most = schedule.level * n_orders * n_groups * (1 + _ROUNDING)
        scale, statistic, reaching = row_squares(rows).sum(), 0.0, 0
        rng = generator(self.seed, Purpose.PERMUTATIONS, index)
        for i in range(n_orders):
            ordered = rows[rng.permutation(n + m)] if i else rows
            groups = ordered[: n_groups * n].reshape(n_groups, n, -1).sum(axis=1)
            squares = row_squares(groups)
            statistic = statistic if i else squares[0]
            reaching += number_at_least(squares, statistic, scale)
            if reaching > most:
                return None
        return float(statistic) * (1 / n + 1 / m) ** 2, reaching / (n_orders * n_groups)

    def _changed(self, rows: np.ndarray, size: int) -> tuple[int, np.ndarray]:
        """Return the latest rows that differ most from the reference, and how their mean differs.

        The number k of rows since the change maximises the squared norm of the difference times k m
        / (k + m), as in the estimate of Brodsky and Darkhovsky. It is at least a share of the
        window that differs, since few rows are far away by chance.
        """
        k, m = np.arange(1, len(rows) + 1), len(self.reference)
        differences = np.cumsum(rows[::-1], axis=0) / k[:, None] - self.reference.mean(axis=0)
        gains, least = row_squares(differences) * (k * m / (k + m)), int(_SHARE * size)
        best = least + int(np.argmax(gains[least:]))
        return best + 1, differences[best]
