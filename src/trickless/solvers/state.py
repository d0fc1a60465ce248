"""The state of a solver while it learns, from which it can resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Everything that learning has changed so far: plain data, arrays and objects of solvers.
State = dict[str, Any]
#: Receives a function that returns the state, and calls it when the state should be saved.
Keep = Callable[[Callable[[], State]], object]


def forget(state: Callable[[], State]) -> None:
    """Save nothing."""


def ignore(n: int) -> None:
    """Show no progress."""
