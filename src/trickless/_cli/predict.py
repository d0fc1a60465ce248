"""``trickless predict``: predict the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from trickless._cli.models import check_outputs, kinds_to_read, learner_in, used
from trickless._cli.options import Data, Decimal, Delimiter, Json, Model, Thousands
from trickless._cli.output import check_format, check_out, is_stdout, table_writer
from trickless._cli.screen import progress, result
from trickless._errors import InvalidValueError
from trickless._learners.quantiles import levels_of
from trickless._readers.known_rows import table_of
from trickless._readers.table import CSV, Table


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            help="File for predictions: CSV, Parquet or Arrow. Use - for CSV on standard output."
        ),
    ],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column for each class.")
    ] = False,
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Add the standard deviation of each prediction. Needs a regression fitted with "
            "--learner kitchen-sinks.",
        ),
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Add the ends of an interval that holds new targets with this probability, such "
            "as 0.9; for classes, which of them are in a set that does."
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column of the table to copy to the output. Repeatable."),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    as_json: Json = False,
) -> None:
    """Predict every row of a table, in order.

    The table needs no target. The predictions are in the output's column named prediction.
    """
    if is_stdout(out) and as_json:
        raise InvalidValueError(
            "--out -: the predictions and --json cannot both go to the standard output",
            "leave --json out, or write the predictions to a file",
        )
    check_format(out)
    check_out(out, [model, data])
    learner = learner_in(model)
    wanted = _Answers(learner, model, probabilities, std, interval)
    table = Table(data, kinds_to_read(learner), CSV(delimiter, decimal, thousands), of_model=True)
    check_out(out, table.files)
    kept = list(dict.fromkeys(map(table.column, keep or [])))
    names = list(map(table.column, learner.feature_names_in_.tolist()))
    if both := set(kept) & wanted.types.keys():
        raise InvalidValueError(
            f"--keep {min(both)!r}: the output has its own column of this name",
            "rename it in the table, or leave the option out",
        )
    schema = pa.schema([*((name, table.types[name]) for name in kept), *wanted.types.items()])
    n_rows = 0
    with (
        table_writer(out, schema) as writer,
        progress("Predicting", table.expected_rows()) as advance,
    ):
        for _, _, rows in table.batches(dict.fromkeys([*names, *kept])):
            with used(model):
                answers = wanted.of(table_of(rows.select(names)))
            columns = [*rows.select(kept).columns, *answers]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
            n_rows += rows.num_rows
            advance(rows.num_rows)
    if not is_stdout(out):
        result({"out": str(out), "rows": n_rows}, as_json)


class _Answers:
    """The predictions of rows, as columns. ``types`` has their names and types."""

    def __init__(
        self, model: Any, path: Path, probabilities: bool, std: bool, interval: float | None
    ) -> None:
        around = interval is not None
        check_outputs(model, path, probabilities=probabilities, std=std, interval=around)
        self._model, self._interval, self._std = model, interval, std
        self._probabilities = probabilities
        labels = getattr(model, "classes_", np.zeros(0))
        levels = levels_of(model) if hasattr(model, "predict_interval") else None
        names = ["prediction"] if levels is None else [f"quantile_{q:g}" for q in levels]
        self.types = dict.fromkeys(names, pa.array(labels).type)
        names = [f"probability_{label}" for label in labels] if probabilities else []
        names += ["standard_deviation"] * std + ["lower", "upper"] * (around and not len(labels))
        self.types |= dict.fromkeys(names, pa.float64())
        self._around = "predict_set" if len(labels) else "predict_interval"
        self.types |= {f"in_set_{label}": pa.bool_() for label in labels if around}

    def of(self, frame: Any) -> list[Any]:
        """Return the columns of some rows."""
        parts = [self._model.predict(frame, **({"return_std": True} if self._std else {}))]
        parts = [*parts[0]] if self._std else parts
        if self._probabilities:
            parts.insert(1, self._model.predict_proba(frame))
        if self._interval is not None:
            parts.append(getattr(self._model, self._around)(frame, self._interval))
        columns = [column for part in parts for column in np.atleast_2d(part.T)]
        return [pa.array(c, type_) for c, type_ in zip(columns, self.types.values(), strict=True)]
