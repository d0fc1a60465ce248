"""Estimates with a guarantee: as many neurons as a concentration inequality asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trickless.theory import empirical_bernstein_radius, hoeffding_radius

if TYPE_CHECKING:
    from trickless._expansion import Expansion

_FIRST_STAGE = 256
_GROWTH = 1.5
_AT_ONCE = 2**15


def certified(
    expansion: Expansion, X: Any, tolerance: np.ndarray, delta: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Values and radii of at most ``tolerance``, each right with probability 1 − delta.

    Stage k has seen ⌈256 · 1.5^k⌉ neurons and may be wrong with probability δ / ((k+1)(k+2)), which
    sums to δ. Rows that are within the tolerance leave; the others go on with more neurons.

    Parameters
    ----------
    expansion : Expansion
    X : array or CSR matrix of shape (n_rows, n_features)
    tolerance : array of shape (n_outputs,)
    delta : float
    rng : numpy.random.Generator

    Returns
    -------
    value, radius : arrays of shape (n_rows, n_outputs)
    """
    shape = X.shape[0], expansion.alpha.shape[1]
    value, radius = np.zeros(shape), np.zeros(shape)
    half_range = np.abs(expansion.alpha).sum(axis=0) * expansion.neurons.bound**2
    if not half_range.any():
        return value, radius
    open_rows = np.arange(shape[0])
    mean, square = np.zeros(shape), np.zeros(shape)  # square: sum of squares about the mean
    n, stage = 0, 0
    while len(open_rows):
        for more in _pieces(int(np.ceil(_FIRST_STAGE * _GROWTH**stage)) - n):
            network = expansion.freeze(more, "full", rng)
            new_mean, error = network.estimate(X[open_rows])
            # Two samples are merged by their means and their squares about them.
            step = new_mean - mean
            square += error**2 * more * (more - 1) + step**2 * n * more / (n + more)
            mean += step * more / (n + more)
            n += more
        stage += 1
        share = delta / (stage * (stage + 1))
        within = np.minimum(
            hoeffding_radius(n, half_range, share),
            empirical_bernstein_radius(n, square / (n - 1), half_range, share),
        )
        value[open_rows], radius[open_rows] = mean, within
        left = (within > tolerance).any(axis=1)
        open_rows, mean, square = open_rows[left], mean[left], square[left]
    return value, radius


def _pieces(n: int) -> list[int]:
    """N neurons in equal parts that are held at a time."""
    parts = -(-n // _AT_ONCE)
    return [n // parts + (part < n % parts) for part in range(parts)]
