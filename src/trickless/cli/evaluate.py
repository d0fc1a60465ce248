"""``trickless evaluate``: compare predictions with known targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from trickless.cli.dataset import Dataset
from trickless.cli.errors import CommandError
from trickless.cli.models import reading_of, table_model
from trickless.cli.profile import tell_missing
from trickless.cli.scores import scores_of, show_scores
from trickless.cli.screen import Json, result


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model file from trickless fit.")],
    data: Annotated[Path, typer.Argument(help="CSV, Parquet or Arrow file, or a folder of them.")],
    as_json: Json = False,
) -> None:
    """Score a model on a table whose target is known.

    Rows without a target are left out.
    """
    fitted = table_model(model)
    dataset = Dataset(data, reading_of(fitted))
    scores = scores_of(fitted, model, dataset)
    tell_missing(dataset.missing)
    if scores is None:
        raise CommandError(
            f"{data}: no row has a value in the target {fitted.target!r}. Remedy: pass a table "
            "whose target is known."
        )
    values: dict[str, Any] = {"target": fitted.target, "task": fitted.task, **scores}
    result(values, as_json, lambda: show_scores(values))
