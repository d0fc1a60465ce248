"""A call in a process of its own: memory that is its own, and a limit of time."""

from __future__ import annotations

import gc
import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
#: Seconds after which threads of linear algebra no longer keep a core busy waiting for more work.
REST = 0.3


class Measurement:
    """Seconds, and the peak of resident memory above where it started (NaN if not known)."""

    seconds = float("nan")
    peak_mib = float("nan")


@contextmanager
def measured(
    warm_up: Callable[[], Any] = lambda: None, rest: float = REST
) -> Iterator[Measurement]:
    """Measure a block of code; the peak is the kernel's own count, so that nothing has to watch.

    The memory of ``warm_up``, which comes first, counts, and its seconds do not; nor do threads
    that it has left waiting.
    """
    result = Measurement()
    gc.collect()
    with suppress(OSError):
        CLEAR.write_text("5")  # resets the peak
    memory = resident("VmRSS")
    warm_up()
    time.sleep(rest)
    start = time.perf_counter()
    yield result
    result.seconds = time.perf_counter() - start
    result.peak_mib = max(resident("VmHWM") - memory, 0.0)


def resident(field: str) -> float:
    """Resident memory of this process in MiB, now (VmRSS) or at its peak (VmHWM)."""
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    return float("nan")


def isolated(call: Callable[..., Any], *arguments: Any, limit: float) -> tuple[Any, str | None]:
    """What a call returns, or why it returned nothing.

    The process is a fork, so that arrays and packages are there and only the call takes time. What
    it prints is lost.

    Returns
    -------
    result : object or None
    why : str or None
        "more than ... s", the last line of an exception, or how the process ended.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, call, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return None, f"more than {limit:g} s"
        return receiver.recv()
    except EOFError:
        process.join()
        return None, f"the process ended with {process.exitcode}"
    finally:
        process.kill()
        process.join()
        receiver.close()


def _answer(sender: Connection, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")
    try:
        sender.send((call(*arguments), None))
    except Exception:
        last = traceback.format_exc().strip().splitlines()[-1]
        sender.send((None, last[:300]))
