"""Time and memory of a run."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_STATM = Path("/proc/self/statm")


class Measurement:
    """Seconds, and the peak rise of resident memory. NaN if it cannot be measured."""

    seconds = float("nan")
    peak_mib = float("nan")


@contextmanager
def measured() -> Iterator[Measurement]:
    """Measure a block of code: wall seconds, and peak memory sampled every 5 ms."""
    result = Measurement()
    gc.collect()
    start_memory = peak = resident_mib()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, resident_mib())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    start = time.perf_counter()
    try:
        yield result
    finally:
        result.seconds = time.perf_counter() - start
        done.set()
        watcher.join()
        result.peak_mib = max(peak, resident_mib()) - start_memory


def resident_mib() -> float:
    """Resident memory of this process in MiB; NaN where there is no /proc."""
    return int(_STATM.read_text().split()[1]) * _PAGE / 2**20 if _STATM.exists() else float("nan")
