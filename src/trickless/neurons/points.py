"""Ways to draw standard normal vectors, which Fourier families map to frequencies.

Each single vector of a draw has the standard normal distribution (with "structured", nearly), so
estimates have the same expectation as with independent vectors. If the vectors of a draw are spread
out evenly, estimates have a smaller variance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import hadamard
from scipy.special import ndtri
from scipy.stats import qmc

#: Standard normal numbers of shapes (n, d) and (n, more).
Points = tuple[np.ndarray, np.ndarray]


class Sampling(NamedTuple):
    """A way to draw vectors, with the least and largest number of coordinates it works for."""

    #: (rng, n, d, more) -> standard normal numbers of shapes (n, d) and (n, more)
    draw: Callable[[np.random.Generator, int, int, int], Points]
    least: int = 1
    most: int | None = None


def _iid(rng: np.random.Generator, n: int, d: int, more: int) -> Points:
    return rng.standard_normal((n, d)), rng.standard_normal((n, more))


def _orthogonal(rng: np.random.Generator, n: int, d: int, more: int) -> Points:
    """Draw orthogonal vectors in groups of d, with independent lengths."""
    k = min(n, d)
    Q, R = np.linalg.qr(rng.standard_normal((-(-n // k), d, k)))
    # With the signs that make the diagonal of R positive, Q is uniform.
    Q *= np.copysign(1.0, np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    directions = Q.swapaxes(1, 2).reshape(-1, d)[:n]
    return directions * _lengths(rng, n, d), rng.standard_normal((n, more))


def _sobol(rng: np.random.Generator, n: int, d: int, more: int) -> Points:
    """Map a scrambled Sobol sequence through the inverse normal distribution function."""
    engine = qmc.Sobol(more + d, seed=rng)
    points = engine.random_base2((n - 1).bit_length())[:n]
    z = ndtri(points + 0.5**engine.bits / 2)  # of multiples of 2^-bits, shifted by half a step
    return z[:, more:], z[:, :more]


def _structured(rng: np.random.Generator, n: int, d: int, more: int) -> Points:
    """Draw rows of H D1 H D2 H D3, with the Hadamard matrix H and random signs D, of length 1.

    The rows are orthogonal in groups of p, the next power of two, before they are cut to d numbers.
    """
    p = 1 << (d - 1).bit_length()
    k = min(n, p)
    signs = 2.0 * rng.integers(0, 2, (3, -(-n // k), 1, p)) - 1
    shared_bits = np.bitwise_count(np.arange(k)[:, None] & np.arange(p))
    rows = (1.0 - 2 * (shared_bits % 2)) * signs[0]  # of H D1
    for sign in signs[1:]:
        rows = _hadamard_transform(rows) * sign
    directions = rows.reshape(-1, p)[:n, :d] / p**1.5
    return directions * _lengths(rng, n, p), rng.standard_normal((n, more))


def _hadamard_transform(rows: np.ndarray) -> np.ndarray:
    """Multiply rows by the Hadamard matrix, which is a Kronecker product of two smaller ones."""
    p = rows.shape[-1]
    a = 1 << (p.bit_length() // 2)
    blocks = hadamard(a, float) @ rows.reshape(-1, a, p // a) @ hadamard(p // a, float)
    return blocks.reshape(rows.shape)


def _lengths(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.sqrt(rng.chisquare(d, (n, 1)))


#: Ways to draw vectors, by name.
SAMPLINGS = {
    "iid": Sampling(_iid),
    "orthogonal": Sampling(_orthogonal),
    "sobol": Sampling(_sobol, most=qmc.Sobol.MAXDIM),
    "structured": Sampling(_structured, least=256),
}
