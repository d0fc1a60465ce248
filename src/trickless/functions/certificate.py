"""Estimates with a guarantee: as many neurons as a concentration inequality asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trickless.functions.network import Network
from trickless.rules import anything, check_value, is_real
from trickless.theory import empirical_bernstein_radius, hoeffding_radius

_FIRST_STAGE = 256
_GROWTH = 1.5
_AT_ONCE = 2**15
#: Errors of rounding that a sum of bounded terms is granted.
_ROUNDINGS = 8


def certified(
    draw: Callable[[int], Network],
    X: Any,
    half_range: np.ndarray,
    tolerance: np.ndarray,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Values and radii of at most ``tolerance``, each right with probability 1 − delta.

    Stage k has seen ⌈256 · 1.5^k⌉ neurons and may be wrong with probability δ / ((k+1)(k+2)), which
    sums to δ. Rows that are within the tolerance leave; the others go on with more neurons.

    Parameters
    ----------
    draw : callable
        Makes a network of n fresh neurons, whose expectation is what the values estimate.
    X : array or CSR matrix of shape (n_rows, n_features)
    half_range : array of shape (n_outputs,)
        What a single neuron says of a row is between minus and plus this.
    tolerance : array of shape (n_outputs,)
    delta : float

    Returns
    -------
    value, radius : arrays of shape (n_rows, n_outputs)
    """
    shape = X.shape[0], len(half_range)
    value, radius = np.zeros(shape), np.zeros(shape)
    if not half_range.any():
        return value, radius
    open_rows = np.arange(shape[0])
    mean, square = np.zeros(shape), np.zeros(shape)  # square: sum of squares about the mean
    n, stage = 0, 0
    while len(open_rows):
        for more in _pieces(int(np.ceil(_FIRST_STAGE * _GROWTH**stage)) - n):
            new_mean, error = draw(more).estimate(X[open_rows])
            # Two samples are merged by their means and their squares about them.
            step = new_mean - mean
            square += error**2 * more * (more - 1) + step**2 * n * more / (n + more)
            mean += step * more / (n + more)
            n += more
        stage += 1
        share = delta / (stage * (stage + 1))
        # Bernstein's radius is below Bennett's, which the variance gives, with a chance of share/3.
        # The smaller of Bennett's and Hoeffding's is no random number, and exceeded with 2 share/3.
        within = np.minimum(
            hoeffding_radius(n, half_range, 2 * share / 3),
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


def check_probability(owner: str, name: str, value: Any) -> None:
    """A probability strictly between 0 and 1."""
    rule = anything(
        "a number above 0 and below 1",
        f"{name}=0.05 or 0.95 are common choices",
        lambda v: is_real(v) and 0 < v < 1,
    )
    check_value(owner, name, value, rule)


def check_tolerance(owner: str, tolerance: Any, alpha: np.ndarray, dtype: Any) -> np.ndarray:
    """A positive tolerance for each output, and one that the precision of the sums can keep."""
    try:
        wanted = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), alpha.shape[1])
        known = bool((wanted > 0).all() and np.isfinite(wanted).all())
    except (TypeError, ValueError):
        known = False
    if not known:
        raise ValueError(
            f"{owner}: tolerance={tolerance!r}, but it must be a finite number above 0, or one for "
            "each output. Remedy: tolerance=0.05 lets values be 0.05 off."
        )
    rounding = _ROUNDINGS * np.finfo(dtype).eps * np.abs(alpha).sum(axis=0)
    if (wanted < rounding).any():
        raise ValueError(
            f"{owner}: tolerance={tolerance!r}, but sums in {np.dtype(dtype).name} may be off by "
            f"{rounding.max():.1g} themselves. Remedy: dtype='float64', or a larger tolerance."
        )
    return wanted
