"""Compression: support points are replaced by fewer, so that memory stays constant.

A projection continues with what some of the rows can express, as in online gradient descent on
Nyström's approximation of a kernel [1]_, [2]_. The rows are a sample of all rows so far. The longer
the stream is, the less this sample changes, so a function does not lose much again and again. An
unbiased compression keeps the expectation of the function instead.

References
----------
.. [1] F. Orabona, J. Keshet and B. Caputo, "Bounded kernel-based online learning", JMLR 10, 2009.
.. [2] J. Lu, S. Hoi, J. Wang, P. Zhao and Z.-Y. Liu, "Large scale online kernel learning",
   JMLR 17, 2016.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError

from trickless._arrays.interrupts import uninterrupted
from trickless._arrays.places import HOST
from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidValueError
from trickless._functions.sampling import thin
from trickless._solvers.rounds.rounds import Rounds

#: Share of ``max_support`` that an unbiased compression leaves.
_THINNED = 1 / 2
#: Share of ``max_support`` that a projection leaves, and the most points that it leaves.
_KEPT, _MOST_KEPT = 1 / 4, 4096
#: Added to the kernel of the points, relative to the mean of k(x, x).
_RIDGE = 1e-4


class Products(Protocol):
    """Estimates that have inner products."""

    def products(
        self, rounds: Rounds, index: np.ndarray, alpha: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Inner products, in double precision, of Φ at some support points.

        These are inner products with each other, and with Σ α_i Φ(x_i) for each column of
        coefficients. They are exact, or from the same neurons each time.
        """


class Unbiased:
    """A sample of the support points by the size of their coefficients; f keeps its expectation.

    Half of ``max_support`` points are left. The average starts over. Later rounds correct what a
    compression adds to f, but nothing would correct what it adds to the average of past rounds.
    What the compressions add may outgrow f, so each checks that f has been of use.
    """

    def __init__(self, max_support: int, owner: str) -> None:
        self.max_support = max_support
        self.owner = owner

    def __call__(self, rounds: Rounds, rng: np.random.Generator) -> None:
        """Replace the support and the coefficients."""
        c, support = rounds.coefficients, rounds.support
        assert support is not None
        cause = f"the noise of unbiased compressions to max_support={self.max_support}"
        rounds.check_use(self.owner, cause, "a larger max_support, or a kernel that is named")
        size = np.linalg.norm(c.last(), axis=1)
        index, factor = thin(size, int(_THINNED * self.max_support), rng)
        with uninterrupted():
            support.keep(index)
            c.keep(index, factor)
            rounds.played = None


class Projection:
    """The nearest function over a uniform sample of all rows so far.

    A quarter of ``max_support`` points are left, and 4,096 at most.
    """

    def __init__(
        self, max_support: int, estimate: Products, owner: str, n_jobs: int | None
    ) -> None:
        self.max_support = max_support
        self.estimate = estimate
        self.owner = owner
        self.n_jobs = n_jobs

    def __call__(self, rounds: Rounds, rng: np.random.Generator) -> None:
        """Replace the support and the coefficients."""
        c, support = rounds.coefficients, rounds.support
        assert support is not None
        size = min(max(1, int(_KEPT * self.max_support)), _MOST_KEPT)
        index = reservoir(c.n_settled, len(support) - c.n_settled, c.n_counted, size, rng)
        both = np.hstack([c.last(), c.average()])
        with linear_algebra(self.n_jobs, size**3):
            try:
                both = nearest(*self.estimate.products(rounds, index, both))
            except LinAlgError as error:
                raise InvalidValueError(
                    f"{self.owner}: max_support={self.max_support} needs a kernel that is positive "
                    f"semi-definite, but the kernel matrix of {size:,} support points is not",
                    "max_support=None, another kernel, or other kernel parameters",
                ) from error
        with uninterrupted():
            support.keep(index)
            c.settle(*np.hsplit(both, 2))
            rounds.played = None


def reservoir(
    n_old: int, n_new: int, n_rounds: float, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Return a sample of all rows so far, from a sample of the earlier rows and all new rows.

    Each of ``n_rounds`` rows is in it with the same chance. If rows fade, their number counts them
    by their shares, so that new rows have a better chance. Returns the indices in increasing
    order, the old ones first. The size is at most ``n_old + n_new``.
    """
    share = min(1.0, n_new / n_rounds)
    n_replaced = np.clip(rng.binomial(size, share), size - n_old, n_new)
    old = rng.choice(n_old, size - n_replaced, replace=False)
    new = n_old + rng.choice(n_new, n_replaced, replace=False)
    return np.sort(np.concatenate([old, new]))


def nearest(gram: np.ndarray, values: np.ndarray) -> np.ndarray:
    r"""Coefficients β of :math:`\min \|f - \sum_j \beta_j \Phi(x_j)\|^2 + \rho |\beta|^2`.

    ``gram`` has the inner products of the points that are kept, and is overwritten. ``values`` are
    :math:`\langle f, \Phi(x_j) \rangle`, shape (n, n_outputs), for each of some functions f.

    Raises
    ------
    scipy.linalg.LinAlgError
        If the inner products are not positive definite, although a ridge was added.
    """
    if not values.any():
        return np.zeros(values.shape)
    ridge = _RIDGE * float(np.trace(gram)) / len(gram)
    factor = HOST.cholesky(HOST.plus_ridge(gram, ridge, in_place=True))
    return HOST.cho_solve(factor, values)
