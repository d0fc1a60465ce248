"""The command line: ``trickless fit``, ``predict``, ``evaluate``, ``describe`` and others."""

from __future__ import annotations

# Little is imported here, since Python shows a traceback if Ctrl-C comes before ``run`` begins.
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def run() -> NoReturn:
    """Run the command line as its own process, from start to end."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)  # imports end without a traceback
    code = main(ready=lambda: signal.signal(signal.SIGINT, handler))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the rest of the process has nothing to report
    sys.exit(code)


def main(arguments: Sequence[str] | None = None, ready: object = None) -> int:
    """Run the command line and return its exit code. ``ready`` is called after all imports."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115  it stays open
    if sys.stdout is None:
        return _refused("the standard output is closed, but results go there", "add >/dev/null")
    try:
        from trickless._cli.app import commands
    except ModuleNotFoundError as error:
        return _refused(
            f"the command line needs {error.name}, which is not installed",
            "pip install 'trickless[cli]'",
        )
    except (ImportError, MemoryError, OSError) as error:
        said = " ".join(str(error).split())[:300] or type(error).__name__
        return _refused(
            f"the command line cannot start, since a module cannot be loaded ({said})",
            "allow the process more memory, or install the package again",
        )
    if callable(ready):
        ready()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # for characters that the terminal lacks
    try:
        commands(arguments, prog_name="trickless")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _refused(cause: str, remedy: str) -> int:
    print(f"trickless: {cause}. Remedy: {remedy}.", file=sys.stderr)
    return 2
