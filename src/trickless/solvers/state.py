"""What a solver receives from its learner: where its state is saved, and what an error is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

#: Everything that learning has changed so far: plain data, arrays and objects of solvers.
State = dict[str, Any]
#: Receives a function that returns the state, and calls it when the state should be saved.
Keep = Callable[[Callable[[], State]], object]


class Measure(Protocol):
    """How well decision values fit targets."""

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Error of each row."""

    def score(self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> float:
        """Score of all rows; larger is better."""


def forget(state: Callable[[], State]) -> None:
    """Save nothing."""


def ignore(n: int) -> None:
    """Show no progress."""
