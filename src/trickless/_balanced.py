"""Balanced sampling: pick points at given chances so that their weighted sums hardly change.

J.-C. Deville and Y. Tillé, "Efficient balanced sampling: the cube method", Biometrika 91(4), 2004.
The chances take a random walk in the unit cube that ends at a corner. Each step has mean 0, so a
point is kept with its chance exactly, and moves within the directions that leave the balanced sums
as they are. It walks a window of points at a time (G. Chauvet and Y. Tillé, "A fast algorithm for
balanced sampling", Computational Statistics 21, 2006).
"""

from __future__ import annotations

import numpy as np

#: Sums that are balanced, beside the number of points.
DIRECTIONS = 64
_ROUNDING = 1e-9


def balanced(
    chance: np.ndarray, contributions: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    r"""Pick point i with probability chance_i, keeping :math:`\sum_{i \in S} c_i / \pi_i` steady.

    Parameters
    ----------
    chance : array of shape (t,)
        Probabilities :math:`\pi_i`.
    contributions : array of shape (t, m) or None
        Rows :math:`c_i` whose sum should change little. The sums along the strongest
        directions of :math:`c_i / \pi_i` are balanced.
    rng : numpy.random.Generator

    Returns
    -------
    integer array
        The points kept, in increasing order; their number is the sum of the chances to within 1.
    """
    chance = chance.copy()
    free = _open(chance)
    sums = np.ones((len(chance), 1))
    if contributions is not None and len(free):
        scaled = contributions[free].astype(np.float64) / chance[free, None]
        strongest = np.linalg.eigh(scaled.T @ scaled)[1][:, : -DIRECTIONS - 1 : -1]
        sums = np.pad(sums, ((0, 0), (0, strongest.shape[1])))
        sums[free, 1:] = scaled @ strongest
    n_sums = sums.shape[1]
    while len(free) > 1:  # the fewer points are open, the fewer sums can be kept
        n_sums = min(n_sums, len(free) // 2)
        _walk(chance, sums[:, :n_sums], rng)
        free = _open(chance)
    chance[free] = rng.random(len(free)) < chance[free]
    return np.flatnonzero(chance)


def _open(chance: np.ndarray) -> np.ndarray:
    """Points that are neither kept nor dropped yet."""
    return np.flatnonzero((chance > 0) & (chance < 1))


def _walk(chance: np.ndarray, sums: np.ndarray, rng: np.random.Generator) -> None:
    """Walk, keeping the sums, until no more points are open than there are sums; in place."""
    n_sums = sums.shape[1]
    waiting = _open(chance)
    window = waiting[:0]
    while True:
        more = 2 * n_sums + 2 - len(window)
        window, waiting = np.concatenate([window, waiting[:more]]), waiting[more:]
        if len(window) <= n_sums:
            return
        moved = _walk_window(chance[window], sums[window], rng)
        moved[moved < _ROUNDING] = 0
        moved[moved > 1 - _ROUNDING] = 1
        chance[window] = moved
        window = window[_open(moved)]


def _walk_window(place: np.ndarray, sums: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Walk in the directions that keep the sums; each step brings a point to 0 or 1."""
    ways = np.linalg.qr(sums, mode="complete")[0][:, sums.shape[1] :]
    while ways.shape[1]:
        way = ways[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(way > 0, (1 - place) / way, -place / way)
            back = np.where(way > 0, place / way, (place - 1) / way)
        still = np.abs(way) < _ROUNDING
        ends[still] = back[still] = np.inf
        first, last = ends.argmin(), back.argmin()
        far, near = ends[first], back[last]
        # Forward with a probability that gives the step the mean 0.
        forward = rng.random() * (far + near) < near
        point = first if forward else last
        place = place + (far if forward else -near) * way
        place[point] = round(place[point])
        # The others go on in the directions that leave this point where it is.
        pivot = np.abs(ways[point]).argmax()
        ways[:, [pivot, -1]] = ways[:, [-1, pivot]]
        row, used, ways = ways[point].copy(), ways[:, -1], ways[:, :-1]
        ways -= used[:, None] * (row[:-1] / row[-1])
        ways[point] = 0
    return place
