"""Tables of docs/benchmarks/hypotheses.md."""

from __future__ import annotations

from pages.common import grid, results, two_digits, where

PROBLEMS = {"mean": "another mean", "variance": "another variance", "circle": "near a circle"}
TESTS = {
    "permutation": "neurons, permutations",
    "asymptotic": "neurons, asymptotic",
    "quadratic": "quadratic, permutations",
}


def shown(cell):
    """Seconds, and how many of the runs rejected the hypothesis."""
    if cell is None:
        return ""
    rejected = round(cell["power"] * cell["runs"])
    return f"{two_digits(cell['seconds'])} s, {rejected} of {cell['runs']}"


def two_samples_table():
    result = results("two_samples")
    cells = {(c["problem"], c["test"], c["rows"]): c for c in result["cells"]}
    sizes = sorted({rows for *_, rows in cells})
    rows = []
    for problem, test in dict.fromkeys((c["problem"], c["test"]) for c in result["cells"]):
        found = [cells.get((problem, test, size)) for size in sizes]
        rows.append([PROBLEMS[problem], TESTS[test], *map(shown, found)])
    head = ["difference or dependence", "test", *(f"{size:,} rows" for size in sizes)]
    text = (
        f"Median seconds, and how many of the runs rejected at a level of {result['level']:.0%}; "
        f"{result['permutations']} permutations."
        f"{' Of a quick trial, not the full run.' if result['quick'] else ''} {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


TABLES = {"two-samples": two_samples_table}
