"""Tables of docs/benchmarks/streams.md."""

from __future__ import annotations

from functools import partial
from statistics import median

from pages.common import RESULTS, grid, results, two_digits, where

OURS, LAST, FOREST = "ours", "last answer", "ARF"
KILOBYTE = 1000


def stored():
    """The results, or None before the first run."""
    return results("streams") if (RESULTS / "streams.json").exists() else None


def methods_of(sets):
    """All methods in their order."""
    return list(dict.fromkeys(method for one in sets.values() for method in one["methods"]))


def shown(value, numeric):
    """An error, or an accuracy."""
    if not numeric:
        return f"{value:.3f}"
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def scores_table(numeric):
    """A row for each stream. The best score is bold."""
    if (result := stored()) is None:
        return "Not measured yet."
    sets = {name: one for name, one in result["data"].items() if one["numeric"] == numeric}
    if not sets:
        return "Not measured yet."
    methods = methods_of(sets)
    rows = []
    for name, one in sets.items():
        found = {method: cell["score"] for method, cell in one["methods"].items()}
        best = (min if numeric else max)(found.values())
        cells = [shown(found[m], numeric) if m in found else "–" for m in methods]
        same = [f"**{c}**" if c == shown(best, numeric) else c for c in cells]
        rows.append([name, f"{one['rows']:,}", *same])
    return "\n".join([*grid(["stream", "rows", *methods], rows), "", where(result) + "."])


def speed_table():
    """Medians over streams for each method."""
    if (result := stored()) is None:
        return "Not measured yet."
    rows = []
    for numeric, kind in ((False, "classes"), (True, "numbers")):
        sets = {name: one for name, one in result["data"].items() if one["numeric"] == numeric}
        for method in methods_of(sets):
            cells = [one["methods"][method] for one in sets.values() if method in one["methods"]]
            ratios = [
                one["methods"][method]["rows_per_second"]
                / one["methods"][FOREST]["rows_per_second"]
                for one in sets.values()
                if {method, FOREST} <= one["methods"].keys()
            ]
            rows.append(
                [
                    method,
                    kind,
                    f"{median(cell['rows_per_second'] for cell in cells):,.0f}",
                    two_digits(median(ratios)) if ratios else "–",
                    f"{median(cell['bytes'] for cell in cells) / KILOBYTE:,.0f} kB",
                ]
            )
    head = ["method", "predicts", "rows a second", f"times {FOREST}", "memory"]
    return "\n".join([*grid(head, rows), "", where(result) + "."])


TABLES = {
    "streams-classes": partial(scores_table, False),
    "streams-numbers": partial(scores_table, True),
    "streams-speed": speed_table,
}
