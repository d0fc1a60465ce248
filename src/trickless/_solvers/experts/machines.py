"""Machines of several half-lives that are asked after each row, and solved when it is time."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from trickless._solvers.experts.growing_features import KEPT, one_thread
from trickless._solvers.experts.recursion import faded_sums

#: Ridges, relative to the variance of the noise over that of the function.
RIDGES = 0.03, 1.0
#: The most rows that wait.
WAITING = 256
#: Half-lives up to which a machine is solved often among the first rows.
_SHORT = 500.0
#: A machine is solved again after this share of its half-life, or of the rows so far.
_SHARE = 16


class Machines:
    """Faded sums for each half-life, and machines that step towards each row at once.

    A machine uses the first of the activations, and more of them if its half-life is long. Rows
    wait in one buffer for all machines. Normalised least mean squares [1]_ suits streams whose rows
    resemble their neighbours.

    Parameters
    ----------
    half_lives : tuple of float
        Half-lives in rows.
    n_neurons : int
        Number of neurons of long half-lives.
    steps : tuple of float
        Sizes of the steps. A step of 1 would leave no error at the row that was learned.

    Attributes
    ----------
    n_rows : int
        Number of rows so far.
    coef : array of shape (n_experts, n_outputs, width)
        Coefficients of all activations, for each half-life and ridge, and then for each step.

    References
    ----------
    .. [1] S. Haykin, "Adaptive filter theory", 5th edition, 2014, Table 7.1.
    """

    def __init__(
        self, half_lives: tuple[float, ...], n_neurons: int, steps: tuple[float, ...] = ()
    ) -> None:
        self.half_lives, self.n_neurons = sorted(map(float, half_lives)), n_neurons
        self.steps, self.n_solved = np.array(steps), len(half_lives) * len(RIDGES)
        self.n_experts = self.n_solved + len(steps)
        self.coef = np.zeros((self.n_experts, 0, 0))
        self.n_rows = self.n_waiting = 0
        n = len(half_lives)
        self.waiting = self.targets = np.zeros((WAITING, 0))
        self.due, self.learned = [0] * n, [0] * n
        self.places = [np.zeros(0, int)] * n
        self.sums = [(np.zeros((0, 0)), np.zeros((0, 0)))] * n

    def every(self, half_life: float) -> int:
        """Return after how many rows a machine is solved again.

        Among the first rows, which are learned again and again, those with many activations wait
        until then, unless it is the only one.
        """
        if self.n_rows < KEPT and half_life > max(_SHORT, self.half_lives[0]):
            return WAITING
        least = 1 if self.n_rows < 64 else 8
        return int(min(WAITING, max(least, min(half_life, self.n_rows) // _SHARE)))

    def grow(self, penalties: np.ndarray, n_outputs: int) -> None:
        """Make room for new activations, which come last, and outputs, which were 0 before."""
        m, width = self.n_neurons, len(penalties)
        self.penalties = penalties
        self.coef = _padded(self.coef, self.n_experts, n_outputs, width)
        self.waiting = _padded(self.waiting, WAITING, width)
        self.targets = _padded(self.targets, WAITING, n_outputs)
        for i, half_life in enumerate(self.half_lives):
            few = max(1, m if half_life > 2000 else m // 2 if half_life > 200 else min(16, m))
            # The constant, the first cosines and sines, and all columns.
            places = np.r_[0, 1 : 1 + few, 1 + m : 1 + m + few, 1 + 2 * m : width]
            gram, cross = self.sums[i]
            self.places[i], n = places, len(places)
            self.sums[i] = _padded(gram, n, n), _padded(cross, n, n_outputs)

    def outputs(self, z: np.ndarray) -> np.ndarray:
        """Return what each machine predicts for a row, shape (n_experts, n_outputs)."""
        n_experts, n_outputs, width = self.coef.shape
        with one_thread(self.coef.size):
            return (self.coef.reshape(-1, width) @ z).reshape(n_experts, n_outputs)

    def learn(self, z: np.ndarray, target: np.ndarray) -> None:
        """Add a row, and solve those machines whose turn it is."""
        self.waiting[self.n_waiting], self.targets[self.n_waiting] = z, target
        self.n_waiting += 1
        self.n_rows += 1
        self._step(z, target)
        for i, due in enumerate(self.due):
            if self.n_rows >= due:
                self._learn(i)
        if self.n_waiting == WAITING:
            self._learn_all()

    def start_over(self, Z: np.ndarray, targets: np.ndarray) -> None:
        """Forget all rows, and learn these."""
        self.coef[:] = 0.0
        self.sums = [(np.zeros_like(gram), np.zeros_like(cross)) for gram, cross in self.sums]
        self.n_rows = self.n_waiting = len(Z)
        self.waiting[: len(Z)], self.targets[: len(Z)] = Z, targets
        for z, target in zip(Z, targets, strict=True):
            self._step(z, target)
        self.learned = [0] * len(self.half_lives)
        self._learn_all()

    def _step(self, z: np.ndarray, target: np.ndarray) -> None:
        """Step towards the target of a row: w ← w + μ e z / |z|²."""
        if not len(self.steps):
            return
        coef = self.coef[self.n_solved :]
        sizes = self.steps[:, None] * (target - coef @ z) / (z @ z)
        coef += sizes[:, :, None] * z

    def _learn_all(self) -> None:
        """Learn all rows that wait, and empty their buffer."""
        for i in range(len(self.sums)):
            self._learn(i)
        self.learned, self.n_waiting = [0] * len(self.half_lives), 0

    def _learn(self, i: int) -> None:
        """Let a machine learn the rows that wait for it, and solve it."""
        rows, places = slice(self.learned[i], self.n_waiting), self.places[i]
        self.due[i], self.learned[i] = self.n_rows + self.every(self.half_lives[i]), self.n_waiting
        if rows.start == rows.stop:
            return
        Z, targets = self.waiting[rows][:, places], self.targets[rows]
        kept = 0.5 ** (np.arange(len(Z), -1, -1) / self.half_lives[i])
        with one_thread(len(places) ** 2):
            self.sums[i] = gram, cross = faded_sums(*self.sums[i], kept[0], Z, targets, kept[1:])
            for r, ridge in enumerate(RIDGES, i * len(RIDGES)):
                system = gram.copy()
                system.flat[:: len(system) + 1] += ridge * self.penalties[places]
                self.coef[r][:, places] = lapack.dposv(system.T, cross)[1].T


def _padded(array: np.ndarray, *shape: int) -> np.ndarray:
    """Return an array with zeros behind its entries, of a given shape."""
    return np.pad(array, [(0, new - old) for old, new in zip(array.shape, shape, strict=True)])
