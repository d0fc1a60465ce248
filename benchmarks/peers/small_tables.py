"""Small tables with nothing set: ours beside boosted trees and a forest, and a sign test.

The tables are the 65 of ``small_data.py``, chosen by their size and not by their results. Methods
are those of ``small_methods.py``: our stack, its trees, plain Gaussian Kitchen Sinks, LightGBM,
HistGradientBoosting, ExtraTrees, ChimeraBoost, CatBoost and XGBoost, all with their defaults.

Each table has three folds of random rows, stratified by class. A method learns from two of them and
predicts the third. Its error is 1 - R² or the misclassified share; classes also have a log loss,
where probabilities are at least 2e-16. Seconds are those of the fit and of the prediction, of
numbers or of probabilities, whose largest is the class. Encoding counts.

A table has a process of its own, one after the other. Within it, methods take turns in each fold,
and begin with another one in the next. A fit on 500 rows comes before the clock starts, and a rest
before each fit (``isolated.py``).

Run as ``make bench-small-tables`` or ``python benchmarks/peers/small_tables.py``; writes
``benchmarks/results/small_tables.json`` after each table. What was measured at the same commit with
the same versions is kept, so that a run which was interrupted goes on; ``--again`` starts over.
``--tables iris,wine`` does only these, and ``--methods trees`` only that method; all else in the
file stays as it is. Their seconds are then of another run. ``--out`` names another file.

``make bench-other-tables``, or ``--others``, does the 20 other tables, on which nothing was tuned,
and writes ``benchmarks/results/other_tables.json``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

sys.path.insert(0, str(Path(__file__).parents[1]))
import small_data
from boosted import in_short, rounded
from boosted_runs import WARM_UP_ROWS, conditions
from isolated import REST, isolated
from small_data import FOLDS, SmallTable
from small_methods import METHODS, OUR_SINKS, OUR_STACK, OUR_TREES, Method
from small_summary import summarise
from table_methods import CORES

PATH = Path(__file__).parents[1] / "results" / "small_tables.json"
EVERY = (*small_data.NAMES, *small_data.OTHERS)
SEED = 0
#: Packages whose versions are stored as well.
PACKAGES = ("lightgbm", "chimeraboost", "catboost", "xgboost", "numba", "pandas")
#: Seconds of a table, in which all of its fits should be done.
LIMIT = 3600.0


def folds(table: SmallTable) -> list[tuple[np.ndarray, np.ndarray]]:
    """Numbers of the rows to learn from and to test on, of each fold."""
    make = StratifiedKFold if table.n_classes else KFold
    return list(make(FOLDS, shuffle=True, random_state=SEED).split(table.X, table.y))


def measure(table: SmallTable, methods: list[Method]) -> dict[str, dict[str, Any]]:
    """All folds of some methods, which take turns."""
    parts, cells = folds(table), {method.name: empty(table) for method in methods}
    some = np.random.default_rng(SEED).permutation(parts[0][0])  # files are sorted
    each = some[np.unique(table.y[some], return_index=True)[1]] if table.n_classes else some[:0]
    some = np.union1d(each, some[:WARM_UP_ROWS])
    for method in methods:
        try:
            method.load()
            fitted(table, method, some, parts[0][1])
        except Exception as error:
            cells[method.name] = {"missing": f"{type(error).__name__}: {error}"[:300]}
    able = [method for method in methods if "error" in cells[method.name]]
    for i, (train, test) in enumerate(parts):
        for method in able[i:] + able[:i]:
            gc.collect()
            time.sleep(REST)
            for key, value in fitted(table, method, train, test).items():
                cells[method.name][key].append(value)
    return cells


def empty(table: SmallTable) -> dict[str, list[float]]:
    keys = ("error", "fit_seconds", "predict_seconds", *(["log_loss"] if table.n_classes else []))
    return {key: [] for key in keys}


def fitted(
    table: SmallTable, method: Method, train: np.ndarray, test: np.ndarray
) -> dict[str, float]:
    """Errors and seconds of one fold."""
    X, y = table.X.iloc[train].reset_index(drop=True), table.y[train]
    X_test, y_test = table.X.iloc[test].reset_index(drop=True), table.y[test]
    start = time.perf_counter()
    model = method.make(table, SEED).fit(X, y)
    learned = time.perf_counter()
    predicted = np.asarray((model.predict_proba if table.n_classes else model.predict)(X_test))
    end = time.perf_counter()
    if not np.isfinite(predicted).all():
        raise ValueError("predictions are not finite")
    result = {"fit_seconds": learned - start, "predict_seconds": end - learned}
    if not table.n_classes:
        error = np.mean((predicted.ravel() - y_test) ** 2) / np.var(y_test)
        return result | {"error": float(error)}
    shares = predicted / predicted.sum(axis=1, keepdims=True)  # of numbers in single precision
    wrong = np.asarray(model.classes_)[predicted.argmax(axis=1)] != y_test
    loss = log_loss(y_test, shares, labels=model.classes_)
    return result | {"error": float(wrong.mean()), "log_loss": float(loss)}


def settled(cell: dict[str, Any], now: dict[str, Any], before: list[dict[str, Any]]) -> bool:
    """Whether a cell was measured at this commit with these versions."""
    if "error" not in cell:
        return False
    keys = ("commit", "python", "packages", "machine")
    then = before[cell["measured"]]
    return all(then[key] == now[key] for key in keys)


def entry_of(
    name: str, methods: list[Method], before: dict[str, Any]
) -> tuple[dict[str, Any] | None, str | None]:
    """A table with the chosen methods measured, or why it could not be."""
    table = small_data.load(name)
    cells, why = isolated(measure, table, methods, limit=LIMIT)
    if why:
        return None, why
    kinds = {"categories": len(table.X.select_dtypes("category").columns)}
    kinds |= {"gaps": int(table.X.isna().to_numpy().sum()), "classes": table.n_classes}
    sizes = {"rows": len(table.X), "columns": table.X.shape[1]}
    return {"name": name, **sizes, **kinds, "methods": before.get("methods", {}) | cells}, None


def show(table: dict[str, Any], names: list[str]) -> None:
    cells = table["methods"]
    said = [
        f"{name} {np.mean(cells[name]['error']):.4f}"
        f" ({np.mean(np.add(cells[name]['fit_seconds'], cells[name]['predict_seconds'])):.2f} s)"
        if "error" in cells[name]
        else f"{name}: {cells[name]['missing']}"
        for name in names
    ]
    print(f"{table['name']:<22}{'  '.join(said)}", flush=True)


def report(summary: dict[str, Any]) -> None:
    for line in summary["against"]:
        for key in ("error", "log_loss"):
            of = line[key]
            if of:
                print(
                    f"{line['ours']:<14} against {line['peer']:<22}{key:<9}"
                    f"{of['wins']}–{of['draws']}–{of['losses']}, p {of['p']:.2g}, "
                    f"ratio {of['ratio']:.3f}"
                )
    for key in ("ranks", "seconds"):
        said = ", ".join(f"{name} {value:.3g}" for name, value in summary[key].items())
        print(f"{'mean ranks' if key == 'ranks' else 'median seconds'}: {said}")


def whole(done: dict[str, Any], seen: list[dict[str, Any]]) -> dict[str, Any]:
    """What is stored: circumstances, all tables in order, and what they say together."""
    tables = [done[name] for name in EVERY if name in done]
    names = [m.name for m in METHODS if any(m.name in t["methods"] for t in tables)]
    ours = [name for name in (OUR_STACK, OUR_TREES, OUR_SINKS) if name in names]
    kept = sorted({cell["measured"] for t in tables for cell in t["methods"].values()})
    number = {old: new for new, old in enumerate(kept)}
    for table in tables:
        for cell in table["methods"].values():
            cell["measured"] = number[cell["measured"]]
    return {
        "circumstances": [seen[i] for i in kept],
        "folds": FOLDS,
        "seed": SEED,
        "summary": rounded(summarise(tables, ours, names)),
        "tables": tables,
    }


def listed(text: str, names: tuple[str, ...]) -> list[str]:
    """Names between commas, of which some have one themselves."""
    chosen, rest = [], text
    while rest:
        found = [name for name in names if rest == name or rest.startswith(name + ",")]
        if not found:
            raise argparse.ArgumentTypeError(f"{rest!r} is none of {', '.join(names)}")
        longest = max(found, key=len)
        chosen.append(longest)
        rest = rest[len(longest) + 1 :]
    return chosen


def main() -> None:
    every = tuple(method.name for method in METHODS)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=lambda text: listed(text, EVERY))
    parser.add_argument("--methods", type=lambda text: listed(text, every))
    parser.add_argument("--again", action="store_true", help="measure all anew")
    parser.add_argument("--others", action="store_true", help="the 20 other tables")
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    args = parser.parse_args()
    args.out = args.out or (PATH.with_stem("other_tables") if args.others else PATH)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    stored = json.loads(args.out.read_text()) if args.out.exists() else {}
    seen, done = stored.get("circumstances", []), {t["name"]: t for t in stored.get("tables", [])}
    now, start = conditions(PACKAGES), time.perf_counter()
    methods = [m for m in METHODS if m.name in (args.methods or every)]
    for method in [m for m in methods if m.package and find_spec(m.package) is None]:
        print(f"{method.name}: {method.package} is not installed")
        methods.remove(method)
    for name in args.tables or (small_data.OTHERS if args.others else small_data.NAMES):
        before = done.get(name, {})
        cells = before.get("methods", {})
        missing = [
            m for m in methods if args.again or not settled(cells.get(m.name, {}), now, seen)
        ]
        if not missing:
            continue
        entry, why = entry_of(name, missing, before)
        if entry is None:
            print(f"{name:<22}{why}", flush=True)
            continue
        for method in missing:
            entry["methods"][method.name]["measured"] = len(seen)
        entry["methods"] = {m: entry["methods"][m] for m in every if m in entry["methods"]}
        done[name] = rounded(entry)
        show(entry, [method.name for method in missing])
        stored = whole(done, [*seen, now])
        seen = stored["circumstances"]
        new = args.out.with_suffix(".new")
        new.write_text(in_short(stored))
        new.replace(args.out)
    if stored:
        report(stored["summary"])
    print(f"{args.out}: {(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
