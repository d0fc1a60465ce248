"""What a solver receives from its learner: where its state is saved, and what an error is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

#: Everything that learning has changed so far: plain data, arrays and objects of solvers.
State = dict[str, Any]
#: Receives a function that returns the state, and calls it when the state should be saved.
Keep = Callable[[Callable[[], State]], object]


class Measure(Protocol):
    """How well decision values fit targets."""

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Error of each row."""


def check_measure(measure: Any) -> None:
    """Check that this measures errors."""
    if not callable(getattr(measure, "error", None)):
        raise ValueError(f"measure: a {type(measure).__name__} does not measure errors")


def parts_of(state: State, **types: Any) -> list[Any]:
    """Return the parts of a saved state, in order, if it has exactly these, of these types."""
    if state.keys() != types.keys():
        raise ValueError(f"the parts of the state are {sorted(state)}, not {sorted(types)}")
    for name, kind in types.items():
        if not isinstance(state[name], kind):
            raise ValueError(f"the {name} of the state is a {type(state[name]).__name__}")
    return [state[name] for name in types]


def counted(n: int, most: int) -> int:
    """Return a count of a saved state, if it is in range."""
    if not 0 <= n <= most:
        raise ValueError(f"the state counts {n}, which is not in the range of 0 to {most}")
    return n


def forget(state: Callable[[], State]) -> None:
    """Save nothing."""


def ignore(n: int) -> None:
    """Show no progress."""


class Run(NamedTuple):
    """How a solver is followed while it learns.

    ``keep`` receives its state again and again, ``state`` is one from which to resume, and
    ``advance`` is called with numbers of rows, neurons or passes, to show progress.
    """

    keep: Keep = forget
    state: State | None = None
    advance: Callable[[int], object] = ignore


#: Nobody follows.
UNSEEN = Run()
