"""Choosing parameters, fitting all methods on a data set along their sizes, and saying where."""

from __future__ import annotations

import os
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from circumstances import circumstances
from isolated import isolated, measured
from methods import Method, methods
from summary import ALL_ROWS, SOME_ROWS
from tasks import Task, prepare

#: Seconds of a fit that chooses parameters, of one that is repeated, and how often.
TUNING_SECONDS, REPEATED, REPEATS = 10.0, 3.0, 3
QUICK_SIZES, QUICK_VALUES = 2, 2
#: Rows of the fit that comes before the clock starts.
WARM_UP_ROWS = 500
#: What is known of a method once its parameters are chosen.
CHOSEN = ("parameters", "tuning_rows", "failed_in_tuning")
PACKAGES = ("rfflearn", "xrfm", "torch", "torchkm", "river")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

#: Fits of a method and size.
Runs = dict[tuple[str, int], list[dict[str, Any]]]


def fitted(task: Task, method: Method, size: int, parameters: dict[str, Any]) -> dict[str, Any]:
    """Seconds and peak memory of learning and predicting, and the test error."""
    rows_a_unit = 1 if method.unit == "rows" else method.rows_a_unit
    if rows_a_unit:
        some = size * rows_a_unit
        task = task._replace(X=task.X[:some], y=task.y[:some])
    model = method.make(task, size, **parameters)

    def small() -> None:
        """What only the first fit of a process takes, such as starting threads."""
        few = task._replace(X=task.X[:WARM_UP_ROWS], y=task.y[:WARM_UP_ROWS])
        method.make(few, method.sizes[0], **parameters).fit(few.X, few.y)

    with measured(small) as fit:
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


def tuned(task: Task, method: Method) -> tuple[dict[str, Any], int, list[str]]:
    """The best parameters of the whole grid, the rows to learn from, and why fits failed.

    Where the first fit takes too long, a method that is sized by rows gets half of them.
    """
    task, failures = task.tuning(), []
    names, size = list(method.grid), method.pilot
    trials = [dict(zip(names, values, strict=True)) for values in product(*method.grid.values())]
    errors: list[float] = []
    while len(errors) < len(trials):
        trial = trials[len(errors)]
        result, why = isolated(fitted, task, method, size, trial, limit=TUNING_SECONDS)
        if why and not errors and method.unit == "rows" and size > method.sizes[0]:
            size //= 2
            continue
        errors.append(result["error"] if result else np.inf)
        if why:
            failures.append(f"{trial}: {why}")
        if why and len(errors) == 1:
            break  # the others would take as long
    best = trials[int(np.argmin(errors))]
    return best, min(size, len(task.X)) if method.unit == "rows" else len(task.X), failures


def at_edge(parameters: dict[str, Any], method: Method) -> list[str]:
    """Parameters that are the least or the largest of their grid, beyond which may be better."""
    edges = []
    for name, values in method.grid.items():
        numbers = sorted(value for value in values if isinstance(value, int | float))
        if len(numbers) > 1 and parameters[name] in (numbers[0], numbers[-1]):
            edges.append(name)
    return edges


def sizes(task: Task, method: Method) -> list[int]:
    if method.unit == "rows":
        some = [size for size in method.sizes if size < len(task.X)]
        return [*some, len(task.X)] if len(some) < len(method.sizes) else some
    most = len(task.X) if method.unit == "landmarks" else np.inf
    if method.rows_a_unit:
        most = min(most, len(task.X) // method.rows_a_unit)
    return [size for size in method.sizes if size <= most]


def compare(
    name: str, quick: bool, full: bool, limit: float, kept: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """All methods on a data set; parameters of those that are ``kept`` are not chosen anew."""
    start, made = time.perf_counter(), conditions()
    task, why = isolated(prepare, name, quick, full, limit=900)
    if why:
        sys.exit(f"{name} could not be read: {why}")
    rows = {"rows": len(task.X), "test_rows": len(task.X_test), "columns": task.X.shape[1]}
    print(f"\n{name}: {rows}, median distance {task.median:.3g}", flush=True)
    all_ = methods(task)
    entries: dict[str, dict[str, Any]] = {}
    for key, method in all_.items():
        same = kept.get(key) or entries.get(key.removesuffix(SOME_ROWS))
        entries[key] = describe(key, method, task, quick, same)
    runs: Runs = {}
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
    return {
        "name": name + (ALL_ROWS if full else ""),
        "limit": limit,
        **rows,
        "classes": task.n_classes,
        "median_distance": task.median,
        "kept": sorted(kept),
        "circumstances": made,
        "methods": list(entries.values()),
        "minutes": (time.perf_counter() - start) / 60,
    }


def describe(
    name: str, method: Method, task: Task, quick: bool, same: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What a method is, with parameters chosen, or why it is not there.

    Those of ``same``, the method with all rows or of a run before, are chosen on the same rows, so
    they are taken.
    """
    entry: dict[str, Any] = {"name": name, "kind": method.kind, "unit": method.unit}
    entry |= {"threads": method.threads, "missing": None, "points": [], "left_out": []}
    if method.package and find_spec(method.package) is None:
        entry["missing"] = f"{method.package} is not installed"
        print(f"{name:<34}{entry['missing']}", flush=True)
        return entry
    if quick:
        grid = {key: values[:QUICK_VALUES] for key, values in method.grid.items()}
        method = method._replace(grid=grid, pilot=min(method.pilot, method.sizes[1]))
    if same is None:
        entry["parameters"], entry["tuning_rows"], entry["failed_in_tuning"] = tuned(task, method)
    else:
        entry |= {key: same[key] for key in CHOSEN}
    entry["at_edge"] = at_edge(entry["parameters"], method)
    print(f"{name:<34}{entry['parameters']}", flush=True)
    return entry


def along(
    task: Task,
    method: Method,
    entry: dict[str, Any],
    runs: Runs,
    some: list[int],
    limit: float,
) -> None:
    """First fits of a method, from small to large, as long as they take less than the limit."""
    name, over = entry["name"], False
    done: list[tuple[int, float]] = []
    for size in some:
        expected = expectation(done, size, method.growth)
        result = None
        if over:
            why = "a smaller one did not end in time"
        elif expected > limit:
            why = f"should take {expected:.0f} s"
        else:
            result, why = isolated(fitted, task, method, size, entry["parameters"], limit=2 * limit)
            over = bool(why) and why.startswith(("more than", "the process"))
        if why:
            entry["left_out"].append({"size": size, "why": why})
            print(f"{name:<34}{size:>7,}  left out: {why}", flush=True)
            continue
        runs[name, size] = [result]
        done.append((size, result["seconds"] + result["predict_seconds"]))
        show(name, size, result)


def expectation(done: list[tuple[int, float]], size: int, growth: float) -> float:
    """Seconds that a size should take: a + b · size ** growth through the last two, or with a = 0.

    The constant is what a method takes whatever the size, such as a search for length scales.
    """
    if not done:
        return 0.0
    last, seconds = done[-1]
    before, least = done[-2] if len(done) > 1 else (0, 0.0)
    slope = max(seconds - least, 0.0) / (last**growth - before**growth)
    return seconds + slope * (size**growth - last**growth)


def again(
    task: Task,
    method: Method,
    entry: dict[str, Any],
    runs: Runs,
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
