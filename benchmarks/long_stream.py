"""A million rounds of a stream with a bounded support: memory and rows a second.

Rows come from a generator, 1,000 at a time, each with a label that is a noisy function of it. The
same stream is learned with ``max_support=5_000``, and, up to 100,000 rows, with every row kept,
both with ``norm_bound=1``.

Run as ``make bench-stream``; writes ``benchmarks/results/long_stream.json``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from circumstances import circumstances
from measurement import resident_mib
from trickless import ShrinkingGradientClassifier

ROWS, BATCH, COLUMNS = 1_000_000, 1_000, 20
MAX_SUPPORT, KEPT_ROWS = 5_000, 100_000
REPORTS = 20
RESULTS = Path(__file__).parent / "results"


def batch(rng):
    """A thousand rows: labels by a smooth function of three columns, one in twenty turned."""
    X = rng.standard_normal((BATCH, COLUMNS))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    return X, y ^ (rng.random(BATCH) < 0.05)


def run(max_support, rows):
    """Learn the stream; a report every twentieth of it."""
    rng = np.random.default_rng(0)
    test = [batch(rng) for _ in range(10)]
    X_test, y_test = (np.concatenate(parts) for parts in zip(*test, strict=True))
    model = ShrinkingGradientClassifier(norm_bound=1.0, max_support=max_support, random_state=0)
    reports, seconds = [], 0.0
    for b in range(rows // BATCH):
        X, y = batch(rng)
        start = time.perf_counter()
        model.partial_fit(X, y, classes=[False, True])
        seconds += time.perf_counter() - start
        if (b + 1) % (rows // BATCH // REPORTS) == 0:
            report = {
                "rows": (b + 1) * BATCH,
                "seconds": seconds,
                "resident_mib": resident_mib(),
                "support": model.expansion_.support.shape[0],
                "error": float((model.predict(X_test) != y_test).mean()),
                "error_of_the_last": float(
                    (model.set_params(average=False).predict(X_test) != y_test).mean()
                ),
            }
            model.set_params(average=True)
            reports.append(report)
            print(json.dumps(report), flush=True)
    return reports


def in_a_process_of_its_own(max_support, rows):
    """The reports of a run that shares its memory with no other."""
    arguments = [sys.executable, __file__, str(max_support or 0), str(rows)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        reports = []
        for line in process.stdout:
            print(max_support, line, end="", flush=True)
            reports.append(json.loads(line))
    return reports


def main():
    if len(sys.argv) == 3:
        run(int(sys.argv[1]) or None, int(sys.argv[2]))
        return
    result = {
        "circumstances": circumstances(),
        "max_support": MAX_SUPPORT,
        "projection": in_a_process_of_its_own(MAX_SUPPORT, ROWS),
        "all_rows": in_a_process_of_its_own(None, KEPT_ROWS),
    }
    path = RESULTS / "long_stream.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
