"""Estimates with guaranteed errors: draw neurons until concentration inequalities hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trickless._errors import InvalidValueError
from trickless._functions.network import Network
from trickless._rules import anything, check_value, is_real, positive
from trickless.theory.concentration import empirical_bernstein_radius, hoeffding_radius

#: Neurons of the first stage, and the factor by which each stage is larger than the one before.
_FIRST_STAGE, _GROWTH = 256, 1.5
#: The most neurons that are held at a time.
_AT_ONCE = 2**15
#: Assumed rounding error of a sum of bounded terms, in units of the precision.
_ROUNDINGS = 8


def certified(
    draw: Callable[[int], Network],
    X: Any,
    half_range: np.ndarray,
    tolerance: np.ndarray,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate values and radii of at most ``tolerance``, correct with probability 1 − delta.

    Stage k has drawn ⌈256 · 1.5^k⌉ neurons, and may be wrong with probability δ / ((k+1)(k+2)).
    These probabilities sum to δ. Rows within the tolerance are done, and the others continue with
    more neurons.

    ``draw(n)`` makes a network of n fresh neurons, whose expectation is estimated. The value of a
    single neuron for an output lies between minus and plus its ``half_range``.
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
            # Merge two samples: their means, and sums of squares about the means.
            step = new_mean - mean
            square += error**2 * more * (more - 1) + step**2 * n * more / (n + more)
            mean += step * more / (n + more)
            n += more
        stage += 1
        share = delta / (stage * (stage + 1))
        # With probability at most share/3, the empirical Bernstein radius is below Bennett's, which
        # uses the true variance. The smaller of Bennett's and Hoeffding's radius is not random.
        # Errors exceed it with probability at most 2 share/3.
        within = np.minimum(
            hoeffding_radius(n, half_range, 2 * share / 3),
            empirical_bernstein_radius(n, square / (n - 1), half_range, share),
        )
        value[open_rows], radius[open_rows] = mean, within
        left = (within > tolerance).any(axis=1)
        open_rows, mean, square = open_rows[left], mean[left], square[left]
    return value, radius


def _pieces(n: int) -> list[int]:
    """Split n neurons into equal parts, small enough to be held in memory."""
    parts = -(-n // _AT_ONCE)
    return [n // parts + (part < n % parts) for part in range(parts)]


def check_probability(owner: str, name: str, value: Any) -> None:
    """Check that a probability is strictly between 0 and 1."""
    rule = anything(
        "a number above 0 and below 1",
        f"{name}=0.05 and {name}=0.95 are common choices",
        lambda v: is_real(v) and 0 < v < 1,
    )
    check_value(owner, name, value, rule)


def check_tolerance(owner: str, tolerance: Any, alpha: np.ndarray, dtype: Any) -> np.ndarray:
    """Check that tolerances are positive and above rounding errors. Give one for each output."""
    try:
        wanted = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), alpha.shape[1])
        known = bool((wanted > 0).all() and np.isfinite(wanted).all())
    except (TypeError, ValueError):
        known = False
    if not known:
        raise InvalidValueError(
            f"{owner}: tolerance={tolerance!r}, but it must be a finite number above 0, or one for "
            "each output",
            "tolerance=0.05 allows errors of up to 0.05",
        )
    rounding = _ROUNDINGS * np.finfo(dtype).eps * np.abs(alpha).sum(axis=0)
    if (wanted < rounding).any():
        raise InvalidValueError(
            f"{owner}: tolerance={tolerance!r}, but rounding of sums in {np.dtype(dtype).name} may "
            f"cause errors of {rounding.max():.1g}",
            "dtype='float64', or a larger tolerance",
        )
    return wanted


def check_certificate(
    owner: str, return_standard_error: Any, tolerance: Any, confidence: Any
) -> None:
    """Raise an error if both a tolerance and a standard error are asked for."""
    check_probability(owner, "confidence", confidence)
    if tolerance is not None and return_standard_error:
        raise InvalidValueError(
            f"{owner}: predict with tolerance={tolerance!r} and return_standard_error="
            f"{return_standard_error!r}, but predictions within a tolerance have a certificate "
            "instead of a standard error",
            "ask for one of them",
        )
    if tolerance is not None:
        check_value(
            owner, "tolerance", tolerance, positive("it is in the units of y or of decision values")
        )
