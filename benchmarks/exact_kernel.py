"""Shrinking Gradient against online gradient descent with the exact kernel, on Adult.

Both see the same rows in the same order with the same schedule of steps; Shrinking Gradient holds
the step over a mini-batch. The reference knows the kernel in
closed form and evaluates it at every pair of rows; Shrinking Gradient has samples of neurons alone.

Run as ``make bench-exact``; writes ``benchmarks/results/exact_kernel.json``.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from circumstances import circumstances
from trickless import ShrinkingGradientClassifier
from trickless._cli.demo.comparison import load
from trickless._solvers.rounds.schedules import LARGEST_STEP

SEEDS = (0, 1, 2)
FAMILIES = ("gaussian", "stumps")
ROWS = 512


def steps(n, norm_bound):
    """The steps of the default schedule."""
    return np.minimum(norm_bound / 2 / np.sqrt(np.arange(1, n + 1)), LARGEST_STEP)


def exact_descent(kernel, X, y, eta):
    """Row by row: α_t = η_t (y_t − Σ_i α_i k(x_i, x_t)); the last and the average coefficients."""
    n = len(y)
    alpha, predictions = np.zeros(n), np.zeros(n)
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        K = kernel(X[start:stop], X[:stop])
        before = K[:, :start] @ alpha[:start]
        for t in range(start, stop):
            predictions[t] = before[t - start] + K[t - start, start:t] @ alpha[start:t]
            alpha[t] = eta[t] * (y[t] - predictions[t])
    return alpha, alpha * (n - 1 - np.arange(n)) / n, predictions


def decide(kernel, X, support, alpha):
    """Σ_i α_i k(x_i, x) for each row."""
    return np.concatenate(
        [kernel(X[i : i + ROWS], support) @ alpha for i in range(0, len(X), ROWS)]
    )


def compare(family, seed, data):
    """Errors of both on one order of the rows."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    X, y = data.X[order], data.y[order]
    start = time.perf_counter()
    model = ShrinkingGradientClassifier(family, random_state=seed).partial_fit(X, y)
    error = float((model.predict(data.X_test) != data.y_test).mean())
    seconds = time.perf_counter() - start
    rows, online = model.online_error_.T
    kernel = model.neurons_.kernel
    start = time.perf_counter()
    _, average, predictions = exact_descent(
        kernel, X, np.where(y, 1.0, -1.0), steps(len(y), model.norm_bound)
    )
    exact_error = float(((decide(kernel, data.X_test, X, average) > 0) != data.y_test).mean())
    return {
        "family": family,
        "seed": seed,
        "error": error,
        "exact_error": exact_error,
        "online_error": float(rows @ online / rows.sum()),
        "exact_online_error": float(((predictions > 0) != y).mean()),
        "seconds": seconds,
        "exact_seconds": time.perf_counter() - start,
    }


def main():
    data = load()
    runs = []
    print(
        f"{'family':<10}{'seed':>5}{'error':>9}{'exact':>9}{'online':>9}{'exact':>9}{'seconds':>9}"
    )
    for family in FAMILIES:
        for seed in SEEDS:
            run = compare(family, seed, data)
            runs.append(run)
            print(
                f"{family:<10}{seed:>5}{run['error']:>9.2%}{run['exact_error']:>9.2%}"
                f"{run['online_error']:>9.2%}{run['exact_online_error']:>9.2%}{run['seconds']:>9.1f}",
                flush=True,
            )
    result = {"data": data.name, "circumstances": circumstances(), "runs": runs}
    path = Path(__file__).parent / "results" / "exact_kernel.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
