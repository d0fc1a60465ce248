"""Twenty million rows of a file through ``trickless fit``, ``evaluate`` and ``predict``.

Ten columns, two of them categories and one with missing values, and a label that depends on four of
them; a tenth of the labels are coins. The same rows are written as Parquet and as CSV. Each command
is a process of its own; its peak memory is what the system says (VmHWM), and its seconds are those
from start to end, with the import of the package. The test file has other rows.

Run as ``make bench-command-line``, or ``python benchmarks/command_line.py 2000000 /tmp`` for fewer
rows and a folder for them (20 million need 2 GB); with all rows it writes
``benchmarks/results/command_line.json``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from circumstances import circumstances

ROWS, TEST_ROWS, CHUNK, NEURONS = 20_000_000, 1_000_000, 500_000, 256
COINS = 0.1
TOWNS = np.array([f"town {i}" for i in range(50)])
KINDS = np.array(["car", "house", "boat", "bike"])
RESULTS = Path(__file__).parent / "results"


def chunk(rng: np.random.Generator, n: int) -> pa.Table:
    numbers = rng.standard_normal((n, 7))
    age, town, kind = rng.integers(18, 90, n), rng.integers(50, size=n), rng.integers(4, size=n)
    risk = numbers[:, 0] * (kind < 2) + np.abs(numbers[:, 1]) + (town < 25) - age / 40
    label = np.where(rng.random(n) < COINS, rng.random(n) < 0.5, risk > 0)
    columns = {f"x{j}": column for j, column in enumerate(numbers.round(6).T)}
    columns["x6"] = pa.array(numbers[:, 6].round(6), mask=rng.random(n) < 0.1)
    return pa.table(columns | {"age": age, "town": TOWNS[town], "kind": KINDS[kind]}).append_column(
        "label", pa.array(np.where(label, "yes", "no"))
    )


def write(path: Path, seed: int, n_rows: int) -> None:
    """The rows of a seed, in the format that the ending says."""
    rng = np.random.default_rng(seed)
    writer = pa.csv.CSVWriter if path.suffix == ".csv" else pa.parquet.ParquetWriter
    with writer(path, chunk(rng, 1).schema) as file:
        for start in range(0, n_rows, CHUNK):
            file.write_table(chunk(rng, min(CHUNK, n_rows - start)))


def run(*arguments: str | Path) -> dict[str, Any]:
    """A command: seconds, peak memory, and what it printed."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "trickless", *map(str, arguments), "--json"]
    peak = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            lines = status.read_text().splitlines() if status.exists() else []
            peak = max([peak, *(int(line.split()[1]) for line in lines if "VmHWM" in line)])
            time.sleep(0.02)
        printed = process.stdout.read()
    if process.returncode:
        sys.exit(process.returncode)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_mib": peak / 2**10, "printed": json.loads(printed)}


def measure(folder: Path, ending: str, n_rows: int) -> dict[str, Any]:
    """All commands on files of one format."""
    train, test, model = folder / f"train{ending}", folder / f"test{ending}", folder / "model"
    write(train, 0, n_rows)
    write(test, 1, TEST_ROWS)
    fit = run(
        "fit",
        train,
        "--target",
        "label",
        "--neurons",
        "tabular",
        "--n-neurons",
        str(NEURONS),
        "--out",
        model,
    )
    evaluated = run("evaluate", model, test, "--target", "label")
    predicted = run("predict", model, test, "--out", folder / f"predictions{ending}")
    assert fit["printed"]["rows"] == n_rows
    assert predicted["printed"]["rows"] == TEST_ROWS
    row = {
        "format": ending[1:],
        "bytes": train.stat().st_size,
        "rows": n_rows,
        "test_rows": TEST_ROWS,
        "error": evaluated["printed"]["error"],
    }
    for name, done, rows in (
        ("fit", fit, n_rows),
        ("evaluate", evaluated, TEST_ROWS),
        ("predict", predicted, TEST_ROWS),
    ):
        row[name] = {
            "seconds": done["seconds"],
            "rows_per_second": rows / done["seconds"],
            "peak_mib": done["peak_mib"],
        }
    print(json.dumps(row), flush=True)
    train.unlink()
    return row


def main() -> None:
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        rows = [measure(Path(folder), ending, n_rows) for ending in (".parquet", ".csv")]
    result = {
        "circumstances": circumstances(),
        "pyarrow": version("pyarrow"),
        "threads": {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS",)},
        "neurons": NEURONS,
        "columns": 10,
        "noise_error": COINS / 2,
        "measured": rows,
    }
    if n_rows == ROWS:
        path = RESULTS / "command_line.json"
        path.write_text(json.dumps(result, indent=1) + "\n")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
