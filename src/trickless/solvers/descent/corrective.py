r"""The corrective solve: the coefficients of all leaves of all trees together.

Boosting searches: each step finds a tree and solves for its leaves alone, and later trees never
change them. Random Kitchen Sinks [1]_ solves: its neurons are fixed, and their weights are found
together. Here both follow each other. With A the indicators of all leaves at the rows, g the slopes
of the loss and H its curvatures, all coefficients move by a Newton step δ,

.. math:: (A^\top H A + \lambda I) \, \delta = A^\top g.

The matrix is never made. A product with A gathers the coefficients of each row's leaves, and one
with its transpose sums over the rows of each leaf. Conjugate gradients start from the boosted
coefficients, and few iterations regularise as a large λ does. Held-out rows choose λ and the number
of iterations, by the least mean loss plus two standard errors, and no solve at all is one of the
choices. It takes two, because the best of many choices is too good by chance. All λ share one
sequence of products, since they span the same Krylov space [2]_.

λ is in units of the mean curvature of a row, so λ = 10 counts as much as ten rows in each leaf.
Sums are over multiples of a unit, which makes them exact, in any order.

References
----------
.. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
   randomization in learning", NIPS 2008.
.. [2] A. Frommer and P. Maass, "Fast CG-based methods for Tikhonov-Phillips regularization", SIAM
   Journal on Scientific Computing 20(5), 1999.
.. [3] T. Johnson and T. Zhang, "Learning nonlinear functions using regularized greedy forest", IEEE
   TPAMI 36(5), 2014 (all leaves are corrected together, along the fit).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trickless.arrays.growing import Growing
from trickless.arrays.threads import row_blocks
from trickless.functions.activations import by_neuron
from trickless.neurons.turns import Turns
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.early_stopping import HeldOut, mean_and_error
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.slopes import unit_of_sums
from trickless.solvers.losses import unit_of

#: The λ to choose from, in rows of a leaf, and the most iterations.
LAMBDAS, MOST_ITERATIONS = (1.0, 10.0, 100.0, 1000.0, 10_000.0), 10
#: Iterations without a better choice after which no more are tried, and standard errors of a gain.
_PATIENCE, _ERRORS = 3, 2.0
#: Trees whose leaves are found together.
_TREES = 32
#: Leaves of rows above which nothing is corrected. They are kept between products, of which a solve
#: takes tens. That is a few times the work of the steps, and on many rows it gains less than more
#: trees would in the same time.
MOST_LEAVES = 2**25
#: The least relative square of a residual that is still reduced.
_SOLVED = 1e-24


class Correction(NamedTuple):
    """A choice of the held-out rows: λ, in rows of a leaf, and the number of iterations."""

    ridge: float
    n_iterations: int


def is_possible(network: GrowingNetwork, n_rows: int, options: DescentOptions) -> bool:
    """Return whether a network has leaves of trees only, and no decay that a solve would ignore.

    It must also have learned from few enough rows.
    """
    plain = network.neurons.one_hot and not isinstance(network.neurons, Turns)
    solves = plain and options.step.second_order and not options.sizes.alpha
    return solves and 0 < n_rows * len(network.coef) <= MOST_LEAVES


class LeafMatrix:
    """The indicators A of all leaves of a network at the rows of some batches."""

    def __init__(
        self, network: GrowingNetwork, batches: list[MiniBatch], options: DescentOptions
    ) -> None:
        self._network, self._batches, self._options = network, batches, options
        self.shape = network.coef.rows.shape
        #: The leaves of all rows in all trees.
        self._leaves = list(self._find())

    def _find(self) -> Iterator[tuple[slice, list]]:
        """Yield a few trees, and the leaves of the rows of each batch in them."""
        network, step = self._network, self._options.step
        family, dtype = network.neurons, network.stream.dtype
        for where, weights in network.source.pieces(0, self.shape[0]):
            for some in row_blocks(where.stop - where.start, _TREES):
                few = tuple(array[some] for array in weights)
                found = [step.activations(family, b.X, few, dtype) for b in self._batches]
                yield slice(where.start + some.start, where.start + some.stop), found

    def times(self, coef: np.ndarray) -> list[np.ndarray]:
        """Return A times coefficients (n_trees, width, n_outputs), for the rows of each batch."""
        totals = [np.zeros((len(batch), coef.shape[2])) for batch in self._batches]
        for some, found in self._leaves:
            columns = coef[some].swapaxes(0, 1).reshape(-1, coef.shape[2])
            for total, Z in zip(totals, found, strict=True):
                self._options.step.add(Z, columns, total)
        return totals

    def transposed(self, values: list[np.ndarray]) -> np.ndarray:
        """Return Aᵀ times values of the rows, integers: (n_trees, width, n_outputs)."""
        n_outputs, n_jobs = values[0].shape[1], self._options.step.n_jobs
        result = np.zeros((*self.shape[:2], n_outputs))
        rows = [np.ascontiguousarray(each.T) for each in values]
        for some, found in self._leaves:
            for each, Z in zip(rows, found, strict=True):
                sums = Z.sums(each, n_jobs)
                result[some] += by_neuron(sums.reshape(-1, n_outputs), self.shape[1])
        return result


class System:
    """The system of a corrective solve: slopes and curvatures of the rows, and products with A.

    Values of rows are a list with an array for each batch.
    """

    def __init__(
        self, network: GrowingNetwork, batches: list[MiniBatch], options: DescentOptions
    ) -> None:
        loss = options.step.loss
        self._matrix = LeafMatrix(network, batches, options)
        self._n_rows = sum(map(len, batches))
        slopes: list[np.ndarray] = []
        self._h: list[np.ndarray] = []
        for batch, f in zip(batches, self._matrix.times(network.coef.rows), strict=True):
            weight = network.relative(batch.weight)
            g, h = loss.newton(f + network.intercept, batch.targets, unit_of(network.spread))
            if weight is not None:
                g, h = g * weight[:, None], h * weight[:, None]
            slopes.append(g)
            self._h.append(h)
        self.start = self._sums(slopes)
        unit = self._unit(self._h)
        #: The mean curvature of a row, for each output.
        self.curvature = np.sum([np.rint(h / unit).sum(axis=0) for h in self._h], axis=0) * unit
        self.curvature /= self._n_rows

    def normal(self, coef: np.ndarray) -> np.ndarray:
        """Return AᵀHA times coefficients."""
        return self._sums([f * h for f, h in zip(self._matrix.times(coef), self._h, strict=True)])

    def _unit(self, values: list[np.ndarray]) -> np.ndarray:
        largest = np.max([np.abs(each).max(axis=0, initial=0.0) for each in values], axis=0)
        unit = unit_of_sums(self._n_rows * largest)
        return np.where(unit > 0, unit, 1.0)

    def _sums(self, values: list[np.ndarray]) -> np.ndarray:
        unit = self._unit(values)
        return self._matrix.transposed([np.rint(each / unit) for each in values]) * unit


def correct(network: GrowingNetwork, system: System, correction: Correction) -> None:
    """Move all coefficients of a network by a corrective solve of its system."""
    move = solve(system, correction)
    coef = Growing()
    coef.append((network.coef.rows + move).astype(network.coef.rows.dtype))
    network.coef = coef


def solve(system: System, correction: Correction) -> np.ndarray:
    """Return δ of conjugate gradients, (n_trees, width, n_outputs)."""
    ridge = correction.ridge * system.curvature
    residual = system.start
    direction, solution = residual, np.zeros_like(residual)
    square = first = _squares(residual)
    for _ in range(correction.n_iterations):
        if (square <= _SOLVED * first).all():
            break
        product = system.normal(direction) + ridge * direction
        length = _ratio(square, (direction * product).sum(axis=(0, 1)))
        solution = solution + length * direction
        residual = residual - length * product
        before, square = square, _squares(residual)
        direction = residual + _ratio(square, before) * direction
    return solution


class Judged(NamedTuple):
    """A network with its held-out rows, and the batches that it learned from."""

    network: GrowingNetwork
    apart: MiniBatch
    batches: list[MiniBatch]
    groups: np.ndarray | None = None


def judge(
    judged: Sequence[Judged], options: DescentOptions
) -> tuple[Correction | None, HeldOut | None]:
    """Choose λ and the number of iterations by held-out rows, or None if no solve is better.

    Return the held-out rows with this choice as well; None for both if no solve is possible.

    There is a ``Judged`` for each fold, and their held-out rows decide together.
    """
    n_rows = [sum(map(len, each.batches)) for each in judged]
    if not all(
        is_possible(each.network, n, options) for each, n in zip(judged, n_rows, strict=True)
    ):
        return None, None
    loss, parts, paths = options.step.loss, [], []
    for each in judged:
        network, matrix = each.network, LeafMatrix(each.network, [each.apart], options)
        rows = HeldOut.of(network, each.apart, each.groups)
        parts.append(rows._replace(f=matrix.times(network.coef.rows)[0] + network.intercept))
        paths.append(_paths(System(network, each.batches, options), matrix))
    rows = HeldOut.together(parts)
    before = rows.lost(loss)
    best, choice, chosen = 0.0, None, rows
    for iteration, moved in enumerate(zip(*paths, strict=True), 1):
        for number, ridge in enumerate(LAMBDAS):
            f = rows.f + np.concatenate([each[number] for each in moved])
            gain, error = mean_and_error(before - rows.lost(loss, f), rows.weight, rows.groups)
            if (sure := gain - _ERRORS * error) > best:
                best, choice = sure, Correction(ridge, iteration)
                chosen = rows._replace(f=f)
        if iteration - (0 if choice is None else choice.n_iterations) >= _PATIENCE:
            break
    return choice, chosen


def _paths(system: System, matrix: LeafMatrix) -> Iterator[np.ndarray]:
    """Yield how far f at held-out rows has moved after each iteration, for each λ.

    The conjugate gradients are those for the least λ. The others follow from its numbers: their
    residuals are multiples ``part`` of its residual, and the rows need no products of their own.
    """
    curvature = system.curvature
    least, *_ = LAMBDAS
    beyond = (np.array(LAMBDAS) - least)[:, None] * curvature  # (n_lambdas, n_outputs)
    residual = system.start
    direction, square = residual, _squares(residual)
    ahead = np.concatenate(matrix.times(residual))
    moved = np.zeros((len(LAMBDAS), *ahead.shape))
    ways = np.broadcast_to(ahead, moved.shape)
    part = last_part = np.ones_like(beyond)
    last_length, turn = np.ones_like(curvature), np.zeros_like(curvature)
    for _ in range(MOST_ITERATIONS):
        product = system.normal(direction) + least * curvature * direction
        length = _ratio(square, (direction * product).sum(axis=(0, 1)))
        denominator = length * turn * (last_part - part)
        denominator = denominator + last_part * last_length * (1 + beyond * length)
        next_part = _ratio(part * last_part * last_length, denominator)
        share = _ratio(next_part, part)
        moved = moved + (length * share)[:, None] * ways
        yield moved
        residual = residual - length * product
        before, square = square, _squares(residual)
        last_length, turn = length, _ratio(square, before)
        direction = residual + turn * direction
        ahead = np.concatenate(matrix.times(residual))
        ways = next_part[:, None] * ahead + (turn * share**2)[:, None] * ways
        last_part, part = part, next_part


def _squares(values: np.ndarray) -> np.ndarray:
    return (values * values).sum(axis=(0, 1))


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, or 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b != 0)
