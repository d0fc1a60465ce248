"""``trickless export``: write a model as a file that predicts without this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.base import is_classifier

from trickless import load
from trickless._cli.models import check_outputs, used
from trickless._cli.options import Json, Model
from trickless._cli.output import check_out
from trickless._cli.screen import result
from trickless._errors import InvalidValueError
from trickless.export import to_c, to_js, to_onnx

#: The functions that write a model, by the ending of the file.
WRITERS: dict[str, Any] = {".c": to_c, ".js": to_js, ".mjs": to_js, ".onnx": to_onnx}


def export(
    model: Model,
    out: Annotated[
        Path,
        typer.Option(
            help="File to write. Its ending says the format: .c (C99 without dependencies, with "
            "its header beside it), .js or .mjs (a module of JavaScript) or .onnx."
        ),
    ],
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Write standard deviations as well. Needs a regression fitted with --learner "
            "kitchen-sinks.",
        ),
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Write intervals as well, or sets of classes, which hold a new target with this "
            "probability, such as 0.9.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a model as source code or as a graph, which predicts without this package."""
    if out.suffix not in WRITERS:
        raise InvalidValueError(
            f"--out {out}: this ending does not name a format of models",
            f"one of {', '.join(WRITERS)}",
        )
    for path in (out, out.with_suffix(".h")) if out.suffix == ".c" else (out,):
        check_out(path, [model])
    found = load(model)
    check_outputs(found, model, std=std, interval=interval is not None)
    with used(model):
        WRITERS[out.suffix](found, out, **_options(found, std, interval))
    result({"out": str(out), "bytes": out.stat().st_size}, as_json)


def _options(model: Any, std: bool, interval: float | None) -> dict[str, Any]:
    """Return the outputs that are asked for, or none for the usual ones."""
    if not std and interval is None:
        return {}
    outputs, around = ["prediction"], "interval"
    if is_classifier(model):
        has_chances = hasattr(model, "predict_proba")
        outputs, around = ["label", "probabilities" if has_chances else "decision"], "set"
    outputs += ["std"] * std
    if interval is None:
        return {"outputs": tuple(outputs)}
    return {"outputs": (*outputs, around), "confidence": interval}
