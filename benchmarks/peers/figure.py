"""The picture of the comparison: test error along seconds, a panel for each data set."""

from __future__ import annotations

from itertools import product
from typing import Any

from matplotlib.figure import Figure

#: Marker, width of the line: ours are drawn thick, trees in black and grey.
STYLES = {"ours": ("o", 2.5), "kernel": ("s", 1.0), "trees": ("^", 1.0)}
PANELS_A_ROW = 3


def draw(results: list[dict[str, Any]]) -> Figure:
    """Error along the seconds of a fit on logarithmic axes."""
    n_rows = -(-len(results) // PANELS_A_ROW)
    n_columns = min(len(results), PANELS_A_ROW)
    figure = Figure(figsize=(6 * n_columns, 5 * n_rows + 4 / n_columns), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    looks = {
        "trees": iter([("0.6", "--"), ("k", "--")]),
        "ours": (
            (f"C{i}", line) for line, i in product(("-", "--", ":"), (3, 1, 0, 2, 4, 6, 8, 5, 9))
        ),
        "kernel": ((f"C{i}", line) for line, i in product((":", "-.", "--"), range(10))),
    }
    chosen: dict[str, tuple[str, str]] = {}
    lines: dict[str, Any] = {}
    for axes, one in zip(panels, results, strict=False):
        for method in one["methods"]:
            name, (marker, width) = method["name"], STYLES[method["kind"]]
            x, y = ([point[key] for point in method["points"]] for key in ("seconds", "error"))
            if not x:
                continue
            if name not in chosen:
                chosen[name] = next(looks[method["kind"]])
            color, line = chosen[name]
            style = {"marker": marker, "ms": 4, "lw": width, "color": color, "ls": line}
            lines[name] = axes.loglog(x, y, label=name, **style)[0]
        axes.set(title=one["name"], xlabel="seconds of fit")
        axes.set(ylabel="test error" if one["classes"] else "1 - R² on test rows")
        axes.yaxis.set(major_formatter="{x:.2g}", minor_formatter="{x:.2g}")
        axes.grid(which="both", alpha=0.2)
    for axes in panels[len(results) :]:
        axes.set_visible(False)
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=2 * n_columns - 1)
    return figure
