"""``trickless demo``: one entry on real data, beside scikit-learn models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trickless._cli.output import check_out
from trickless._errors import InvalidValueError


def demo(
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for trickless-demo.png and trickless-demo.json.",
            exists=True,
            file_okay=False,
        ),
    ] = Path(),
    repeats: Annotated[
        int, typer.Option(min=1, help="How often to draw the folds. The table has means.")
    ] = 1,
) -> None:
    """Compare models on real data, in a table and a picture.

    Downloads the data the first time.
    """
    for name in ("trickless-demo.png", "trickless-demo.json"):
        check_out(out / name, [])
    try:
        from trickless._cli.demo.comparison import run
    except ModuleNotFoundError as error:
        raise InvalidValueError(
            f"{error.name} is not installed", "pip install 'trickless[demo]'"
        ) from error
    run(out, repeats)
