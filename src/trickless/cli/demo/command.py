"""``trickless demo``: three learners and two references on real data."""

from __future__ import annotations

from typing import Annotated

import typer

from trickless.cli.screen import line


def demo(
    repeats: Annotated[
        int, typer.Option(min=1, help="How often to fit every model. The table has medians.")
    ] = 1,
) -> None:
    """Compare learners on real data, in a table.

    Downloads census data the first time.
    """
    from trickless.cli.demo.comparison import compare, described, load, table

    data = load()
    line(described(data))
    print(table(compare(data, repeats)), flush=True)
