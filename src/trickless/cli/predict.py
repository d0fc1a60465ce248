"""``trickless predict``: predict the rows of a table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import typer

from trickless.cli.arrays import (
    ArrayModel,
    Data,
    RowsName,
    array_model,
    blocks,
    check_no_array_options,
)
from trickless.cli.models import Unknown, kinds_of, reading_of, table_model, used
from trickless.cli.output import check_format, check_out, is_stdout, table_writer
from trickless.cli.screen import Json, line, progress, result
from trickless.learners.table_model import TableModel
from trickless.readers.array_file import ArrayFile, is_array_file
from trickless.readers.cells import is_text
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError, check_name
from trickless.readers.messages import say
from trickless.readers.profile import say_missing
from trickless.tables.frames import frame_of

#: The beginning of a cell that a spreadsheet runs as a formula. Numbers do not match.
_FORMULA = r"^([=@\t\r]|[+-]($|[^\d.,]|[\d.,]+[^\d.,]))"


def predict(
    model: Annotated[Path, typer.Argument(help="Model file from trickless fit.")],
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
            "as 0.9. Needs a regression."
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column of the table to copy to the output. Repeatable."),
    ] = None,
    rows: RowsName = None,
    as_json: Json = False,
) -> None:
    """Predict every row of a table, or of an array, in order.

    The data need no target. The predictions are in the output's column named prediction.
    """
    if is_stdout(out) and as_json:
        raise CommandError(
            "--out -: the predictions and --json cannot both go to the standard output",
            "leave --json out, or write the predictions to a file",
        )
    check_format(out)
    check_name(out)
    check_out(out, [model, data])
    source = _ArrayRows if is_array_file(data) else _TableRows
    given = source(model, data, out, keep or [], rows)
    wanted = _Columns(given.model, model, probabilities, std, interval)
    schema = _schema(wanted, given.fields)
    formulas = _Formulas(out, given.model)
    n_rows = 0
    with (
        table_writer(out, schema) as writer,
        progress("Predicting", given.expected_rows) as advance,
    ):
        for X, beside in given:
            with used(model):
                given.count(X)
                arrays = wanted.of(X)
            formulas.look(list(given.fields), beside)
            writer.write_batch(pa.RecordBatch.from_arrays([*beside, *arrays], schema=schema))
            n_rows += len(X)
            advance(len(X))
    given.tell()
    if not is_stdout(out):
        values = {"out": str(out), "rows": n_rows, "unknown_categories": given.unknown}
        result(values, as_json, lambda: line(f"{n_rows:,} predictions in {out}"))


class _TableRows:
    """Rows of a table to predict, with columns to copy to the output.

    Attributes
    ----------
    model : TableModel
    fields : dict
        Types of the columns that are copied, by their names.
    expected_rows : int or None
    """

    def __init__(
        self, model: Path, data: Path, out: Path, keep: list[str], rows: str | None
    ) -> None:
        check_no_array_options(rows=rows)
        self.model = table_model(model)
        self._dataset = Dataset(data, reading_of(self.model))
        check_out(out, [Path(file) for file in self._dataset.files])
        kept = list(dict.fromkeys(map(self._dataset.known_as, keep)))
        self.fields: dict[str, Any] = self._dataset.types_kept(kept) if kept else {}
        self.expected_rows = self._dataset.expected_rows()
        self._unknown = Unknown(self.model)

    def __iter__(self) -> Iterator[tuple[Any, list[Any]]]:
        for batch in self._dataset.batches(kinds_of(self.model), list(self.fields)):
            yield frame_of(batch.data), batch.kept.columns if self.fields else []

    def count(self, frame: Any) -> None:
        """Count values that are new categories to the model."""
        self._unknown.count(frame)

    def tell(self) -> None:
        """Report missing values and new categories."""
        say_missing(self._dataset.missing)
        self._unknown.tell()

    @property
    def unknown(self) -> dict[str, int]:
        """Numbers of values that are new categories."""
        return dict(self._unknown.counts)


class _ArrayRows:
    """Rows of an array to predict."""

    def __init__(
        self, model: Path, data: Path, out: Path, keep: list[str], rows: str | None
    ) -> None:
        if keep:
            raise CommandError(
                f"--keep {keep[0]!r}: an array has no columns with names", "leave the option out"
            )
        self.model = array_model(model)
        self._X = ArrayFile(data).rows(rows, [])
        self.fields: dict[str, Any] = {}
        self.expected_rows = len(self._X)
        self.unknown: dict[str, int] = {}

    def __iter__(self) -> Iterator[tuple[Any, list[Any]]]:
        return ((X, []) for X in blocks(self._X))

    def count(self, X: Any) -> None:
        """Count nothing, as arrays have no categories."""

    def tell(self) -> None:
        """Report nothing."""


class _Columns:
    """The predictions of each row, as columns. ``fields`` has their names and types."""

    def __init__(
        self,
        model: TableModel | ArrayModel,
        path: Path,
        probabilities: bool,
        std: bool,
        interval: float | None,
    ) -> None:
        _check(model, path, probabilities, std, interval)
        self._model: Any = model
        self._probabilities, self._std = probabilities, std
        self._interval = interval
        labels = np.zeros(0) if model.classes is None else model.classes
        levels, kind = model.quantiles, pa.array(labels).type
        names = ["prediction"] if levels is None else [f"quantile_{q:g}" for q in levels]
        self.fields = dict.fromkeys(names, kind)
        if probabilities:
            self.fields |= {f"probability_{label}": pa.float64() for label in labels}
        names = ["standard_deviation"] * std + ["lower", "upper"] * (interval is not None)
        self.fields |= dict.fromkeys(names, pa.float64())

    def of(self, frame: Any) -> list[Any]:
        """Return the columns of some rows."""
        columns: list[np.ndarray] = []
        if self._std:
            predicted, deviation = self._model.predict(frame, return_std=True)
            columns.append(deviation)
        else:
            predicted = self._model.predict(frame)
        if self._interval is not None:
            columns += [*self._model.predict_interval(frame, self._interval).T]
        if self._probabilities:
            columns = [*self._model.predict_proba(frame).T, *columns]
        columns = [*([predicted] if predicted.ndim == 1 else predicted.T), *columns]
        pairs = zip(columns, self.fields.values(), strict=True)
        return [pa.array(column, type=type_) for column, type_ in pairs]


def _check(
    model: TableModel | ArrayModel,
    path: Path,
    probabilities: bool,
    std: bool,
    interval: float | None,
) -> None:
    has_proba = model.classes is not None and hasattr(model.learner, "predict_proba")
    if probabilities and not has_proba:
        raise CommandError(
            "--probabilities: this model has none", "leave the option out, or fit a classifier"
        )
    if interval is not None and not 0 < interval < 1:
        raise CommandError(
            f"--interval {interval}: it must be a probability between 0 and 1",
            "use a number such as 0.95",
        )
    learner = f"{path} holds a {type(model.learner).__name__}"
    if interval is not None and not hasattr(model.learner, "predict_interval"):
        raise CommandError(f"--interval: {learner}, which has no intervals", "leave the option out")
    if std and "return_std" not in inspect.signature(model.learner.predict).parameters:
        raise CommandError(
            f"--std: {learner}, which has no standard deviations",
            "leave the option out, or fit a regression with --learner kitchen-sinks",
        )


def _schema(wanted: _Columns, fields: dict[str, Any]) -> Any:
    """Return the columns of the output: first the kept columns, then the predictions."""
    if both := fields.keys() & wanted.fields.keys():
        raise CommandError(
            f"--keep {min(both)!r}: the output has its own column of this name",
            "rename it in the table, or leave the option out",
        )
    return pa.schema([*fields.items(), *wanted.fields.items()])


class _Formulas:
    """Warns of text in a CSV file that a spreadsheet would run as a formula."""

    def __init__(self, out: Path, model: TableModel | ArrayModel) -> None:
        self._is_csv = is_stdout(out) or out.suffix.lower() == ".csv"
        labels = [] if model.classes is None else list(map(str, model.classes))
        self._found = False
        self._warn("a label", labels)

    def look(self, names: list[str], columns: list[Any]) -> None:
        """Look at more rows of the kept columns."""
        for name, column in zip(names, columns, strict=True):
            if self._is_csv and not self._found and is_text(column.type):
                text = column.filter(pc.match_substring_regex(column, _FORMULA))
                self._warn(f"a cell of {name!r}", text[:1].to_pylist())

    def _warn(self, what: str, texts: list[str]) -> None:
        formulas = [text for text in texts if re.match(_FORMULA, text)]
        if formulas and self._is_csv:
            self._found = True
            say(
                f"Warning: a spreadsheet would run {what} as a formula: {formulas[0]!r}. "
                "Remedy: import the column as text, or write a format other than CSV."
            )
