r"""Newton steps on trees: the coefficients of leaves from sums of slopes and curvatures.

The activations of a tree are the indicators of its leaves, so their covariance is diagonal.
The preconditioned step of Dai et al. on the quadratic that touches the loss is then, leaf by leaf,

.. math:: c_v = \gamma \frac{\sum_{i \in v} g_i}{\sum_{i \in v} h_i + \lambda}

with slopes g = −l′ and curvatures h. Both are rounded to multiples of a unit, so that sums of rows
are exact. They are the same on any number of threads or machines.

λ is relative to the mean of Σ h over the leaves. A few rows that far outweigh all others count less
in this mean. Otherwise one row of weight 10⁹ would damp the steps of all leaves without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.loops import loops
from trickless.arrays.places import take
from trickless.arrays.threads import map_blocks, row_blocks
from trickless.neurons import Trees, Weights
from trickless.solvers.losses import Loss

#: Rows of a block, and rows from which several threads are worth it.
_ROWS, _WORTH_THREADS = 2**14, 2**15
#: Bits of a sum of slopes: three less than a double holds, since slopes may grow.
_BITS = 50
#: Values are outliers if fewer than so many are so far above the rest.
_FEW = 10
#: How far a curvature is above the rest if it counts less in λ.
FAR = 1e4
#: The most Newton steps for a constant, and their accuracy.
_ITERATIONS, _ACCURACY = 100, 1e-6


class Units(NamedTuple):
    """The units of the slopes and curvatures of each output: powers of two, or 0 if all are 0."""

    g: np.ndarray | float = 0.0
    h: np.ndarray | float = 0.0

    def at_least(self, other: Units) -> Units:
        """The larger of the two units of each output."""
        return Units(np.maximum(self.g, other.g), np.maximum(self.h, other.h))


class Leaves(NamedTuple):
    """The leaves of rows in a few trees, (n_trees, n_rows), and the number of leaves of a tree."""

    numbers: np.ndarray
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns that the activations would have."""
        return self.numbers.shape[1], self.width * len(self.numbers)

    def sums(self, values: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Sums of whole ``values`` (n_values, n_rows) by leaf: (width, n_trees, n_values)."""
        parts = []
        for leaf in self.numbers:

            def of_block(rows: slice, leaf: np.ndarray = leaf) -> np.ndarray:
                return loops().leaf_sums(leaf[rows], values[:, rows], self.width)

            none = np.zeros((self.width, len(values)))  # the sums, if there are no rows
            parts.append(sum(by_rows(of_block, len(leaf), n_jobs), none))
        return np.stack(parts, axis=1)

    def add(self, f: np.ndarray, coef: np.ndarray, n_jobs: int | None) -> None:
        """Add the coefficients (width * n_trees, n_outputs) of their leaves to rows of f."""
        each = coef.reshape(self.width, len(self.numbers), -1).swapaxes(0, 1)
        for leaf, values in zip(self.numbers, np.ascontiguousarray(each), strict=True):

            def to_block(rows: slice, leaf: np.ndarray = leaf, values: np.ndarray = values) -> None:
                loops().add_leaf_values(f[rows], leaf[rows], values)

            by_rows(to_block, len(leaf), n_jobs)


def leaves_of(family: Trees, X: Any, weights: Weights, n_jobs: int | None) -> Leaves:
    """The leaves of rows in a few trees."""
    numbers = np.empty((weights[0].shape[0], X.shape[0]), dtype=np.intp)

    def fill(rows: slice) -> None:
        numbers[:, rows] = family.leaves(take(X, rows), weights).T

    by_rows(fill, X.shape[0], n_jobs)
    return Leaves(numbers, family.width)


def by_rows(work: Callable[[slice], Any], n_rows: int, n_jobs: int | None) -> list[Any]:
    """Apply ``work`` to blocks of rows, on several threads if there are many."""
    return map_blocks(work, row_blocks(n_rows, _ROWS), n_jobs if n_rows >= _WORTH_THREADS else 1)


def units_of(
    loss: Loss,
    start: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None,
    scale: np.ndarray,
) -> Units:
    """Units that make sums over all rows exact, as long as slopes are not much above the first."""
    g, h = loss.newton(np.broadcast_to(start, targets.shape), targets, scale)
    heaviest = 1.0 if weight is None else float(weight.max() / weight.mean())
    most = (heaviest * len(targets) * np.abs(values).max(axis=0) for values in (g, h))
    return Units(*map(_units, most))


def _units(largest_sums: np.ndarray) -> np.ndarray:
    return np.where(largest_sums > 0, np.ldexp(1.0, np.frexp(largest_sums)[1] - _BITS), 0.0)


def limited(values: np.ndarray, far: float) -> np.ndarray | None:
    """Factors that limit outliers to ``far`` times the tenth largest value; None without outliers.

    Values are not negative.
    """
    peak = values.max(initial=0.0)
    if np.count_nonzero(values * far >= peak) >= min(_FEW, len(values)):
        return None
    top = largest(values[None])[0]
    most = far * top[np.flatnonzero(top)[0]]
    return None if peak <= most else most / np.maximum(values, most)


def largest(h: np.ndarray) -> np.ndarray:
    """The largest values of each row of h, in increasing order: as many as show all outliers."""
    return np.sort(np.partition(h, -_FEW)[:, -_FEW:] if h.shape[1] > _FEW else h)


def excess(h: np.ndarray) -> np.ndarray:
    """What outliers among curvatures (n_outputs, n_rows) have above their limit: (n_outputs,).

    The ``largest`` curvatures are enough.
    """
    factors = (limited(each, FAR) for each in h)
    pairs = zip(h, factors, strict=True)
    return np.array([0.0 if by is None else float(each @ (1 - by)) for each, by in pairs])


def terms(
    loss: Loss,
    f: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None,
    units: Units,
    scale: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Slopes −l′ and curvatures of rows, in their units: (2 n_outputs, n_rows), whole numbers."""
    n_outputs = targets.shape[1]
    values = np.empty((2 * n_outputs, len(f)))
    unit_g, unit_h = (np.where(np.greater(unit, 0), unit, 1.0) for unit in units)

    def fill(rows: slice) -> None:
        g, h = loss.newton(f[rows], targets[rows], scale)
        if weight is not None:
            g, h = g * weight[rows, None], h * weight[rows, None]
        np.rint((g / unit_g).T, out=values[:n_outputs, rows])
        np.rint((h / unit_h).T, out=values[n_outputs:, rows])

    by_rows(fill, len(f), n_jobs)
    return values


def leaf_coefficients(
    g: np.ndarray, h: np.ndarray, units: Units, damping: float, outlying: np.ndarray | float = 0.0
) -> np.ndarray:
    """The coefficients of leaves after a whole Newton step, in the order of columns.

    ``g`` and ``h`` are sums by leaf, (width, n_trees, n_outputs), in their units. λ is ``damping``
    times the mean of ``h`` over leaves, which is the mean of the covariance's diagonal. The mean
    leaves out what is ``outlying``, the :func:`excess` of outliers.
    """
    g, h = g * units.g, h * units.h
    ridge = damping * (h.mean(axis=0) - outlying * units.h / len(h))
    coef = np.divide(g, h + ridge, out=np.zeros_like(g), where=h + ridge > 0)
    return coef.reshape(-1, g.shape[2])


def safe_share(coef: np.ndarray, gamma: np.ndarray, loss: Loss) -> np.ndarray:
    r"""The largest share of a step of size gamma on each leaf that is sure to descend.

    If the curvature changes along f by no more than M times itself, a move by
    :math:`\log(1 + M |c|) / M` descends, with c the whole Newton step [1]_. That is less than
    :math:`\gamma |c|` where the rows of a leaf are nearly certain of the wrong class.

    References
    ----------
    .. [1] T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions: a recipe for Newton-type
       methods", Mathematical Programming 178, 2019.
    """
    if not loss.bending:
        return np.ones_like(coef)
    far = np.maximum(loss.bending * np.abs(coef), np.finfo(float).tiny)
    return np.minimum(1.0, np.log1p(far) / (gamma * far))


def damped(step: np.ndarray, loss: Loss) -> np.ndarray:
    """A Newton step of a constant, no longer than is sure to descend (see ``safe_share``)."""
    return step * safe_share(step, np.ones(1), loss)


def constant_of(
    loss: Loss, f: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, prior: float = 0.0
) -> np.ndarray:
    """What to add to f for the least loss, (n_outputs,): a constant of inverse variance prior."""
    added, n = np.zeros(f.shape[1]), effective_rows(len(f), weight)
    share = np.full(len(f), n / len(f)) if weight is None else weight * (n / weight.sum())
    for _ in range(_ITERATIONS):
        g, h = (share @ values for values in loss.newton(f + added, targets))
        step = damped((g - prior * added) / (h + prior), loss)
        added = added + step
        if np.abs(step).max() < _ACCURACY:
            break
    return added


def effective_rows(n_rows: int, weight: np.ndarray | None) -> float:
    """The number of rows of equal weight that tell as much (Kish): (Σw)² / Σw²."""
    return float(n_rows) if weight is None else float(weight.sum() ** 2 / (weight**2).sum())
