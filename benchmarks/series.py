"""Time series: Kitchen Sinks on ``Convolutions``, beside MiniRocket.

- Series that wheels ship, with 30 resamples each (``series_data.py``). Nothing is tuned for a set.
- Time is that of the processor for fit and predict on one thread, after the compiled loops are
  loaded. It is also taken for synthetic series of several numbers and lengths.
- MiniRocket is aeon's classifier with its defaults. It runs with another interpreter, because aeon
  needs other versions of numba and scikit-learn: ``--aeon PYTHON`` is one that has aeon 1.6.0. It
  does not accept series of unequal length. Its probabilities are 0 and 1.

Run as ``python benchmarks/series.py --aeon PYTHON``; writes ``benchmarks/results/series.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parent / "results" / "series.json"
#: Numbers of neurons, of 24 values each. MiniRocket has 9,996 values.
NEURONS = 340, 170
#: Numbers of training and of test series, and their length.
SIZES = (100, 150), (100, 500), (100, 1500), (500, 150), (2000, 150)


def make_model(method: str, shape: tuple[int, int]) -> Any:
    if method == "MiniRocket":
        from aeon.classification.convolution_based import MiniRocketClassifier

        return MiniRocketClassifier(random_state=0, n_jobs=1)
    from trickless import KitchenSinksClassifier
    from trickless.neurons import Convolutions

    n_neurons = int(method.rpartition(" ")[2])
    return KitchenSinksClassifier(Convolutions(shape), n_neurons, random_state=0, n_jobs=1)


def run(method: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Any:
    """Return accuracy, log loss and seconds of one fit."""
    rows = X if method == "MiniRocket" else X.reshape(len(X), -1)
    begin = time.process_time()
    model = make_model(method, X.shape[1:]).fit(rows[train], y[train])
    p = model.predict_proba(rows[test])
    seconds = time.process_time() - begin
    columns = np.searchsorted(model.classes_, y[test])
    of_label = np.maximum(p[np.arange(len(test)), columns], 1e-15)
    return float(np.mean(p.argmax(axis=1) == columns)), float(-np.log(of_label).mean()), seconds


def synthetic(n: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Random walks with a wave of one of four frequencies at a random time."""
    rng, y = np.random.default_rng(0), np.arange(2 * n) % 4
    X = np.cumsum(rng.standard_normal((2 * n, length)), axis=1)
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    for row, label in zip(X, y, strict=True):
        start = rng.integers(length - 40)
        row[start : start + 40] += np.sin(np.arange(40) * (1 + 0.3 * label))
    return X[:, None], y


def measure(method: str, folder: Path) -> dict[str, Any]:
    """Measure a method on the sets that ``write_sets`` wrote."""
    warnings.simplefilter("ignore")
    X, y = synthetic(50, 150)
    run(method, X, y, np.arange(50), np.arange(50, 100))  # compile
    result: dict[str, Any] = {"sets": {}, "sizes": []}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            X, y, train, test = (arrays[name] for name in ("X", "y", "train", "test"))
        if method == "MiniRocket" and np.isnan(X).any():
            continue
        runs = np.array([run(method, X, y, *split) for split in zip(train, test, strict=True)])
        accuracy, log_loss, seconds = runs.mean(axis=0)
        error = runs[:, 0].std() / len(runs) ** 0.5
        result["sets"][path.stem] = {
            "accuracy": accuracy,
            "standard_error": error,
            "log_loss": log_loss,
            "seconds": seconds,
        }
        print(f"{method} {path.stem} {accuracy:.4f} ± {error:.4f} {seconds:.2f} s", file=sys.stderr)
    for n, length in SIZES:
        X, y = synthetic(n, length)
        runs = [run(method, X, y, np.arange(n), np.arange(n, 2 * n)) for _ in range(2)]
        seconds = min(one[2] for one in runs)
        result["sizes"].append({"series": n, "length": length, "seconds": seconds})
        print(f"{method} {n} x {length} {seconds:.2f} s", file=sys.stderr)
    return result


def write_sets(folder: Path, n_resamples: int) -> None:
    from series_data import NAMES, load

    for name in NAMES:
        series = load(name)
        train, test = map(np.array, zip(*series.resamples(n_resamples), strict=True))
        np.savez(folder / f"{name}.npz", X=series.X, y=series.y, train=train, test=test)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--aeon", help="a Python interpreter that has aeon 1.6.0")
    parser.add_argument("--resamples", type=int, default=30)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure[0], Path(given.measure[1]))))
        return
    from circumstances import circumstances

    methods = {f"Convolutions {n}": sys.executable for n in NEURONS}
    if given.aeon:
        methods["MiniRocket"] = given.aeon
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}
    result: dict[str, Any] = {"resamples": given.resamples, "circumstances": circumstances()}
    with tempfile.TemporaryDirectory() as folder:
        write_sets(Path(folder), given.resamples)
        for method, python in methods.items():
            command = [python, __file__, "--measure", method, folder]
            done = subprocess.run(
                command, env=os.environ | one_thread, check=True, stdout=subprocess.PIPE
            )
            result[method] = json.loads(done.stdout)
            PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
