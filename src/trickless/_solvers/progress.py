"""Progress of a fit: errors of rows, their curve in constant memory, and divergence."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from trickless._errors import InvalidValueError

#: Rows of each stretch of a stream, and their mean error.
Curve = list[tuple[int, float]]

#: A curve has fewer than twice as many stretches.
STRETCHES = 4096
#: Training diverges if the mean loss exceeds this many times that of predicting a constant.
_DIVERGED = 1e3


def extend(curve: Curve, n_rows: int, error: float) -> None:
    """Add a stretch; neighbours are merged if the curve becomes too long."""
    curve.append((n_rows, error))
    if len(curve) == 2 * STRETCHES:
        curve[:] = [
            (m + n, (m * a + n * b) / (m + n))
            for (m, a), (n, b) in zip(curve[::2], curve[1::2], strict=True)
        ]


def check_progress(owner: str, now: float, start: float, n_steps: int, remedy: str) -> None:
    """Raise an error if the mean loss is far above that of predicting a constant."""
    if not np.isfinite(now) or now > _DIVERGED * start > 0:
        raise InvalidValueError(
            f"{owner}: training diverged within {n_steps} steps: the mean loss is {now:.3g}, "
            f"but a constant prediction has about {start:.3g}",
            remedy,
        )


@runtime_checkable
class Measure(Protocol):
    """How well decision values fit targets."""

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Error of each row."""


def ignore(n: int) -> None:
    """Show no progress."""
