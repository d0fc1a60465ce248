"""How a command ends: its exit code and its error message."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

import typer

from trickless import __version__
from trickless._errors import remedy_in
from trickless._files.causes import remedy_of
from trickless._readers.messages import say

#: Exit codes: a bug in this program; bad input; Ctrl-C; nobody reads the output, as with SIGPIPE.
FAULT, BAD_INPUT, INTERRUPTED, UNREAD = 1, 2, 130, 141


def code_of(command: Callable[[], Any], name: Callable[[], str]) -> int:
    """Run a command and return its exit code. Any error becomes one line, without a traceback.

    ``name`` returns the name of the command, which is known once its arguments are read.
    """
    code = 0
    try:
        command()
    except BaseException as error:
        code = error.exit_code if isinstance(error, typer.Exit) else _said(error, name())
    try:
        sys.stdout.flush()
    except OSError as error:  # which Python would meet again at its end
        code = code or _said(error, name())
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _said(error: Any, name: str) -> int:
    """Print an error as one line, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        return UNREAD
    if isinstance(error, KeyboardInterrupt | typer.Abort | EOFError):
        say(f"{name}: interrupted.")
        return INTERRUPTED
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    elif hasattr(error, "format_message"):  # from typer: options and arguments
        name = error.ctx.command_path if getattr(error, "ctx", None) else name
        message = error.format_message().rstrip(". \n")
        say(f"{name}: {message}. Remedy: see {name} --help.")
    elif remedy_in(error):
        say(f"{name}: {getattr(error, 'strerror', None) or error}")
    elif isinstance(error, MemoryError):
        say(f"{name}: there is not enough memory ({error}). Remedy: use fewer --n-neurons.")
    elif isinstance(error, ImportError):
        say(
            f"{name}: a module cannot be loaded ({summary(error)}). Remedy: allow the process more "
            "memory, or install the package again."
        )
    elif isinstance(error, OSError):
        say(f"{name}: {error}. Remedy: {remedy_of(error)}.")
    else:
        say(f"{name}: this is a bug in trickless ({summary(error)}). Remedy: {report(error)}.")
        return FAULT
    return BAD_INPUT


def summary(error: BaseException) -> str:
    """Return an error in one line of a bounded length."""
    text = re.sub(r"\s+", " ", str(error))
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def report(error: BaseException) -> str:
    """Write the traceback of an error to a file, and return what to report."""
    about = f"trickless {__version__}, Python {platform.python_version()}, {platform.platform()}"
    remedy = "please report this line, with the command"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="trickless-", suffix=".txt", delete=False, errors="backslashreplace"
        ) as file:
            file.write("".join([about, "\n", *traceback.format_exception(error)]))
    except OSError:
        return f"{remedy} and your versions: {about}"
    return f"{remedy} and the traceback in {file.name}"
