"""``trickless evaluate``: compare predictions with known targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from trickless._cli.models import kinds_to_read, learner_in, used
from trickless._cli.options import Data, Decimal, Delimiter, Json, Model, Thousands
from trickless._cli.screen import progress, result
from trickless._errors import InvalidValueError
from trickless._learners.quantiles import levels_of
from trickless._readers.errors import location
from trickless._readers.known_rows import KnownRows, numbers_of, table_of, targets_of
from trickless._readers.table import CSV, Table
from trickless._solvers.moments import ColumnMoments, of_rows


def evaluate(
    model: Model,
    data: Data,
    target: Annotated[str, typer.Option(help="Column that the model predicts.")],
    weight: Annotated[
        str | None, typer.Option(help="Column with the weight of each row in the scores.")
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    as_json: Json = False,
) -> None:
    """Score a model on a table whose target is known.

    Rows without a target are left out.
    """
    learner = learner_in(model)
    kinds = kinds_to_read(learner)
    classes = getattr(learner, "classes_", None)
    is_text = classes is not None and classes.dtype.kind in "OU"
    kinds[target] = "category" if is_text else "number"
    found = Table(data, kinds, CSV(delimiter, decimal, thousands), of_model=True)
    names = list(map(found.column, learner.feature_names_in_.tolist()))
    target = found.column(target)
    rows = KnownRows(found, names, target, None if weight is None else found.column(weight))
    scores = scores_of(learner, model, rows)
    if scores is None:
        weighted = "" if weight is None else f", and a weight above 0 in {weight!r}"
        raise InvalidValueError(
            f"{location(data, target)}: no row has a value in the target{weighted}",
            "pass a table whose target is known",
        )
    result({"target": target, **scores}, as_json)


def scores_of(
    model: Any, path: Path, rows: KnownRows, held_out: bool = False
) -> dict[str, Any] | None:
    """Return the scores of a model on rows, or on those held out; None if there are none.

    Counts of rows have no weights. All others have.
    """
    classes = getattr(model, "classes_", None)
    scores = _Errors(levels_of(model)) if classes is None else _Classes(classes)
    n = 0
    with progress("Predicting", rows.table.expected_rows()) as advance:
        for batch in rows.batches(held_out, advance):
            y, weight = targets_of(batch[rows.target]), np.ones(batch.num_rows)
            if rows.weight is not None:
                weight = numbers_of(batch[rows.weight])
            with used(path):
                scores.add(y, model.predict(table_of(batch.select(rows.columns))), weight)
            n += batch.num_rows
    if not n:
        return None
    counts = {"rows": rows.n_rows, "rows_without_target": rows.n_without_target}
    return counts | scores.summary()


class _Errors:
    """Weighted means of the errors of numbers, or of several quantiles."""

    def __init__(self, levels: list[float] | None) -> None:
        self._levels = levels
        self._moments = ColumnMoments.none(3 if levels is None else 2 * len(levels))

    def add(self, truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> None:
        """Add rows."""
        left = truth[:, None] - predicted.reshape(len(truth), -1)
        terms = [left**2, np.abs(left), truth[:, None]]
        if self._levels is not None:
            q = np.array(self._levels)
            terms = [np.maximum(q * left, (q - 1) * left), left < 0]
        self._moments = self._moments.merged(of_rows(np.hstack(terms), weight))

    def summary(self) -> dict[str, Any]:
        """Return the scores."""
        means = self._moments.mean.tolist()
        if self._levels is None:
            variance = 0.0 if self._moments.constant[2] else float(self._moments.var[2])
            return {
                "r2": 1 - means[0] / variance if variance else None,
                "root_mean_squared_error": means[0] ** 0.5,
                "mean_absolute_error": means[1],
                "standard_deviation_of_target": variance**0.5,
            }
        n = len(self._levels)
        names, each = ("quantile", "pinball_loss", "below"), (self._levels, means[:n], means[n:])
        return {
            "mean_pinball_loss": float(np.mean(means[:n])),
            "quantiles": [dict(zip(names, row, strict=True)) for row in zip(*each, strict=True)],
        }


class _Classes:
    """Weights of rows by true and predicted class. The last row is for new labels."""

    def __init__(self, classes: np.ndarray) -> None:
        self._classes = classes
        self._weights = np.zeros((len(classes) + 1, len(classes)))
        self._rows = np.zeros(len(classes) + 1, dtype=np.int64)

    def add(self, truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> None:
        """Add rows."""
        places = np.searchsorted(self._classes, truth).clip(max=len(self._classes) - 1)
        places = np.where(self._classes[places] == truth, places, len(self._classes))
        said = np.searchsorted(self._classes, predicted)
        np.add.at(self._weights, (places, said), weight)
        np.add.at(self._rows, places, 1)

    def summary(self) -> dict[str, Any]:
        """Return the scores."""
        weights, rows = self._weights, self._rows.tolist()
        right, there, said = np.diag(weights), weights.sum(axis=1), weights.sum(axis=0)
        accuracy = float(right.sum() / weights.sum())
        return {
            "accuracy": accuracy,
            "error": 1 - accuracy,
            "error_of_always_guessing_the_largest_class": 1 - float(there[:-1].max() / there.sum()),
            "rows_of_unknown_classes": rows[-1],
            "classes": [
                {
                    "class": label,
                    "rows": rows[j],
                    "recall": float(right[j] / there[j]) if there[j] else None,
                    "precision": float(right[j] / said[j]) if said[j] else None,
                }
                for j, label in enumerate(self._classes.tolist())
            ],
        }
