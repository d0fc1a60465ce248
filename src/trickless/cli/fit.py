"""``trickless fit``: learn from a table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from trickless import save
from trickless.cli.dataset import Dataset
from trickless.cli.describe import described, show
from trickless.cli.learn import Request, learned
from trickless.cli.output import check_out
from trickless.cli.screen import Json, result, say

Task = Literal["classification", "regression"]
Learner = Literal["kitchen-sinks", "doubly-stochastic", "shrinking-gradient"]
#: The most neurons that can be asked for. Memory bounds them long before.
MOST_NEURONS = 10**9


def chosen(learner: Learner | None, neurons: str | None) -> tuple[Learner, str]:
    """The learner and the neurons, of which any may be left to choose."""
    if learner is None:
        learner = "doubly-stochastic" if neurons in (None, "trees") else "kitchen-sinks"
    return learner, neurons or ("trees" if learner == "doubly-stochastic" else "tabular")


def fit(
    data: Annotated[Path, typer.Argument(help="CSV, Parquet or Arrow file, or a folder of them.")],
    target: Annotated[str, typer.Option(help="Column to be predicted.")],
    out: Annotated[Path, typer.Option(help="File for the model, such as model.trickless.")],
    learner: Annotated[
        Learner | None,
        typer.Option(help="How to learn; by default doubly-stochastic, which suits trees."),
    ] = None,
    neurons: Annotated[
        str | None,
        typer.Option(
            help="Family of neurons: trees, tabular, gaussian, stumps, ... By default trees, or "
            "tabular for the other learners."
        ),
    ] = None,
    n_neurons: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_NEURONS, help="How many neurons; by default 1,000 or more."),
    ] = None,
    task: Annotated[Task | None, typer.Option(help="By default the target's type decides.")] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="Column of numbers that are names. Repeatable.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out. Repeatable.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of all that is random.")] = 0,
    as_json: Json = False,
) -> None:
    """Learn to predict a column of a table from the others.

    The table is read twice, batch by batch: its types, scales and categories, then its rows.
    """
    start = time.perf_counter()
    check_out(out, [data])
    dataset = Dataset(data)
    check_out(out, [Path(file) for file in dataset.files])
    learner, neurons = chosen(learner, neurons)
    request = Request(target, learner, neurons, n_neurons, task, category or [], drop or [], seed)
    model, seen = learned(dataset, request)
    save(model, out)
    seconds = time.perf_counter() - start
    about: dict[str, Any] = described(model) | {
        "model": str(out),
        "rows": seen.n_rows,
        "rows_without_target": seen.n_without_target,
        "seconds": round(seconds, 3),
    }
    say(f"Wrote {out} ({out.stat().st_size / 2**20:,.1f} MiB) after {seconds:,.1f} s.")
    result(about, as_json, lambda: show(about))
