"""The picture of ``trickless demo``, from the numbers that it stores."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from trickless._pictures import styled

#: Colours of the style: of learners, of a second curve, and of models that are compared with.
BLUE, SKY, GREY = "#0072B2", "#56B4E9", "#666666"
COLOURS = {"Kitchen Sinks": BLUE, "Doubly Stochastic": "#D55E00", "Shrinking Gradient": "#009E73"}
#: Letters that stay readable where the picture is shown at three quarters.
LARGE: dict[Any, Any] = {
    "font.size": 12,
    "axes.titlesize": 15,
    "axes.labelsize": 12,
    "ytick.labelsize": 11,
}
LARGE |= {"xtick.labelsize": 11, "lines.markersize": 6}


def draw(results: dict[str, Any]) -> Figure:
    """Error of Kitchen Sinks along its neurons, and error and seconds of every model."""
    name, rows = results["data"]["name"], results["data"]["train"][0]
    with styled(), mpl.rc_context(LARGE):
        figure = Figure(figsize=(10, 4.4))
        left, right = figure.subplots(1, 2)
        draw_sizes(left, results["sizes"], results["table"])
        draw_table(right, results["table"])
        figure.supxlabel(f"{name}, {rows:,} rows to learn from", x=0.99, ha="right", size=10)
    return figure


def draw_sizes(axes: Any, sizes: dict[str, Any], table: list[dict[str, Any]]) -> None:
    """Mean errors along the number of neurons, in a band over the seeds, beside references."""
    named: dict[str, Any] = {"textcoords": "offset points", "va": "center", "size": 11}
    for (family, curve), color, off in zip(sizes.items(), (BLUE, SKY), (-14, 16), strict=True):
        x, errors = curve["neurons"], 100 * np.array(curve["error"])
        mean = errors.mean(axis=1)
        axes.plot(x, mean, "o-", color=color)
        low, high = errors.min(axis=1), errors.max(axis=1)
        axes.fill_between(x, low, high, color=color, alpha=0.2, lw=0)
        look = {"color": color, "ha": "center", "weight": "bold"}
        axes.annotate(family, (x[-1], mean[-1]), (0, off), **named, **look)
    first = min(curve["neurons"][0] for curve in sizes.values())
    for row in table:
        if row["neurons"] is None:
            axes.axhline(100 * row["error"], color=GREY, ls="--", lw=1)
            small = named | {"color": GREY, "ha": "left", "size": 10}
            axes.annotate(row["model"], (first, 100 * row["error"]), (-10, 7), **small)
    axes.margins(x=0.13, y=0.08)
    axes.set(
        title="More random neurons, less error",
        xscale="log",
        xlabel=f"neurons of Kitchen Sinks (bands: {errors.shape[1]} seeds)",
        ylabel="test error (%)",
    )
    axes.xaxis.set_major_formatter("{x:,.0f}")


def draw_table(axes: Any, table: list[dict[str, Any]]) -> None:
    """Draw a row for each model, the best at the top: a dot for its error, words for its time."""
    rows = sorted(table, key=lambda row: -row["error"])
    lowest, highest = (100 * rows[i]["error"] for i in (-1, 0))
    spread = highest - lowest or 1.0
    left = lowest - 0.1 * spread
    for place, row in enumerate(rows):
        color = COLOURS.get(row["model"].partition(",")[0], GREY)
        error = 100 * row["error"]
        axes.hlines(place, left, error, color=GREY, lw=0.8, alpha=0.3)
        axes.plot(error, place, "o", ms=10, color=color)
        text = f"{error:.1f} %, {row['fit_seconds']:.1f} s"
        look = {"textcoords": "offset points", "va": "center", "size": 11, "color": color}
        axes.annotate(text, (error, place), (10, 0), **look)
    best = min((row for row in rows if row["neurons"]), key=lambda row: row["error"])
    message = f"{100 * best['error']:.1f} % error in {best['fit_seconds']:.1f} seconds"
    axes.set_yticks(range(len(rows)), [row["model"] for row in rows])
    axes.set(title=message, xlabel="test error (%), and seconds of fit")
    axes.set_xlim(left, highest + 0.55 * spread)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
