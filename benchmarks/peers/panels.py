"""What the pictures of error along seconds share: scales, ticks, and names at the ends of lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

RED, ORANGE, BLUE, GREY = "#c8102e", "#e8892b", "#2a5caa", "0.45"
PANELS_A_ROW = 3
#: Height of a name and margin as a share of a panel, and the most ticks.
LABEL, MARGIN, MOST_TICKS = 0.055, 0.05, 7
#: Ticks between powers of ten, from few to many.
TICKS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    np.arange(1, 10, 0.5),
    np.arange(1, 10, 0.1),
)
#: A line: its last seconds and error, its name, and its color.
End = tuple[float, float, str, str]


def panels(n: int, height: float) -> tuple[Figure, list[Any]]:
    """A figure of ``n`` panels, ``height`` inches each."""
    rows, columns = max(1, -(-n // PANELS_A_ROW)), max(1, min(n, PANELS_A_ROW))
    figure = Figure(figsize=(6 * columns, height * rows), layout="constrained")
    all_ = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in all_[n:]:
        axes.set_visible(False)
    return figure, list(all_[:n])


def finish(axes: Any, title: str, classes: int, errors: tuple[float, float]) -> None:
    """Logarithmic axes with plain numbers, and a margin around two errors."""
    margin = (errors[1] / errors[0]) ** MARGIN
    errors = errors[0] / margin, errors[1] * margin
    axes.set(xscale="log", yscale="log", ylim=errors, xlabel="seconds of fit")
    axes.set_ylabel("test error" if classes else "1 - R² on test rows")
    axes.set_title(title, loc="left")
    powers = 10.0 ** np.arange(-9, 3)
    for subs in TICKS:
        ticks = np.sort(np.outer(powers, subs).ravel())
        inside = ticks[(ticks >= errors[0]) & (ticks <= errors[1])]
        if len(inside) > MOST_TICKS / 2:
            break
    axes.yaxis.set(major_locator=FixedLocator(inside[:: -(-len(inside) // MOST_TICKS)]))
    axes.yaxis.set(minor_locator=NullLocator(), minor_formatter=NullFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    for axis in axes.xaxis, axes.yaxis:
        axis.set(major_formatter=FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def name_lines(axes: Any, ends: list[End]) -> None:
    """Names right of all lines, each as near to its own as it can be without touching another.

    To be called after the scales are set. A line is carried on to the right, since the least error
    so far stays.
    """
    low, high = np.log(axes.get_ylim())
    right, top = max((x for x, *_ in ends), default=1.0) * 1.1, axes.get_ylim()[1]
    ends = sorted(ends, key=lambda end: end[1])
    places = [(np.log(min(y, top)) - low) / (high - low) for _, y, *_ in ends]
    axes.set_xlim(right=right)
    share = {"transform": axes.transAxes, "clip_on": False}
    for (x, y, name, color), place, height in zip(ends, places, apart(places), strict=True):
        faint = {"color": color, "lw": 0.8, "alpha": 0.4}
        axes.plot([x, right], [min(y, top)] * 2, **faint)
        axes.plot([1, 1.03], [place, height], **share, **faint)
        weight = "bold" if name == "ours" else "normal"
        text = f"{name} (above)" if y > top else name
        axes.text(1.04, height, text, color=color, va="center", size=9, weight=weight, **share)


def apart(heights: list[float]) -> list[float]:
    """Rising heights within 0 and 1, moved so that there is a name's height between any two."""
    result = [min(max(height, 0.0), 1.0) for height in heights]
    for i in range(1, len(result)):
        result[i] = max(result[i], result[i - 1] + LABEL)
    top = 1.0
    for i in reversed(range(len(result))):
        result[i] = min(result[i], top)
        top = result[i] - LABEL
    return result
