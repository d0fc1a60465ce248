"""The comparison of ``trickless demo``: three learners and two references on real data.

It prints a table, writes a picture, and stores the numbers of both as JSON.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median as median_of
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from trickless._cli.demo.download import ADULT_NUMBERS, FetchError, load_adult
from trickless._cli.demo.picture import draw
from trickless._cli.screen import line, progress
from trickless._cli.screen import table as table_of
from trickless._learners.base import Learner
from trickless._learners.boosted_trees import BoostedTreesClassifier
from trickless._learners.doubly_stochastic import DoublyStochasticClassifier
from trickless._learners.kitchen_sinks import KitchenSinksClassifier
from trickless._learners.shrinking_gradient import ShrinkingGradientClassifier
from trickless.neurons import Ferns

SEEDS = (0, 1, 2)
SIZES = {"stumps": (25, 50, 100, 200, 500, 1000, 2000), "gaussian": (25, 50, 100, 200, 500, 1000)}


class Data(NamedTuple):
    """A split of a data set into rows to learn from and rows to test on."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Row(NamedTuple):
    """A row of the table."""

    model: str
    error: float
    fit_seconds: float
    predict_seconds: float
    neurons: int | None


def run(folder: Path, repeats: int = 1) -> list[Row]:
    """Run the demo and write ``trickless-demo.png`` and ``trickless-demo.json`` to a folder.

    The models take turns, until each was fitted ``repeats`` times. The table has medians.
    """
    data = load()
    sizes = f"{len(data.y):,} rows to learn from, {len(data.y_test):,} to test on"
    line(f"{data.name}: {sizes}, {data.X.shape[1]} columns")
    rows = compare(data, repeats)
    print(table(rows), flush=True)
    sweep = sweep_sizes(data)
    results = {
        "data": {"name": data.name, "train": data.X.shape, "test": data.X_test.shape},
        "repeats": repeats,
        "table": [row._asdict() for row in rows],
        "sizes": sweep,
    }
    (folder / "trickless-demo.json").write_text(json.dumps(results, indent=1) + "\n")
    picture = folder / "trickless-demo.png"
    draw(results).savefig(picture, dpi=150)
    line(f"wrote {picture} and {picture.with_suffix('.json').name}")
    return rows


def load() -> Data:
    """Return the Adult data, encoded and split 80/20, or the digits if no registry answers."""
    try:
        X, y = load_adult()
        name = "Adult census data"
        strings = [column for column in range(X.shape[1]) if column not in ADULT_NUMBERS]
        one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        encode: Any = ColumnTransformer(
            [
                ("numbers", StandardScaler(), list(ADULT_NUMBERS)),
                ("strings", make_pipeline(one_hot, StandardScaler()), strings),
            ]
        )
    except FetchError as error:
        line(f"The Adult data could not be fetched ({error}).")
        line("Using scikit-learn's digits instead: even against odd.")
        X, digit = load_digits(return_X_y=True)
        y = digit % 2 == 0
        name, encode = "scikit-learn's digits", StandardScaler()
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    X, X_test = encode.fit_transform(X), encode.transform(X_test)
    return Data(name, X.astype(np.float32), y, X_test.astype(np.float32), y_test)


def compare(data: Data, repeats: int) -> list[Row]:
    """Fit and time every model, and return the rows of the table."""
    models = {
        "Kitchen Sinks, stumps": KitchenSinksClassifier("stumps", 2000, random_state=0),
        "Kitchen Sinks, Gaussian": KitchenSinksClassifier("gaussian", 1000, random_state=0),
        "Kitchen Sinks, ferns": KitchenSinksClassifier(
            Ferns(feature_weights="relevance"), 2000, random_state=0
        ),
        "Boosted trees": BoostedTreesClassifier(random_state=0),
        "Doubly Stochastic, stumps": DoublyStochasticClassifier("stumps", random_state=0),
        "Shrinking Gradient, stumps": ShrinkingGradientClassifier(
            "stumps", max_support=4096, random_state=0
        ),
        "LogisticRegression": LogisticRegression(max_iter=1000),
        "AdaBoost, 200 stumps": AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=1), n_estimators=200, random_state=0
        ),
    }
    runs: dict[str, list[Row]] = {name: [] for name in models}
    with progress("Models", repeats * len(models)) as advance:
        for _ in range(repeats):
            for name, model in models.items():
                runs[name].append(fit_and_predict(name, model, data))
                advance(1)
    return [median(rows) for rows in runs.values()]


def median(rows: list[Row]) -> Row:
    """Return one row for several runs of a model, with the medians of the times."""
    fields = "fit_seconds", "predict_seconds"
    return rows[0]._replace(**{f: median_of([getattr(row, f) for row in rows]) for f in fields})


def fit_and_predict(name: str, model: Any, data: Data) -> Row:
    """Fit and time a model, and return its row of the table."""
    start = time.perf_counter()
    model.fit(data.X, data.y)
    fitted = time.perf_counter()
    wrong = model.predict(data.X_test) != data.y_test
    end = time.perf_counter()
    neurons = model.network_.n_neurons if isinstance(model, Learner) else None
    return Row(name, float(wrong.mean()), fitted - start, end - fitted, neurons)


def sweep_sizes(data: Data) -> dict[str, Any]:
    """Return the test error of Kitchen Sinks for several numbers of neurons and seeds."""

    def error(family: str, size: int, seed: int) -> float:
        model = KitchenSinksClassifier(family, size, random_state=seed).fit(data.X, data.y)
        advance(1)
        return float((model.predict(data.X_test) != data.y_test).mean())

    with progress("Sizes", len(SEEDS) * sum(map(len, SIZES.values()))) as advance:
        return {
            family: {
                "neurons": list(sizes),
                "error": [[error(family, size, seed) for seed in SEEDS] for size in sizes],
            }
            for family, sizes in SIZES.items()
        }


def table(rows: list[Row]) -> str:
    """Return the table as text."""
    cells = [
        [
            row.model,
            f"{row.error:.2%}",
            f"{row.fit_seconds:.2f}s",
            f"{row.predict_seconds:.2f}s",
            "–" if row.neurons is None else f"{row.neurons:,}",
        ]
        for row in rows
    ]
    return table_of(["model", "error", "fit", "predict", "neurons"], cells)
