"""``trickless fit``: learn from a table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from trickless import save
from trickless._cli.describe import described
from trickless._cli.evaluate import scores_of
from trickless._cli.learn import learned
from trickless._cli.options import Data, Decimal, Delimiter, Json, Thousands
from trickless._cli.output import check_out, is_stdout
from trickless._cli.screen import result
from trickless._cli.words import in_shell
from trickless._errors import InvalidValueError
from trickless._readers.known_rows import KnownRows
from trickless._readers.messages import say
from trickless._readers.table import CSV, TYPES, Table
from trickless.neurons.named import make_neurons

Task = Literal["classification", "regression"]
Learner = Literal[
    "auto", "boosted-trees", "kitchen-sinks", "doubly-stochastic", "shrinking-gradient"
]
#: The largest --n-neurons. Memory is the limit long before.
MOST_NEURONS = 10**9
#: The beginning of the name of an index that pandas stores among the columns.
_INDEX = "__index_level_"


def chosen(
    learner: Learner | None, neurons: str | None, n_neurons: int | None
) -> tuple[Learner, str]:
    """Return the learner and the neurons, each chosen here if it is None."""
    for option, value in (("--neurons", neurons), ("--n-neurons", n_neurons)):
        if learner == "auto" and value is not None:
            raise InvalidValueError(
                f"{option} {value}: auto chooses the neurons of its parts, and how many",
                f"another --learner, or leave {option} out",
            )
    if learner is None:
        learner = "boosted-trees" if neurons in (None, "trees") else "kitchen-sinks"
    if learner == "boosted-trees" and neurons not in (None, "trees"):
        raise InvalidValueError(
            f"--neurons {neurons}: the neurons of boosted-trees are trees",
            "another --learner, or leave --neurons out",
        )
    return learner, neurons or ("trees" if learner == "boosted-trees" else "tabular")


def fit(
    data: Data,
    target: Annotated[str, typer.Option(help="Column to predict.")],
    out: Annotated[Path, typer.Option(help="File to save the model to, such as model.trickless.")],
    learner: Annotated[
        Learner | None,
        typer.Option(
            help="Learner. Default: boosted-trees. With other --neurons than trees: "
            "kitchen-sinks. auto combines boosted trees and neurons, for the least error."
        ),
    ] = None,
    neurons: Annotated[
        str | None,
        typer.Option(
            help="Family of neurons: trees, tabular, gaussian, stumps, ... Default: trees for "
            "boosted-trees, and tabular for other learners. Others than these two need columns of "
            "numbers without gaps, on one scale."
        ),
    ] = None,
    n_neurons: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_NEURONS,
            help="Number of neurons. Default: up to 2,000 for boosted-trees, up to 32,768 for "
            "doubly-stochastic, 1,000 for kitchen-sinks, 10,000 for shrinking-gradient.",
        ),
    ] = None,
    task: Annotated[
        Task | None, typer.Option(help="Task. Default: the target's values decide.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            help="What a column holds, as NAME=number, NAME=category or NAME=date. Repeatable."
        ),
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
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    as_json: Json = False,
) -> None:
    """Learn to predict one column of a table from the others.

    A first pass over the rows finds the labels and draws a sample. Kitchen Sinks learns from all
    rows, batch by batch. The other learners learn from as many as fit in memory.
    """
    start = time.perf_counter()
    learner, neurons = chosen(learner, neurons, n_neurons)
    if validate is not None and not 0 < validate < 1:
        raise InvalidValueError(
            f"--validate {validate}: it must be a share of the rows, between 0 and 1",
            "use a number such as 0.2",
        )
    if is_stdout(out):
        raise InvalidValueError(
            "--out -: a model cannot go to the standard output",
            "give the name of a file, or ./- for a file named -",
        )
    check_out(out, [data])
    with in_shell():
        make_neurons(neurons)
    table = Table(data, _kinds(types or []), CSV(delimiter, decimal, thousands))
    check_out(out, table.files)
    target = table.column(target)
    weight = None if weight is None else table.column(weight)
    columns = _columns(table, target, weight, list(map(table.column, drop or [])))
    rows = KnownRows(table, columns, target, weight, validate or 0.0, seed)
    with in_shell(table):
        model = learned(rows, learner, neurons, n_neurons, task, seed)
    counts = {"rows": rows.n_rows, "rows_without_target": rows.n_without_target}
    save(model, out)
    about: dict[str, Any] = {**described(model), "target": target, "model": str(out), **counts}
    if validate is not None:
        about["validation"] = scores_of(model, out, rows, held_out=True)
        if about["validation"] is None:
            say(
                "Warning: no row with a target was held out, so there is no score. Remedy: use a "
                "larger --validate."
            )
    about["seconds"] = round(time.perf_counter() - start, 3)
    say(f"Wrote {out} ({out.stat().st_size / 2**20:,.1f} MiB) after {about['seconds']:,.1f} s.")
    result(about, as_json)


def _kinds(types: list[str]) -> dict[str, str]:
    """Return what ``--types`` says that columns hold."""
    kinds = {}
    for each in types:
        name, sign, kind = each.rpartition("=")
        if not sign or kind not in TYPES:
            raise InvalidValueError(
                f"--types {each}: it must be the name of a column, =, and {' or '.join(TYPES)}",
                "such as --types postcode=category",
            )
        kinds[name] = kind
    return kinds


def _columns(table: Table, target: str, weight: str | None, drop: list[str]) -> list[str]:
    """Return the columns to learn from, without row numbers that pandas wrote."""
    if weight == target:
        raise InvalidValueError(
            f"--weight {weight}: this column is the --target",
            "name another column, or leave --weight out",
        )
    left_out = {*drop, target, weight}
    indices = {n for n in table.types if n.startswith(_INDEX) or (table.is_csv and not n)}
    if indices - left_out:
        say("A column of row numbers, as pandas writes it, is left out.")
    columns = [name for name in table.types if name not in left_out | indices]
    if not columns:
        raise InvalidValueError(
            f"{table.path}: there is no column to learn from", "pass a table with more columns"
        )
    return columns
