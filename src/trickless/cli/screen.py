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
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from trickless.files.causes import cause_of, remedy_of
from trickless.readers.errors import CommandError
from trickless.readers.messages import say, short, visible

#: The most characters of a cell of a printed table.
_LONGEST = 300
_PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}


def line(text: str = "") -> None:
    """Print a line on standard output."""
    _print(visible(text))


def result(values: dict[str, Any], as_json: bool, shown: Callable[[], None]) -> None:
    """Print a result as one JSON object, or with ``shown`` for people."""
    if not as_json:
        shown()
        return
    is_utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    text = json.dumps(_finite(values), ensure_ascii=not is_utf8, allow_nan=False)
    _print(visible(text, lambda character: json.dumps(character)[1:-1]))


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
        shown.add_column(Text(short(visible(name), _LONGEST)), overflow="fold")
    for row in rows:
        shown.add_row(*(Text(short(visible(cell), _LONGEST)) for cell in row))
    console = Console(**_PLAIN)
    with _written(), console.capture() as printed:  # rich would end the process at a broken pipe
        console.print(shown)
    _print(printed.get().removesuffix("\n"))


def _print(text: str) -> None:
    with _written():
        print(text, flush=True)


@contextmanager
def _written() -> Iterator[None]:
    """Explain errors of writing the standard output, except for a reader that went away."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(
            f"the output cannot be written: {cause_of(error)}", remedy_of(error)
        ) from error


class _Rows(ProgressColumn):
    def render(self, task: Task) -> Text:
        of = "" if task.total is None else f" of {task.total:,.0f}"
        speed = f", {task.speed:,.0f}/s" if task.speed else ""
        return Text(f"{task.completed:,.0f}{of}{speed}")


def is_shown() -> bool:
    """Return whether progress bars are shown, which needs a terminal as standard error."""
    return Console(stderr=True).is_terminal


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error. Yields a function to report rows that are done."""
    console = Console(stderr=True, **_PLAIN)
    bar = Progress(
        TextColumn("{task.description:<10}", markup=False),
        BarColumn(),
        _Rows(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda n: bar.advance(task, n)
        done = bar.tasks[0].completed
        bar.update(task, total=done or 1, completed=done or 1)


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
