"""One object that learns in one thread while others use it.

What an object has learned is its ``__dict__``. Learning makes a new one, which takes the place of
the old one in one assignment, and changes nothing that the old one holds. So whoever goes by one
``__dict__`` goes by a state between two complete calls, and need not wait. Threads that learn take
turns.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from trickless.arrays.interrupts import Held, acquire

M = TypeVar("M")
P = ParamSpec("P")
R = TypeVar("R")


def snapshot(model: M) -> M:
    """A model in the state that it has now, which stays so while others make it learn.

    It takes no memory. Nobody may make it learn. An object without attributes has no states.
    """
    if not hasattr(model, "__dict__"):
        return model
    state = object.__new__(type(model))
    state.__dict__ = model.__dict__
    return state


def in_one_state(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A method that goes by one state of its object from beginning to end."""

    @wraps(method)
    def on_snapshot(self: M, /, *args: P.args, **options: P.kwargs) -> R:
        return method(snapshot(self), *args, **options)

    return on_snapshot


class Turn(Held[None]):
    """The turn of a thread to make an object learn; other threads wait for its end.

    The lock is kept apart from the object, so that neither copies nor files have it.
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


#: Locks by the id of their object, with a reference that tells when the object is gone.
_locks: dict[int, tuple[Any, Any]] = {}
_looking_up = threading.Lock()


def _lock_of(model: Any) -> Any:
    """The lock of an object, which its first turn makes."""
    key = id(model)
    with _looking_up:
        if key not in _locks:
            gone = weakref.ref(model, lambda _: _locks.pop(key, None))
            _locks[key] = gone, threading.RLock()
        return _locks[key][1]


def _after_fork() -> None:
    """Forget all turns in a forked child, where no other thread will end its own."""
    global _looking_up
    _looking_up = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
