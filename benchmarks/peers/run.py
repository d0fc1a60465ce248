"""Trickless and its peers: test error against seconds and memory, each along a size of its own.

All methods get the same rows, the same split, the same standardised columns (``tasks.py``), and, if
they know threads, all cores; ``threads`` in the result says which know but one. Peers are set as
their documentation recommends (``methods.py``, ``adapters.py``):

- scikit-learn: ``RBFSampler`` and ``Nystroem`` before ``Ridge``, ``LogisticRegression`` and
  ``SGDClassifier`` (or ``SGDRegressor``), as its user guide combines them; ``RidgeCV`` chooses
  alpha in its seconds, as Kitchen Sinks do, while ``Ridge`` is given it for nothing. ``SVC`` or
  ``KernelRidge`` on subsets of the rows, as they take time that grows with their square or cube.
  Ridge works in single precision, like its features, since that is faster.
- rfflearn: its Gaussian process, the most accurate of its README. xRFM: the settings of its README,
  a fifth of the rows to validate on. torchkm: ``TorchKMSVC``, the estimator of its README, which
  chooses C among 50 in its seconds; exact on subsets, and by its Nyström mode, which is for large
  data, on all rows. It has no least squares, so it is left out where targets are numbers. River:
  ``RBFSampler`` before a linear model, one pass, on parts of the rows as on a stream; tested on
  the first 1,000 rows, which it takes one by one. All of them run on processors.
- AdaBoost and HistGradientBoosting: trees. They learn something else, and are here since they are
  what one would take otherwise; where they win, the table says so.
- Ours: Kitchen Sinks with the families of ``tasks.FAMILIES``, which choose alpha in their seconds,
  and Doubly Stochastic with ``preconditioner="block"`` where there are many rows or classes.

Length scales, alpha and the like are chosen for each method by itself, outside its seconds and by
the same rule for all: a grid of 2 to 6 values a parameter (``methods.py``), one parameter after the
other, on 5,000 training rows, by the error on 5,000 other training rows, at a middling size. Test
rows are not looked at. All methods with a Gaussian kernel have the same grid of length scales. Fits
of the grid that take more than ``TUNING_SECONDS`` lose; where the first of them does, it is taken
as it is, and ``failed_in_tuning`` says so.

Each fit has a process of its own. Seconds and peak memory above the start are those of ``fit``; the
peak is the system's own count. Data are in memory and packages imported before. Where the first
fit and prediction take less than ``REPEATED`` seconds, seconds are medians of three, in turn with
those of the other methods. A size is left out, and said so, where it should take more than
``--limit`` seconds by the time of the one before; a fit is ended at twice the limit.

Run as ``make bench-peers`` or ``python benchmarks/peers/run.py``; writes
``benchmarks/results/peers.json`` after each data set, and ``peers.png``. ``--data adult`` does only
Adult and leaves the others in the file as they are; ``--full`` does only Covertype with all its
rows, beside the one with 100,000; ``--quick`` is a trial on few rows and sizes, whose figures mean
nothing. Packages that are not installed are reported as such.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from figure import draw
from isolated import isolated, measured
from methods import Method, methods
from summary import summarise
from tasks import ERRORS, Task, prepare
from trickless._report import circumstances

PATH = Path(__file__).parents[1] / "results" / "peers.json"
LIMIT, TUNING_SECONDS, REPEATED, REPEATS = 30.0, 15.0, 3.0, 3
ALL_ROWS = ", all rows"
QUICK_LIMIT, QUICK_SIZES, QUICK_VALUES = 10.0, 2, 2
PACKAGES = ("rfflearn", "xrfm", "torch", "torchkm", "river")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def fitted(task: Task, method: Method, size: int, parameters: dict[str, Any]) -> dict[str, Any]:
    """Seconds and peak memory of learning and predicting, and the test error."""
    if method.unit == "rows":
        task = task._replace(X=task.X[:size], y=task.y[:size])
    model = method.make(task, size, **parameters)
    with measured() as fit:
        model.fit(task.X, task.y)
    with measured() as prediction:
        predicted = model.predict(task.X_test[: method.test_rows])
    error = task.error(predicted)
    if not np.isfinite(error):
        raise ValueError("predictions are not finite")
    return {
        "seconds": fit.seconds,
        "predict_seconds": prediction.seconds,
        "peak_mib": fit.peak_mib,
        "predict_peak_mib": prediction.peak_mib,
        "error": error,
        "test_rows": len(predicted),
    }


def tuned(task: Task, method: Method) -> tuple[dict[str, Any], list[str]]:
    """The best parameters, one after the other, and why fits of the grid failed."""
    task, failures = task.tuning(), []
    best = {name: values[0] for name, values in method.grid.items()}
    size = min(method.pilot, len(task.X)) if method.unit == "rows" else method.pilot
    errors: dict[Any, float] = {}
    for name, values in method.grid.items():
        for value in values:
            trial = best | {name: value}
            if tuple(trial.values()) in errors:
                continue
            result, why = isolated(fitted, task, method, size, trial, limit=TUNING_SECONDS)
            errors[tuple(trial.values())] = result["error"] if result else np.inf
            if why:
                failures.append(f"{trial}: {why}")
            if why and len(errors) == 1:
                return best, failures  # the others would take as long
        best[name] = min(values, key=lambda v: errors[tuple((best | {name: v}).values())])
    return best, failures


def sizes(task: Task, method: Method) -> list[int]:
    if method.unit == "rows":
        some = [size for size in method.sizes if size < len(task.X)]
        return [*some, len(task.X)] if len(some) < len(method.sizes) else some
    most = len(task.X) if method.unit == "landmarks" else np.inf
    return [size for size in method.sizes if size <= most]


def compare(name: str, quick: bool, full: bool, limit: float) -> dict[str, Any]:
    """All methods on a data set."""
    start = time.perf_counter()
    task, why = isolated(prepare, name, quick, full, limit=900)
    if why:
        sys.exit(f"{name} could not be read: {why}")
    rows = {"rows": len(task.X), "test_rows": len(task.X_test), "columns": task.X.shape[1]}
    print(f"\n{name}: {rows}, median distance {task.median:.3g}", flush=True)
    all_ = methods(task)
    entries = {key: describe(key, method, task, quick) for key, method in all_.items()}
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for repeat in range(1 if quick else REPEATS):
        for key, method in all_.items():
            if entries[key]["missing"]:
                continue
            if repeat:
                again(task, method, entries[key], runs)
            else:
                some = sizes(task, method)[: QUICK_SIZES if quick else None]
                along(task, method, entries[key], runs, some, limit)
    for (key, size), done in runs.items():
        medians = {
            k: float(np.median([r[k] for r in done])) for k in ("seconds", "predict_seconds")
        }
        point = {"size": size, "repeats": len(done), **done[0], **medians}
        entries[key]["points"].append(point)
    result = {
        "name": name + (ALL_ROWS if full else ""),
        "limit": limit,
        **rows,
        "classes": task.n_classes,
        "median_distance": task.median,
        "circumstances": conditions(),
        "methods": list(entries.values()),
    }
    result["summary"] = summarise(result, ERRORS[name])
    result["minutes"] = (time.perf_counter() - start) / 60
    return result


def describe(name: str, method: Method, task: Task, quick: bool) -> dict[str, Any]:
    """What a method is, with parameters chosen, or why it is not there."""
    entry: dict[str, Any] = {"name": name, "kind": method.kind, "unit": method.unit}
    entry |= {"threads": method.threads, "missing": None, "points": [], "left_out": []}
    if method.package and find_spec(method.package) is None:
        entry["missing"] = f"{method.package} is not installed"
        print(f"{name:<34}{entry['missing']}", flush=True)
        return entry
    if quick:
        grid = {key: values[:QUICK_VALUES] for key, values in method.grid.items()}
        method = method._replace(grid=grid, pilot=min(method.pilot, method.sizes[1]))
    entry["parameters"], entry["failed_in_tuning"] = tuned(task, method)
    print(f"{name:<34}{entry['parameters']}", flush=True)
    return entry


def along(
    task: Task,
    method: Method,
    entry: dict[str, Any],
    runs: dict[tuple[str, int], list[dict[str, Any]]],
    some: list[int],
    limit: float,
) -> None:
    """First fits of a method, from small to large, as long as they take less than the limit."""
    name, expected, before = entry["name"], 0.0, some[0]
    for size in some:
        expected *= (size / before) ** method.growth
        if expected > limit:
            why = f"should take {expected:.0f} s"
        else:
            result, why = isolated(fitted, task, method, size, entry["parameters"], limit=2 * limit)
        if why:
            entry["left_out"].append({"size": size, "why": why})
            print(f"{name:<34}{size:>7,}  left out: {why}", flush=True)
            if why.startswith(("more", "should", "the process")):
                expected = np.inf
            continue
        runs[name, size] = [result]
        expected, before = result["seconds"] + result["predict_seconds"], size
        show(name, size, result)


def again(
    task: Task,
    method: Method,
    entry: dict[str, Any],
    runs: dict[tuple[str, int], list[dict[str, Any]]],
) -> None:
    """One more of each fit that is short."""
    for (name, size), done in runs.items():
        if name == entry["name"] and done[0]["seconds"] + done[0]["predict_seconds"] < REPEATED:
            result, why = isolated(
                fitted, task, method, size, entry["parameters"], limit=10 * REPEATED
            )
            if not why:
                done.append(result)


def show(name: str, size: int, result: dict[str, Any]) -> None:
    print(
        f"{name:<34}{size:>7,}{result['seconds']:>9.2f} s{result['predict_seconds']:>8.2f} s"
        f"{result['peak_mib']:>9.0f} MiB{result['error']:>9.4f}",
        flush=True,
    )


def conditions() -> dict[str, Any]:
    """Versions, of the peers as well, machine, date, commit, and limits set on threads."""
    result = circumstances()
    for package in PACKAGES:
        try:
            result["packages"][package] = version(package)
        except PackageNotFoundError:
            result["packages"][package] = "not installed"
    result["threads"] = {v: os.environ[v] for v in THREAD_VARIABLES if v in os.environ}
    return result


def report(one: dict[str, Any]) -> None:
    """The summary of a data set in a few lines."""
    summary = one["summary"]
    print(f"\n{one['name']}: {one['minutes']:.1f} minutes; seconds to error, and by what")
    for row in summary["winners"]:
        cells = []
        for kind in ("ours", "kernel", "trees"):
            p = row[kind]
            cells.append(f"{kind} {p['seconds']:.2f} ({p['method']})" if p else f"{kind} never")
        print(f"  {row['error']:<6g} {'; '.join(cells)}")
    for rival, rows in summary["ratios"].items():
        for key in ("time", "memory"):
            found = [f"{row[key]:.2g}" if row[key] else "not reached" for row in rows]
            print(f"  {rival}, {key} over ours: {', '.join(found)}")
    beaten = [point for point in summary["dominated"] if point["by"]]
    print(f"  {len(beaten)} of {len(summary['dominated'])} points of ours are beaten by a peer")


def labels() -> list[str]:
    """Names of data sets in the order of the result."""
    return [label for name in ERRORS for label in (name, name + ALL_ROWS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--data", choices=ERRORS, action="append", help="only this; may be repeated"
    )
    parser.add_argument("--full", action="store_true", help="only Covertype, with all rows")
    parser.add_argument("--quick", action="store_true", help="a trial on few rows and sizes")
    parser.add_argument("--limit", type=float, help=f"seconds of a fit; default: {LIMIT:g}")
    parser.add_argument("--out", type=Path, help="the JSON file to write, with a picture beside it")
    args = parser.parse_args()
    limit = args.limit or (QUICK_LIMIT if args.quick else LIMIT)
    trial = Path(tempfile.gettempdir()) / "trickless-peers-quick.json"
    path = args.out or (trial if args.quick else PATH)
    start = time.perf_counter()
    before = json.loads(path.read_text())["data"] if path.exists() else []
    done = {one["name"]: one for one in before}
    for name in args.data or (["covertype"] if args.full else ERRORS):
        one = compare(name, args.quick, args.full, limit)
        done[one["name"]] = one
        report(one)
        ordered = [done[key] for key in labels() if key in done]
        settings = {"tuning_seconds": TUNING_SECONDS, "repeated": REPEATED, "repeats": REPEATS}
        result = {"settings": settings, "circumstances": conditions(), "data": ordered}
        path.write_text(json.dumps(result, indent=1) + "\n")
        draw(ordered).savefig(path.with_suffix(".png"), dpi=80)
    print(f"\nwrote {path} in {(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
