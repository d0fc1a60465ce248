"""The table of several seeds of docs/benchmarks/trees.md."""

from __future__ import annotations

from pages.common import grid, results, where


def seeds_table():
    """Errors and seconds of averages of models, a row for each table."""
    result, rows = results("seeds"), []
    numbers = [each["models"] for each in result["tables"][0]["averages"]]
    for one in result["tables"]:
        first, *_ = each = one["averages"]
        cells = [f"{first['error']:.4f} ({first['seconds']:.0f} s)"]
        for average in each[1:]:
            change = 100 * (average["error"] / first["error"] - 1)
            cells.append(f"{average['error']:.4f} ({change:+.1f}%)")
        rows.append([one["name"], f"{one['rows']:,}", *cells, f"{one['spread']:.2f}"])
    head = ["table", "rows", *(f"{n} model{'s' if n > 1 else ''}" for n in numbers), "spread"]
    return "\n".join([*grid(head, rows), "", f"{where(result)}."])


TABLES = {"seeds": seeds_table}
