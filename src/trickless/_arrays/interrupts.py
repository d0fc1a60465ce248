"""Delay Ctrl-C until a few statements that belong together are complete."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay a Ctrl-C to the end of a few quick statements that belong together.

    The delayed signal then goes to the earlier handler. Python raises KeyboardInterrupt in the main
    thread only, so other threads need no delay.
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
