"""What length scales of single features are worth, where some matter more than others.

Kitchen Sinks with ``NEURONS`` Gaussian neurons, whose length scale is the median distance, the best
multiple of it, or found by relevance. Inputs are standardised. Means over ``SEEDS`` seeds; seconds
are those of the fit with the choice, medians, and length scales take turns.

Run as ``make bench-relevance``; writes ``benchmarks/results/relevance.json``.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

import data
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._report import circumstances
from trickless.neurons import Gaussian

NEURONS, SEEDS = 1000, 10
LENGTH_SCALES = "median", "auto", "relevance"
SETS = {
    "puma32h": (data.puma32h, KitchenSinksRegressor),
    "adult": (data.adult, KitchenSinksClassifier),
}


def main():
    runs = []
    for name, (load, learner) in SETS.items():
        split = data.standardised(load())
        found = {how: [] for how in LENGTH_SCALES}
        for seed in range(SEEDS):
            for how in LENGTH_SCALES:
                model = learner(Gaussian(how), NEURONS, random_state=seed)
                start = time.perf_counter()
                model.fit(split.X_train, split.y_train)
                seconds = time.perf_counter() - start
                found[how].append((1 - model.score(split.X_test, split.y_test), seconds))
        for how, values in found.items():
            errors, seconds = np.transpose(values)
            runs.append(
                {
                    "data": name,
                    "length_scale": how,
                    "error": float(errors.mean()),
                    "deviation": float(errors.std(ddof=1)),
                    "errors": errors.tolist(),
                    "seconds": float(np.median(seconds)),
                }
            )
            print(json.dumps(runs[-1]), flush=True)
    report = {"circumstances": circumstances(), "neurons": NEURONS, "seeds": SEEDS}
    path = Path(__file__).parent / "results" / "relevance.json"
    report |= {"length_scales": LENGTH_SCALES, "runs": runs}
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
