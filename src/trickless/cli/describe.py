"""``trickless describe``: what a model was fitted to, and how."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.cli.models import any_model, columns_of, used
from trickless.cli.options import Json, Model
from trickless.cli.screen import line, result, table

_SHOWN = 8
#: Parameters that the printed table shows; JSON has all of them.
_PARAMETERS = ("neurons", "n_neurons", "loss", "alpha", "norm_bound", "max_support", "random_state")


def describe(model: Model, as_json: Json = False) -> None:
    """Show what a model was fitted to, and how."""
    found = any_model(model)
    with used(model):
        values = described(found) | {"model": str(model), "bytes": model.stat().st_size}
        result(values, as_json, lambda: show(values))


def described(model: Any) -> dict[str, Any]:
    """Return a description of a model, in plain data."""
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    chosen, classes = getattr(model, "neurons_", None), getattr(model, "classes_", None)
    task = "regression" if classes is None else "classification"
    return {
        "learner": type(model).__name__,
        "task": task if hasattr(model, "predict") else None,
        "parameters": {name: _plain(value) for name, value in params.items()},
        "chosen_neurons": None if chosen is None else _chosen(chosen),
        "chosen_n_neurons": model.network_.n_neurons if hasattr(model, "n_neurons_") else None,
        "classes": None if classes is None else classes.tolist(),
        "columns": _columns(model) if hasattr(model, "feature_names_in_") else None,
    }


def _columns(model: Any) -> list[dict[str, Any]]:
    read = model.rows_.columns
    codes = [None] * model.n_features_in_ if read is None else read.codes
    return [
        {"name": name, "kind": kind, "categories": None if known is None else list(known)}
        for (name, kind), known in zip(columns_of(model).items(), codes, strict=True)
    ]


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
    if values["columns"] is not None:
        line()
        columns = [[c["name"], c["kind"], _few(c["categories"] or [])] for c in values["columns"]]
        table(["column", "kind", "categories"], columns)


def _few(values: list[Any]) -> str:
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown}, ... ({len(values):,} in all)"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
