"""How good the predictions of rows are whose target is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trickless.cli.dataset import Dataset
from trickless.cli.models import Unknown, kind_of_target, kinds_of, used
from trickless.cli.moments import Moments
from trickless.cli.screen import line, progress, table
from trickless.cli.split import Part
from trickless.tables.columns import frame_of
from trickless.tables.model import TableModel


def scores_of(model: TableModel, path: Path, rows: Dataset | Part) -> dict[str, Any] | None:
    """Scores of a model on the rows with a target; None if there are none.

    Reports how many values are categories that the model was not fitted to.
    """
    kinds = kinds_of(model) | {model.target: kind_of_target(model)}
    scores: _Classes | _Numbers = _Numbers() if model.classes is None else _Classes(model.classes)
    n_rows, unknown = 0, Unknown(model)
    with progress("Predicting", rows.expected_rows()) as advance:
        for batch in rows.batches(kinds):
            frame = frame_of(batch.data)
            advance(len(frame))
            n_rows += len(frame)
            frame = frame[frame[model.target].notna()]
            if len(frame):
                with used(path):
                    unknown.count(frame)
                    scores.add(model.targets(frame), model.predict(frame))
    if not scores.n:
        return None
    unknown.tell()
    return {
        "rows": n_rows,
        "rows_without_target": n_rows - scores.n,
        **scores.told(),
        "unknown_categories": dict(unknown.counts),
    }


class _Numbers:
    """Errors of predicted numbers."""

    def __init__(self) -> None:
        self.n = 0
        self._squares = self._sizes = 0.0
        self._truth = Moments(1)

    def add(self, truth: np.ndarray, predicted: np.ndarray) -> None:
        error = predicted - truth
        self._squares += float(error @ error)
        self._sizes += float(np.abs(error).sum())
        self._truth.add(truth[:, None])
        self.n += len(truth)

    def told(self) -> dict[str, Any]:
        deviation, spread = float(self._truth.deviation()[0]), float(self._truth.spread[0])
        return {
            "r2": 1 - self._squares / spread if spread else None,
            "root_mean_squared_error": (self._squares / self.n) ** 0.5,
            "mean_absolute_error": self._sizes / self.n,
            "standard_deviation_of_target": deviation,
        }


class _Classes:
    """Counts of rows by true and predicted class. The last row is for new labels."""

    def __init__(self, classes: np.ndarray) -> None:
        self.n = 0
        self._classes = classes
        self._counts = np.zeros((len(classes) + 1, len(classes)), dtype=np.int64)

    def add(self, truth: np.ndarray, predicted: np.ndarray) -> None:
        rows = np.searchsorted(self._classes, truth).clip(max=len(self._classes) - 1)
        rows = np.where(self._classes[rows] == truth, rows, len(self._classes))
        np.add.at(self._counts, (rows, np.searchsorted(self._classes, predicted)), 1)
        self.n += len(truth)

    def told(self) -> dict[str, Any]:
        right, there = np.diag(self._counts), self._counts.sum(axis=1)
        said = self._counts.sum(axis=0)
        accuracy = float(right.sum() / self.n)
        by_class = [
            {
                "class": label,
                "rows": int(there[j]),
                "recall": float(right[j] / there[j]) if there[j] else None,
                "precision": float(right[j] / said[j]) if said[j] else None,
            }
            for j, label in enumerate(self._classes.tolist())
        ]
        return {
            "accuracy": accuracy,
            "error": 1 - accuracy,
            "error_of_always_guessing_the_largest_class": 1 - float(there[:-1].max() / self.n),
            "rows_of_unknown_classes": int(there[-1]),
            "classes": by_class,
        }


def show_scores(values: dict[str, Any]) -> None:
    """Print scores, and a table of the classes if there are any."""
    plain = {name: v for name, v in values.items() if not isinstance(v, list | dict)}
    table(["", ""], [[name.replace("_", " "), _text(v)] for name, v in plain.items()])
    if "classes" in values:
        rows = [[_text(v) for v in one.values()] for one in values["classes"]]
        line()
        table(list(values["classes"][0]), rows)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if type(value) is int else str(value)
