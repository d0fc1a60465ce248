"""``trickless fit``: learn from a table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from trickless import save
from trickless.cli.arrays import (
    ArrayModel,
    Arrays,
    Data,
    RowsName,
    check_no_array_options,
    learned_from_arrays,
)
from trickless.cli.columns import Request, kinds_to_read
from trickless.cli.describe import described, show
from trickless.cli.evaluate import scores_of, scores_of_arrays, show_scores
from trickless.cli.learn import learned
from trickless.cli.output import check_model_out, check_out
from trickless.cli.screen import Json, line, result
from trickless.neurons import make_neurons
from trickless.readers.array_file import is_array_file
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError
from trickless.readers.messages import say
from trickless.readers.profile import Profile
from trickless.readers.shuffle import Part

Task = Literal["classification", "regression"]
Learner = Literal["kitchen-sinks", "doubly-stochastic", "shrinking-gradient"]
#: The largest --n-neurons. Memory is the limit long before.
MOST_NEURONS = 10**9


def chosen(learner: Learner | None, neurons: str | None) -> tuple[Learner, str]:
    """Return the learner and the neurons, each chosen here if it is None."""
    if learner is None:
        learner = "doubly-stochastic" if neurons in (None, "trees") else "kitchen-sinks"
    return learner, neurons or ("trees" if learner == "doubly-stochastic" else "tabular")


def fit(
    data: Data,
    target: Annotated[
        str,
        typer.Option(
            help="Column to predict; or the name of an array in a .npz file, or a .npy file."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File to save the model to, such as model.trickless.")],
    learner: Annotated[
        Learner | None,
        typer.Option(
            help="Learner. Default: doubly-stochastic with trees. With other --neurons: "
            "kitchen-sinks."
        ),
    ] = None,
    neurons: Annotated[
        str | None,
        typer.Option(
            help="Family of neurons: trees, tabular, gaussian, stumps, ... Default: trees. With "
            "--learner kitchen-sinks or shrinking-gradient: tabular."
        ),
    ] = None,
    n_neurons: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_NEURONS,
            help="Number of neurons. Default: up to 2,000 trees or 32,768 other neurons for "
            "doubly-stochastic, 1,000 for kitchen-sinks, 10,000 for shrinking-gradient.",
        ),
    ] = None,
    task: Annotated[
        Task | None, typer.Option(help="Task. Default: the target's values decide.")
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(help="Read this column as names or codes, not numbers. Repeatable."),
    ] = None,
    number: Annotated[
        list[str] | None,
        typer.Option(
            help="Read this column as numbers, even if it is text or has leading zeros. Repeatable."
        ),
    ] = None,
    date: Annotated[
        list[str] | None, typer.Option(help="Read this column of text as dates. Repeatable.")
    ] = None,
    date_format: Annotated[
        str, typer.Option(help="Format of the --date columns, such as %d.%m.%Y.")
    ] = "",
    keep_na: Annotated[
        list[str] | None,
        typer.Option(help="Treat NA, null, ... in this column as text. Repeatable."),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Leave this column out. Repeatable.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            help="Column with the weight of each row: a number of at least 0. It is not an input."
        ),
    ] = None,
    validate: Annotated[
        float | None,
        typer.Option(help="Share of the rows to hold out and score the model on, such as 0.2."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Random seed.")] = 0,
    rows: RowsName = None,
    as_json: Json = False,
) -> None:
    """Learn to predict one column of a table from the others, or the targets of arrays.

    A table is read twice, batch by batch. The first pass finds types, scales and categories. The
    second pass learns. Arrays are read into memory.
    """
    start = time.perf_counter()
    learner, neurons = chosen(learner, neurons)
    request = Request(
        target,
        learner,
        neurons,
        n_neurons,
        task,
        seed,
        category or [],
        number or [],
        date or [],
        date_format,
        keep_na or [],
        drop or [],
        weight,
    )
    request.check()
    if validate is not None and not 0 < validate < 1:
        raise CommandError(
            f"--validate {validate}: it must be a share of the rows, between 0 and 1",
            "use a number such as 0.2",
        )
    check_model_out(out)
    check_out(out, [data])
    make_neurons(neurons)
    if is_array_file(data):
        about = _fit_arrays(Arrays(data, rows, target, weight), request, validate, out)
    else:
        check_no_array_options(rows=rows)
        about = _fit_table(data, request, validate, out)
    if validate is not None and about["validation"] is None:
        say(
            "Warning: no row with a target was held out, so there is no score. Remedy: use a "
            "larger --validate."
        )
    seconds = time.perf_counter() - start
    about["seconds"] = round(seconds, 3)
    say(f"Wrote {out} ({out.stat().st_size / 2**20:,.1f} MiB) after {seconds:,.1f} s.")
    result(about, as_json, lambda: _show(about))


def _fit_table(data: Path, request: Request, validate: float | None, out: Path) -> dict[str, Any]:
    """Fit a model to a table, save it, and return its description."""
    dataset, seed = Dataset(data, request.reading), request.seed
    check_out(out, [Path(file) for file in dataset.files])
    kinds = kinds_to_read(dataset, request)
    rows = dataset if validate is None else Part(dataset, validate, seed, others=True)
    model, seen = learned(dataset, request, kinds, rows)
    save(model, out)
    about = described(model) | _counts(out, seen)
    if validate is not None:
        held_out = Part(dataset, validate, seed, others=False)
        about["validation"] = scores_of(model, out, held_out, request.weight)
    return about


def _fit_arrays(
    arrays: Arrays, request: Request, validate: float | None, out: Path
) -> dict[str, Any]:
    """Fit a model to arrays, save it, and return its description."""
    rows, held_out = (arrays, None) if validate is None else arrays.parts(validate, request.seed)
    model, task = learned_from_arrays(rows, request)
    save(model, out)
    about = described(model) | {"task": task, "target": request.target} | _counts(out, rows)
    if validate is not None:
        scores = None if held_out is None else scores_of_arrays(ArrayModel(model), out, held_out)
        about["validation"] = scores
    return about


def _counts(out: Path, seen: Profile | Arrays) -> dict[str, Any]:
    return {
        "model": str(out),
        "rows": seen.n_rows,
        "rows_without_target": seen.n_without_target,
    }


def _show(about: dict[str, Any]) -> None:
    show(about)
    if about.get("validation") is not None:
        line()
        line("On the held-out rows:")
        show_scores(about["validation"])
