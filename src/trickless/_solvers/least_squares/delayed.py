"""A solution that follows new rows one by one, at the alpha that was chosen last.

Solving from scratch takes of the order of c³ operations for c columns, with many more if alpha is
chosen. Recursive least squares takes c² a row. Until the next solution, the ridge fades like the
rows.
"""

from __future__ import annotations

from copy import copy
from typing import Annotated

import numpy as np

from trickless._arrays.stated import (
    Amount,
    Array,
    Count,
    Stated,
)
from trickless._solvers.calibration import Temperatures
from trickless._solvers.experts.recursion import Recursion
from trickless._solvers.least_squares.paths import Solution
from trickless._solvers.least_squares.statistics import Statistics

#: The most rows for which alpha stays; before that, until there are twice as many rows.
MOST_ROWS = 1024
#: The most rows between factorisations at the same alpha.
MOST_PENDING = 256
#: The most weight of rows since the factorisation, as a share of the weight then. It leaves the
#: ridge for the mean loss at 71 %.
MOST_GROWTH = 0.4 - 1e-6  # whichever way 0.4 is summed up
#: Half-lives after which earlier rows are as good as gone until the next factorisation.
_FAR = 20.0


class Delayed(Stated):
    """Machines that start from sums over rows, one for each ridge, with the sums as their prior.

    Parameters
    ----------
    statistics : Statistics
        Sums over the rows so far, of a weight above 0.
    ridges : array of shape (n_outputs,)
        Ridges for the mean loss.
    intercept : bool
    left : int
        Number of rows for which these ridges stay.
    temperatures : tuple of float, optional
        Temperatures of probabilities, which stay as well.

    Attributes
    ----------
    now : float
        Half-lives since the factorisation.
    weight : float
        Sum of the weights of the rows then.
    grown : float
        The same of the rows since, at the age that they had then, divided by ``weight``.
    """

    ridges: Annotated[np.ndarray, Array("f8", "n_outputs", least=0)]
    which: Annotated[np.ndarray, Array("i8", "n_outputs", least=0)]
    left: Count
    temperatures: Temperatures | None
    now: Amount
    grown: Amount
    weight: Amount
    machines: Recursion

    def __init__(
        self,
        statistics: Statistics,
        ridges: np.ndarray,
        intercept: bool,
        left: int,
        temperatures: Temperatures | None = None,
    ) -> None:
        self.ridges, self.left, self.temperatures = ridges, left, temperatures
        each, self.which = np.unique(ridges, return_inverse=True)
        self.now, self.grown, self.weight = 0.0, 0.0, statistics.weight
        gram = statistics.gram if statistics.kept is None else statistics.products()
        cross = statistics.cross
        if intercept:
            z_sum = statistics.z_sum[:, None]
            gram = np.block([[gram, z_sum], [z_sum.T, np.array([[statistics.weight]])]])
            cross = np.vstack([cross, statistics.y_sum])
        ridge = each[None] * statistics.weight
        machines = Recursion(np.ones(1), ridge, gram[None], cross[None], intercept, free=0.0)
        self.machines = machines.without_sums()

    def check(self, n_columns: int, n_outputs: int) -> None:
        """Raise a ValueError if these are not machines of such sizes."""
        n_machines = int(self.which.max(initial=0)) + 1
        size = n_columns + self.machines.intercept
        self.machines.check(size, 1, n_machines, n_outputs)

    def n_to_learn(self, weight: np.ndarray, passed: np.ndarray) -> int:
        """Return how many of some rows can be learned before the next factorisation."""
        room = min(MOST_PENDING - self.machines.n_pending, self.left)
        full = self._growth(weight[:room], self.now + passed[:room]) >= MOST_GROWTH
        return int(full.argmax()) + 1 if full.any() else len(full)

    @property
    def is_full(self) -> bool:
        """Whether it is time to factorise again."""
        return self.grown >= MOST_GROWTH or self.machines.n_pending >= MOST_PENDING

    def _growth(self, weight: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return ``grown`` after each of some rows."""
        aged = weight * np.exp2(np.minimum(times, _FAR))
        return self.grown + np.cumsum(aged) / self.weight

    def learn(
        self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, passed: np.ndarray
    ) -> tuple[Delayed, np.ndarray]:
        """Return the machines after some rows, and how they predicted each of them before.

        Parameters
        ----------
        Z, Y : arrays
            Activations, and targets minus the origin of the sums.
        weight : array of shape (n_rows,)
        passed : array of shape (n_rows,)
            Half-lives between the latest row so far and each row.
        """
        other = copy(self)
        other.machines = self.machines.fork()
        times = self.now + passed
        ahead = other.machines.learn(Z, Y, np.minimum(times, _FAR), weight)
        other.now, other.grown = float(times[-1]), float(self._growth(weight, times)[-1])
        other.left = self.left - len(Y)
        outputs = np.arange(len(self.which))
        return other, ahead.mean[self.which, :, outputs].T

    def solution(self, statistics_mean: np.ndarray) -> Solution:
        """Return the present coefficients, for targets whose origin is given."""
        coef = self.machines.current()[self.which, :, np.arange(len(self.which))].T
        if not self.machines.intercept:
            return Solution(coef, np.zeros(coef.shape[1]), self.ridges)
        return Solution(coef[:-1], coef[-1] + statistics_mean, self.ridges)
