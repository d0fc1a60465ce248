"""The command line: ``trickless fit``, ``predict``, ``evaluate``, ``describe`` and ``demo``.

================  ===========================================================
one file each     fit, predict, evaluate, describe, demo/command
app               all commands as one application.
ending            how a command ends: exit codes and error messages.
dataset           tables in files, batch by batch.
columns           which columns fit reads, and their kinds.
split             rows to learn from, and rows held out.
folder            which files of a folder are tables.
partitions        columns from the names of folders.
opening           CSV files as bytes of UTF-8, however they are compressed or encoded.
csv               how text is parsed.
quotes            quotes that are not closed, and files that are not text.
cells             text as numbers and dates.
kinds             types of columns as numbers, dates and categories.
reading           errors of reading a file, with their place.
profile           the first pass: types, scales, categories, a sample.
moments           means and standard deviations over batches.
order             the order in which a model gets the rows.
learn             from a table to a model.
models            models that commands read.
scores            how good predictions are.
output            files that are written whole or not at all.
screen            messages, tables and progress bars.
errors            errors that the user can correct.
================  ===========================================================
"""

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
    _leave_ascii()
    code = main()
    _end_at_interrupts()  # the rest of the process has nothing to report
    sys.exit(code)


def _leave_ascii() -> None:
    """Start again in Python's UTF-8 mode, if the locale allows only ASCII in names of files.

    The locale C does so. The encoding of the output stays unchanged.
    """
    import codecs

    is_ascii = codecs.lookup(sys.getfilesystemencoding()).name == "ascii"
    if is_ascii and os.environ.get("PYTHONUTF8") != "1":
        encoding = getattr(sys.stdout, "encoding", None) or "ascii"
        env = {"PYTHONIOENCODING": encoding} | dict(os.environ) | {"PYTHONUTF8": "1"}
        os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], env)


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
