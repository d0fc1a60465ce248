"""What it is worth to know which features matter, where some do more than others.

Kitchen Sinks with ``NEURONS`` neurons of three families, as they are by default, with the best
length scale of all features, and by relevance. Inputs are standardised. Means over ``SEEDS`` seeds;
seconds are those of the fit with the choice, medians, and families take turns.

Run as ``make bench-relevance``; writes ``benchmarks/results/relevance.json``.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from circumstances import circumstances
from peers.tasks import prepare
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Ferns, Gaussian, Laplace1

NEURONS, SEEDS = 1000, 5
FAMILIES = {
    ("Gaussian", "median"): Gaussian("median"),
    ("Gaussian", "auto"): Gaussian("auto"),
    ("Gaussian", "relevance"): Gaussian("relevance"),
    ("Laplace1", "auto"): Laplace1("auto"),
    ("Laplace1", "relevance"): Laplace1("relevance"),
    ("Ferns", "None"): Ferns(),
    ("Ferns", "relevance"): Ferns(feature_weights="relevance"),
}
SETS = "puma32h", "adult", "flights", "covertype"


def main():
    runs = []
    for name in SETS:
        task = prepare(name, quick=False, full=False)
        learner = KitchenSinksClassifier if task.n_classes else KitchenSinksRegressor
        found = {how: [] for how in FAMILIES}
        for seed in range(SEEDS):
            for how, family in FAMILIES.items():
                model = learner(family, NEURONS, random_state=seed)
                start = time.perf_counter()
                model.fit(task.X, task.y)
                seconds = time.perf_counter() - start
                found[how].append((task.error(model.predict(task.X_test)), seconds))
        for (family, how), values in found.items():
            errors, seconds = np.transpose(values)
            runs.append(
                {
                    "data": name,
                    "family": family,
                    "by": how,
                    "error": float(errors.mean()),
                    "deviation": float(errors.std(ddof=1)),
                    "errors": errors.tolist(),
                    "seconds": float(np.median(seconds)),
                }
            )
            print(json.dumps(runs[-1]), flush=True)
    report = {"circumstances": circumstances(), "neurons": NEURONS, "seeds": SEEDS, "runs": runs}
    path = Path(__file__).parent / "results" / "relevance.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
