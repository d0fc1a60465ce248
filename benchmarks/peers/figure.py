"""The picture of the comparison: the least error that each group reaches in so many seconds.

A panel for each data set. Small dots are fits of all methods; a line goes along those that no
faster fit of their group matches, and has the name of the method that it ends with.
``make pictures`` draws it anew from the stored file.
"""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from pictures import BLUE, GREY, RED, End, along_seconds, draw_envelope, name_lines, panels
from summary import SOME_ROWS, points

#: Name, color and width of the line of each group.
GROUPS = {
    "kernel": ("kernel or random-feature peers", BLUE, 1.5),
    "trees": ("trees", GREY, 1.5),
    "ours": ("ours", RED, 2.6),
}
HEIGHT = 2.5


def draw(result: dict[str, Any]) -> Figure:
    """Error along the seconds of a fit on logarithmic axes."""
    figure, all_ = panels(len(result["data"]), 2, HEIGHT)
    for axes, one in zip(all_, result["data"], strict=True):
        draw_panel(axes, one)
    lines = {line.get_label(): line for axes in all_ for line in axes.get_lines()}
    names = [name for name, *_ in reversed(GROUPS.values()) if name in lines]
    where = {"loc": "outside upper center", "ncols": len(GROUPS)}
    figure.legend([lines[name] for name in names], names, **where)
    return figure


def draw_panel(axes: Any, one: dict[str, Any]) -> None:
    """A data set: the envelope of each group."""
    ends: list[End] = []
    errors: list[float] = []
    for kind, (name, color, width) in GROUPS.items():
        some = points(one, kind)
        if not some:
            continue
        best = draw_envelope(axes, some, some, label=name, color=color, lw=width)
        last = best[-1]
        method = last["method"].removeprefix("Kitchen Sinks, ").removesuffix(SOME_ROWS)
        method = method.replace("HistGradientBoosting", "HistGB").replace(" + ", "\n+ ")
        ends.append((last["seconds"], last["error"], method, color))
        errors += [point["error"] for point in best]
    along_seconds(axes, one["name"], "", one["classes"], (min(errors), max(errors)))
    name_lines(axes, ends, HEIGHT / 2)
