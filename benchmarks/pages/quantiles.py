"""Tables of docs/benchmarks/quantiles.md."""

from __future__ import annotations

import numpy as np

from pages.common import RESULTS, grid, results, where


def quantiles_table():
    """Losses, errors of the shares below, crossings and seconds of each method."""
    if not (RESULTS / "quantiles.json").exists():
        return "Not measured yet."
    result, rows = results("quantiles"), []
    for run in result["runs"]:
        for method, splits in run["methods"].items():
            losses, below = (np.array([s[key] for s in splits]) for key in ("losses", "below"))
            loss = losses.mean() / np.mean(run["constant"])
            off = np.abs(below.mean(axis=0) - result["levels"]).mean()
            crossed, seconds = (np.mean([s[key] for s in splits]) for key in ("crossed", "seconds"))
            cells = f"{loss:.3f}", f"{off:.3f}", f"{crossed:.0%}", f"{seconds:.2g} s"
            rows.append([run["data"], f"{run['rows']:,}", method, *cells])
    head = ["data", "rows", "method", "loss", "share below is off by", "rows that cross", "time"]
    text = f"Means of {result['splits']} splits. {where(result)}."
    return "\n".join([*grid(head, rows), "", text])


TABLES = {"quantiles": quantiles_table}
