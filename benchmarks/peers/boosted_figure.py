"""The picture of the comparison with boosted trees: test error along seconds, a panel a table.

A line is the least error so far, a mean over the seeds; faint lines are what each seed gave. Run as
``python benchmarks/peers/boosted_figure.py`` to draw it anew from the stored file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from equal_seconds import BOOSTED, DEFAULTS, SLOW, TREES, points
from panels import BLUE, GREY, ORANGE, RED, End, finish, name_lines, panels

PATH = Path(__file__).parents[1] / "results" / "boosted.json"
#: Dashes tell lines of one color from each other.
DASHES = {
    "LightGBM": (0, (6, 1.5)),
    "XGBoost": (0, (3, 1.5)),
    "CatBoost": (0, (1, 1)),
    SLOW: (0, (2, 1)),
    "xRFM": (0, (2, 1)),
}
SHORT = {"HistGradientBoosting": "HistGB", SLOW: "ours, no numba"}
#: Shares of the longest and multiples of the middling last error that are in sight.
FIRST_SECONDS, IN_SIGHT = 3e-3, 4.0


def look(method: dict[str, Any]) -> tuple[str, float]:
    """Color and width of a line."""
    if method["group"] == BOOSTED:
        return BLUE, 1.2
    if method["name"] == "Kitchen Sinks":
        return ORANGE, 1.6
    if method["name"] in (TREES, DEFAULTS):
        return RED, 3.0
    return (RED, 1.2) if method["name"] == SLOW else (GREY, 1.2)


def draw(data: list[dict[str, Any]]) -> Figure:
    """Error along the seconds of a fit on logarithmic axes."""
    figure, all_ = panels(len(data), 4.4)
    for axes, one in zip(all_, data, strict=True):
        draw_panel(axes, one)
    return figure


def draw_panel(axes: Any, one: dict[str, Any]) -> None:
    """A table."""
    ends: list[End] = []
    falling = []
    least = 0.5 / one["test_rows"] if one["classes"] else 0.0  # in the place of no error at all
    for method in sorted(one["methods"], key=lambda method: look(method)[1]):
        means, (color, width) = points(method), look(method)
        if not means:
            continue
        for curve in method["curves"]:
            for run in curve["runs"]:
                error = np.maximum(run["error"], least)
                axes.plot(run["seconds"], error, color=color, lw=0.6, alpha=0.25)
        x = np.array([point["seconds"] for point in means])
        y = np.maximum(np.minimum.accumulate([point["error"] for point in means]), least)
        falling.append((x, y))
        name = method["name"]
        if name == DEFAULTS:
            axes.plot(x, y, "*", ms=15, color=RED, mec="white", zorder=5)
            continue
        style = {"color": color, "lw": width, "ls": DASHES.get(name, "-")}
        axes.plot(x, y, marker="o", ms=width + 2, markevery=[-1], **style)
        ends.append((x[-1], y[-1], SHORT.get(name, name), color))
    name = one["name"].removesuffix(", all rows")
    finish(axes, f"{name}, {one['rows']:,} rows", one["classes"], in_sight(falling))
    seconds = [x for x, _ in falling]
    if seconds:
        axes.set_xlim(left=max(min(map(min, seconds)), FIRST_SECONDS * max(map(max, seconds))))
    name_lines(axes, ends)


def in_sight(falling: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """From the least error to that of the worst first point, or of the middling end some times."""
    if not falling:
        return 0.1, 1.0
    first, last = (np.array([y[i] for _, y in falling]) for i in (0, -1))
    return last.min(), min(first.max(), IN_SIGHT * np.median(last))


def main() -> None:
    draw(json.loads(PATH.read_text())["data"]).savefig(PATH.with_suffix(".png"), dpi=80)


if __name__ == "__main__":
    main()
