"""The direct and the iterative solver of Kitchen Sinks on MNIST, and what a choice of alpha costs.

Solvers: 60,000 rows, Gaussian neurons, 4,096 and 8,192 of them (two columns each), alpha chosen by
each solver in the time of the fit. Every fit has a process of its own, so memory is that of its
fit, and both solvers of a size come right after one another. The iterative solver may keep its
activations (``working_memory`` has room for them).

Selection: 36,000 rows of MNIST and 4,000 columns, medians of ``REPEATS`` fits made in turn: with
alpha given, with ``alpha="auto"`` and with a search among five length scales; the last two are
ratios to the first.

Run as ``make bench-solvers``; writes ``benchmarks/results/solvers.json`` in about 15 minutes. With
``--solvers`` it leaves what is stored of the selection alone.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import data
from circumstances import circumstances
from measurement import measured
from trickless import KitchenSinksClassifier

PATH = Path(__file__).parent / "results" / "solvers.json"
NEURONS = (4096, 8192)
WORKING_MEMORY = 2**14  # MiB
SELECTION_ROWS, SELECTION_NEURONS, REPEATS = 36_000, 2000, 3
SCALES = {"neurons__length_scale": [5.0, 7.0, 10.0, 14.0, 20.0]}
SELECTIONS: dict[str, dict[str, Any]] = {
    "given": {"alpha": 3e-6},
    "auto": {"alpha": "auto"},
    "search": {"alpha": 3e-6, "search": SCALES},
}


def fit(solver: str, n_neurons: int) -> dict[str, Any]:
    """Fit once, test, and say how it went."""
    X, y, X_test, y_test = data.mnist()
    sklearn.set_config(working_memory=WORKING_MEMORY)
    model = KitchenSinksClassifier(n_neurons=n_neurons, solver=solver, random_state=0)
    with measured() as fitting:
        model.fit(X, y)
    return {
        "solver": solver,
        "columns": 2 * n_neurons,
        "seconds": fitting.seconds,
        "peak_mib": fitting.peak_mib,
        "test_error": 1 - model.score(X_test, y_test),
        "mean_alpha": float(np.mean(model.alpha_)),
        "iterations": model.n_iter_,
    }


def in_a_process_of_its_own(solver: str, n_neurons: int) -> dict[str, Any]:
    arguments = [sys.executable, __file__, solver, str(n_neurons)]
    line = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    print(line, end="", flush=True)
    return json.loads(line)


def selection() -> dict[str, Any]:
    """Median seconds of a fit by each way to choose."""
    X, y, *_ = data.mnist()
    X, y = X[:SELECTION_ROWS], y[:SELECTION_ROWS]
    seconds: dict[str, list[float]] = {name: [] for name in SELECTIONS}
    for _ in range(REPEATS):
        for name, options in SELECTIONS.items():
            model = KitchenSinksClassifier(
                n_neurons=SELECTION_NEURONS, solver="direct", random_state=0, **options
            )
            start = time.perf_counter()
            model.fit(X, y)
            seconds[name].append(time.perf_counter() - start)
            print(name, round(seconds[name][-1], 2), flush=True)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        "rows": SELECTION_ROWS,
        "columns": 2 * SELECTION_NEURONS,
        "candidates": len(SCALES["neurons__length_scale"]),
        "seconds": seconds,
        "ratio": {name: value / medians["given"] for name, value in medians.items()},
    }


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(fit(sys.argv[1], int(sys.argv[2]))))
        return
    result: dict[str, Any] = {"circumstances": circumstances()}
    if sys.argv[1:] == ["--solvers"]:
        result["selection"] = json.loads(PATH.read_text())["selection"]
    else:
        result["selection"] = {"circumstances": circumstances(), **selection()}
    result["solvers"] = []
    for n_neurons in NEURONS:
        for solver in ("iterative", "direct"):
            result["solvers"].append(in_a_process_of_its_own(solver, n_neurons))
            PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
