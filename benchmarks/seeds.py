"""Several seeds: the error of the mean of 1, 3, 5 and 8 models of trees, and what it costs.

Doubly Stochastic with trees and nothing else set, once for each of eight seeds, on five raw tables.
The predictions of k models are averaged: numbers, or probabilities of classes. For k below 8 the
error is the mean over consecutive groups of k seeds. Seconds are the sum of k fits. The spread of
the predictions is their standard deviation over seeds, relative to that of the targets.

Run as ``make bench-seeds``; writes ``benchmarks/results/seeds.json``. ``--quick`` is a trial on few
rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from circumstances import circumstances
from raw_tables import Table, prepare
from table_methods import load_loops
from trickless import BoostedTreesClassifier, BoostedTreesRegressor

PATH = Path(__file__).parent / "results" / "seeds.json"
TABLES = ("wine", "grid stability", "puma32h", "credit", "adult")
SEEDS, NUMBERS, WARM_UP_ROWS = range(8), (1, 3, 5, 8), 500


def error_of(table: Table, predicted: np.ndarray) -> float:
    """Return the error of averaged numbers, or of averaged probabilities."""
    return table.error(predicted.argmax(axis=1) if table.n_classes else predicted)


def log_loss_of(table: Table, predicted: np.ndarray) -> float | None:
    if not table.n_classes:
        return None
    there = predicted[np.arange(len(table.y_test)), np.asarray(table.y_test, dtype=int)]
    return float(-np.log(np.maximum(there, 1e-15)).mean())


def measure(name: str, quick: bool) -> dict[str, Any]:
    """Errors and seconds of averages on a table."""
    table = prepare(name, quick)
    few = table.head(WARM_UP_ROWS)
    load_loops()
    learner = BoostedTreesClassifier if table.n_classes else BoostedTreesRegressor
    learner(10, random_state=0).fit(few.X, few.y)
    predictions, seconds = [], []
    for seed in SEEDS:
        start = time.perf_counter()
        model = learner(random_state=seed).fit(table.X, table.y)
        seconds.append(time.perf_counter() - start)
        answer = model.predict_proba if table.n_classes else model.predict
        predictions.append(answer(table.X_test))
        print(f"{name}: seed {seed}: {error_of(table, predictions[-1]):.4f}", flush=True)
    rows = []
    for k in NUMBERS:
        groups = [range(i, i + k) for i in range(0, len(SEEDS) - k + 1, k)]
        means = [np.mean([predictions[i] for i in group], axis=0) for group in groups]
        losses = [log_loss_of(table, mean) for mean in means]
        rows.append(
            {
                "models": k,
                "error": float(np.mean([error_of(table, mean) for mean in means])),
                "log_loss": None if losses[0] is None else float(np.mean(losses)),
                "seconds": float(np.mean([sum(seconds[i] for i in group) for group in groups])),
            }
        )
    spread = float(np.std(predictions, axis=0, ddof=1).mean() / np.std(table.y_test))
    sizes = {"rows": len(table.X), "test_rows": len(table.X_test), "classes": table.n_classes}
    return {"name": name, **sizes, "averages": rows, "spread": spread}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a trial on few rows")
    args = parser.parse_args()
    trial = Path(tempfile.gettempdir()) / "trickless-seeds-quick.json"
    path = trial if args.quick else PATH
    tables = [measure(name, args.quick) for name in TABLES]
    result = {"circumstances": circumstances(), "tables": tables}
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
