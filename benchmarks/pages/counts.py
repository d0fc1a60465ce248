"""Tables of docs/benchmarks/counts.md."""

from __future__ import annotations

from statistics import mean, stdev

from pages.common import RESULTS, grid, results, where

LOSSES = {"poisson": "Poisson", "tweedie": "Tweedie", "gamma": "gamma"}


def shown(cell):
    """The mean score of the folds, and its standard error."""
    if cell is None:
        return "–"
    scores = cell["scores"]
    return f"{mean(scores):.3f} ± {stdev(scores) / len(scores) ** 0.5:.3f}"


def scores_table():
    """A row for each table, with the score of each method."""
    if not (RESULTS / "counts.json").exists():
        return "Not measured yet."
    result = results("counts")
    tables = result["tables"]
    methods = list(dict.fromkeys(m for table in tables.values() for m in table["methods"]))
    rows = []
    for name, table in tables.items():
        about = [name, f"{table['n_rows']:,}", LOSSES[table["loss"]]]
        rows.append([*about, *(shown(table["methods"].get(method)) for method in methods)])
    seconds = []
    for method in methods:
        found = [t["methods"][method]["seconds"] for t in tables.values() if method in t["methods"]]
        seconds.append(f"{sum(map(mean, found)):.2g} s")
    rows.append(["seconds of a fold of each", "", "", *seconds])
    return "\n".join([*grid(["table", "rows", "loss", *methods], rows), "", where(result) + "."])


TABLES = {"counts": scores_table}
