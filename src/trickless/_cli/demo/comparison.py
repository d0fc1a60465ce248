"""The comparison of ``trickless demo``: one entry beside boosted trees, and its intervals.

It prints a table, writes a picture, and stores the numbers of both as JSON.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import KFold

from trickless._cli.demo.download import FetchError, load_airfoil
from trickless._cli.demo.picture import draw
from trickless._cli.screen import line, progress
from trickless._cli.screen import table as table_of
from trickless._learners.boosted_trees import BoostedTreesRegressor
from trickless._stack.auto import AutoRegressor

#: Folds, each of which is predicted once, and the confidence of intervals.
FOLDS, CONFIDENCE = 5, 0.9


class Data(NamedTuple):
    """A table: its name, columns, targets, and what they are."""

    name: str
    columns: dict[str, np.ndarray]
    y: np.ndarray
    target: str


class Row(NamedTuple):
    """A row of the table: mean and standard error of 1 − R² over folds, and median seconds."""

    model: str
    error: float
    standard_error: float
    fit_seconds: float


def run(folder: Path, repeats: int = 1) -> list[Row]:
    """Run the demo and write ``trickless-demo.png`` and ``trickless-demo.json`` to a folder.

    The models take turns in ``FOLDS`` folds, which are drawn ``repeats`` times.
    """
    data = load()
    line(f"{data.name}: {len(data.y):,} rows, {len(data.columns)} columns; {data.target}")
    rows, intervals = compare(data, repeats)
    print(table(rows), flush=True)
    inside = np.mean([low <= y <= high for y, low, high in intervals])
    line(f"{inside:.1%} of {len(intervals):,} new targets are in intervals of {CONFIDENCE:.0%}")
    results = {
        "data": {"name": data.name, "rows": len(data.y), "target": data.target},
        "repeats": repeats,
        "folds": FOLDS,
        "confidence": CONFIDENCE,
        "table": [row._asdict() for row in rows],
        "intervals": intervals,
    }
    (folder / "trickless-demo.json").write_text(json.dumps(results) + "\n")
    picture = folder / "trickless-demo.png"
    draw(results).savefig(picture, dpi=150)
    line(f"wrote {picture} and {picture.with_suffix('.json').name}")
    return rows


def load() -> Data:
    """Return the noise of wings, or the progress of diabetes if no registry answers."""
    try:
        return Data("Wings in a wind tunnel", *load_airfoil(), "noise (dB)")
    except FetchError as error:
        line(f"The data of wings could not be fetched ({error}).")
        line("Using scikit-learn's diabetes data instead.")
        X, y = load_diabetes(return_X_y=True, scaled=False)
        columns = {name: X[:, i] for i, name in enumerate(load_diabetes().feature_names)}
        return Data("Patients with diabetes", columns, y, "progress of the disease in a year")


def models_of() -> dict[str, Any]:
    """Return models with nothing set."""
    return {
        "AutoRegressor": AutoRegressor(random_state=0),
        "BoostedTreesRegressor": BoostedTreesRegressor(random_state=0),
        "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
        "RandomForest": RandomForestRegressor(n_jobs=-1, random_state=0),
    }


def compare(data: Data, repeats: int) -> tuple[list[Row], list[list[float]]]:
    """Fit and time every model in each fold.

    Return the rows of the table, and the target and interval of each row of the first folds.
    """
    X, models = np.column_stack(list(data.columns.values())), models_of()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    intervals: list[list[float]] = []
    with progress("Models", repeats * FOLDS * len(models)) as advance:
        for seed in range(repeats):
            for train, test in KFold(FOLDS, shuffle=True, random_state=seed).split(X):
                for name, model in models.items():
                    start = time.perf_counter()
                    model.fit(X[train], data.y[train])
                    seconds = time.perf_counter() - start
                    found[name].append((1 - model.score(X[test], data.y[test]), seconds))
                    if name == "AutoRegressor" and not seed:
                        ends = model.predict_interval(X[test], confidence=CONFIDENCE)
                        intervals += np.column_stack([data.y[test], ends]).tolist()
                    advance(1)
    rows = []
    for name, values in found.items():
        errors, times = np.array(values).T
        of_mean = errors.std(ddof=1) / np.sqrt(len(errors))
        rows.append(Row(name, errors.mean(), of_mean, float(np.median(times))))
    return rows, intervals


def table(rows: list[Row]) -> str:
    """Return the table as text."""
    cells = [
        [row.model, f"{row.error:.3f} ± {row.standard_error:.3f}", f"{row.fit_seconds:.2f}s"]
        for row in rows
    ]
    return table_of(["model", "1 − R², new rows", "fit"], cells)
