"""The picture of the comparison with boosted trees: test error along seconds, a panel a table.

A line is the least error so far of a group: ours, the four libraries of boosted trees whose
settings were chosen, and all other methods. ``make pictures`` draws it again from the stored file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from equal_seconds import BINARY, BOOSTED, CHIMERA, DEFAULTS, FAST_CHIMERA, TREES, points
from pictures import BLUE, GREY, RED, Point, along_seconds, draw_envelope, panels

OURS = TREES, BINARY, DEFAULTS
#: Groups of methods, with how their lines are drawn.
GROUPS: dict[str, dict[str, Any]] = {
    "others: ExtraTrees, xRFM, ChimeraBoost, Kitchen Sinks": {"color": GREY, "lw": 1.2},
    "best of four tuned libraries of boosted trees": {"color": BLUE, "lw": 1.6},
    "ours": {"color": RED, "lw": 2.6},
}
#: Shares of the longest and multiples of the middling last error that are in sight.
FIRST_SECONDS, IN_SIGHT = 3e-3, 4.0
COLUMNS, HEIGHT = 3, 2.3


def group_of(method: dict[str, Any]) -> str:
    """The group of a method."""
    others, boosted, ours = GROUPS
    if method["name"] in OURS:
        return ours
    chimera = method["name"] in (CHIMERA, FAST_CHIMERA)
    return boosted if method["group"] == BOOSTED and not chimera else others


def draw(result: dict[str, Any]) -> Figure:
    """Error along the seconds of a fit on logarithmic axes."""
    figure, all_ = panels(len(result["data"]), COLUMNS, HEIGHT)
    for i, (axes, one) in enumerate(zip(all_, result["data"], strict=True)):
        draw_panel(axes, one)
        if i + COLUMNS < len(all_):
            axes.set_xlabel("")
    lines = [Line2D([], [], **look) for look in reversed(GROUPS.values())]
    figure.legend(lines, list(reversed(GROUPS)), loc="outside upper left", ncols=1)
    return figure


def draw_panel(axes: Any, one: dict[str, Any]) -> None:
    """A table."""
    falling: list[list[Point]] = []
    least = 0.5 / one["test_rows"] if one["classes"] else 0.0  # instead of no error at all
    for group, look in GROUPS.items():
        members = [method for method in one["methods"] if group_of(method) == group]
        means = [point for method in members for point in points(method)]
        if means:
            falling.append(draw_envelope(axes, means, [], least, **look))
    name, note = one["name"].removesuffix(", all rows"), f"{one['rows']:,} rows"
    along_seconds(axes, name, note, one["classes"], in_sight(falling, least))
    seconds = [[point["seconds"] for point in best] for best in falling]
    if seconds:
        axes.set_xlim(left=max(min(map(min, seconds)), FIRST_SECONDS * max(map(max, seconds))))


def in_sight(falling: list[list[Point]], least: float) -> tuple[float, float]:
    """From the least error to that of the worst first point, or of the middling end some times."""
    if not falling:
        return 0.1, 1.0
    ends = [[best[i]["error"] for best in falling] for i in (0, -1)]
    first, last = np.maximum(ends, least)
    return last.min(), min(first.max(), IN_SIGHT * np.median(last))
