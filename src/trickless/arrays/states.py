"""Objects that learn in one thread while other threads use them.

The state of an object is its ``__dict__``. Learning makes a new one, which replaces the old one in
one assignment, and changes nothing that the old one holds. So code that uses one ``__dict__`` uses
a state between two complete calls, and does not have to wait. Threads that learn take turns.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from trickless.arrays.interrupts import InterruptSafe, acquire

M = TypeVar("M")
P = ParamSpec("P")
R = TypeVar("R")


def snapshot(model: M) -> M:
    """Get a model that keeps the present state, while the original may go on learning.

    It takes no memory, and must not learn itself. An object without attributes is returned
    unchanged.
    """
    if not hasattr(model, "__dict__"):
        return model
    state = object.__new__(type(model))
    state.__dict__ = model.__dict__
    return state


def in_one_state(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """Make a method use one state of its object from beginning to end."""

    @wraps(method)
    def on_snapshot(self: M, /, *args: P.args, **options: P.kwargs) -> R:
        return method(snapshot(self), *args, **options)

    return on_snapshot


class TrainingLock(InterruptSafe[None]):
    """The turn of a thread to make an object learn. Other threads wait for its end.

    The lock is not an attribute of the object, so that copies and files do not have it.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def begin(self) -> None:
        """Wait for the turn."""
        self._lock = _lock_of(self._model)
        acquire(self._lock)

    def end(self, error: BaseException | None) -> None:
        """End the turn."""
        self._lock.release()


#: Locks by the id of their object, with a reference that removes them when the object is gone.
_locks: dict[int, tuple[Any, Any]] = {}
_looking_up = threading.Lock()


def _lock_of(model: Any) -> Any:
    """Get the lock of an object, or make it in its first turn."""
    key = id(model)
    with _looking_up:
        if key not in _locks:
            gone = weakref.ref(model, lambda _: _locks.pop(key, None))
            _locks[key] = gone, threading.RLock()
        return _locks[key][1]


def _after_fork() -> None:
    """Forget all turns in a forked child, where no other thread would end its turn."""
    global _looking_up
    _looking_up = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
