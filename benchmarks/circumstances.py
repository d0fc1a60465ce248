"""Where a result was made: versions, machine, date and commit, stored beside its figures."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any


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
