"""``trickless describe``: what a model was fitted to, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from trickless.cli.models import any_model, used
from trickless.cli.screen import Json, line, result, table
from trickless.learners.table_model import TableModel
from trickless.tables.table_column import TableColumn

_SHOWN = 8
#: Seconds of a day.
_SECONDS = 86_400
#: Parameters that the printed table shows; JSON has all of them.
_PARAMETERS = ("neurons", "n_neurons", "loss", "alpha", "norm_bound", "max_support", "random_state")


def describe(
    model: Annotated[Path, typer.Argument(help="Model file from trickless fit or trickless.save.")],
    as_json: Json = False,
) -> None:
    """Show what a model was fitted to, and how."""
    found = any_model(model)
    with used(model):
        values = described(found) | {"model": str(model), "bytes": model.stat().st_size}
        result(values, as_json, lambda: show(values))


def described(model: Any) -> dict[str, Any]:
    """Return a description of a model, in plain data."""
    if not isinstance(model, TableModel):
        params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        chosen = getattr(model, "neurons_", None)
        inputs = getattr(chosen, "inputs_", None)
        shape = None if inputs is None else inputs.shape
        return {
            "learner": type(model).__name__,
            "parameters": {name: _plain(value) for name, value in params.items()},
            "chosen_neurons": None if chosen is None else _chosen(chosen),
            "shape_of_rows": None if shape is None else " x ".join(map(str, shape)),
            "chosen_n_neurons": model.network_.n_neurons if hasattr(model, "n_neurons_") else None,
        }
    classes = None if model.classes is None else model.classes.tolist()
    columns = [
        {
            "name": column.name,
            "kind": column.kind,
            **(
                {"categories": column.categories} if column.kind == "category" else _moments(column)
            ),
            "has_missing": column.has_missing,
        }
        for column in model.columns
    ]
    return described(model.learner) | {
        "task": model.task,
        "target": model.target,
        "classes": classes,
        "columns": columns,
    }


def _moments(column: TableColumn) -> dict[str, Any]:
    """Mean and standard deviation. Those of dates are a date, and a number of days."""
    if not column.kind.endswith("date"):
        return {"mean": float(column.mean), "standard_deviation": float(column.scale)}
    mean = np.datetime64(round(column.mean * _SECONDS), "s")
    zone = "Z" if column.kind == "zoned date" else ""
    return {"mean": f"{mean}{zone}", "standard_deviation_in_days": float(column.scale)}


def _chosen(neurons: Any) -> str:
    scale = getattr(neurons, "length_scale_", None)
    if scale is None:
        return repr(neurons)
    if np.ndim(scale):
        return f"{neurons!r}, length scales from {np.min(scale):.3g} to {np.max(scale):.3g}"
    return f"{neurons!r}, length scale {scale:.3g}"


def show(values: dict[str, Any]) -> None:
    """Print the description from :func:`described`."""
    rows = []
    for name, value in values.items():
        if name == "classes" and value is not None:
            rows.append([name, _few(value)])
        elif value is not None and not isinstance(value, list | dict):
            shown = f"{value:,}" if type(value) in (int, float) else str(value)
            rows.append([name.replace("_", " "), shown])
    parameters = values["parameters"]
    asked = {"neurons": "neurons asked for"}
    known = (name for name in _PARAMETERS if name in parameters)
    rows += [[asked.get(name, name), str(parameters[name])] for name in known]
    table(["", ""], rows)
    if "columns" in values:
        line()
        table(["column", "kind", "", "missing"], list(map(_row, values["columns"])))


def _row(column: dict[str, Any]) -> list[str]:
    if column["kind"] == "category":
        about = _few(column["categories"])
    elif column["kind"].endswith("date"):
        mean = column["mean"].replace("T", " ")
        about = f"{mean} ± {column['standard_deviation_in_days']:.4g} days"
    else:
        about = f"{column['mean']:.4g} ± {column['standard_deviation']:.4g}"
    return [column["name"], column["kind"], about, "yes" if column["has_missing"] else ""]


def _few(values: list[Any]) -> str:
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown}, ... ({len(values):,} in all)"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
