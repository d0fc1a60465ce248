"""Time series: Kitchen Sinks on ``Convolutions``, beside MiniRocket, MultiRocket and Hydra.

- ``accuracy``: classes of series that wheels ship (``series_data.py``), with 30 resamples each.
  Nothing is tuned for a set.
- ``numbers``: two sets whose targets are numbers, likewise.
- ``seconds``: the first three resamples of each set again, to be run on a quiet machine.
- ``growth``: synthetic series, of more and more series and times. Each size is measured in a
  process of its own, so that its peak of memory is known. A method stops at the size that takes
  longer than ``--enough`` seconds.

The others are aeon's classifiers and regressors with their defaults. They run with another
interpreter, because aeon needs other versions of numba and scikit-learn: ``--aeon PYTHON`` is one
that has aeon 1.6.0, and torch for Hydra. They do not accept series of unequal length. Theirs are
filled up with the mean of the series. Their probabilities are 0 and 1.

Seconds are those of the processor for fit and predict on one thread, after the compiled loops are
loaded.

Run as ``python benchmarks/series.py --aeon PYTHON``, with ``--parts`` and ``--methods`` to measure
some of it; writes ``benchmarks/results/series.json``, where other parts and methods stay. The parts
``seconds growth`` take about a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parent / "results" / "series.json"
PARTS = "accuracy", "numbers", "seconds", "growth"
#: Methods: ours, with their numbers of neurons of 24 values each. MiniRocket has 9,996 values.
OURS = "Convolutions 340", "Convolutions 170"
AEON = "MiniRocket", "MultiRocket", "Hydra"
#: Resamples of the part ``seconds``.
FEW = 3
#: Numbers of training series, and as many test series, of length 150; and lengths of 200 series.
N_SERIES = 625, 1250, 2500, 5000, 10_000, 20_000
LENGTHS = 150, 375, 750, 1500
OF_LENGTHS = 200


def make_model(method: str, shape: tuple[int, int], numeric: bool) -> Any:
    if method in AEON:
        from aeon.classification import convolution_based as classifiers
        from aeon.regression import convolution_based as regressors

        kind, module = ("Regressor", regressors) if numeric else ("Classifier", classifiers)
        return getattr(module, f"{method}{kind}")(random_state=0, n_jobs=1)
    from trickless import KitchenSinksClassifier, KitchenSinksRegressor
    from trickless.neurons import Convolutions

    learner = KitchenSinksRegressor if numeric else KitchenSinksClassifier
    n_neurons = int(method.rpartition(" ")[2])
    return learner(Convolutions(shape), n_neurons, random_state=0, n_jobs=1)


def run(method: str, X: np.ndarray, y: np.ndarray, train: Any, test: Any) -> dict[str, float]:
    """Fit, predict, and return how good and how fast that was."""
    numeric = y.dtype.kind == "f"
    rows = filled(X) if method in AEON else X.reshape(len(X), -1)
    begin = time.process_time()
    model = make_model(method, X.shape[1:], numeric).fit(rows[train], y[train])
    middle = time.process_time()
    answer = (model.predict if numeric else model.predict_proba)(rows[test])
    end = time.process_time()
    found = {"fit_seconds": middle - begin, "predict_seconds": end - middle, "seconds": end - begin}
    if numeric:
        error = np.mean((answer - y[test]) ** 2)
        return found | {"rmse": float(error**0.5), "r2": float(1 - error / y[test].var())}
    columns = np.searchsorted(model.classes_, y[test])
    of_label = np.maximum(answer[np.arange(len(answer)), columns], np.finfo(float).eps)
    right = np.mean(answer.argmax(axis=1) == columns)
    return found | {"accuracy": float(right), "log_loss": float(-np.log(of_label).mean())}


def filled(X: np.ndarray) -> np.ndarray:
    """Fill up shorter series with the means of their channels."""
    return np.where(np.isnan(X), np.nanmean(X, axis=2, keepdims=True), X)


def synthetic(n: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Make random walks with a wave of one of four frequencies at a random time."""
    rng, y = np.random.default_rng(0), np.arange(2 * n) % 4
    X = np.cumsum(rng.standard_normal((2 * n, length)), axis=1)
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    for row, label in zip(X, y, strict=True):
        start = rng.integers(length - 40)
        row[start : start + 40] += np.sin(np.arange(40) * (1 + 0.3 * label))
    return X[:, None], y


def compiled(method: str, numeric: bool) -> None:
    """Load or compile all loops."""
    X, y = synthetic(100, 500)
    run(method, X, y.astype(float) if numeric else y, np.arange(100), np.arange(100, 200))


def measure_sets(method: str, folder: Path, n_resamples: int) -> dict[str, Any]:
    """Measure a method on the sets that ``write_sets`` wrote."""
    result = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            X, y, train, test = (arrays[name] for name in ("X", "y", "train", "test"))
        compiled(method, y.dtype.kind == "f")
        splits = list(zip(train, test, strict=True))[:n_resamples]
        runs = [run(method, X, y, *split) for split in splits]
        one = {name: float(np.mean([found[name] for found in runs])) for name in runs[0]}
        measure = "accuracy" if "accuracy" in one else "rmse"
        spread = np.std([found[measure] for found in runs], ddof=1)
        result[path.stem] = one | {"standard_error": float(spread / len(runs) ** 0.5)}
        note(f"{method} {path.stem} {measure} {one[measure]:.4f} {one['fit_seconds']:.2f} s")
    return result


def measure_size(method: str, n: int, length: int) -> dict[str, float]:
    """Measure seconds, and the rise of the peak of memory in MiB, for synthetic series."""
    compiled(method, numeric=False)
    X, y = synthetic(n, length)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = run(method, X, y, np.arange(n), np.arange(n, 2 * n))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    note(f"{method} {n} x {length} {found['fit_seconds']:.2f} + {found['predict_seconds']:.2f} s")
    return found | {"series": n, "length": length, "mib": (after - before) / 1024}


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def write_sets(folder: Path, names: list[str], n_resamples: int) -> None:
    from series_data import load

    for name in names:
        series = load(name)
        train, test = map(np.array, zip(*series.resamples(n_resamples), strict=True))
        np.savez(folder / f"{name}.npz", X=series.X, y=series.y, train=train, test=test)


def elsewhere(python: str, *arguments: Any) -> Any:
    """Measure with an interpreter, in a process of its own and on one thread."""
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA", "MKL")}
    command = [python, __file__, "--measure", *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | one_thread, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def grown(python: str, method: str, enough: float) -> dict[str, list[dict[str, float]]]:
    result: dict[str, list[dict[str, float]]] = {"series": [], "length": []}
    lines = {
        "series": [(n, LENGTHS[0]) for n in N_SERIES],
        "length": [(OF_LENGTHS, length) for length in LENGTHS],
    }
    for line, sizes in lines.items():
        for size in sizes:
            found = elsewhere(python, "size", method, *size)
            result[line].append(found)
            if found["seconds"] > enough:
                break
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--aeon", help="a Python interpreter that has aeon 1.6.0 and torch")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--methods", nargs="*", choices=(*OURS, *AEON), default=(*OURS, *AEON))
    parser.add_argument("--sets", nargs="*", help="default: all")
    parser.add_argument("--resamples", type=int, default=30)
    parser.add_argument("--enough", type=float, default=45.0)
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        warnings.simplefilter("ignore")
        what, method, *rest = given.measure
        if what == "size":
            print(json.dumps(measure_size(method, *map(int, rest))))
        else:
            print(json.dumps(measure_sets(method, Path(rest[0]), int(rest[1]))))
        return
    from circumstances import circumstances
    from series_data import NAMES, OF_NUMBERS

    result = json.loads(PATH.read_text()) if PATH.exists() else {}
    for part in given.parts:
        n_resamples = FEW if part == "seconds" else given.resamples
        names = list(OF_NUMBERS if part == "numbers" else given.sets or NAMES)
        with tempfile.TemporaryDirectory() as folder:
            if part != "growth":
                write_sets(Path(folder), names, n_resamples)
            for method in given.methods:
                python = given.aeon if method in AEON else sys.executable
                if python is None:
                    continue
                if part == "growth":
                    found = grown(python, method, given.enough)
                else:
                    found = elsewhere(python, "sets", method, folder, n_resamples)
                    found = result.get(part, {}).get("methods", {}).get(method, {}) | found
                into = result.setdefault(part, {"methods": {}})
                into["methods"][method] = found
                into |= {"resamples": n_resamples, "circumstances": circumstances()}
                PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
