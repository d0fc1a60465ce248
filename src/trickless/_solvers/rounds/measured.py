"""What estimates have measured along a stream, which its rounds keep."""

from __future__ import annotations

from typing import NamedTuple

from trickless._arrays.stated import stated
from trickless._functions.pilot import Variances
from trickless._solvers.outputs import NewOutputs


@stated
class Measured(NamedTuple):
    """Variances of estimates by single neurons, and the size of their support.

    The size is 0 if measuring them was not worth the time.
    """

    size: float
    variances: Variances | None

    def with_outputs(self, new: NewOutputs) -> None:
        """Return what is known for other targets: nothing, since variances depend on them."""


@stated
class Noise(NamedTuple):
    """How noisy estimates of a kernel are: the largest noise measured along a stream.

    ``variance`` is the variance of an estimate, and ``square`` the mean square of the kernel. Both
    are from ``n_pairs`` pairs of rows, after ``at`` rounds.
    """

    variance: float = 0.0
    square: float = 0.0
    n_pairs: int = 0
    at: int = 0

    def with_outputs(self, new: NewOutputs) -> Noise:
        """Return the same, since the kernel does not depend on the targets."""
        return self
