"""Tables of docs/benchmarks/intervals.md."""

from __future__ import annotations

from pages.common import grid, listed, results, where


def by_method(value):
    """A table with a row for each method and a column for each data set."""
    result = results("intervals")
    runs = {(run["data"], run["method"]): run for run in result["runs"]}
    names = list(dict.fromkeys(data for data, _ in runs))
    rows = []
    for method in dict.fromkeys(method for _, method in runs):
        rows.append([method, *(value(runs[name, method]) for name in names)])
    return "\n".join(grid(["method", *names], rows))


def coverage_table():
    result = results("intervals")
    splits = {run["method"].partition(",")[0]: run["splits"] for run in result["runs"]}
    most, fewest = max(splits.values()), min(splits.values())
    slow = listed([method for method, count in splits.items() if count == fewest])
    text = (
        f"Per cent of new targets that are inside intervals of {result['level']:.0%}, ± standard "
        f"error. {result['train']} rows to learn from. {most} splits, and {fewest} for {slow}."
        f"{' Of a quick trial, not the full run.' if result['quick'] else ''} {where(result)}."
    )
    table = by_method(lambda run: f"{100 * run['coverage']:.1f} ± {100 * run['error']:.1f}")
    return "\n".join([table, "", text])


def width_table():
    return by_method(lambda run: f"{run['width']:.2f}")


TABLES = {
    "interval-coverage": coverage_table,
    "interval-width": width_table,
}
