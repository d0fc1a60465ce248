"""Our boosted trees beside those of others: test error along the seconds of a fit, on raw tables.

Tables are as they come (``raw_tables.py``): numbers as they are, and categories as such for methods
that take them. Numbers to learn are divided by their deviation. All methods have two cores.

- Ours: ``BoostedTrees*`` with its defaults, at several numbers of trees, each a fit of its own,
  since steps may depend on how many are to come; and once more with nothing set at all. Kitchen
  Sinks with families that find length scales and features for themselves.
- Boosted trees: HistGradientBoosting, LightGBM, XGBoost (``hist``) and CatBoost, with categories as
  such, two threads, no early stopping and defaults otherwise. One fit gives the whole curve: its
  callbacks say when there were how many trees (HistGradientBoosting prints that), and end it. The
  predictions of fewer trees are made after the fit.
- ChimeraBoost with nothing set, and with ``quality=1``, its preset for speed. It stops early by
  rows that it holds out, so each fit is a point and not a curve. Categories are its
  ``cat_features``.
- Others: ExtraTrees, with numbers for categories, grown on by ``warm_start``; and xRFM as its
  README sets it, with codes of 0 and 1 for categories, on subsets of the rows.

Settings are chosen by the same rule for all but our trees, which have none: of the combinations in
``table_methods.py`` (two learning rates by three sizes of a tree for all boosted trees, five or six
combinations for the others) the one with the least error on a held-out fifth of at most 20,000
training rows, at any number of trees that ``TUNING_SECONDS`` allow. Test rows are not looked at.
Small learning rates pay late; so boosted trees also get the combination that was best after a tenth
of those seconds, for a fifth of the limit, if that is another. Tables with all rows have the same
first 20,000, and so the settings of those with fewer.

Each fit has a process of its own, one after the other. Seconds are those of a fit from the raw
table, with encoding and binning. Data are in memory and packages imported before, and a fit on 500
rows comes before the clock starts, as does a rest (``isolated.py``). Curves end at ``--limit``
seconds, which are 5 by default, 10 from 30,000 rows on and 30 with all rows, or at 3,000 trees. All
is done for ``--seeds`` seeds, in turn; but methods that draw
nothing at random have the same trees for every seed, and are repeated only where they take less
than ``REPEATED`` seconds. Covertype with all rows has one seed.

Run as ``make bench-boosted`` or ``python benchmarks/peers/boosted.py``; writes
``benchmarks/results/boosted.json`` after each table, and ``boosted.png``. ``--data adult`` does
only Adult, and ``--method ours`` only those fits of ours (both may be repeated); all else in the
file stays as it is, and each part says when and at what commit it was measured. ``--keep`` takes
settings that are in the file from there. ``--quick`` is a trial on few rows and sizes, whose
figures mean nothing. Packages that are not installed are reported as such.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from boosted_figure import draw
from boosted_runs import SEEDS, Plan, conditions, described, measure
from equal_seconds import summarise
from isolated import isolated
from pictures import redraw
from raw_tables import ALL_ROWS, TABLES, prepare
from table_methods import CORES, METHODS

PATH = Path(__file__).parents[1] / "results" / "boosted.json"


def compare(
    name: str, args: argparse.Namespace, chosen: list[str], done: dict[str, Any]
) -> dict[str, Any]:
    """The chosen methods on a table, and the others as they were."""
    start = time.perf_counter()
    table, why = isolated(prepare, name, args.quick, limit=900)
    if why:
        sys.exit(f"{name} could not be read: {why}")
    print(f"\n{name}: {table.X.shape[0]:,} rows, {table.X.shape[1]} columns", flush=True)
    before = {method["name"]: method for method in done.get(name, {}).get("methods", [])}
    fewer = done.get(name.removesuffix(ALL_ROWS), {}).get("methods", [])
    known = before if args.keep else {}
    plan = Plan.of(table, args.quick, args.limit, args.seeds)
    if name.endswith(ALL_ROWS):  # the same rows to choose with
        known = {method["name"]: method for method in fewer} | known
    methods = [method for method in METHODS if method.name in chosen]
    measured = measure(table, methods, plan, known)
    entries = before | {entry["name"]: entry for entry in measured}
    minutes = (time.perf_counter() - start) / 60
    ordered = [entries[method.name] for method in METHODS if method.name in entries]
    return described(table, plan) | {"minutes": minutes, "methods": ordered}


def report(one: dict[str, Any]) -> None:
    """Who is lowest at equal seconds, in a few lines."""
    print(f"{one['name']}: {one['minutes']:.1f} minutes")
    for line in summarise(one)["equal"]:
        named = (("ours", line["ours"]), ("boosted", line["boosted"]), ("all", line["all"]))
        said = [f"{key} {p['error']:.4f} ({p['method']})" for key, p in named if p]
        ratio = f", ratio {line['ratio']:.3f}" if line["ratio"] else ""
        print(f"  within {line['at']['seconds']:.2f} s: {'; '.join(said)}{ratio}", flush=True)


def in_short(result: dict[str, Any]) -> str:
    """JSON with a line for each list of numbers."""

    def on_a_line(found: re.Match[str]) -> str:
        return f"[{' '.join(found[1].split())}]"

    return re.sub(r"\[\s+([^\[\]{}\"]+?)\s+\]", on_a_line, json.dumps(result, indent=1)) + "\n"


def rounded(value: Any) -> Any:
    """The same with numbers to five digits."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def main() -> None:
    names = [method.name for method in METHODS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", choices=TABLES, action="append", help="only this table")
    parser.add_argument("--method", choices=names, action="append", help="only this method")
    parser.add_argument("--quick", action="store_true", help="a trial on few rows and sizes")
    parser.add_argument("--keep", action="store_true", help="take settings that were chosen")
    parser.add_argument("--limit", type=float, help="seconds of a fit; default: 5, 10 or 30")
    parser.add_argument("--seeds", type=int, help=f"default: {SEEDS}, one with all rows")
    parser.add_argument("--out", type=Path, help="the JSON file to write, with a picture beside it")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    trial = Path(tempfile.gettempdir()) / "trickless-boosted-quick.json"
    path = args.out or (trial if args.quick else PATH)
    start = time.perf_counter()
    before = json.loads(path.read_text())["data"] if path.exists() else []
    done = {one["name"]: one for one in before}
    for name in args.data or TABLES:
        one = compare(name, args, args.method or names, done)
        done[name] = rounded(one)
        report(one)
        ordered = [done[key] for key in TABLES if key in done]
        result = {"circumstances": conditions(), "data": ordered}
        new = path.with_suffix(".new")
        new.write_text(in_short(result))
        new.replace(path)
        redraw(draw, path)
    print(f"\nwrote {path} in {(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
