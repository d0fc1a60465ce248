"""Time and memory of a run, and where it was made: what is stored beside every result."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_STATM = Path("/proc/self/statm")


class Measurement:
    """Seconds, and how far resident memory rose at its peak (NaN if it cannot be measured)."""

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


def circumstances() -> dict[str, Any]:
    """Versions, machine, date and commit, to be stored with every result."""
    packages = ("trickless", "numpy", "scipy", "scikit-learn")
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": _commit(Path(__file__).parent),
        "python": sys.version.split()[0],
        "packages": {package: version(package) for package in packages},
        "machine": {
            "system": platform.system(),
            "processor": _processor(),
            "cores": os.cpu_count(),
        },
    }


def _commit(folder: Path) -> str | None:
    """The checked-out commit, with a plus sign if files differ from it; None outside a checkout."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", ".")  # installed in a folder of another project?
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/src")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _processor() -> str:
    """Model name of the processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
