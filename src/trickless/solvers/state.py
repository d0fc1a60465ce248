"""The state of a solver while it learns, and how it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: What learning has changed so far: plain data, arrays and solvers' own objects.
State = dict[str, Any]
#: Takes a function that makes the state, and calls it when it is time to keep one.
Keep = Callable[[Callable[[], State]], object]


def forget(state: Callable[[], State]) -> None:
    """Keep nothing."""


def ignore(n: int) -> None:
    """Show no progress."""
