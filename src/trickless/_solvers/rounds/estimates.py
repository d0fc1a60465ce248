"""Estimates of the value of an expansion at a row, for the rounds of Algorithm 1.

They come from neurons drawn for one round alone (``Drawn``: Algorithm 2 and extensions), from noisy
values of a kernel (``Noisy``), or from the exact kernel (``Exact``). An estimate holds the current
parameters. The rounds keep what it measures along a stream, as ``measured``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from trickless._arrays.threads import row_blocks
from trickless._errors import InvalidTypeError, InvalidValueError, remedy_in
from trickless._functions.activations import activations, by_column, together
from trickless._functions.exact_kernel import ExactKernel, check_kernel_values
from trickless._functions.expansion import Expansion
from trickless._functions.network import Network, check_finite
from trickless._functions.pilot import PILOT_ROWS, Variances
from trickless._functions.sampling import by_size, thin
from trickless._functions.stream import Purpose, draw, generator, pick
from trickless._solvers.rounds.measured import Measured, Noise
from trickless._solvers.rounds.rounds import Rounds
from trickless._solvers.rounds.schedules import LARGEST_STEP, Schedule
from trickless.neurons import Neurons

#: Draws of a round that are held at a time.
_DRAWS = 2**20
#: Activations of a row that compare functions in a projection: how many for each point that is
#: kept, and the least number. With only as many as points, their noise would be fitted.
_COMPARED, _LEAST_COMPARED = 4, 256
#: Neurons whose activations of these points are held at a time.
_NEURONS_COMPARED = 1024
#: Variances are measured again when the support has grown by this factor.
_GROWN = 1.25
#: Share by which rounding may put an estimate above its bound.
_ROUNDING = 1e-9
#: Rows and columns that measure the largest k(x, x). It is that of the bound if it is nearly so.
_SQUARE_ROWS, _SQUARE_COLUMNS, _NEARLY = 256, 1024, 0.999
#: Estimates of the kernel that are held at a time in the theorem's rounds.
_ESTIMATES = 2**16
#: Rows whose kernel is estimated twice, to learn how noisy it is, and pairs that say enough.
_TRIAL_ROWS, _ENOUGH_PAIRS = 16, 100


class Drawn:
    """Estimates from neurons that are drawn for one round alone (Algorithm 2).

    A round uses ``n_draws`` draws, or as many as a schedule of the theorem prescribes for the
    coefficients of the round. A draw lies between ∓Σ‖α_i‖, also for full sums. A network of
    ``n_neurons`` neurons predicts.
    """

    def __init__(
        self,
        neurons: Neurons,
        schedule: Schedule,
        n_draws: int,
        estimate: str,
        n_neurons: int,
        n_jobs: int | None,
    ) -> None:
        self.neurons = neurons
        self.schedule = schedule
        self.n_draws = n_draws
        self.estimate = estimate
        self.n_neurons = n_neurons
        self.n_jobs = n_jobs

    @property
    def square_bound(self) -> float:
        """The largest k(x, x) that the bound of the neurons allows."""
        return self.neurons.bound**2

    def square(self, rounds: Rounds) -> float:
        """Return the largest k(x, x) that was measured."""
        known: Any = rounds.measured
        return self.square_bound if known is None else known.square or self.square_bound

    def measure(self, X: Any, rounds: Rounds) -> None:
        """Measure the largest k(x, x) of the rows so far, by the same neurons each time.

        The bound of a family may be far above it, and steps for the bound would learn nothing.
        """
        if self.schedule.is_theorem:
            return
        known: Any = rounds.measured or Measured()
        family, rng = self.neurons, generator(rounds.seed, Purpose.TRIAL)
        rows = X[np.sort(rng.permutation(X.shape[0])[:_SQUARE_ROWS])]
        n = -(-_SQUARE_COLUMNS // family.width)
        Z = np.empty((rows.shape[0], n * family.width))
        weights = draw(family, rng, n, X.dtype)
        activations(family, together(weights), rows, n, self.n_jobs, out=Z)
        check_finite(type(family).__name__, Z)
        square = max(known.square, float((Z**2).sum(axis=1).max()) / n)
        if square > _NEARLY * self.square_bound:
            square = self.square_bound
        rounds.measured = known._replace(square=square)

    def __call__(self, X: Any, rounds: Rounds) -> np.ndarray:
        """Estimates E_t for some rows: (n_rows, n_outputs)."""
        rng = generator(rounds.seed, Purpose.ROUNDS, rounds.n_rounds)
        f, estimate, m = self.expansion(rounds, average=False), self.estimate, self.n_draws
        half_range = float(np.linalg.norm(f.dual_coef, axis=1).sum()) * self.square_bound
        if self.schedule.is_theorem:
            m = self.schedule.draws(half_range, f.dual_coef.shape[1])
            estimate = "stratified" if estimate == "auto" else estimate
        if estimate == "auto":
            estimate, m = f.cheapest(m, X.shape[0], self._variances(f, X, m, rounds, rng))
        rounds.note_draws(X.shape[0], m, half_range, estimate == "full")
        total: Any = 0.0
        for start in range(0, m, _DRAWS):
            some = min(_DRAWS, m - start)
            if estimate == "full":
                total += some / m * f.full_sums(X, some, rng)
            else:
                total += some / m * f.freeze(some, estimate, rng)(X)
        return total

    def _variances(
        self, f: Expansion, X: Any, n_neurons: int, rounds: Rounds, rng: np.random.Generator
    ) -> Variances | None:
        """Variances of the estimates, measured again when the support has grown or shrunk."""
        known: Any = rounds.measured or Measured()
        size, variances = known.size, known.variances
        t = f.support.shape[0]
        if not size / _GROWN <= t <= size * _GROWN:
            n_estimates = (_GROWN - 1) * t / X.shape[0]
            if X.shape[0] < PILOT_ROWS <= t:
                X = f.support[-PILOT_ROWS:]  # rows of the same kind, and more of them
            variances = f.variances_if_worth(X, n_neurons, rng, n_estimates)
            size = t if variances else 0.0
            rounds.measured = known._replace(size=size, variances=variances)
        return variances

    def largest_step(self, rounds: Rounds) -> float:
        """Return the largest step that decaying schedules may take."""
        return LARGEST_STEP / self.square(rounds)

    def remedy(self, rounds: Rounds) -> str:
        """Return the remedy if training diverges: its noise has fed itself.

        T rounds multiply ‖f‖² by up to exp(η² T / m) with full sums; an index adds ‖α‖₁² / m, with
        ‖α‖₁ of about η T.
        """
        m, n_rounds = self.n_draws, max(1, rounds.n_rounds)
        by_index = self.estimate in ("index", "stratified")
        stable = m**0.5 / n_rounds if by_index else (m / n_rounds) ** 0.5
        return (
            f"the noise of n_draws={m!r} draws feeds itself with "
            f"step_size={self.schedule.step_size!r}; take a step_size of at most {stable:.2g}, a "
            "larger n_draws" + (", or estimate='auto'" if by_index else "")
        )

    def function(self, rounds: Rounds, average: bool) -> Network:
        """Freeze the expansion into a network, once for all predictions from the same rows."""
        wanted, frozen = (self.n_neurons, average), rounds.frozen
        if frozen is None or frozen[0] != wanted:
            rng = generator(rounds.seed, Purpose.FREEZE)
            network = self.expansion(rounds, average).freeze(self.n_neurons, random_state=rng)
            rounds.frozen = frozen = wanted, network
        return frozen[1]

    def expansion(self, rounds: Rounds, average: bool) -> Expansion:
        """Return the expansion after the rounds so far."""
        return Expansion(self.neurons, rounds.rows, rounds.alpha(average), self.n_jobs)

    def products(
        self, rounds: Rounds, index: np.ndarray, alpha: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Inner products of Φ at some support points, by the same neurons each time."""
        family, X, size = self.neurons, rounds.rows[index], len(index)
        n_neurons = -(-max(_COMPARED * size, _LEAST_COMPARED) // family.width)
        weights = draw(family, generator(rounds.seed, Purpose.COMPRESS), n_neurons, X.dtype)
        f = Expansion(family, rounds.rows, alpha, self.n_jobs).values(weights)
        gram, products = np.zeros((size, size)), np.zeros((size, alpha.shape[1]))
        for some in row_blocks(n_neurons, _NEURONS_COMPARED):
            n = some.stop - some.start
            Z = np.empty((size, n * family.width))
            activations(family, together(pick(weights, some)), X, n, self.n_jobs, out=Z)
            gram += Z @ Z.T
            products += Z @ by_column(f[some])
        check_finite(type(family).__name__, gram.diagonal())
        check_finite(type(family).__name__, products)
        return gram, products

    def kernel(self, X: Any, Y: Any) -> np.ndarray:
        """Return the kernel of the neurons, if it has a closed form."""
        K = np.empty((X.shape[0], Y.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            for i in row_blocks(X.shape[0]):
                for j in row_blocks(Y.shape[0]):
                    K[i, j] = Neurons.kernel(self.neurons, X[i], Y[j])
        check_kernel_values(self.schedule.owner, K)
        return K


class Exact:
    """The expansion itself, by a kernel in closed form with k(x, x) ≤ ``square_bound``."""

    def __init__(self, kernel: ExactKernel, square_bound: float) -> None:
        self.kernel = kernel
        self.square_bound = square_bound

    def square(self, rounds: Rounds) -> float:
        """Return the largest k(x, x)."""
        return self.square_bound

    def __call__(self, X: Any, rounds: Rounds) -> np.ndarray:
        """Values E_t for some rows: (n_rows, n_outputs)."""
        return self.kernel.sums(X, rounds.rows, rounds.alpha(average=False))

    def largest_step(self, rounds: Rounds) -> float:
        """Return the largest step that decaying schedules may take."""
        return LARGEST_STEP / self.square_bound

    def remedy(self, rounds: Rounds) -> str:
        """Return the remedy if training diverges: the function is not a kernel."""
        return (
            "a positive semi-definite kernel (the 'sigmoid' kernel is not), or other kernel_params"
        )

    def function(self, rounds: Rounds, average: bool) -> Callable[[Any], np.ndarray]:
        """Return the expansion itself."""
        return partial(self.kernel.sums, support=rounds.rows, alpha=rounds.alpha(average))

    def products(
        self, rounds: Rounds, index: np.ndarray, alpha: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Inner products of Φ at some support points."""
        kept = rounds.rows[index]
        gram = self.kernel.matrix(kept, kept).astype(np.float64, copy=False)
        return gram, self.kernel.sums(kept, rounds.rows, alpha)


class Noisy:
    """Estimates from noisy values of a kernel with k(x, x) ≤ ``square_bound``.

    ``estimate(X, Y, rng)`` gives unbiased estimates of the kernel, shape (len(X), len(Y)). They lie
    between ∓``estimate_bound`` if it is given. A row uses at most ``n_draws`` of them in a round,
    or as many as a schedule of the theorem prescribes.
    """

    #: There is no closed form.
    kernel: None = None

    def __init__(
        self,
        estimate: Callable[[Any, Any, np.random.Generator], Any],
        schedule: Schedule,
        n_draws: int,
        square_bound: float,
        estimate_bound: float | None,
    ) -> None:
        self.estimate = estimate
        self.schedule = schedule
        self.n_draws = n_draws
        self.square_bound = square_bound
        self.estimate_bound = estimate_bound

    def square(self, rounds: Rounds) -> float:
        """Return the largest k(x, x)."""
        return self.square_bound

    def __call__(self, X: Any, rounds: Rounds) -> np.ndarray:
        """Estimates E_t for some rows, from values at some of the support points."""
        alpha = rounds.alpha(average=False)
        size = np.linalg.norm(alpha, axis=1)
        rng = generator(rounds.seed, Purpose.ROUNDS, rounds.n_rounds)
        total = np.zeros((X.shape[0], alpha.shape[1]))
        if not size.any():
            return total
        if not self.schedule.is_theorem:
            rounds.drawn = None  # the variance is not known
            index, factor = thin(size, self.n_draws, rng)
            return self._sum(X, rounds, index, alpha[index] * factor[:, None], rng)
        assert self.estimate_bound is not None
        half_range = float(size.sum()) * self.estimate_bound
        m = self.schedule.draws(half_range, alpha.shape[1])
        rounds.note_draws(X.shape[0], m, half_range, False)
        for start in range(0, m, _ESTIMATES):
            index = by_size(size, min(_ESTIMATES, m - start), rng)  # Alg. 2, line 2
            weight = size.sum() / (m * size[index])
            total += self._sum(X, rounds, index, alpha[index] * weight[:, None], rng)  # line 4
        return total

    def _sum(
        self,
        X: Any,
        rounds: Rounds,
        index: np.ndarray,
        weight: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Σ weight_i k̂(x_i, x) over some support points, for each row."""
        if not len(index):  # so that no estimate receives an empty array
            return np.zeros((X.shape[0], weight.shape[1]))
        points = rounds.rows[index]
        return self._values(X, points, rng) @ weight

    def _values(self, X: Any, Y: Any, rng: np.random.Generator) -> np.ndarray:
        """Checked estimates of the kernel."""
        try:
            values = self.estimate(X, Y, rng)
        except ValueError as error:
            if remedy_in(error):
                raise
            largest = max(float(abs(rows).max()) for rows in (X, Y))
            raise InvalidValueError(
                f"kernel(X, Y, rng) failed with ValueError: {error}. The rows reach {largest:g}",
                "scale X (StandardScaler) if its squares are too large; else return an "
                "estimate for these rows, too",
            ) from error
        return check_estimates(values, X, Y, self.estimate_bound)

    def largest_step(self, rounds: Rounds) -> float:
        r"""Return the largest step with which the noise does not feed itself.

        An estimate's variance is at most some :math:`v \|\alpha\|^2`. In a step, this noise adds
        :math:`\eta^2 v \|\alpha\|^2` to :math:`\|\alpha\|^2`. With
        :math:`\eta_t^2 v = 1 / (t (1 + \log t))`, the rounds up to T multiply
        :math:`\|\alpha\|^2` by about :math:`1 + \log T` at most.
        """
        t = rounds.n_rounds + 1
        asked = max(1.0, len(rounds.coefficients) / self.n_draws)  # points per estimate
        known: Any = rounds.measured
        noise, square, n_pairs, _ = known
        if n_pairs < _ENOUGH_PAIRS:  # the variance of fair coins, until enough is known
            noise = max(noise, self.square_bound**2 / 4)
        v = asked * noise + (asked - 1) * square
        allowed = 1 / np.sqrt(v * t * (1 + np.log(t))) if v > 0 else np.inf
        return min(LARGEST_STEP / self.square_bound, allowed)

    def remedy(self, rounds: Rounds) -> str:
        """Return the remedy if training diverges: its noise has fed itself."""
        return (
            f"the noise of the estimates feeds itself with step_size={self.schedule.step_size!r}; "
            f"take a step_size of at most {self.largest_step(rounds):.2g}, schedule='sqrt', which "
            "keeps to that, or a larger n_draws"
        )

    def function(self, rounds: Rounds, average: bool) -> Callable[[Any], np.ndarray]:
        """One fresh estimate for every support point that counts, the same for the same rows."""
        alpha = rounds.alpha(average)
        index = np.flatnonzero(alpha.any(axis=1))

        def values(X: Any) -> np.ndarray:
            rng = generator(rounds.seed, Purpose.PREDICT)
            blocks = row_blocks(X.shape[0])
            parts = [self._sum(X[rows], rounds, index, alpha[index], rng) for rows in blocks]
            return np.concatenate(parts)

        return values

    def measure(self, X: Any, rounds: Rounds) -> None:
        """Measure the noise that steps have to allow for, in the first batch and in later batches.

        Streams may begin with similar rows, whose kernel is nearly certain, so the noise is
        measured again whenever the number of rounds has doubled, and the largest variance counts.
        """
        if rounds.measured is None:
            rng = generator(rounds.seed, Purpose.TRIAL)
            rows = rng.permutation(X.shape[0])[: 2 * _TRIAL_ROWS]
            half = len(rows) // 2
            others = X[rows[:half] if half else rows]
            rounds.measured = self._compared(X[rows[half:]], others, Noise(at=X.shape[0]), rng)
            return
        noise: Any = rounds.measured
        n_rounds = rounds.n_rounds
        if noise.n_pairs < _ENOUGH_PAIRS or n_rounds >= 2 * noise.at:
            rng = generator(rounds.seed, Purpose.TRIAL, n_rounds)
            points = rounds.rows
            rows, other = (rng.permutation(A.shape[0])[:_TRIAL_ROWS] for A in (X, points))
            noise = noise._replace(at=n_rounds)
            rounds.measured = self._compared(X[rows], points[other], noise, rng)

    def _compared(self, X: Any, Y: Any, noise: Noise, rng: np.random.Generator) -> Noise:
        """Return the noise, updated by two estimates of the kernel of rows of X and of Y.

        Pairs of equal rows are left out: k(x, x) may be certain where other values are not.
        """
        a, b = (self._values(X, Y, rng) for _ in range(2))
        x, y = (A.toarray() if issparse(A) else A for A in (X, Y))
        apart = np.array([(row != y).any(axis=1) for row in x])
        if not apart.any():
            return noise
        seen = ((a - b)[apart] ** 2).mean() / 2, (a * b)[apart].mean()
        variance, square = np.maximum(noise[:2], seen).tolist()
        return Noise(variance, square, noise.n_pairs + int(apart.sum()), noise.at)


def check_estimates(values: Any, X: Any, Y: Any, bound: float | None = None) -> np.ndarray:
    """Check that a user's estimates are one finite number for each pair, within their bound."""
    values = np.asarray(values)
    wanted = X.shape[0], Y.shape[0]
    if values.shape != wanted:
        raise InvalidValueError(
            f"kernel(X, Y, rng) returned an array of shape {values.shape} for {wanted[0]} rows "
            f"of X and {wanted[1]} of Y, but it must have the shape {wanted}",
            "one estimate of k(x, x') for every pair",
        )
    if not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
        raise InvalidTypeError(
            f"kernel(X, Y, rng) returned values of type {values.dtype}, but they must be real "
            "numbers",
            "return a float array",
        )
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise InvalidValueError(
            f"kernel(X, Y, rng) returned {values[i, j]} for row {i} of X and row {j} of Y, but "
            "estimates must be finite",
            "repeat a measurement that fails",
        )
    if bound is not None and (beyond := np.abs(values) > bound * (1 + _ROUNDING)).any():
        i, j = np.argwhere(beyond)[0]
        raise InvalidValueError(
            f"kernel(X, Y, rng) returned {values[i, j]} for row {i} of X and row {j} of Y, which "
            f"is beyond estimate_bound={bound!r}",
            "the largest absolute estimate that there can be, as estimate_bound",
        )
    return values
