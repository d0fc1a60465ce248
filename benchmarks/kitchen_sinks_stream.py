"""Ten million rows through the statistics of Kitchen Sinks: memory and rows a second.

Rows come from a generator, 20,000 at a time, so there is never more than one batch of them. Their
targets are a sum of functions of two columns, which stumps can represent, with noise of variance
0.25. Memory is that of the whole process, which does nothing else; seconds are those of learning,
without those of making the rows. The weights are solved for once, in the end, and tested on rows
that were not in the stream.

Run as ``make bench-kitchen-sinks``; writes ``benchmarks/results/kitchen_sinks_stream.json``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from circumstances import circumstances
from measurement import resident_mib
from trickless import KitchenSinksRegressor
from trickless.neurons import Stumps

ROWS, BATCH, COLUMNS, NEURONS = 10_000_000, 20_000, 50, 1000
NOISE = 0.5
REPORTS = 20
RESULTS = Path(__file__).parent / "results"


def batch(rng: np.random.Generator, noise: float = NOISE) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((BATCH, COLUMNS), dtype=np.float32)
    y = np.sin(2 * X[:, 0]) + np.abs(X[:, 1])
    return X, y + noise * rng.standard_normal(BATCH)


def report(**values: float) -> None:
    print(json.dumps(values), flush=True)


def stream(n_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Batches of so many rows; a report every twentieth of them."""
    rng, seconds, n_batches = np.random.default_rng(0), 0.0, n_rows // BATCH
    for b in range(n_batches):
        X, y = batch(rng)
        start = time.perf_counter()
        yield X, y
        seconds += time.perf_counter() - start
        if (b + 1) % max(1, n_batches // REPORTS) == 0:
            report(rows=(b + 1) * BATCH, seconds=seconds, resident_mib=resident_mib())


def run(n_rows: int) -> None:
    """Learn the stream, solve and test, with a report of each."""
    model = KitchenSinksRegressor(Stumps(thresholds="normal"), NEURONS, random_state=0)
    model.fit_stream(stream(n_rows))
    start = time.perf_counter()
    alpha = model.alpha_
    seconds = time.perf_counter() - start
    X, y = batch(np.random.default_rng(1), noise=0.0)
    report(
        solve_seconds=seconds,
        alpha=alpha,
        resident_mib=resident_mib(),
        mean_squared_error=float(np.mean((model.predict(X) - y) ** 2)),
        variance=float(np.var(y)),
    )


def in_a_process_of_its_own(n_rows: int) -> list[dict[str, float]]:
    """The reports of a run that shares its memory with no other."""
    arguments = [sys.executable, __file__, str(n_rows)]
    reports = []
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            reports.append(json.loads(line))
    if process.returncode:
        sys.exit(process.returncode)
    return reports


def main() -> None:
    if len(sys.argv) == 2:
        run(int(sys.argv[1]))
        return
    *reports, solved = in_a_process_of_its_own(ROWS)
    result = {
        "circumstances": circumstances(),
        "columns": COLUMNS,
        "batch": BATCH,
        "neurons": NEURONS,
        "noise_variance": NOISE**2,
        "reports": reports,
        "solved": solved,
    }
    path = RESULTS / "kitchen_sinks_stream.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
