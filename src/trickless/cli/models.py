"""Files of models that the commands read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trickless import load
from trickless.cli.errors import CommandError
from trickless.cli.screen import say
from trickless.tables.model import TableModel


def any_model(path: Path) -> Any:
    """The object in a file of :func:`trickless.save`."""
    if not path.exists():
        raise CommandError(f"{path}: there is no such file. Remedy: check the path.")
    return load(path)


def table_model(path: Path) -> TableModel:
    """A model that ``trickless fit`` made."""
    model = any_model(path)
    if not isinstance(model, TableModel):
        raise CommandError(
            f"{path}: it holds a {type(model).__name__}, which knows no columns. Remedy: make the "
            "model with trickless fit, or use this one from Python, with trickless.load."
        )
    return model


def kinds_of(model: TableModel) -> dict[str, str]:
    """The columns that a model reads, with their kinds."""
    return {column.name: column.kind for column in model.columns}


def kind_of_target(model: TableModel) -> str:
    """The kind of the target."""
    if model.classes is None:
        return "number"
    return {"U": "category", "b": "truth"}.get(model.classes.dtype.kind, "number")


def tell_unknown(counts: dict[str, int]) -> None:
    """Say how many values of each column are categories that the model was not fitted to."""
    for name, n in counts.items():
        say(f"column {name!r}: {n:,} values are categories that the model was not fitted to")
