"""``trickless evaluate``: compare predictions with known targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from trickless.cli.arrays import (
    ArrayModel,
    Arrays,
    Data,
    RowsName,
    add_scores,
    array_model,
    check_no_array_options,
)
from trickless.cli.models import Unknown, kind_of_target, kinds_of, reading_of, table_model, used
from trickless.cli.screen import Json, line, progress, result, table
from trickless.learners.table_model import TableModel
from trickless.readers.array_file import is_array_file
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError, location
from trickless.readers.moments import Moments
from trickless.readers.profile import rows_that_count, say_missing
from trickless.readers.shuffle import Part
from trickless.tables.frames import frame_of


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model file from trickless fit.")],
    data: Data,
    weight: Annotated[
        str | None, typer.Option(help="Column with the weight of each row in the scores.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Array of targets, if the data are arrays.")
    ] = None,
    rows: RowsName = None,
    as_json: Json = False,
) -> None:
    """Score a model on a table, or on arrays, whose target is known.

    Rows without a target are left out.
    """
    if is_array_file(data):
        _evaluate_arrays(model, data, target, rows, weight, as_json)
        return
    check_no_array_options(target=target, rows=rows)
    fitted = table_model(model)
    dataset = Dataset(data, reading_of(fitted))
    _check(fitted, data, dataset, weight)
    scores = scores_of(fitted, model, dataset, weight)
    say_missing(dataset.missing)
    if scores is None:
        weighted = "" if weight is None else f" and a weight above 0 in {weight!r}"
        raise CommandError(
            f"{data}: no row has a value in the target {fitted.target!r}{weighted}",
            "pass a table whose target is known",
        )
    values: dict[str, Any] = {"target": fitted.target, "task": fitted.task, **scores}
    result(values, as_json, lambda: show_scores(values))


def _evaluate_arrays(
    path: Path, data: Path, target: str | None, rows: str | None, weight: str | None, as_json: bool
) -> None:
    model = array_model(path)
    if target is None:
        raise CommandError(
            f"{data}: --target does not say which array holds the targets",
            "--target with the name of an array in a .npz file, or the path of a .npy file",
        )
    scores = scores_of_arrays(model, path, Arrays(data, rows, target, weight))
    task = "regression" if model.classes is None else "classification"
    values: dict[str, Any] = {"target": target, "task": task, **scores}
    result(values, as_json, lambda: show_scores(values))


def scores_of_arrays(model: ArrayModel, path: Path, arrays: Arrays) -> dict[str, Any]:
    """Return the scores of a model on arrays."""
    scores = _scores_of(model)
    add_scores(scores, model, path, arrays)
    n = {"rows": arrays.n_rows, "rows_without_target": arrays.n_without_target}
    return n | scores.summary()


def _check(model: TableModel, data: Path, dataset: Dataset, weight: str | None) -> None:
    """Refuse a table without the target or the weights, which predictions do not need."""
    if model.target not in dataset.types:
        raise CommandError(
            f"{location(data, model.target)}: the table has no column of this name, which is the "
            "target of the model",
            "pass a table whose target is known, or predict this one with trickless predict",
        )
    if weight is None:
        return
    if weight not in dataset.types:
        raise CommandError(
            f"{location(data, weight)}: --weight names a column that is not there",
            "check the name, or leave --weight out",
        )
    if weight == model.target or kinds_of(model).get(weight, "number") != "number":
        raise CommandError(
            f"{location(data, weight)}: --weight names a column that the model reads as its "
            "target, or as something other than numbers",
            "name a column of weights",
        )


def scores_of(
    model: TableModel, path: Path, rows: Dataset | Part, weight: str | None = None
) -> dict[str, Any] | None:
    """Return the scores of a model on the rows with a target; None if there are none.

    Reports how many values are categories that the model was not fitted to. ``weight`` is the
    column with the weights of the rows. Counts of rows have no weights.
    """
    weights = {} if weight is None else {weight: "number"}
    kinds = kinds_of(model) | weights | {model.target: kind_of_target(model)}
    scores = _scores_of(model)
    n_rows, unknown = 0, Unknown(model)
    with progress("Predicting", rows.expected_rows()) as advance:
        for batch in rows.batches(kinds):
            frame = frame_of(batch.data)
            advance(len(frame))
            n_rows += len(frame)
            there = frame[model.target].notna().to_numpy()
            if weight is not None:
                rows_that_count(batch, weight, np.flatnonzero(there))
            frame = frame[there]
            if len(frame):
                with used(path):
                    unknown.count(frame)
                    each = np.ones(len(frame)) if weight is None else frame[weight].to_numpy(float)
                    scores.add(model.targets(frame), model.predict(frame), each)
    if not scores.weight:
        return None
    unknown.tell()
    return {
        "rows": n_rows,
        "rows_without_target": n_rows - scores.n,
        **scores.summary(),
        "unknown_categories": dict(unknown.counts),
    }


def _scores_of(model: TableModel | ArrayModel) -> _Classes | _Numbers | _Quantiles:
    if model.classes is not None:
        return _Classes(model.classes)
    return _Numbers() if model.quantiles is None else _Quantiles(model.quantiles)


class _Quantiles:
    """Pinball losses of quantiles, and the shares of rows below them."""

    def __init__(self, levels: list[float]) -> None:
        self.n, self.weight, self._levels = 0, 0.0, np.array(levels)
        self._losses, self._below = np.zeros(len(levels)), np.zeros(len(levels))

    def add(self, truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> None:
        left = truth[:, None] - predicted.reshape(len(truth), -1)
        self._losses += weight @ np.maximum(self._levels * left, (self._levels - 1) * left)
        self._below += weight @ (left < 0)
        self.weight += float(weight.sum())
        self.n += len(truth)

    def summary(self) -> dict[str, Any]:
        losses, below = self._losses / self.weight, self._below / self.weight
        each = zip(self._levels.tolist(), losses.tolist(), below.tolist(), strict=True)
        return {
            "mean_pinball_loss": float(losses.mean()),
            "quantiles": [
                dict(zip(("quantile", "pinball_loss", "below"), v, strict=True)) for v in each
            ],
        }


class _Numbers:
    def __init__(self) -> None:
        self.n = 0
        self.weight = self._squares = self._sizes = 0.0
        self._truth = Moments(1)

    def add(self, truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> None:
        error = predicted - truth
        self._squares += float(weight @ error**2)
        self._sizes += float(weight @ np.abs(error))
        self.weight += float(weight.sum())
        self._truth.add(truth[:, None], weight)
        self.n += len(truth)

    def summary(self) -> dict[str, Any]:
        deviation, spread = float(self._truth.deviation()[0]), float(self._truth.spread[0])
        return {
            "r2": 1 - self._squares / spread if spread else None,
            "root_mean_squared_error": (self._squares / self.weight) ** 0.5,
            "mean_absolute_error": self._sizes / self.weight,
            "standard_deviation_of_target": deviation,
        }


class _Classes:
    """Weights of rows by true and predicted class. The last row is for new labels."""

    def __init__(self, classes: np.ndarray) -> None:
        self.n, self.weight = 0, 0.0
        self._classes = classes
        self._rows = np.zeros(len(classes) + 1, dtype=np.int64)
        self._weights = np.zeros((len(classes) + 1, len(classes)))

    def add(self, truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> None:
        rows = np.searchsorted(self._classes, truth).clip(max=len(self._classes) - 1)
        rows = np.where(self._classes[rows] == truth, rows, len(self._classes))
        np.add.at(self._rows, rows, 1)
        np.add.at(self._weights, (rows, np.searchsorted(self._classes, predicted)), weight)
        self.n += len(truth)
        self.weight += float(weight.sum())

    def summary(self) -> dict[str, Any]:
        right, there = np.diag(self._weights), self._weights.sum(axis=1)
        said = self._weights.sum(axis=0)
        accuracy = float(right.sum() / self.weight)
        by_class = [
            {
                "class": label,
                "rows": int(self._rows[j]),
                "recall": float(right[j] / there[j]) if there[j] else None,
                "precision": float(right[j] / said[j]) if said[j] else None,
            }
            for j, label in enumerate(self._classes.tolist())
        ]
        return {
            "accuracy": accuracy,
            "error": 1 - accuracy,
            "error_of_always_guessing_the_largest_class": 1 - float(there[:-1].max() / self.weight),
            "rows_of_unknown_classes": int(self._rows[-1]),
            "classes": by_class,
        }


def show_scores(values: dict[str, Any]) -> None:
    """Print scores, and a table of the classes if there are any."""
    plain = {name: v for name, v in values.items() if not isinstance(v, list | dict)}
    table(["", ""], [[name.replace("_", " "), _text(v)] for name, v in plain.items()])
    for some in (values[name] for name in ("classes", "quantiles") if name in values):
        line()
        table(list(some[0]), [[_text(v) for v in one.values()] for one in some])


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if type(value) is int else str(value)
