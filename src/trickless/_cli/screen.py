"""Output for the user: messages and progress on standard error, results on standard output."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress
from rich.table import Table
from rich.text import Text

from trickless._readers.messages import say, short, visible

#: The most characters of a cell of a printed table, and the most values of a list in it.
_LONGEST, _SHOWN = 300, 8


def line(text: str = "") -> None:
    """Print a line on standard output."""
    print(visible(text), flush=True)


def result(values: dict[str, Any], as_json: bool) -> None:
    """Print a result as one JSON object, or as tables for people."""
    if as_json:
        text = json.dumps(_finite(values), allow_nan=False, default=_plain)
        print(text.replace("\x7f", r"\u007f"), flush=True)  # the only unsafe character of ASCII
    else:
        _show(values)


def _finite(value: Any) -> Any:
    """Return data with None for numbers that JSON lacks."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else repr(value)


def _show(values: dict[str, Any]) -> None:
    """Print values as a table of names and values, and each part of several values below it."""
    parts = {name: value for name, value in values.items() if _has_names(value)}
    alone = [[name, _text(value)] for name, value in values.items() if name not in parts]
    print(table(["", ""], alone), flush=True)
    for name, part in parts.items():
        line()
        line(f"{name}:")
        if isinstance(part, dict):
            _show(part)
        else:
            cells = [[_text(value) for value in row.values()] for row in part]
            print(table(list(part[0]), cells), flush=True)


def _has_names(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_has_names, value)))


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list):
        shown = ", ".join(map(str, value[:_SHOWN]))
        return shown if len(value) <= _SHOWN else f"{shown}, ... ({len(value):,} in all)"
    return f"{value:,}" if type(value) is int else str(value)


def table(names: list[str], rows: list[list[str]]) -> str:
    """Return a table as text, with the names of its columns if any is given."""
    shown = Table(box=None, pad_edge=False, show_header=any(names))
    for name in names:
        shown.add_column(_cell(name), overflow="fold")
    for row in rows:
        shown.add_row(*map(_cell, row))
    console = Console(markup=False, highlight=False, emoji=False)
    with console.capture() as printed:  # rich would end the process at a broken pipe
        console.print(shown)
    return "\n".join(map(str.rstrip, printed.get().splitlines()))


def _cell(text: str) -> Text:
    return Text(short(visible(text), _LONGEST))


def is_shown() -> bool:
    """Return whether progress bars are shown, which needs a terminal as standard error."""
    return Console(stderr=True).is_terminal


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error. Yields a function to report rows that are done."""
    columns = *Progress.get_default_columns(), MofNCompleteColumn()
    with Progress(*columns, console=Console(stderr=True), disable=not is_shown()) as bar:
        task = bar.add_task(what, total=total)
        yield lambda n: bar.advance(task, n)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings as lines on standard error, each once, whatever numbers it has."""
    told = set()

    def tell(message: Any, *where: Any, **more: Any) -> None:
        without_numbers = re.sub(r"\d[\d,.]*", "", str(message))
        if without_numbers not in told:
            told.add(without_numbers)
            say(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell
        yield
