"""Slopes g = −l′ and curvatures h of a loss at rows, and Newton steps of a constant.

Both are rounded to multiples of a unit, so that sums over rows are exact. They are then the same on
any number of threads or machines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from trickless.arrays.stated import Array, stated
from trickless.arrays.threads import map_blocks, row_blocks
from trickless.arrays.weighted import effective_rows
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


@stated
class Units(NamedTuple):
    """The units of the slopes and curvatures of each output: powers of two, or 0 if all are 0."""

    g: Annotated[np.ndarray, Array("f8", "n_outputs", least=0)] | float = 0.0
    h: Annotated[np.ndarray, Array("f8", "n_outputs", least=0)] | float = 0.0

    def at_least(self, other: Units) -> Units:
        """Return the larger of the two units of each output."""
        return Units(np.maximum(self.g, other.g), np.maximum(self.h, other.h))


def by_rows(work: Callable[[slice], Any], n_rows: int, n_jobs: int | None) -> list[Any]:
    """Apply ``work`` to blocks of rows, on several threads if there are many."""
    blocks = row_blocks(n_rows, _ROWS)
    if n_rows < _WORTH_THREADS:  # looking for threads would take longer than a small block
        return [work(block) for block in blocks]
    return map_blocks(work, blocks, n_jobs)


def units_of(g: np.ndarray, h: np.ndarray, weight: np.ndarray | None) -> Units:
    """Return units that make sums over all rows exact, as long as slopes stay about as large.

    ``g`` and ``h`` are the first slopes and curvatures, both of shape (n_rows, n_outputs).
    """
    heaviest = 1.0 if weight is None else float(weight.max() / weight.mean())
    most = heaviest * len(g)
    return Units(*(unit_of_sums(most * np.abs(values).max(axis=0)) for values in (g, h)))


def unit_of_sums(largest_sums: np.ndarray) -> np.ndarray:
    """Return the unit for values whose sums are at most so large, or 0 if these are 0."""
    return np.where(largest_sums > 0, np.ldexp(1.0, np.frexp(largest_sums)[1] - _BITS), 0.0)


def typical_gain(g: np.ndarray, h: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Return what Newton steps gain for each output where these are slopes and curvatures."""
    square, curvature = mean_squares(g, weight), np.average(h, axis=0, weights=weight)
    return np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)


def mean_squares(g: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Return the mean square of the slopes of each output."""
    return np.average(g * g, axis=0, weights=weight)


def limited(values: np.ndarray, far: float) -> np.ndarray | None:
    """Return factors that limit outliers to ``far`` times the tenth largest value, or None.

    Values are not negative.
    """
    peak = values.max(initial=0.0)
    if np.count_nonzero(values * far >= peak) >= min(_FEW, len(values)):
        return None
    top = largest(values[None])[0]
    most = far * top[np.flatnonzero(top)[0]]
    return None if peak <= most else most / np.maximum(values, most)


def largest(h: np.ndarray) -> np.ndarray:
    """Return the largest values of each row of h in increasing order, enough to show outliers."""
    return np.sort(np.partition(h, -_FEW)[:, -_FEW:] if h.shape[1] > _FEW else h)


def excess(h: np.ndarray) -> np.ndarray:
    """Return how far outliers among curvatures exceed their limit: from (n_outputs, n_rows).

    The ``largest`` curvatures are enough.
    """
    factors = (limited(each, FAR) for each in h)
    pairs = zip(h, factors, strict=True)
    return np.array([0.0 if by is None else float(each @ (1 - by)) for each, by in pairs])


def in_units(
    loss: Loss,
    f: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None,
    units: Units,
    scale: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Return slopes and curvatures of rows as multiples of their units: (2 n_outputs, n_rows)."""
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


def safe_share(coef: np.ndarray, gamma: np.ndarray, loss: Loss) -> np.ndarray:
    r"""Return the largest share of a step of size gamma on each leaf that is sure to descend.

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
    """Return a Newton step of a constant, if need be shortened by ``safe_share``."""
    return step * safe_share(step, np.ones(1), loss)


def constant_of(
    loss: Loss, f: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, prior: float = 0.0
) -> np.ndarray:
    """Return what to add to f for the least loss, (n_outputs,), of inverse variance ``prior``."""
    added, n = np.zeros(f.shape[1]), effective_rows(len(f), weight)
    share = np.full(len(f), n / len(f)) if weight is None else weight * (n / weight.sum())
    for _ in range(_ITERATIONS):
        g, h = (share @ values for values in loss.newton(f + added, targets))
        step = damped((g - prior * added) / (h + prior), loss)
        added = added + step
        if np.abs(step).max() < _ACCURACY:
            break
    return added
