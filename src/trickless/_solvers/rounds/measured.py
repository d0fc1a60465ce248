"""What estimates have measured along a stream, which its rounds keep."""

from __future__ import annotations

from typing import NamedTuple

from trickless._arrays.stated import stated
from trickless._functions.pilot import Variances
from trickless._solvers.outputs import NewOutputs


@stated
class Measured(NamedTuple):
    """The largest k(x, x), variances of estimates by single neurons, and the size of their support.

    ``square`` is 0 if it was not measured. ``size`` is 0 if measuring variances was not worth the
    time.
    """

    square: float = 0.0
    size: float = 0.0
    variances: Variances | None = None

    def with_outputs(self, new: NewOutputs) -> Measured:
        """Return what is known for other targets, on which variances depend."""
        return self._replace(size=0.0, variances=None)


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
