"""Tables without tuning: ``Tabular`` neurons on a data frame as it is, against trees.

Adult, who earns over $50,000, with the split of the UCI repository: 5 columns of numbers and 8 of
categories.

- ``Tabular``: Kitchen Sinks with ``Tabular()`` on the frame.
- ``Stumps``: Kitchen Sinks with ``Stumps()`` on one-hot columns, standardised.
- ``HistGradientBoosting``: scikit-learn's gradient-boosted trees on the frame.
- ``RandomForest``: 100 trees of scikit-learn on one-hot columns.

All have their default parameters but for the number of neurons. Errors are means over seeds, with
the standard deviation between them; seconds are medians.

Run as ``make bench-tables``, which needs pandas; writes
``benchmarks/results/tables.json`` in about six minutes.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import data
from circumstances import circumstances
from trickless import KitchenSinksClassifier
from trickless.neurons import Stumps, Tabular

PATH = Path(__file__).parent / "results" / "tables.json"
SIZES, SEEDS = (1000, 2000, 4000), (0, 1, 2)
AIM = 0.139


def models(seed: int) -> list[tuple[str, int | None, str, Any]]:
    """Name, neurons, kind of the columns, and an unfitted model."""
    sinks = [
        (name, size, columns, KitchenSinksClassifier(neurons, size, random_state=seed))
        for name, columns, neurons in (
            ("Tabular", "frame", Tabular()),
            ("Stumps", "codes", Stumps()),
        )
        for size in SIZES
    ]
    trees = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed)
    forest = RandomForestClassifier(random_state=seed, n_jobs=-1)
    return [
        *sinks,
        ("HistGradientBoosting", None, "frame", trees),
        ("RandomForest", None, "codes", forest),
    ]


def measure(model: Any, split: data.Split) -> dict[str, float]:
    """Seconds of learning and predicting, and the test error."""
    start = time.perf_counter()
    model.fit(split.X_train, split.y_train)
    learned = time.perf_counter()
    predicted = model.predict(split.X_test)
    end = time.perf_counter()
    error = float(np.mean(predicted != split.y_test))
    return {"error": error, "fit_seconds": learned - start, "predict_seconds": end - learned}


def main() -> None:
    splits = {"frame": data.adult_table(), "codes": data.adult()}
    runs: dict[tuple[str, int | None], list[dict[str, float]]] = {}
    for seed in SEEDS:
        for name, size, columns, model in models(seed):
            runs.setdefault((name, size), []).append(measure(model, splits[columns]))
    rows = []
    for (name, size), done in runs.items():
        errors = [run["error"] for run in done]
        row = {"method": name, "neurons": size, "error": float(np.mean(errors))}
        row |= {"errors": errors, "deviation": float(np.std(errors, ddof=1))}
        row |= {
            key: float(np.median([r[key] for r in done]))
            for key in ("fit_seconds", "predict_seconds")
        }
        rows.append(row)
        print(
            f"{name:<22}{size or '':>6} {row['error']:8.2%} {row['fit_seconds']:8.2f} s", flush=True
        )
    largest = next(r for r in rows if (r["method"], r["neurons"]) == ("Tabular", SIZES[-1]))
    result = {
        "circumstances": circumstances(),
        "rows": [len(splits["frame"].X_train), len(splits["frame"].X_test)],
        "columns": {kind: split.X_train.shape[1] for kind, split in splits.items()},
        "seeds": list(SEEDS),
        "methods": rows,
        "aim": {"error": AIM, "reached": largest["error"], "met": largest["error"] <= AIM},
    }
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
