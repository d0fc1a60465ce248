"""Steps on blocks: each is preconditioned by the covariance of its own activations.

This is the algorithm of the code of Dai et al. (not of their paper), with a search for the length
of each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from trickless.arrays.places import HOST, matching, place_of, to_host
from trickless.arrays.threads import linear_algebra
from trickless.errors import InvalidValueError
from trickless.solvers.constants import damped
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.steps.step import Step
from trickless.solvers.losses import LEAST_UNIT, Loss, unit_of

#: The regularisation of a step, relative to the mean of the covariance's diagonal.
_DAMPING = 1e-4
#: Share of the best step of a block that is taken, since blocks that follow it correct its noise.
_SHARE = 0.6
#: The r of :func:`searched` from which a large block takes its whole share.
_WHOLE = 0.25
#: The flattest curvature along the slopes, as a share of the largest of the loss.
_FLATTEST = 0.5
#: The least columns of a block, and how many blocks that explain nothing halve the next ones.
_LEAST_COLUMNS, _TRIES = 64, 3


@dataclass(frozen=True)
class BlockSums:
    """The gradient and the covariance of the activations over the rows of a batch.

    ``squares`` are the sums that :func:`searched` needs, and ``level`` the sums of the shares, of
    −l′ and of the curvatures, which move the intercept.
    """

    gradient: Any
    covariance: Any
    squares: np.ndarray | float = 0.0
    level: np.ndarray | float = 0.0


@dataclass(frozen=True)
class BlockStep(Step):
    """Steps along (ZᵀZ / b + reg I)⁻¹ times the gradient, with reg of 1e-4 times the mean diagonal.

    If it ``searches``, the length of each step is found by the fit of its block. If it ``levels``,
    each step moves the intercept.
    """

    searches: bool = True

    def first_size(self, alpha: Any, spread: np.ndarray, eigenvalue: float, bound: float) -> Any:
        return 1 / self.loss.steepest(spread)

    def sums(self, network: GrowingNetwork, batch: MiniBatch, Z: Any, slopes: Any) -> BlockSums:
        gradient = self.gradient(Z, slopes, batch.shares_here)
        level, squares = self._sums_of_slopes(network, batch, slopes)
        # A batch of small weights has a small gradient, but not a small covariance.
        share = batch.shares / (batch.shares.sum() or 1.0)
        with linear_algebra(self.n_jobs, len(batch) * Z.shape[1] ** 2):
            if (share == share[:1]).all():  # without a copy of Z
                covariance = Z.T @ Z
                covariance *= float(share[:1].sum())
            else:
                root = Z * matching(Z, np.sqrt(share)[:, None])
                covariance = root.T @ root
        return BlockSums(gradient, covariance, squares, level)

    def _sums_of_slopes(
        self, network: GrowingNetwork, batch: MiniBatch, slopes: Any
    ) -> tuple[np.ndarray | float, np.ndarray | float]:
        """Return the ``level`` and the ``squares`` of the sums, on the host."""
        place, shares, loss = batch.place, batch.shares_here, self.loss
        xp, terms = place.xp, []
        f, targets = network.f_at(batch), batch.targets
        unit = place.constant(unit_of(network.spread))
        if self.levels:
            values = xp.ones_like(slopes), *loss.newton(f, targets, unit)
            terms += [shares @ value for value in values]
        if self.searches:
            each = xp.broadcast_to(shares[:, None], slopes.shape)
            bend = loss.bend(f, targets, unit)
            values = (each, each**2, *(each * value for value in (slopes**2, *bend)))
            terms += [xp.sum(value, axis=0) for value in values]
        if not terms:
            return 0.0, 0.0
        both, n = to_host(xp.stack(terms)), 3 if self.levels else 0
        return both[:n] if self.levels else 0.0, both[n:] if self.searches else 0.0

    def direction(
        self, network: GrowingNetwork, sums: BlockSums, k: int, gamma: np.ndarray, n_rows: int
    ) -> Any:
        place, home = place_of(sums.covariance).for_double, place_of(sums.gradient)
        xp, dtype = place.xp, network.stream.dtype
        gradient, covariance = place.put(sums.gradient), place.double(sums.covariance)
        n_columns = covariance.shape[0]
        mean = xp.linalg.trace(covariance) / n_columns
        ridge = _DAMPING * xp.clip(mean, float(np.finfo(dtype).tiny), None)
        try:
            factor = place.cholesky(place.plus_ridge(covariance, ridge))
        except linalg.LinAlgError as error:
            raise InvalidValueError(
                f"{self.owner}: neurons_per_step={k}: the covariance of the {n_columns} "
                f"activations of a block over {n_rows} rows is singular to working precision",
                "a smaller neurons_per_step, or dtype='float64'",
            ) from error
        direction = place.cho_solve(factor, gradient)
        if not self.searches:
            return home.put(xp.astype(direction, sums.gradient.dtype))
        root = place.solve_lower(factor, place.eye(n_columns, factor.dtype))
        # The trace of the hat matrix: the columns that the damping leaves.
        columns = n_columns - ridge * xp.sum(root * root)
        along = direction * (direction.T @ covariance).T
        columns, slope, change = _on_host(
            columns, xp.sum(direction * gradient, axis=0), xp.sum(along, axis=0)
        )
        squares = np.asarray(sums.squares)
        by = searched(
            slope / squares[0] ** 2, change / squares[0] ** 2, squares, columns, self.loss
        )
        direction = home.put(xp.astype(direction * place.constant(by), gradient.dtype))
        # A step of the first size has the length that was found.
        direction = direction / home.factor(np.array(network.steps.first, dtype=dtype, ndmin=1))
        network.idle += not by.any()
        return direction

    def shift(self, network: GrowingNetwork, sums: BlockSums, n_rows: int) -> np.ndarray | float:
        """Return how far a step moves the intercept, so that probabilities have the right mean.

        It is a Newton step. Where one class is rare, the curvature is small, and steps along the
        gradient would take too long. Each batch has the share of its rows in all rows so far.
        """
        if not self.levels:
            return 0.0
        total, g, h = np.asarray(sums.level)
        rows = n_rows * float(total.mean())
        share = min(1.0, rows / min(network.levelled + rows, network.n_rows))
        network.levelled += rows
        return damped(share * np.divide(g, h, out=np.zeros_like(g), where=h > 0), self.loss)

    def size(self, network: GrowingNetwork) -> int:
        """Return how many neurons the next step of a fit draws.

        A block that explains nothing has too many columns for what is left to explain, and every
        third of them halves the next blocks.
        """
        k = self.neurons_per_step
        if self.searches:
            least = min(k, -(-_LEAST_COLUMNS // network.neurons.width))
            k = max(k >> (network.idle // _TRIES), least)
        return min(k, self.n_neurons - len(network.coef))

    def remedy(
        self, network: GrowingNetwork, step_size: float | str, stable: float, longest: float
    ) -> str:
        columns = network.neurons.width * self.neurons_per_step
        return (
            f"a block of {columns} columns needs batches of several times as many rows, and "
            f"batch_size={self.batch_size!r}; or take a step_size below {stable:g}"
        )


def _on_host(*values: Any) -> list[Any]:
    """Return a number and some vectors on the host, in one transfer."""
    place = place_of(values[0])
    if place is HOST:
        return list(values)
    number, *vectors = values
    together = to_host(place.xp.concat([place.xp.reshape(number, (1,)), *vectors]))
    return [together[0], *np.split(together[1:], len(vectors))]


def searched(
    slope: np.ndarray, change: np.ndarray, squares: np.ndarray, columns: float, loss: Loss
) -> np.ndarray:
    """Return the step along the fit of a block to the slopes of a batch, shape (n_outputs,).

    The fit p of a block to the slopes g also follows their noise, since it has seen it. If the
    block were fitted to the other rows, a row would get (p − h g)/(1 − h). Here h is the mean
    leverage, as in generalised cross-validation. Let r be the multiple of this value that fits g
    best. It is about 1 if the block explains the slopes, and 0 if it explains noise.

    The step is 0.6 min(1, r/s)² (1 − h)² Newton steps, with the curvature of the loss along the
    slopes and s = 1/4 + √(2/c) for c columns. Rows that f has learned from have too small slopes,
    so r is too small, and from s on the share does not depend on it. On noise, r is about ±√(2/c),
    and the square makes such steps short. A block with many columns for its rows is less reliable,
    hence the factor of (1 − h)². With it, no sizes of blocks and batches diverge.

    ``slope`` are the means of p g, ``change`` those of p², and ``columns`` the effective number
    of columns. ``squares`` are sums over rows: of the shares, of their squares, of the slopes'
    squares, and the two of ``Loss.bend``; shape (5, n_outputs).
    """
    total, shares, square, steep, far = squares
    total = np.maximum(total, LEAST_UNIT)
    leverage = np.minimum(columns * shares / total**2, 1.0)  # by the effective number of rows
    own = leverage * square / total
    gain = (slope - own) * (1 - leverage)
    cost = change - 2 * leverage * slope + leverage * own
    if loss.coupled:
        gain, cost, steep, far = (
            np.full_like(own, value.sum()) for value in (gain, cost, steep, far)
        )
    r = np.divide(gain, cost, out=np.zeros_like(gain), where=(gain > 0) & (cost > 0))
    bounded = loss.bounded_curvature and not loss.piecewise_linear
    flattest = _FLATTEST * loss.curvature if bounded else LEAST_UNIT
    bent = np.divide(steep, far, out=np.full_like(gain, np.inf), where=far > 0)
    whole = _WHOLE + np.sqrt(2 / max(columns, 1.0))
    share = _SHARE * ((1 - leverage) * np.minimum(r / whole, 1.0)) ** 2
    return share / np.maximum(bent, flattest)
