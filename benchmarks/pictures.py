"""What the pictures of the benchmarks share: style, colours, panels, bands and envelopes.

Pictures are as wide as a page, which shows them in 100 pixels an inch. A module with a picture has
``draw``, which makes it from the stored result alone. ``redraw`` writes it beside the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from trickless._pictures import styled

RESULTS = Path(__file__).parent / "results"
WIDTH = 7.0
#: Colours of the style, by name: vermilion, orange and so on of Okabe and Ito.
RED, ORANGE, BLUE, GREEN = "#D55E00", "#E69F00", "#0072B2", "#009E73"
SKY, PINK, BLACK, GREY = "#56B4E9", "#CC79A7", "#000000", "#777777"
#: Size of a name in points, the space it takes in inches, margin as a share, and the most ticks.
NAME_SIZE, NAME_HEIGHT, MARGIN, MOST_TICKS = 8, 0.13, 0.05, 7
#: Ticks between powers of ten, from few to many.
TICKS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    range(1, 10),
    np.arange(2, 20) / 2,
    np.arange(10, 100) / 10,
    np.arange(50, 500) / 50,
)
#: A point has seconds and an error. A line has its last seconds and error, a name, and a color.
Point = dict[str, Any]
End = tuple[float, float, str, str]


def redraw(draw: Callable[[Any], Figure], path: Path, folder: Path | None = None) -> None:
    """Draw a stored result in the style of the package, beside its file or in another folder."""
    with styled():
        picture = (folder or path.parent) / f"{path.stem}.png"
        draw(json.loads(path.read_text())).savefig(picture)
    print(f"wrote {picture}", flush=True)


def panels(n: int, columns: int, height: float) -> tuple[Figure, list[Any]]:
    """A figure of ``n`` panels, ``height`` inches each."""
    columns = max(1, min(n, columns))
    rows = max(1, -(-n // columns))
    figure = Figure(figsize=(WIDTH, height * rows))
    all_ = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in all_[n:]:
        axes.set_visible(False)
    return figure, list(all_[:n])


def band(axes: Any, x: Any, middle: Any, low: Any, high: Any, **look: Any) -> Any:
    """A line, and a band around it in its color; errors of the mean or the like."""
    (line,) = axes.plot(x, middle, **look)
    axes.fill_between(x, low, high, color=line.get_color(), alpha=0.2, lw=0)
    return line


def plain_numbers(axis: Any, low: float | None = None, high: float | None = None) -> None:
    """Some plain numbers at the ticks of a logarithmic axis, between two values or its limits."""
    limits = axis.get_view_interval()
    low, high = limits[0] if low is None else low, limits[1] if high is None else high
    powers = 10.0 ** np.arange(-12, 12)
    for subs in TICKS:
        ticks = np.sort(np.outer(powers, subs).ravel())
        inside = ticks[(ticks >= low) & (ticks <= high)]
        if len(inside) > MOST_TICKS / 2:
            break
    axis.set_major_locator(FixedLocator(inside[:: -(-len(inside) // MOST_TICKS)]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def along_seconds(
    axes: Any, title: str, note: str, classes: int, errors: tuple[float, float]
) -> None:
    """Logarithmic axes of error along seconds, with a margin around two errors.

    The note stands in small letters below the title.
    """
    margin = (errors[1] / errors[0]) ** MARGIN
    errors = errors[0] / margin, errors[1] * margin
    axes.set(xscale="log", yscale="log", ylim=errors, xlabel="seconds of fit")
    axes.set_title(f"{title}\n" if note else title)
    axes.text(0, 1.04, note, transform=axes.transAxes, size=9)
    axes.set_ylabel("test error" if classes else "1 - R² on test rows")
    plain_numbers(axes.yaxis, *errors)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter("")


def envelope(some: list[Point]) -> list[Point]:
    """The lowest error reached in so many seconds: points that no faster or equal one matches."""
    result: list[Point] = []
    for point in sorted(some, key=lambda point: (point["seconds"], point["error"])):
        if not result or point["error"] < result[-1]["error"]:
            result.append(point)
    return result


def draw_envelope(
    axes: Any, some: list[Point], fits: list[Point], least: float = 0.0, **look: Any
) -> list[Point]:
    """The envelope of some points as steps, and fits as faint dots; the points it goes along.

    ``least`` is drawn instead of any lower error, since an axis of logarithms has no 0.
    """
    best, color = envelope(some), look["color"]
    x, y = ([fit[key] for fit in fits] for key in ("seconds", "error"))
    axes.plot(x, np.maximum(y, least), ".", ms=3, color=color, alpha=0.25, mew=0)
    x, y = ([point[key] for point in best] for key in ("seconds", "error"))
    axes.plot(x, np.maximum(y, least), drawstyle="steps-post", **look)
    axes.plot(x[-1:], np.maximum(y[-1:], least), "o", color=color, ms=look["lw"] + 2)
    return best


def name_lines(axes: Any, ends: list[End], height: float, until: float = 0.0) -> None:
    """Names right of all lines, each as near to its own as it can be without touching another.

    To be called after the scales are set. A line is carried on to the right, since the least error
    so far stays. ``height`` is the height of the panel in inches, and ``until`` the least second
    that has to be in sight.
    """
    low, high = np.log(axes.get_ylim())
    right, top = max([until, *(x for x, *_ in ends)]) * 1.1 or 1.0, axes.get_ylim()[1]
    ends = sorted(ends, key=lambda end: end[1])
    places = [(np.log(min(y, top)) - low) / (high - low) for _, y, *_ in ends]
    axes.set_xlim(right=right)
    share = {"transform": axes.transAxes, "clip_on": False}
    spaces = [NAME_HEIGHT / height * (1 + name.count("\n")) for _, _, name, _ in ends]
    heights = apart(places, spaces)
    for (x, y, name, color), place, at in zip(ends, places, heights, strict=True):
        faint = {"color": color, "lw": 0.8, "alpha": 0.4}
        axes.plot([x, right], [min(y, top)] * 2, **faint)
        axes.plot([1, 1.05], [place, at], **share, **faint)
        weight = "bold" if name == "ours" else "normal"
        text = f"{name} (above)" if y > top else name
        look = {"color": color, "size": NAME_SIZE, "weight": weight, "va": "center"}
        axes.text(1.06, at, text, **look, **share)


def apart(heights: list[float], spaces: list[float]) -> list[float]:
    """Rising heights within 0 and 1, moved so that things of these sizes do not touch."""
    result = [min(max(height, 0.0), 1.0) for height in heights]
    between = [(low + high) / 2 for low, high in pairwise(spaces)]
    for i, space in enumerate(between):
        result[i + 1] = max(result[i + 1], result[i] + space)
    top = 1.0
    for i, space in reversed([*enumerate([*between, 0.0])]):
        result[i] = min(result[i], top - space)
        top = result[i]
    return result
