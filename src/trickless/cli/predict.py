"""``trickless predict``: predict the rows of a table."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from trickless.cli.dataset import Dataset
from trickless.cli.errors import CommandError, check_name
from trickless.cli.models import kinds_of, table_model, tell_unknown, used
from trickless.cli.output import check_format, check_out, table_writer
from trickless.cli.screen import Json, line, progress, result, say
from trickless.tables.model import TableModel

#: How a cell begins that a spreadsheet takes for a formula; numbers are none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]+$)")


def predict(
    model: Annotated[Path, typer.Argument(help="File of a model, from trickless fit.")],
    data: Annotated[Path, typer.Argument(help="CSV, Parquet or Arrow file, or a folder of them.")],
    out: Annotated[Path, typer.Option(help="File for the predictions: CSV, Parquet or Arrow.")],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column for each class.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Predict every row of a table, in order. The target need not be there.

    The output has a column named prediction.
    """
    check_format(out)
    check_name(out)
    check_out(out, [model, data])
    fitted = table_model(model)
    if probabilities and not (
        fitted.classes is not None and hasattr(fitted.learner, "predict_proba")
    ):
        raise CommandError(
            "--probabilities: this model gives none. Remedy: leave the option out, or fit a "
            "classifier."
        )
    dataset = Dataset(data)
    check_out(out, [Path(file) for file in dataset.files])
    schema = _schema(fitted, probabilities)
    _tell_formulas(out, fitted)
    n_rows, unknown = 0, Counter[str]()
    with (
        table_writer(out, schema) as writer,
        progress("Predicting", dataset.expected_rows()) as advance,
    ):
        for batch in dataset.batches(kinds_of(fitted)):
            frame = batch.data.to_pandas()
            with used(model):
                unknown.update(fitted.unknown_categories(frame))
                arrays = [pa.array(fitted.predict(frame), type=schema.types[0])]
                if probabilities:
                    arrays += [pa.array(p) for p in fitted.predict_proba(frame).T]
                rows = pa.RecordBatch.from_arrays(arrays, schema=schema)
            writer.write_batch(rows)
            n_rows += len(frame)
            advance(len(frame))
    tell_unknown(unknown)
    values = {"out": str(out), "rows": n_rows, "unknown_categories": dict(unknown)}
    result(values, as_json, lambda: line(f"{n_rows:,} predictions in {out}"))


def _schema(model: TableModel, probabilities: bool) -> Any:
    """The columns of the output."""
    labels = np.zeros(0) if model.classes is None else model.classes
    fields = [("prediction", pa.array(labels).type)]
    if probabilities:
        fields += [(f"probability_{label}", pa.float64()) for label in labels]
    return pa.schema(fields)


def _tell_formulas(out: Path, model: TableModel) -> None:
    """Warn of labels in a CSV file that a spreadsheet would take for formulas."""
    labels = [] if model.classes is None else map(str, model.classes)
    formulas = [label for label in labels if _FORMULA.match(label)]
    if formulas and out.suffix.lower() == ".csv":
        say(
            f"Warning: a spreadsheet takes the label {formulas[0]!r} for a formula, and runs it. "
            "Remedy: import the column as text, or write another format than CSV."
        )
