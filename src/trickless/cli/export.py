"""``trickless export``: write a model as a file that predicts without this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.base import is_classifier

import trickless.export
from trickless.cli.models import any_model, used
from trickless.cli.options import Json, Model
from trickless.cli.output import check_model_out, check_out
from trickless.cli.screen import line, result
from trickless.readers.errors import CommandError

#: The functions of formats, and the endings of their files.
FORMATS = {
    "c": ("to_c", (".c",)),
    "js": ("to_js", (".js", ".mjs")),
    "onnx": ("to_onnx", (".onnx",)),
}


def export(
    model: Model,
    out: Annotated[
        Path, typer.Option(help="File to write. A C file gets its header beside it, as model.h.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            help="c (C99 without dependencies), js (a module of JavaScript) or onnx. By default, "
            "the ending of --out says."
        ),
    ] = None,
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
    check_model_out(out)
    name = _format_of(format, out)
    for path in (out, out.with_suffix(".h")) if name == "c" else (out,):
        check_out(path, [model])
    found = any_model(model)
    with used(model):
        write = getattr(trickless.export, FORMATS[name][0])
        write(found, out, **_options(found, std, interval))
    values = {"format": name, "out": str(out), "bytes": out.stat().st_size}
    result(values, as_json, lambda: line(f"{out}: {values['bytes']:,} bytes of {name}"))


def _options(model: Any, std: bool, interval: float | None) -> dict[str, Any]:
    """Return the outputs that are asked for, or none for the usual ones."""
    if not std and interval is None:
        return {}
    outputs, around = ["prediction"], "interval"
    if is_classifier(model):
        has_chances = hasattr(model, "predict_proba")
        outputs, around = ["label", "probabilities" if has_chances else "decision"], "set"
    outputs += ["std"][: int(std)]
    if interval is None:
        return {"outputs": tuple(outputs)}
    return {"outputs": (*outputs, around), "confidence": interval}


def _format_of(name: str | None, out: Path) -> str:
    """Return the name of the format, by the ending of a file unless it is given."""
    wanted = name or next((key for key, each in FORMATS.items() if out.suffix in each[1]), "")
    if not wanted:
        known = ", ".join(ending for _, endings in FORMATS.values() for ending in endings)
        raise CommandError(
            f"--out {out}: this ending does not name a format of models", f"one of {known}"
        )
    if wanted not in FORMATS:
        raise CommandError(f"--format {wanted}: there is no such format", f"one of {list(FORMATS)}")
    endings = FORMATS[wanted][1]
    if out.suffix not in endings:
        raise CommandError(
            f"--out {out}: a file of the format {wanted} ends in {' or '.join(endings)}",
            f"--out {out.with_suffix(endings[0])}",
        )
    return wanted
