"""Detection of drift beside River's detectors: false alarms, delays, and time of a row.

On streams without a change, false alarms are counted. On others the distribution changes at a row:
a mean, a variance, the dependence of two columns, or which labels belong to which rows. Each
detector learns from the stream alone. The delay is the number of rows from the change to the first
alarm after it; alarms before the change are not counted there. River's detectors watch one column,
so there is one of them for each column, with a level divided by the number of columns, and the
first alarm counts. KSWIN tests each row; besides its default, it gets the level 1 / ``RUN_LENGTH``.

Run as ``make bench-drift``; writes ``benchmarks/results/drift.json``. With ``--quick`` runs are few
and the file says so.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from river import drift
from sklearn.datasets import make_moons

from circumstances import circumstances
from trickless.inference import DriftDetector

PATH = Path(__file__).parent / "results" / "drift.json"
RUN_LENGTH, TOGETHER = 10_000, 100
#: Rows before and after a change, and of a stream without one. Runs of ours and of the others.
BEFORE, AFTER, WITHOUT, RUNS = 1500, 1000, 10_000, 20
LEVEL_RUNS, KSWIN_LEVEL_RUNS, KSWIN_RUNS = 10, 1, 5
TIMED = 500


def normal(d):
    return lambda n, rng: rng.standard_normal((n, d))


def labelled(swapped):
    """Rows of two classes beside their labels, which may be swapped."""

    def make(n, rng):
        X, y = make_moons(n, noise=0.1, random_state=int(rng.integers(2**31)))
        return np.column_stack([X, y ^ swapped])

    return make


def shifted(d, by):
    return lambda n, rng: rng.standard_normal((n, d)) + by * np.eye(d)[0]


def scaled(d, by):
    return lambda n, rng: by * rng.standard_normal((n, d))


def dependent(d, correlation):
    """Two of the columns are correlated, and the distribution of each column is the same."""

    def make(n, rng):
        X = rng.standard_normal((n, d))
        X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
        return X

    return make


LEVELS = {
    "normal, 1 column": normal(1),
    "Cauchy, 1 column": lambda n, rng: rng.standard_cauchy((n, 1)),
    "0 or 1, 1 column": lambda n, rng: rng.integers(0, 2, (n, 1)).astype(float),
    "normal, 5 columns": normal(5),
    "exponential, 20 columns": lambda n, rng: rng.exponential(size=(n, 20)),
}
CHANGES = {
    "mean + 0.5 sd, 1 column": (normal(1), shifted(1, 0.5)),
    "mean + 1 sd, 1 column": (normal(1), shifted(1, 1)),
    "sd × 1.5, 1 column": (normal(1), scaled(1, 1.5)),
    "mean of 1 of 5 columns + 1 sd": (normal(5), shifted(5, 1)),
    "correlation 0 → 0.8, 2 columns": (normal(2), dependent(2, 0.8)),
    "correlation 0 → 0.8, 2 of 5 columns": (normal(5), dependent(5, 0.8)),
    "labels swapped, 2 columns and a label": (labelled(False), labelled(True)),
}


class Columns:
    """A detector of River for each column."""

    def __init__(self, make, d):
        self.detectors = [make(d) for _ in range(d)]

    def alarms(self, rows):
        found = []
        for i, row in enumerate(rows):
            for detector, value in zip(self.detectors, row.tolist(), strict=True):
                detector.update(value)
            if any(detector.drift_detected for detector in self.detectors):
                found.append(i)
        return found


class Ours:
    """The detector with its defaults. After an alarm it learns a reference, so a batch has one."""

    def __init__(self, d, seed):
        self.detector = DriftDetector(run_length=RUN_LENGTH, random_state=seed)

    def alarms(self, rows):
        found = []
        for start in range(0, len(rows), TOGETHER):
            if self.detector.update(rows[start : start + TOGETHER]).drift_detected:
                found.append(self.detector.drift_.row)
        return found


DETECTORS = {
    "DriftDetector": Ours,
    "ADWIN": lambda d, seed: Columns(lambda d: drift.ADWIN(delta=0.002 / d), d),
    "KSWIN": lambda d, seed: Columns(lambda d: drift.KSWIN(alpha=0.005 / d, seed=seed), d),
    "KSWIN, strict": lambda d, seed: Columns(
        lambda d: drift.KSWIN(alpha=1 / RUN_LENGTH / d, seed=seed), d
    ),
}


def false_alarms(name, make, runs, n_rows):
    counts = []
    for seed in range(runs):
        rows = make(n_rows, np.random.default_rng(seed))
        counts.append(len(DETECTORS[name](rows.shape[1], seed).alarms(rows)))
    per = 10_000 / n_rows
    error = per * float(np.std(counts, ddof=1)) / runs**0.5 if runs > 1 else None
    return {"runs": runs, "rows": n_rows, "alarms": per * float(np.mean(counts)), "error": error}


def delays(name, before, after, runs):
    found = []
    for seed in range(runs):
        rng = np.random.default_rng(1000 + seed)
        rows = np.concatenate([before(BEFORE, rng), after(AFTER, rng)])
        late = [i for i in DETECTORS[name](rows.shape[1], seed).alarms(rows) if i >= BEFORE]
        found.append(late[0] - BEFORE + 1 if late else None)
    known = [delay for delay in found if delay is not None]
    return {"runs": runs, "found": len(known), "delay": float(np.median(known)) if known else None}


def seconds_of_a_row(n_rows):
    """Seconds of a row with five columns, in turn."""
    rows = normal(5)(1500 + n_rows, np.random.default_rng(0))
    detectors = {name: make(5, 0) for name, make in DETECTORS.items() if "strict" not in name}
    ours = detectors.pop("DriftDetector").detector.update(rows[:1500])
    batch = DriftDetector(random_state=0).update(rows[:1500])
    uses = {
        "DriftDetector, row by row": lambda some: [ours.update(row) for row in some],
        "DriftDetector, batches of 100": batch.update,
    }
    for name, detector in detectors.items():
        detector.alarms(rows[1000:1500])
        uses[name] = detector.alarms
    seconds = {name: [] for name in uses}
    for start in range(1500, 1500 + n_rows, 100):
        for name, use in uses.items():
            began = time.perf_counter()
            use(rows[start : start + 100])
            seconds[name].append((time.perf_counter() - began) / 100)
    return {name: float(np.median(each)) for name, each in seconds.items()}


def main():
    quick = "--quick" in sys.argv[1:]
    cells, levels = [], []
    for problem, make in LEVELS.items():
        for name in DETECTORS:
            runs = KSWIN_LEVEL_RUNS if "KSWIN" in name else LEVEL_RUNS
            n_rows = WITHOUT // (1 + 4 * quick) // (1 + 4 * ("20 c" in problem and "KSW" in name))
            cell = false_alarms(name, make, 2 if quick else runs, n_rows)
            levels.append({"problem": problem, "detector": name} | cell)
            print(f"{problem:<38}{name:<15}{cell['alarms']:>8.2f} / 10,000 rows", flush=True)
    for problem, (before, after) in CHANGES.items():
        for name in DETECTORS:
            runs = 2 if quick else KSWIN_RUNS if "KSWIN" in name else RUNS
            cell = delays(name, before, after, runs)
            cells.append({"problem": problem, "detector": name} | cell)
            print(f"{problem:<38}{name:<15}{cell['delay'] or '-':>8} {cell['found']} of {runs}")
    result = {
        "circumstances": circumstances(),
        "quick": quick,
        "busy": "--busy" in sys.argv[1:],
        "run_length": RUN_LENGTH,
        "before": BEFORE,
        "after": AFTER,
        "levels": levels,
        "delays": cells,
        "seconds": seconds_of_a_row(200 if quick else TIMED),
    }
    print(result["seconds"])
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
