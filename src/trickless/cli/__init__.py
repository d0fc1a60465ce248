"""The command line: ``trickless fit``, ``predict``, ``evaluate``, ``describe`` and others."""

from __future__ import annotations

# Little is imported here, since Python shows a traceback if Ctrl-C comes before ``run`` begins.
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

_EXTRA = ("typer", "rich", "pyarrow", "pandas")
#: Exit code after Ctrl-C.
_INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command line as its own process, from start to end."""
    code = main()
    _end_at_interrupts()  # the rest of the process has nothing to report
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115  it stays open
    if sys.stdout is None:
        _say("the standard output is closed, but results go there. Remedy: add >/dev/null")
        return 2
    before = _end_at_interrupts()
    try:
        import pandas  # noqa: F401  needed as soon as a table is read

        from trickless.cli.app import commands
    except (ImportError, MemoryError, OSError) as error:
        _say(_why_not_imported(error))
        return 2
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # for characters that the terminal lacks
    try:
        commands(arguments, prog_name="trickless")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:  # a second one, while the first was reported
        return _INTERRUPTED
    return 0


def _why_not_imported(error: BaseException) -> str:
    """Say why the modules of the command line cannot be imported, with a remedy."""
    package = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package in _EXTRA:
        return (
            f"the command line needs {package}, which is not installed. "
            "Remedy: pip install 'trickless[cli]'"
        )
    said = " ".join(str(error).split()) or type(error).__name__
    return (
        f"the command line cannot start, since a module cannot be loaded ({said[:300]}). Remedy: "
        "allow the process more memory, or install the package again."
    )


def _say(message: str) -> None:
    print(f"trickless: {message}", file=sys.stderr)


def _end_at_interrupts() -> Any:
    """Let Ctrl-C end the process at once. Return the handler before, or None if it stays.

    During imports, KeyboardInterrupt would print a traceback, or turn into another error.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        return None
    try:
        return signal.signal(signal.SIGINT, _end)
    except ValueError:  # only the main thread may
        return None


def _end(*_: Any) -> NoReturn:
    try:  # noqa: SIM105  contextlib would have to be imported earlier
        os.write(2, b"trickless: interrupted.\n")
    except OSError:
        pass
    os._exit(_INTERRUPTED)
