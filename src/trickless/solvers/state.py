"""What solvers are handed: a place to keep their state, a progress bar, a measure of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

#: What learning has changed so far: plain data, arrays and solvers' own objects.
State = dict[str, Any]
#: Takes a function that makes the state, and calls it when it is time to keep one.
Keep = Callable[[Callable[[], State]], object]


class Measure(Protocol):
    """How well decision values fit targets."""

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Error of each row."""

    def score(self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> float:
        """Score of all rows; larger is better."""


def forget(state: Callable[[], State]) -> None:
    """Keep nothing."""


def ignore(n: int) -> None:
    """Show no progress."""
