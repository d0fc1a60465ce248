"""Objects that learn in one thread while other threads use them.

The state of an object is its ``__dict__``. Learning makes a new one, which replaces the old one in
one assignment, and changes nothing that the old one holds. Code that uses one ``__dict__``
therefore uses a state between two complete calls, and does not have to wait. Threads that learn
take turns.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

M = TypeVar("M")
P = ParamSpec("P")
R = TypeVar("R")


def snapshot(model: M) -> M:
    """Return a model that keeps the present state, while the original may continue learning.

    It takes no memory, and must not learn itself. A class, or an object without attributes, is
    returned unchanged.
    """
    if isinstance(model, type) or not hasattr(model, "__dict__"):
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


@contextmanager
def training_lock(model: Any) -> Iterator[None]:
    """Hold the lock of a model while a thread trains it; other threads that train it wait.

    The lock is not an attribute of the model, so that copies and files do not have it.
    """
    with _lock_of(model):
        yield


#: Locks by the id of their object, with a reference that removes them when the object is gone.
_locks: dict[int, tuple[Any, Any]] = {}
_looking_up = threading.Lock()


def _lock_of(model: Any) -> Any:
    """Return the lock of an object, which is made when it is first needed."""
    key = id(model)
    with _looking_up:
        if key not in _locks:
            gone = weakref.ref(model, lambda _: _locks.pop(key, None))
            _locks[key] = gone, threading.RLock()
        return _locks[key][1]


def _after_fork() -> None:
    """Forget all locks in a forked child, where no other thread would release them."""
    global _looking_up
    _looking_up = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
