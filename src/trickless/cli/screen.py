"""Output for the user: messages and progress on standard error, results on standard output."""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress
from rich.table import Table
from rich.text import Text

from trickless.readers.messages import say, short, visible

#: The most characters of a cell of a printed table.
_LONGEST = 300


def line(text: str = "") -> None:
    """Print a line on standard output."""
    print(visible(text), flush=True)


def result(values: dict[str, Any], as_json: bool, shown: Callable[[], None]) -> None:
    """Print a result as one JSON object, or with ``shown`` for people."""
    if not as_json:
        shown()
        return
    is_utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    text = json.dumps(_finite(values), ensure_ascii=not is_utf8, allow_nan=False)
    print(visible(text, lambda character: json.dumps(character)[1:-1]), flush=True)


def _finite(value: Any) -> Any:
    """Plain data, with None for numbers that JSON lacks."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table(names: list[str], rows: list[list[str]]) -> None:
    """Print a table on standard output, with the names of its columns if any is given."""
    shown = Table(box=None, pad_edge=False, show_header=any(names))
    for name in names:
        shown.add_column(_cell(name), overflow="fold")
    for row in rows:
        shown.add_row(*map(_cell, row))
    console = Console(markup=False, highlight=False, emoji=False)
    with console.capture() as printed:  # rich would end the process at a broken pipe
        console.print(shown)
    print(printed.get().removesuffix("\n"), flush=True)


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
