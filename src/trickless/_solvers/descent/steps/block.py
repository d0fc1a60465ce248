"""Steps on blocks: each is preconditioned by the covariance of its own activations.

With a length that is given, this is the algorithm of the code of Dai et al. (not of their paper).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from trickless._arrays.places import HOST, matching, place_of, to_host
from trickless._arrays.threads import linear_algebra, map_blocks, row_blocks
from trickless._errors import InvalidValueError
from trickless._solvers.constants import damped
from trickless._solvers.descent.batches import MiniBatch
from trickless._solvers.descent.growing_network import GrowingNetwork
from trickless._solvers.descent.steps.step import Step
from trickless._solvers.losses import LEAST_UNIT, unit_of

#: The regularisation of a step, relative to the mean of the covariance's diagonal.
_DAMPING = 1e-4
#: Rows for each column from which the covariance is estimated.
_ROWS_PER_COLUMN = 8
#: The least share of a step on a block of few columns in a stream that forgets.
_AGAIN = 0.6
#: Columns whose products one thread computes at a time.
_TILE = 512
#: The flattest curvature along the slopes, as a share of the largest of the loss.
_FLATTEST = 0.5


class Damping(NamedTuple):
    """What is added to the diagonal of a block's covariance, as a sum of two parts.

    ``of_squares`` is for a loss of curvature 1, of each output or of all.
    ``of_loss`` is in units of the loss.
    """

    of_squares: np.ndarray | float
    of_loss: float


@dataclass(frozen=True)
class BlockSums:
    """The gradient and the covariance of the activations over the rows of a batch.

    If there are more columns than rows, ``rows`` are the activations times the roots of the shares,
    ``covariance`` has their products, and ``gradient`` the slopes times these roots. ``weight`` is
    the sum of the shares, ``bent`` the curvature of each output along the slopes, and ``level`` the
    sums of −l′ and of the curvatures, which move the intercept.
    """

    gradient: Any
    covariance: Any
    rows: Any
    weight: float
    bent: np.ndarray | float = 1.0
    level: np.ndarray | float = 0.0


@dataclass(frozen=True)
class BlockStep(Step):
    """Steps along (ZᵀZ / b + reg I)⁻¹ times the gradient, with reg of 1e-4 times the mean diagonal.

    With a ``damping``, they are steps of a gradient flow, and find their length. If it ``levels``,
    each step moves the intercept.
    """

    damping: Damping | None = None

    def first_size(self, alpha: Any, spread: np.ndarray, eigenvalue: float, bound: float) -> Any:
        return 1 / self.loss.steepest(spread)

    def part(self, n_rows: int) -> float:
        return super().part(n_rows) if self.damping is None else 1.0

    def sums(self, network: GrowingNetwork, batch: MiniBatch, Z: Any, slopes: Any) -> BlockSums:
        weight = float(batch.shares.sum())
        bent, level = self._sums_of_slopes(network, batch, slopes)
        # A batch of small weights has a small gradient, but not a small covariance.
        share, few = batch.shares / (weight or 1.0), len(batch) < Z.shape[1]
        if few:
            root = np.sqrt(share)[:, None]
            rows = Z * matching(Z, root)
            gradient = slopes * batch.place.constant(root * weight)
            with linear_algebra(self.n_jobs, len(batch) ** 2 * Z.shape[1]):
                return BlockSums(gradient, rows @ rows.T, rows, weight, bent, level)
        gradient = self.gradient(Z, slopes, batch.shares_here)
        return BlockSums(gradient, self._covariance(network, Z, share), None, weight, bent, level)

    def _covariance(self, network: GrowingNetwork, Z: Any, share: np.ndarray) -> Any:
        """Return the covariance of the activations, from as many rows as it takes.

        With a damping, an estimate preconditions as well, and later blocks correct its error.
        """
        enough = _ROWS_PER_COLUMN * self.neurons_per_step * network.neurons.width
        if self.damping is not None and (every := len(share) // enough) > 1:
            Z, share = Z[::every], share[::every]
            share = share / (share.sum() or 1.0)
        equal = bool((share == share[:1]).all())
        if not equal:  # without a copy of Z otherwise
            Z = Z * matching(Z, np.sqrt(share)[:, None])
        covariance = _products(Z, self.n_jobs)
        if equal:
            covariance *= float(share[0])
        return covariance

    def _sums_of_slopes(
        self, network: GrowingNetwork, batch: MiniBatch, slopes: Any
    ) -> tuple[np.ndarray | float, np.ndarray | float]:
        """Return ``bent`` and ``level`` of the sums, on the host."""
        place, shares, loss = batch.place, batch.shares_here, self.loss
        f, targets = network.f_at(batch), batch.targets
        values: tuple[Any, ...] = ()
        unit = place.constant(unit_of(network.spread))
        if self.levels:
            values += loss.newton(f, targets, unit)
        if self.damping is not None:
            values += loss.bend(f, targets, unit)
        if not values:
            return 1.0, 0.0
        both = to_host(place.xp.stack([shares @ value for value in values]))
        return self._bent(*both[-2:]) if self.damping is not None else 1.0, both[:2]

    def _bent(self, steep: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Return the curvature of each output along the slopes, from the sums of ``Loss.bend``."""
        loss = self.loss
        if loss.coupled:
            steep, far = (np.full_like(value, value.sum()) for value in (steep, far))
        bounded = loss.bounded_curvature and not loss.piecewise_linear
        flattest = _FLATTEST * loss.curvature if bounded else LEAST_UNIT
        bent = np.divide(steep, far, out=np.full_like(steep, np.inf), where=far > 0)
        return np.maximum(bent, flattest)

    def direction(
        self, network: GrowingNetwork, sums: BlockSums, k: int, gamma: np.ndarray, n_rows: int
    ) -> Any:
        place, home = place_of(sums.covariance).for_double, place_of(sums.gradient)
        xp, dtype = place.xp, network.stream.dtype
        gradient, covariance = place.put(sums.gradient), place.double(sums.covariance)
        n_columns = k * network.neurons.width
        mean = float(xp.linalg.trace(covariance)) / n_columns
        ridges, length = np.array([_DAMPING * max(mean, np.finfo(dtype).tiny)]), np.ones(1)
        if self.damping is not None:
            share, first = self._share(network, sums, n_rows), np.atleast_1d(network.steps.first)
            if network.ages is not None:  # where f fades, and has to be learned again
                share = max(share, _AGAIN * (n_rows / (n_rows + n_columns)) ** 2)
            curvature = np.atleast_1d(self.loss.steepest(network.spread))
            added = np.asarray(self.damping.of_squares) + self.damping.of_loss / curvature
            ridges = ridges + share * added
            # A step of the first size has the length that was found.
            length = share / (np.asarray(sums.bent) * first)
        parts, which = [], np.broadcast_to(ridges, gradient.shape[1])
        try:
            with linear_algebra(self.n_jobs, covariance.shape[0] ** 3):
                for each, (first_of, n) in _runs(which):
                    factor = place.cholesky(place.plus_ridge(covariance, each))
                    some = gradient[:, first_of : first_of + n]
                    parts.append(place.cho_solve(factor, some))
        except linalg.LinAlgError as error:
            raise InvalidValueError(
                f"{self.owner}: neurons_per_step={k}: the covariance of the {n_columns} "
                f"activations of a block over {n_rows} rows is singular to working precision",
                "a smaller neurons_per_step, or dtype='float64'",
            ) from error
        direction = xp.concat(parts, axis=1) * place.constant(length)
        if sums.rows is not None:
            direction = place.double(sums.rows).T @ direction
        return home.put(place.astype(direction, dtype))

    def _share(self, network: GrowingNetwork, sums: BlockSums, n_rows: int) -> float:
        """Return the share of a batch in all rows so far."""
        rows = n_rows * sums.weight
        return min(1.0, rows / min(network.met + rows, network.around)) if rows else 1.0

    def shift(self, network: GrowingNetwork, sums: BlockSums, n_rows: int) -> np.ndarray | float:
        """Return how far a step moves the intercept, so that probabilities have the right mean.

        It is a Newton step. Where one class is rare, the curvature is small, and steps along the
        gradient would take too long. Each batch has the share of its rows in all rows so far.
        """
        share = self._share(network, sums, n_rows)
        network.met += n_rows * sums.weight
        if not self.levels:
            return 0.0
        g, h = np.asarray(sums.level)
        return damped(share * np.divide(g, h, out=np.zeros_like(g), where=h > 0), self.loss)

    def remedy(
        self, network: GrowingNetwork, step_size: float | str, stable: float, longest: float
    ) -> str:
        columns = network.neurons.width * self.neurons_per_step
        return (
            f"a block of {columns} columns needs batches of several times as many rows, and "
            f"batch_size={self.batch_size!r}; or take a step_size below {stable:g}"
        )


def _products(Z: Any, n_jobs: int | None) -> Any:
    """ZᵀZ. On the host, our own threads share it out, since those of BLAS wait in a busy loop."""
    if place_of(Z) is not HOST:
        return Z.T @ Z
    covariance = np.empty((Z.shape[1], Z.shape[1]), Z.dtype)

    def fill(tile: tuple[slice, slice]) -> None:
        left, right = tile
        covariance[left, right] = Z[:, left].T @ Z[:, right]
        covariance[right, left] = covariance[left, right].T

    columns = row_blocks(Z.shape[1], _TILE)
    with linear_algebra(1):
        map_blocks(fill, [(a, b) for i, a in enumerate(columns) for b in columns[i:]], n_jobs)
    return covariance


def _runs(values: np.ndarray) -> list[tuple[float, tuple[int, int]]]:
    """Return the values of runs of equal neighbours, with where each begins and its length."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])).tolist()
    lengths = np.diff([*starts, len(values)]).tolist()
    return [
        (float(values[start]), (start, length))
        for start, length in zip(starts, lengths, strict=True)
    ]
