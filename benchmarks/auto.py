"""``neurons="auto"`` of Kitchen Sinks beside each of the families that it chooses from.

Nine sets: Adult, Covertype (100,000 rows), flights, puma32h, QM9, digits, diabetes, Friedman's
first function and a chirp. Inputs are standardised, digits divided by 16. Means over ``SEEDS``
seeds; seconds are those of the fit with the choice, medians, and families take turns. What
``"auto"`` is measured by: an error of at most 1.05 times that of the best family, in at most 1.6
times its seconds.

Run as ``make bench-auto``; writes ``benchmarks/results/auto.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, make_friedman1
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from circumstances import circumstances
from peers.tasks import prepare
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Ferns, Gaussian, Landmarks, Laplace1

NEURONS, SEEDS = 1000, 3
FAMILIES = {
    "auto": "auto",
    "Gaussian, auto": Gaussian("auto"),
    "Gaussian, relevance": Gaussian("relevance"),
    "Laplace1, relevance": Laplace1("relevance"),
    "Landmarks of Laplace1, relevance": Landmarks(Laplace1("relevance")),
    "Ferns, relevance": Ferns(feature_weights="relevance"),
}
LARGE = "adult", "covertype", "flights", "puma32h", "qm9"


def chirp():
    """sin(12πx²) on 1,000 points of [0, 1]."""
    x = np.linspace(0, 1, 1000)[:, None]
    return x, np.sin(12 * np.pi * x[:, 0] ** 2)


SMALL = {
    "digits": lambda: load_digits(return_X_y=True),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman1": lambda: make_friedman1(3000, noise=1, random_state=0),
    "chirp": chirp,
}


def splits(name):
    """Rows to learn from and to test on, and whether targets are classes."""
    if name in LARGE:
        task = prepare(name, quick=False, full=False)
        return (task.X, task.y, task.X_test, task.y_test), bool(task.n_classes)
    X, y = SMALL[name]()
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)
    scaler = StandardScaler().fit(X)
    if name == "digits":
        return (X / 16, y, X_test / 16, y_test), True
    return (scaler.transform(X), y, scaler.transform(X_test), y_test), False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=[*LARGE, *SMALL], action="append")
    runs = []
    for name in parser.parse_args().data or [*LARGE, *SMALL]:
        (X, y, X_test, y_test), classes = splits(name)
        learner = KitchenSinksClassifier if classes else KitchenSinksRegressor
        found, chosen = {how: [] for how in FAMILIES}, []
        for seed in range(SEEDS):
            for how, family in FAMILIES.items():
                model = learner(family, NEURONS, random_state=seed)
                start = time.perf_counter()
                model.fit(X, y)
                seconds = time.perf_counter() - start
                found[how].append((1 - model.score(X_test, y_test), seconds))
                if how == "auto":
                    chosen.append(repr(model.neurons_))
        families = {
            how: {
                "errors": [error for error, _ in values],
                "error": float(np.mean([error for error, _ in values])),
                "seconds": float(np.median([seconds for _, seconds in values])),
            }
            for how, values in found.items()
        }
        runs.append({"data": name, "rows": len(y), "chosen": chosen, "families": families})
        print(json.dumps(runs[-1]), flush=True)
    report = {"circumstances": circumstances(), "neurons": NEURONS, "seeds": SEEDS, "runs": runs}
    path = Path(__file__).parent / "results" / "auto.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
