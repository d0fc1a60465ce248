"""Tables of docs/benchmarks/speed.md that support decisions of the design."""

from __future__ import annotations

import numpy as np

from pages.common import results, where


def exact_table():
    result = results("exact_kernel")
    lines = [
        "| neurons | Shrinking Gradient | exact kernel | largest difference of a seed |",
        "|---|---|---|---|",
    ]
    for family in dict.fromkeys(run["family"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["family"] == family]
        error, exact = (np.array([run[key] for run in runs]) for key in ("error", "exact_error"))
        lines.append(
            f"| {family} | {error.mean():.2%} | {exact.mean():.2%} | "
            f"{100 * (error - exact).max():+.2f} points |"
        )
    seeds = len({run["seed"] for run in result["runs"]})
    return "\n".join([*lines, "", f"Means of {seeds} orders of the rows. {where(result)}."])


TABLES = {
    "exact": exact_table,
}
