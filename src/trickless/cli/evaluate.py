"""``trickless evaluate``: compare predictions with known targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from trickless.cli.models import kinds_of, reading_of, table_model
from trickless.cli.scores import scores_of, show_scores
from trickless.cli.screen import Json, result
from trickless.learners.table_model import TableModel
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError, location
from trickless.readers.profile import tell_missing


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model file from trickless fit.")],
    data: Annotated[Path, typer.Argument(help="CSV, Parquet or Arrow file, or a folder of them.")],
    weight: Annotated[
        str | None, typer.Option(help="Column with the weight of each row in the scores.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score a model on a table whose target is known.

    Rows without a target are left out.
    """
    fitted = table_model(model)
    dataset = Dataset(data, reading_of(fitted))
    _check(fitted, data, dataset, weight)
    scores = scores_of(fitted, model, dataset, weight)
    tell_missing(dataset.missing)
    if scores is None:
        weighted = "" if weight is None else f" and a weight above 0 in {weight!r}"
        raise CommandError(
            f"{data}: no row has a value in the target {fitted.target!r}{weighted}. Remedy: pass a "
            "table whose target is known."
        )
    values: dict[str, Any] = {"target": fitted.target, "task": fitted.task, **scores}
    result(values, as_json, lambda: show_scores(values))


def _check(model: TableModel, data: Path, dataset: Dataset, weight: str | None) -> None:
    """Refuse a table without the target or the weights, which predictions do not need."""
    if model.target not in dataset.types:
        raise CommandError(
            f"{location(data, model.target)}: the table has no column of this name, which is the "
            "target of the model. Remedy: pass a table whose target is known, or predict this one "
            "with trickless predict."
        )
    if weight is None:
        return
    if weight not in dataset.types:
        raise CommandError(
            f"{location(data, weight)}: --weight names a column that is not there. Remedy: check "
            "the name, or leave --weight out."
        )
    if weight == model.target or kinds_of(model).get(weight, "number") != "number":
        raise CommandError(
            f"{location(data, weight)}: --weight names a column that the model reads as its "
            "target, or as something other than numbers. Remedy: name a column of weights."
        )
