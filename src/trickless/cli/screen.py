"""What the user sees: messages and progress on standard error, results on standard output."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
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

#: The option that every command with a result has.
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]

_PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}


def say(message: str) -> None:
    """Print a line on standard error."""
    Console(stderr=True, **_PLAIN).print(message, soft_wrap=True)


def result(values: dict[str, Any], as_json: bool, shown: Callable[[], None]) -> None:
    """Print a result as one JSON object, or else as ``shown`` does for people."""
    if as_json:
        print(json.dumps(values, ensure_ascii=False, allow_nan=False))
    else:
        shown()


def table(names: list[str], rows: list[list[str]]) -> None:
    """Print a table on standard output, with the names of its columns if any is given."""
    shown = Table(box=None, pad_edge=False, show_header=any(names))
    for name in names:
        shown.add_column(name, overflow="fold")
    for row in rows:
        shown.add_row(*map(Text, row))
    Console(**_PLAIN).print(shown)


class _Rows(ProgressColumn):
    """How many rows are done, of how many, and how fast."""

    def render(self, task: Task) -> Text:
        of = "" if task.total is None else f" of {task.total:,.0f}"
        speed = f", {task.speed:,.0f}/s" if task.speed else ""
        return Text(f"{task.completed:,.0f}{of}{speed}")


def is_shown() -> bool:
    """Whether progress bars are shown: standard error is a terminal."""
    return Console(stderr=True).is_terminal


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error; yields a function that is told of rows done."""
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
def warnings_told() -> Iterator[None]:
    """Print warnings as lines on standard error."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def tell(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, UserWarning):
                say(f"Warning: {message}")
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = tell
        yield
