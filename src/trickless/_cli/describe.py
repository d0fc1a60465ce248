"""``trickless describe``: what a model was fitted to, and how."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless import load
from trickless._cli.models import columns_of, used
from trickless._cli.options import Json, Model
from trickless._cli.screen import result


def describe(model: Model, as_json: Json = False) -> None:
    """Show what a model was fitted to, and how."""
    found = load(model)
    with used(model):
        about = described(found) | {"model": str(model), "bytes": model.stat().st_size}
        result(about, as_json)


def described(model: Any) -> dict[str, Any]:
    """Return a description of a model."""
    chosen, classes = getattr(model, "neurons_", None), getattr(model, "classes_", None)
    task = "regression" if classes is None else "classification"
    return {
        "learner": type(model).__name__,
        "task": task if hasattr(model, "predict") else None,
        "parameters": model.get_params(deep=False) if hasattr(model, "get_params") else {},
        "chosen_neurons": None if chosen is None else _chosen(chosen),
        "chosen_n_neurons": _size(model),
        "chosen_parts": _parts(model) if hasattr(model, "parts_") else None,
        "classes": None if classes is None else classes.tolist(),
        "columns": _columns(model) if hasattr(model, "feature_names_in_") else None,
    }


def _columns(model: Any) -> list[dict[str, Any]]:
    read = model._rows_.columns
    categories = [None] * model.n_features_in_ if read is None else read.categories
    return [
        {
            "name": name,
            "kind": kind,
            "categories": None if known is None else list(known.first),
            "rare_values_merged": None if known is None else known.n_pooled,
        }
        for (name, kind), known in zip(columns_of(model).items(), categories, strict=True)
    ]


def _size(model: Any) -> int | None:
    """Return the number of trees or neurons."""
    if hasattr(model, "n_trees_"):
        return int(model.n_trees_)
    return int(model.network_.n_neurons) if hasattr(model, "n_neurons_") else None


def _parts(model: Any) -> list[dict[str, Any]]:
    return [
        {"name": part.name, "weight": weight}
        for part, weight in zip(model.parts_, model.weights_.tolist(), strict=True)
    ]


def _chosen(neurons: Any) -> str:
    scale = getattr(neurons, "length_scale_", None)
    if scale is None:
        return repr(neurons)
    if np.ndim(scale):
        return f"{neurons!r}, length scales from {np.min(scale):.3g} to {np.max(scale):.3g}"
    return f"{neurons!r}, length scale {scale:.3g}"
