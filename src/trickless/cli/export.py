"""``trickless export``: write a model as a file that predicts without this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import trickless
from trickless.cli.models import any_model, used
from trickless.cli.output import check_model_out, check_out
from trickless.cli.screen import Json, line, result
from trickless.readers.errors import CommandError

#: The function of the package that writes each format, and the endings of its files.
FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "c": ("to_c", (".c",)),
    "js": ("to_js", (".js", ".mjs")),
    "onnx": ("to_onnx", (".onnx",)),
}


def export(
    model: Annotated[Path, typer.Argument(help="Model file from trickless fit or trickless.save.")],
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
    as_json: Json = False,
) -> None:
    """Write a model as source code that predicts without this package."""
    check_model_out(out)
    name = _format_of(format, out)
    for path in (out, out.with_suffix(".h")) if name == "c" else (out,):
        check_out(path, [model])
    found = any_model(model)
    options: dict[str, Any] = {"error_bars": True} if std else {}
    with used(model):
        getattr(trickless, FORMATS[name][0])(found, out, **options)
    values = {"format": name, "out": str(out), "bytes": out.stat().st_size}
    result(values, as_json, lambda: line(f"{out}: {values['bytes']:,} bytes of {name}"))


def _format_of(name: str | None, out: Path) -> str:
    """Return the name of the format, by the ending of a file unless it is given."""
    known = {key: endings for key, (function, endings) in FORMATS.items() if _is_here(function)}
    wanted = name or next((key for key, endings in known.items() if out.suffix in endings), None)
    if wanted is None:
        raise CommandError(
            f"--out {out}: this ending does not name a format of models",
            f"one of {', '.join(ending for endings in known.values() for ending in endings)}",
        )
    if wanted not in known:
        raise CommandError(f"--format {wanted}: there is no such format", f"one of {list(known)}")
    if out.suffix not in known[wanted]:
        raise CommandError(
            f"--out {out}: a file of the format {wanted} ends in {' or '.join(known[wanted])}",
            f"--out {out.with_suffix(known[wanted][0])}",
        )
    return wanted


def _is_here(function: str) -> bool:
    return hasattr(trickless, function)
