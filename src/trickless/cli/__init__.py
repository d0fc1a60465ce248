"""The command line: ``trickless fit``, ``predict``, ``evaluate``, ``describe`` and ``demo``.

================  ===========================================================
a file a command  fit, predict, evaluate, describe, demo/command
app               all commands as one application
ending            how a command ends: exit codes, and what is said of errors
dataset           tables in files, batch by batch
columns           which columns are read in fit, and of which kinds
split             rows to learn from, and rows held out
folder            which files of a folder are tables
partitions        columns that names of folders stand for
opening           CSV files as bytes of UTF-8, whatever they are packed or encoded in
csv               how text is parsed
quotes            text whose quotes are not closed, or that is no text
cells             text as numbers and dates
kinds             types of columns as numbers, dates and categories
reading           errors of reading a file, and where they are
profile           the first pass: types, scales, categories, a sample
moments           means and standard deviations over batches
order             the order in which a model gets the rows
learn             from a table to a model
models            models that commands read
scores            how good predictions are
output            files that are written whole or not at all
screen            messages, tables and progress bars
errors            errors that the user can correct
================  ===========================================================
"""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

_EXTRA = ("typer", "rich", "pyarrow", "pandas")
#: Exit code after Ctrl-C.
_INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command line as a process of its own, from its start to its end."""
    _leave_ascii()
    code = main()
    _end_at_interrupts()  # what is left of the process has nothing to tell
    sys.exit(code)


def _leave_ascii() -> None:
    """Start again in Python's UTF-8 mode, if names beyond ASCII cannot be passed on.

    The locale C asks for ASCII. What is printed stays in the encoding that it has.
    """
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
        _say("the standard output, where results go, is closed. Remedy: >/dev/null")
        return 2
    before = _end_at_interrupts()
    try:
        import pandas  # noqa: F401  needed as soon as a table is read

        from trickless.cli.app import commands
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA:
            raise
        _say(
            f"{package} is missing, which the command line needs. "
            "Remedy: pip install 'trickless[cli]'"
        )
        return 2
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # of characters that the terminal lacks
    try:
        commands(arguments, prog_name="trickless")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:  # a second one, while the first was told of
        return _INTERRUPTED
    return 0


def _say(message: str) -> None:
    print(f"trickless: {message}", file=sys.stderr)


def _end_at_interrupts() -> Any:
    """Let Ctrl-C end the process at once; return how it was before, None if that is how it stays.

    While modules are imported, KeyboardInterrupt would come with the traceback of an import, or be
    turned into another error.
    """
    before = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or before is not signal.default_int_handler:
        return None
    return signal.signal(signal.SIGINT, _end)


def _end(*_: Any) -> NoReturn:
    with suppress(OSError):
        os.write(2, b"trickless: interrupted.\n")
    os._exit(_INTERRUPTED)
