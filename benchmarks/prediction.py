"""Activations that predictions take, against the paper's Algorithm 2 at the same standard error.

A model of 10,000 support points predicts 10,000 rows. Algorithm 2 draws index and neuron afresh for
every row. The frozen expansion evaluates the support once, and its neurons serve all rows. It is
given the neurons for a root mean square standard error of 0.01, and activations are counted as they
happen. Algorithm 2 runs on 20 of the rows with 50,000 draws each, hours short of that error; its
count is scaled to all rows, and to the draws for an error of 0.01 by the law 1/√draws. Predictions
that are certified to be within 0.05 with a confidence of 0.95 each are counted as well.

Run as ``make bench-prediction``; writes ``benchmarks/results/prediction.json``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from circumstances import circumstances
from trickless import ShrinkingGradientRegressor
from trickless._cli.demo.comparison import load
from trickless.neurons import Gaussian, Stumps

SUPPORT, ROWS, SOME = 10_000, 10_000, 20
DRAWS = 50_000
ERROR = 0.01
TOLERANCE, CONFIDENCE = 0.05, 0.95


class Counted:
    """Counts neurons times rows."""

    activations = 0

    def activate(self, X, weights):
        Counted.activations += X.shape[0] * len(weights[0])
        return super().activate(X, weights)

    def activate_pairs(self, X, weights):
        Counted.activations += X.shape[0]
        return super().activate_pairs(X, weights)


class CountedGaussian(Counted, Gaussian):
    """Gaussian neurons, counted."""


class CountedStumps(Counted, Stumps):
    """Stumps, counted."""


def counted(action):
    """Result and activations of an action."""
    Counted.activations = 0
    result = action()
    return result, Counted.activations


def algorithm_2(f, X, n, seed):
    """Fresh draws for each row: values, standard errors."""
    rng = np.random.default_rng(seed)
    pairs = [f.estimate(X[i : i + 1], n, "index", rng) for i in range(len(X))]
    return [np.concatenate(part)[:, 0] for part in zip(*pairs, strict=True)]


def neurons_for(pilot, n):
    """Neurons for the wanted error, from the standard errors that n of them have."""
    return int(np.ceil(n * (np.sqrt((pilot**2).mean()) / ERROR) ** 2))


def measure(neurons, data):
    """Counts for one family."""
    X, y = data.X[:SUPPORT], np.where(data.y[:SUPPORT], 1.0, -1.0)
    rows = np.resize(data.X_test, (ROWS, X.shape[1])).astype("float32")
    model = ShrinkingGradientRegressor(neurons, y_range=(-1, 1), random_state=0).fit(X, y)
    f = model.expansion_
    _, pilot = f.estimate(rows[:200], 500, "full", 1)
    n_full = neurons_for(pilot, 500)
    (value, error), full = counted(lambda: f.freeze(n_full, random_state=2).estimate(rows))
    (paper, paper_error), some = counted(lambda: algorithm_2(f, rows[:SOME], DRAWS, 3))
    n_index = neurons_for(paper_error, DRAWS)
    index = int(some * (ROWS / SOME) * (n_index / DRAWS))
    certified, within = counted(lambda: f.certify(rows, TOLERANCE, CONFIDENCE, 5))
    exact = model._kernel(rows[:SOME], f.support) @ f.dual_coef
    result = {
        "family": type(neurons).__name__.removeprefix("Counted"),
        "norm_1": float(np.abs(f.dual_coef).sum()),
        "full": {
            "neurons": n_full,
            "activations": full,
            "standard_error": float(np.sqrt((error**2).mean())),
            "rms_error": float(np.sqrt(((value[:SOME] - exact) ** 2).mean())),
        },
        "algorithm_2": {
            "draws": n_index,
            "activations": index,
            "counted": {
                "rows": SOME,
                "draws": DRAWS,
                "activations": some,
                "standard_error": float(np.sqrt((paper_error**2).mean())),
                "rms_error": float(np.sqrt(((paper - exact[:, 0]) ** 2).mean())),
            },
        },
        "certified": {
            "activations": within,
            "largest_error": float(np.abs(certified[0][:SOME] - exact).max()),
        },
        "ratio": index / full,
    }
    print(json.dumps(result, indent=1), flush=True)
    return result


def main():
    data = load()
    runs = [measure(neurons, data) for neurons in (CountedGaussian(), CountedStumps())]
    result = {
        "circumstances": circumstances(),
        "data": data.name,
        "support": SUPPORT,
        "rows": ROWS,
        "wanted_error": ERROR,
        "tolerance": TOLERANCE,
        "confidence": CONFIDENCE,
        "runs": runs,
    }
    path = Path(__file__).parent / "results" / "prediction.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
