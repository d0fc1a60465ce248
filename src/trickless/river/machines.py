"""Kitchen Sinks on one stream with several half-lives, which share their activations."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from trickless.arrays.threads import linear_algebra
from trickless.river.rows import one_thread
from trickless.solvers.experts.recursion import faded_sums

#: Ridges, relative to the variance of the noise over that of the function.
RIDGES = 0.03, 1.0
#: Rows that wait for the longest half-lives.
WAITING = 256
#: Machines with a longer half-life begin after so many rows, and copy the next shorter one before.
_SHORT = 500.0
WAKES = 256
#: A machine is solved again after this share of its half-life, or of the rows so far.
_SHARE = 16


class Machine:
    """Sums of one half-life, and its coefficients for each ridge.

    Attributes
    ----------
    places : array of int
        Which of the activations it uses.
    gram, moments : arrays
        Σ w z zᵀ, of which only the lower triangle is kept, and Σ w z yᵀ.
    """

    places: np.ndarray

    def __init__(self, half_life: float, n_neurons: int) -> None:
        self.half_life, self.n_neurons = half_life, n_neurons
        self.gram, self.moments = np.zeros((0, 0)), np.zeros((0, 0))
        self.n_learned = 0  # of the rows that wait
        self.due = 0  # after how many rows it is solved again

    def every(self, n_rows: int) -> int:
        """Return after how many rows the machine is solved again."""
        least = 1 if n_rows < 64 else 8
        return int(min(WAITING, max(least, min(self.half_life, n_rows) // _SHARE)))

    def learn(self, Z: np.ndarray, targets: np.ndarray) -> None:
        """Add rows to the sums."""
        kept = 0.5 ** (np.arange(len(Z), -1, -1) / self.half_life)
        self.gram, self.moments = faded_sums(self.gram, self.moments, kept[0], Z, targets, kept[1:])

    def solve(self, ridge: np.ndarray) -> np.ndarray:
        """Return coefficients of shape (n_outputs, n_columns)."""
        system = self.gram.copy()
        system.flat[:: len(system) + 1] += ridge
        _, coef, info = lapack.dposv(system.T, self.moments)
        if info != 0:  # targets or sums beyond the precision of floats
            coef = np.linalg.lstsq(system + np.tril(system, -1).T, self.moments)[0]
        return coef.T

    def grow(self, n_neurons: int, width: int, n_outputs: int) -> None:
        """Make room for new activations and outputs, which were 0 before."""
        some = np.arange(self.n_neurons)
        linear = np.arange(2 * n_neurons + 1, width)
        # The constant, the first cosines and sines, and all columns.
        self.places = np.concatenate([[0], 1 + some, 1 + n_neurons + some, linear])
        more, others = len(self.places) - len(self.gram), n_outputs - self.moments.shape[1]
        self.gram = np.pad(self.gram, (0, more))
        self.moments = np.pad(self.moments, ((0, more), (0, others)))


class Machines:
    """The machines of all half-lives, and some that step towards each row at once.

    These take steps of normalised least mean squares [1]_, which suit streams whose rows
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
        Coefficients of all activations, for each machine and ridge, and then for each step.

    References
    ----------
    .. [1] S. Haykin, "Adaptive filter theory", 5th edition, 2014, Table 7.1.
    """

    def __init__(
        self, half_lives: tuple[float, ...], n_neurons: int, steps: tuple[float, ...] = ()
    ) -> None:
        half_lives = tuple(sorted(float(h) for h in half_lives))
        self.n_neurons, self.n_rows, self.n_waiting = n_neurons, 0, 0
        sizes = [
            min(n_neurons, n_neurons if h > 2000 else n_neurons // 2 if h > 200 else 16)
            for h in half_lives
        ]
        self.machines = [Machine(h, max(1, m)) for h, m in zip(half_lives, sizes, strict=True)]
        self.steps, self.n_solved = np.array(steps), len(self.machines) * len(RIDGES)
        self.n_experts = self.n_solved + len(steps)
        self.coef = np.zeros((self.n_experts, 0, 0))
        self.waiting, self.targets = np.zeros((WAITING, 0)), np.zeros((WAITING, 0))

    def grow(self, penalties: np.ndarray, n_outputs: int) -> None:
        """Make room for new activations, which come last, and outputs."""
        width = len(penalties)
        self._learn_all()
        self.penalties = penalties
        more, others = width - self.coef.shape[2], n_outputs - self.coef.shape[1]
        self.coef = np.pad(self.coef, ((0, 0), (0, others), (0, more)))
        self.waiting, self.targets = np.zeros((WAITING, width)), np.zeros((WAITING, n_outputs))
        for machine in self.machines:
            machine.grow(self.n_neurons, width, n_outputs)

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
        due = [machine for machine in self._awake() if self.n_rows >= machine.due]
        if due or self.n_waiting == WAITING:
            with linear_algebra(1):
                for machine in due:
                    self._learn(machine)
                if self.n_waiting == WAITING:
                    self._learn_all()

    def start_over(self, Z: np.ndarray, targets: np.ndarray) -> None:
        """Forget all rows, and learn these."""
        self.n_waiting, self.n_rows = 0, len(Z)
        for machine in self.machines:
            machine.gram[:], machine.moments[:], machine.n_learned = 0.0, 0.0, 0
        self.coef[self.n_solved :] = 0.0
        for z, target in zip(Z, targets, strict=True):
            self._step(z, target)
        with linear_algebra(1):
            for machine in self._awake():
                machine.learn(Z[:, machine.places], targets)
                self._solve(machine)

    def _step(self, z: np.ndarray, target: np.ndarray) -> None:
        """Step towards the target of a row: w ← w + μ e z / |z|²."""
        if not len(self.steps):
            return
        coef = self.coef[self.n_solved :]
        sizes = self.steps[:, None] * (target - coef @ z) / (z @ z)
        coef += sizes[:, :, None] * z

    def _awake(self) -> list[Machine]:
        if self.n_rows >= WAKES:
            return self.machines
        return [m for m in self.machines if m.half_life <= _SHORT] or self.machines[:1]

    def _learn(self, machine: Machine) -> None:
        rows = slice(machine.n_learned, self.n_waiting)
        if rows.start == rows.stop:
            return
        machine.learn(self.waiting[rows][:, machine.places], self.targets[rows])
        machine.n_learned = self.n_waiting
        self._solve(machine)

    def _learn_all(self) -> None:
        """Learn all rows that wait, and empty their buffer."""
        for machine in self._awake():
            self._learn(machine)
        for machine in self.machines:
            machine.n_learned = 0
        self.n_waiting = 0

    def _solve(self, machine: Machine) -> None:
        machine.due = self.n_rows + machine.every(self.n_rows)
        places = machine.places
        awake = self._awake()
        # Those that still sleep say what the longest half-life that is awake says.
        followers = self.machines[len(awake) :] if machine is awake[-1] else []
        for r, ridge in enumerate(RIDGES):
            coef = machine.solve(ridge * self.penalties[places])
            for each in (machine, *followers):
                place = self.machines.index(each) * len(RIDGES) + r
                self.coef[place] = 0.0
                self.coef[place][:, places] = coef
