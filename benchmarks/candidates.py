"""Between randomising and minimising: the best of 1 to 100 draws, for trees of three depths.

With ``n_candidates=1`` a cut of a tree is drawn blindly, as neurons of the papers are; the more
candidates, the nearer it is to the best cut there is, as in boosting. Boosted trees, on three raw
tables: Adult, Covertype (100,000 rows, class 2 against the rest) and puma32h, in which few of 32
columns matter. All have the same number of trees and no early stopping; all else is by default, so
many candidates only cost time. Errors are means over seeds, misclassified or 1 - R².

Run as ``make bench-candidates``; writes ``benchmarks/results/candidates.json`` and
``candidates.png``. ``--quick`` is a trial on few rows and trees.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from circumstances import circumstances
from pictures import BLUE, ORANGE, RED, along_seconds, panels, redraw
from raw_tables import Table, prepare
from table_methods import load_loops
from trickless import BoostedTreesClassifier, BoostedTreesRegressor

PATH = Path(__file__).parent / "results" / "candidates.json"
TABLES = ("adult", "covertype", "puma32h")
CANDIDATES, DEPTHS = (1, 3, 10, 30, 100), (4, 8, 12)
N_TREES, SEEDS, WARM_UP_ROWS = 300, (0, 1, 2), 500
QUICK_TREES, QUICK_SEEDS = 50, (0,)
COLORS = dict(zip(DEPTHS, (ORANGE, BLUE, RED), strict=True))


def make(table: Table, n_trees: int, depth: int, m: int, seed: int) -> Any:
    learner = BoostedTreesClassifier if table.n_classes else BoostedTreesRegressor
    options = {"max_depth": depth, "n_candidates": m, "early_stopping": False}
    return learner(n_trees, **options, random_state=seed)


def measure(name: str, quick: bool) -> dict[str, Any]:
    """Errors and seconds of all cells on a table, seed by seed."""
    table, n_trees = prepare(name, quick), QUICK_TREES if quick else N_TREES
    few = table.head(WARM_UP_ROWS)
    load_loops()
    make(few, 10, DEPTHS[0], 2, 0).fit(few.X, few.y)
    runs: dict[tuple[int, int], list[tuple[float, float]]] = {
        cell: [] for cell in product(DEPTHS, CANDIDATES)
    }
    for seed in QUICK_SEEDS if quick else SEEDS:
        for cell, done in runs.items():
            model = make(table, n_trees, *cell, seed)
            start = time.perf_counter()
            model.fit(table.X, table.y)
            seconds = time.perf_counter() - start
            done.append((table.error(model.predict(table.X_test)), seconds))
        print(f"{name}: seed {seed} done", flush=True)
    rows = []
    for (depth, m), done in runs.items():
        errors, seconds = zip(*done, strict=True)
        # Columns are drawn by how often they were chosen, which one candidate does not tell.
        row = {"depth": depth, "candidates": m, "learned": m > 1, "errors": list(errors)}
        row |= {"error": float(np.mean(errors)), "seconds": float(np.median(seconds))}
        rows.append(row)
        said = f"{row['error']:.4f} {row['seconds']:.2f} s"
        print(f"  depth {depth:>2}, {m:>3} {said}", flush=True)
    sizes = {"rows": len(table.X), "test_rows": len(table.X_test), "classes": table.n_classes}
    return {"name": name, "trees": n_trees, **sizes, "cells": rows}


def draw(result: dict[str, Any]) -> Figure:
    """Error along candidates: a color for each depth, dashed where columns are drawn uniformly."""
    tables = result["tables"]
    figure, all_ = panels(len(tables), 3, 3.2)
    for axes, one in zip(all_, tables, strict=True):
        errors = [cell["error"] for cell in one["cells"]]
        for depth, learned in product(DEPTHS, (False, True)):
            of_depth = [cell for cell in one["cells"] if cell["depth"] == depth]
            line = [c for c in of_depth if c["learned"] == learned or c["candidates"] == 1]
            x, y = ([cell[key] for cell in line] for key in ("candidates", "error"))
            name = f"{depth} cuts, columns {'learned' if learned else 'uniform'}"
            style = {"color": COLORS[depth], "ls": "-" if learned else (0, (3, 1.5))}
            axes.plot(x, y, marker="o", lw=1.8 if learned else 1.2, label=name, **style)
            dots = [(cell["candidates"], error) for cell in line for error in cell["errors"]]
            axes.plot(*zip(*dots, strict=True), ".", ms=3, color=COLORS[depth], alpha=0.4)
        least = min(one["cells"], key=lambda cell: cell["error"])
        axes.plot(least["candidates"], least["error"], "*", ms=12, color="k", mec="white", zorder=5)
        note = f"{one['rows']:,} rows, {one['trees']:,} trees"
        along_seconds(axes, one["name"], note, one["classes"], (min(errors), max(errors)))
        axes.set(xlabel="candidates for each cut", xticks=CANDIDATES)
        axes.set_xticks([], minor=True)
    handles, names = all_[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(DEPTHS))
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a trial on few rows and trees")
    args = parser.parse_args()
    trial = Path(tempfile.gettempdir()) / "trickless-candidates-quick.json"
    path = trial if args.quick else PATH
    tables = [measure(name, args.quick) for name in TABLES]
    result = {"circumstances": circumstances(), "seeds": list(SEEDS), "tables": tables}
    path.write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
