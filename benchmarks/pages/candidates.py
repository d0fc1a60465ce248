"""Table of docs/benchmarks/trees.md about the best of M draws."""

from __future__ import annotations

from pages.common import RESULTS, grid, results, where


def candidates_table():
    """Errors along candidates for each table, depth and prior; the least of a table is bold."""
    if not (RESULTS / "candidates.json").exists():
        return "Not measured yet."
    result, rows = results("candidates"), []
    numbers = sorted({cell["candidates"] for one in result["tables"] for cell in one["cells"]})
    for one in result["tables"]:
        least = min(cell["error"] for cell in one["cells"])
        at = {(c["depth"], c["learned"], c["candidates"]): c for c in one["cells"]}
        for depth in sorted({cell["depth"] for cell in one["cells"]}):
            for learned in False, True:
                line = [at.get((depth, learned, m)) for m in numbers]
                prior = "learned" if learned else "uniform"
                rows.append([one["name"], f"{depth}", prior, *(said(cell, least) for cell in line)])
    head = ["table", "cuts", "columns", *(f"M = {m}" for m in numbers)]
    trees = result["tables"][0]["trees"]
    text = f"{trees:,} trees, means of {len(result['seeds'])} seeds. {where(result)}."
    picture = "![Test error along candidates](../../benchmarks/results/candidates.png)"
    return "\n".join([picture, "", *grid(head, rows), "", text])


def said(cell, least):
    """Error and seconds, with an error in bold if it is the least."""
    if not cell:
        return "–"
    error = f"{cell['error']:.4f}"
    return f"{f'**{error}**' if cell['error'] == least else error}, {cell['seconds']:.1f} s"


TABLES = {"candidates": candidates_table}
