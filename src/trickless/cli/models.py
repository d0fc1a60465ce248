"""Files of models that the commands read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trickless import load
from trickless.cli.errors import CommandError
from trickless.tables.model import TableColumn, TableModel


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
    columns: list[TableColumn] = model.columns
    return {column.name: column.kind for column in columns}


def kind_of_target(model: TableModel) -> str:
    """The kind of the target."""
    if model.classes is None:
        return "number"
    return {"U": "category", "b": "truth"}.get(model.classes.dtype.kind, "number")


def unknown_told(counts: dict[str, int]) -> list[str]:
    """Messages about categories that the model was not fitted to, a line for each column."""
    return [
        f"column {name!r}: {n:,} values are categories that the model was not fitted to"
        for name, n in counts.items()
    ]
