"""Delay Ctrl-C until a step is complete.

Python raises KeyboardInterrupt only in the main thread. It may come after any call, and at the
beginning of any function, even before the first line of ``__exit__``. So a ``with`` statement alone
does not always release what it holds. ``InterruptSafe`` does.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what signal calls, in a tenth of the time
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay a Ctrl-C to the end of a few quick statements that belong together.

    A delayed signal then goes to the earlier handler.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield
        return
    came: list[bool] = []
    signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


class InterruptSafe(Generic[Value]):
    """Something held during a ``with`` statement, and released even if Ctrl-C comes.

    ``begin`` takes it and ``end`` releases it. A Ctrl-C that comes while one of them runs is
    delayed until it is done. For this, the outermost ``with`` statement installs a signal handler,
    which passes on a Ctrl-C at any other time. If an interrupt keeps a ``with`` statement from
    releasing something, it is released when nothing refers to it any more.
    """

    _held = _installed = False

    def begin(self) -> Value:
        """Take what is held, and return the value of the ``with`` statement."""
        raise NotImplementedError

    def end(self, error: BaseException | None) -> None:
        """Release what is held, after an error or without one."""
        raise NotImplementedError

    def __enter__(self) -> Value:
        self._install()
        try:
            value = self.begin()
        except BaseException:
            self._uninstall()
            raise
        self._held = True
        try:
            interrupt_if_due(sys._getframe(1))
        except BaseException as error:
            self._held = False
            self.end(error)
            self._uninstall()
            raise
        return value

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._held = False
        try:
            self.end(error)
        finally:
            self._uninstall()
            interrupt_if_due(sys._getframe(1))

    def __del__(self) -> None:
        if self._held:
            error = KeyboardInterrupt()
            self.__exit__(type(error), error, None)

    def _install(self) -> None:
        if _HANDLERS or threading.current_thread() is not threading.main_thread():
            return
        handler = _signal.getsignal(_SIGINT)
        if callable(handler):
            _signal.signal(_SIGINT, _on_interrupt)  # from here on, Ctrl-C is delayed
            _CAME.clear()
            _HANDLERS.append(handler)
            self._installed = True

    def _uninstall(self) -> None:
        if self._installed and threading.current_thread() is threading.main_thread():
            self._installed = False
            before = _HANDLERS.pop()
            if _signal.getsignal(_SIGINT) is _on_interrupt:  # otherwise, it was replaced
                _signal.signal(_SIGINT, before)


class Entered(InterruptSafe[Any]):
    """A context manager, made by a function, that is entered and left without a gap."""

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make

    def begin(self) -> Any:
        """Make the manager and enter it."""
        self._manager = self._make()
        return self._manager.__enter__()

    def end(self, error: BaseException | None) -> None:
        """Leave the manager."""
        trace = None if error is None else error.__traceback__
        self._manager.__exit__(None if error is None else type(error), error, trace)


_SIGINT = int(signal.SIGINT)
#: The handler that our handler has replaced, if any.
_HANDLERS: list[Callable[[int, FrameType | None], Any]] = []
#: Has an item if a Ctrl-C was delayed.
_CAME: list[bool] = []
#: Code that Ctrl-C does not interrupt, including everything that it calls.
_WHOLE = {InterruptSafe.__enter__.__code__, InterruptSafe.__exit__.__code__}
#: Seconds after which a thread that waits for a lock checks for a Ctrl-C.
_PATIENCE = 0.1


def _on_interrupt(signum: int, frame: FrameType | None) -> None:
    """Delay a Ctrl-C that comes while something is taken or released. Pass on any other."""
    if _is_whole(frame):
        _CAME[:] = [True]
    elif _HANDLERS:
        _HANDLERS[0](signum, frame)


def interrupt_if_due(frame: FrameType | None) -> None:
    """Handle a delayed Ctrl-C, unless something around ``frame`` still delays it."""
    if not _CAME or threading.current_thread() is not threading.main_thread() or _is_whole(frame):
        return
    _CAME.clear()
    if _HANDLERS:
        _HANDLERS[0](_SIGINT, frame)
    else:
        signal.raise_signal(signal.SIGINT)


def _is_whole(frame: FrameType | None) -> bool:
    """Whether a frame belongs to code that Ctrl-C does not interrupt."""
    while frame is not None and frame.f_code not in _WHOLE:
        frame = frame.f_back
    return frame is not None


def acquire(lock: Any) -> None:
    """Wait for a lock in the ``begin`` of a ``InterruptSafe``. Ctrl-C ends the wait."""
    while not lock.acquire(timeout=_PATIENCE):
        interrupt_if_due(None)
