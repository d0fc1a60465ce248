"""The picture of the comparison: the least error that each group reaches in so many seconds.

A panel for each data set. Small dots are fits of all methods; a line goes along those that no
faster fit of their group matches, and has the name of the method that it ends with. Run as
``python benchmarks/peers/figure.py`` to draw it anew from the stored file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from panels import BLUE, GREY, RED, End, finish, name_lines, panels
from summary import SOME_ROWS, Point, points

PATH = Path(__file__).parents[1] / "results" / "peers.json"
#: Name, color and width of the line of each group.
GROUPS = {
    "kernel": ("kernel or random-feature peers", BLUE, 1.8),
    "trees": ("trees", GREY, 1.8),
    "ours": ("ours", RED, 3.0),
}


def draw(results: list[dict[str, Any]]) -> Figure:
    """Error along the seconds of a fit on logarithmic axes."""
    figure, all_ = panels(len(results), 4.4)
    for axes, one in zip(all_, results, strict=True):
        draw_panel(axes, one)
    lines = {line.get_label(): line for axes in all_ for line in axes.get_lines()}
    names = [name for name, *_ in reversed(GROUPS.values()) if name in lines]
    where = {"loc": "outside upper left", "ncols": len(GROUPS), "frameon": False}
    figure.legend([lines[name] for name in names], names, **where)
    return figure


def draw_panel(axes: Any, one: dict[str, Any]) -> None:
    """A data set: the front of each group."""
    ends: list[End] = []
    errors: list[float] = []
    for kind, (name, color, width) in GROUPS.items():
        some = points(one, kind)
        if not some:
            continue
        x, y = ([point[key] for point in some] for key in ("seconds", "error"))
        axes.plot(x, y, ".", ms=4, color=color, alpha=0.3, mew=0)
        best = front(some)
        x, y = ([point[key] for point in best] for key in ("seconds", "error"))
        axes.plot(x, y, drawstyle="steps-post", label=name, color=color, lw=width)
        axes.plot(x, y, "o", ms=width + 2, color=color)
        method = best[-1]["method"].removeprefix("Kitchen Sinks, ").removesuffix(SOME_ROWS)
        ends.append((x[-1], y[-1], method, color))
        errors += y
    finish(axes, one["name"], one["classes"], (min(errors), max(errors)))
    name_lines(axes, ends)


def front(some: list[Point]) -> list[Point]:
    """The points that no faster or equally fast one matches, by seconds."""
    result: list[Point] = []
    for point in sorted(some, key=lambda point: (point["seconds"], point["error"])):
        if not result or point["error"] < result[-1]["error"]:
            result.append(point)
    return result


def main() -> None:
    draw(json.loads(PATH.read_text())["data"]).savefig(PATH.with_suffix(".png"), dpi=80)


if __name__ == "__main__":
    main()
