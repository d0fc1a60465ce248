"""Tables of docs/benchmarks/small-tables.md."""

from __future__ import annotations

from functools import cache

from pages.common import RESULTS, grid, results, where
from peers.small_summary import seconds

#: A p value below which the page says that it is small.
SMALLEST = 1e-4


@cache
def small():
    """What was measured, or nothing."""
    return results("small_tables") if (RESULTS / "small_tables.json").exists() else {}


def methods():
    """Names of all methods, in their order."""
    return list(small()["summary"]["seconds"])


def small_summary_table():
    """Wins, draws and losses of ours against each, with ratios and p values."""
    if not small():
        return "Not measured yet."
    rows = []
    for line in small()["summary"]["against"]:
        cells = [line["ours"], line["peer"]]
        for key in ("error", "log_loss"):
            cells += said(line[key])
        rows.append(cells)
    head = ["ours", "against", "error", "p", "ratio", "log loss", "p", "ratio"]
    conditions = where(*map(in_turn, small()["circumstances"]))
    about = f"{len(small()['tables'])} tables, {small()['folds']} folds. {conditions}."
    return "\n".join([*grid(head, rows), "", about])


def in_turn(circumstances):
    return {"circumstances": circumstances}


def said(found):
    """Wins/draws/losses, the p value and the ratio of a comparison."""
    if not found:
        return ["–"] * 3
    p = f"< {SMALLEST:g}" if found["p"] < SMALLEST else f"{found['p']:.2g}"
    # A line may end after a dash, but not after a slash before a digit.
    counts = "/".join(str(found[key]) for key in ("wins", "draws", "losses"))
    return [counts, p, f"{found['ratio']:.3f}"]


def small_ranks_table():
    """Mean ranks and seconds of each method."""
    if not small():
        return "Not measured yet."
    summary, rows = small()["summary"], []
    for name in sorted(methods(), key=lambda name: summary["ranks"].get(name, 0)):
        rank = summary["ranks"].get(name)
        cells = [name, f"{rank:.2f}" if rank else "–", f"{summary['seconds'][name]:.2g} s"]
        rows.append([*cells, f"{summary['total_seconds'][name]:.3g} s"])
    head = ["method", "mean rank by error", "median seconds", "all tables, a fold each"]
    return "\n".join(grid(head, rows))


def small_seconds_table():
    """Seconds of all methods by the number of rows."""
    if not small():
        return "Not measured yet."
    rows = []
    for least, most in ((0, 500), (500, 1_500), (1_500, 4_000), (4_000, 12_000)):
        some = [one for one in small()["tables"] if least < one["rows"] <= most]
        cells = [f"up to {most:,}", str(len(some))]
        for name in methods():
            spent = sorted(seconds(t, name) for t in some if "error" in t["methods"].get(name, {}))
            cells.append(f"{spent[len(spent) // 2]:.2g} s" if spent else "–")
        rows.append(cells)
    return "\n".join(grid(["rows", "tables", *methods()], rows))


def other_ranks_table():
    """Mean ranks on the tables on which nothing was tuned, and Auto against each method."""
    found = results("other_tables")
    against = {one["peer"]: one for one in found["summary"]["against"] if one["ours"] == "Auto"}
    rows = []
    for name, rank in sorted(found["summary"]["ranks"].items(), key=lambda pair: pair[1]):
        line = against.get(name, {"error": None, "log_loss": None})
        cells = [said(line[key])[0] for key in ("error", "log_loss")]
        rows.append([name, f"{rank:.2f}", f"{found['summary']['seconds'][name]:.2g} s", *cells])
    head = ["method", "mean rank by error", "median seconds", "Auto against it", "by log loss"]
    conditions = where(*map(in_turn, found["circumstances"]))
    about = f"{len(found['tables'])} tables, {found['folds']} folds. {conditions}."
    return "\n".join([*grid(head, rows), "", about])


TABLES = {
    "other-ranks": other_ranks_table,
    "small-summary": small_summary_table,
    "small-ranks": small_ranks_table,
    "small-seconds": small_seconds_table,
}
