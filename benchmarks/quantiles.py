"""Quantiles beside LightGBM and HistGradientBoosting: loss, shares below, crossings and seconds.

Five real tables: airfoil, white wines, a computer's activity (compactiv), insurance, and 6,000
flights. Each has ``SPLITS`` random splits, in which a third of the rows is held out. Every method
predicts the quantiles ``LEVELS`` with its defaults. Ours learn all of them in one fit, and the
others with a model for each. The loss is the mean over levels of the pinball loss of the held-out
rows, divided by that of the quantiles of the rows to learn from. Crossings are the share of
held-out rows where some quantile is below a lower one. Methods take turns.

Run as ``make bench-quantiles``; writes ``benchmarks/results/quantiles.json``. ``--quick`` takes
500 rows of each table, and ``--data`` only some tables. Neither writes anything.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import train_test_split

import small_data
from circumstances import circumstances
from data import flights_table
from trickless import BoostedTreesRegressor

LEVELS, SPLITS = (0.05, 0.25, 0.5, 0.75, 0.95), 2
TABLES = {
    "airfoil": "airfoil",
    "wine": "wine, white",
    "compactiv": "compactiv",
    "insurance": "insurance",
}
FLIGHTS = 6_000


def table(name):
    """Columns, and numbers to predict."""
    if name in TABLES:
        return small_data.load(TABLES[name])[:2]
    split = flights_table()
    return split.X_train[:FLIGHTS], split.y_train[:FLIGHTS]


def together(make):
    """One model of all levels."""
    return lambda X, y, X_test: make().fit(X, y).predict(X_test)


def each(make):
    """A model for each level."""

    def predict(X, y, X_test):
        return np.column_stack([make(q).fit(X, y).predict(X_test) for q in LEVELS])

    return predict


def lightgbm(q):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(objective="quantile", alpha=q, verbose=-1, random_state=0)


WANTED = {"loss": "quantile", "quantile": list(LEVELS), "random_state": 0}
METHODS = {
    "trees": together(lambda: BoostedTreesRegressor(**WANTED)),
    "LightGBM": each(lightgbm),
    "HistGradientBoosting": each(
        lambda q: HistGradientBoostingRegressor(loss="quantile", quantile=q, random_state=0)
    ),
}


def measured(predict, X, X_test, y, y_test):
    """Losses and shares below of each level, the share of rows that cross, and seconds."""
    start = time.perf_counter()
    found = predict(X, y, X_test)
    seconds = time.perf_counter() - start
    losses = [mean_pinball_loss(y_test, f, alpha=q) for q, f in zip(LEVELS, found.T, strict=True)]
    return {
        "losses": losses,
        "below": (y_test[:, None] < found).mean(axis=0).tolist(),
        "crossed": float((np.diff(found, axis=1) < 0).any(axis=1).mean()),
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", choices=[*TABLES, "flights"], action="append")
    arguments = parser.parse_args()
    runs = []
    for name in arguments.data or [*TABLES, "flights"]:
        X, y = table(name)
        if arguments.quick:
            X, y = X[:500], y[:500]
        found, constant = {method: [] for method in METHODS}, []
        for seed in range(SPLITS):
            parts = train_test_split(X, y, test_size=1 / 3, random_state=seed)
            same = np.tile(np.quantile(parts[2], LEVELS), (len(parts[3]), 1))
            constant.append(measured(lambda *_, same=same: same, *parts)["losses"])
            for method, predict in METHODS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of names of columns
                    found[method].append(measured(predict, *parts))
        runs.append({"data": name, "rows": len(parts[2]), "constant": constant, "methods": found})
        means = {m: round(relative(runs[-1], m), 4) for m in METHODS}
        print(name, means, flush=True)
    about = circumstances()
    about["packages"]["lightgbm"] = version("lightgbm")
    report = {"circumstances": about, "levels": LEVELS, "splits": SPLITS, "runs": runs}
    if not (arguments.quick or arguments.data):
        path = Path(__file__).parent / "results" / "quantiles.json"
        path.write_text(json.dumps(report, indent=1) + "\n")
        print(f"wrote {path}")


def relative(run, method):
    """The mean loss of a method divided by that of the constant quantiles."""
    losses = [split["losses"] for split in run["methods"][method]]
    return float(np.mean(losses) / np.mean(run["constant"]))


if __name__ == "__main__":
    main()
