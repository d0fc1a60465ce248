"""The picture of the comparison with boosted trees: test error along seconds, a panel a table.

A line is the least error so far, a mean over the seeds; faint dots are what each seed gave.
``make pictures`` draws it anew from the stored file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from equal_seconds import BINARY, BOOSTED, CHIMERA, DEFAULTS, FAST_CHIMERA, TREES, points
from pictures import (
    BLUE,
    GREY,
    ORANGE,
    RED,
    End,
    Point,
    along_seconds,
    draw_envelope,
    name_lines,
    panels,
)

#: Dashes tell lines of one color from each other.
DASHES = {
    "LightGBM": (0, (6, 1.5)),
    "XGBoost": (0, (3, 1.5)),
    "CatBoost": (0, (1, 1)),
    "xRFM": (0, (2, 1)),
}
SHORT = {"HistGradientBoosting": "HistGB", BINARY: "ours, binary"}
#: Shares of the longest and multiples of the middling last error that are in sight.
FIRST_SECONDS, IN_SIGHT = 3e-3, 4.0
HEIGHT = 2.7
_MARK = {"mec": "white", "ls": "none", "zorder": 5}
#: How methods are drawn that have a point and no line.
MARKS = {
    DEFAULTS: {"marker": "*", "ms": 11, "color": RED, **_MARK},
    CHIMERA: {"marker": "D", "ms": 6, "color": BLUE, **_MARK},
    FAST_CHIMERA: {"marker": ">", "ms": 7, "color": BLUE, **_MARK},
}


def look(method: dict[str, Any]) -> tuple[str, float]:
    """Color and width of a line."""
    if method["group"] == BOOSTED:
        return BLUE, 1.1
    if method["name"] == "Kitchen Sinks":
        return ORANGE, 1.5
    if method["name"] in (TREES, DEFAULTS):
        return RED, 2.6
    return (RED, 1.1) if method["name"] == BINARY else (GREY, 1.1)


def draw(result: dict[str, Any]) -> Figure:
    """Error along the seconds of a fit on logarithmic axes."""
    figure, all_ = panels(len(result["data"]), 2, HEIGHT)
    for axes, one in zip(all_, result["data"], strict=True):
        draw_panel(axes, one)
    there = {m["name"] for one in result["data"] for m in one["methods"] if points(m)}
    names = [name for name in MARKS if name in there]
    marks = [Line2D([], [], **MARKS[name]) for name in names]
    figure.legend(marks, names, loc="outside upper center", ncols=len(MARKS))
    return figure


def draw_panel(axes: Any, one: dict[str, Any]) -> None:
    """A table."""
    ends: list[End] = []
    falling: list[list[Point]] = []
    least = 0.5 / one["test_rows"] if one["classes"] else 0.0  # instead of no error at all
    for method in sorted(one["methods"], key=lambda method: look(method)[1]):
        means, (color, width), name = points(method), look(method), method["name"]
        if not means:
            continue
        if name in MARKS:
            falling.append(means[:1])
            axes.plot(means[0]["seconds"], max(means[0]["error"], least), **MARKS[name])
            continue
        style = {"color": color, "lw": width, "ls": DASHES.get(name, "-")}
        best = draw_envelope(axes, means, fits(method), least, **style)
        falling.append(best)
        end = best[-1]["seconds"], max(best[-1]["error"], least)
        ends.append((*end, SHORT.get(name, name), color))
    name, note = one["name"].removesuffix(", all rows"), f"{one['rows']:,} rows"
    along_seconds(axes, name, note, one["classes"], in_sight(falling, least))
    seconds = [[point["seconds"] for point in best] for best in falling]
    if seconds:
        axes.set_xlim(left=max(min(map(min, seconds)), FIRST_SECONDS * max(map(max, seconds))))
    name_lines(axes, ends, HEIGHT * 0.6, max(map(max, seconds), default=0.0))


def fits(method: dict[str, Any]) -> list[Point]:
    """What each seed gave."""
    runs = [run for curve in method["curves"] for run in curve["runs"]]
    return [
        {"seconds": seconds, "error": error}
        for run in runs
        for seconds, error in zip(run["seconds"], run["error"], strict=True)
    ]


def in_sight(falling: list[list[Point]], least: float) -> tuple[float, float]:
    """From the least error to that of the worst first point, or of the middling end some times."""
    if not falling:
        return 0.1, 1.0
    ends = [[best[i]["error"] for best in falling] for i in (0, -1)]
    first, last = np.maximum(ends, least)
    return last.min(), min(first.max(), IN_SIGHT * np.median(last))
