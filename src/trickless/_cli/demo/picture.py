"""The picture of ``trickless demo``, from the numbers that it stores."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from trickless._learners.displays import IntervalDisplay
from trickless._pictures import styled

#: Colours of the style: of this package, and of models that it is compared with.
BLUE, GREY = "#0072B2", "#666666"
OURS = "AutoRegressor", "BoostedTreesRegressor"
#: Letters that stay readable where the picture is shown at three quarters.
LARGE: dict[Any, Any] = {
    "font.size": 12,
    "axes.titlesize": 14,
    "axes.labelsize": 12,
    "ytick.labelsize": 11,
    "xtick.labelsize": 11,
}


def draw(results: dict[str, Any]) -> Figure:
    """Error and seconds of every model, and intervals of new rows."""
    with styled(), mpl.rc_context(LARGE):
        figure = Figure(figsize=(10, 4.2))
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
        draw_table(left, results)
        y, low, high = np.array(results["intervals"]).T
        shown = IntervalDisplay(y_true=y, low=low, high=high, confidence=results["confidence"])
        shown.plot(right, n_rows=120)
        right.set(ylabel=results["data"]["target"], xlabel="new rows, by their predictions")
        right.yaxis.set_major_formatter("{x:,.0f}")
        right.set_title(f"{results['confidence']:.0%} intervals hold {shown.coverage_:.0%}")
        name, rows = results["data"]["name"], results["data"]["rows"]
        figure.supxlabel(f"{name}, {rows:,} rows", x=0.99, ha="right", size=10)
    return figure


def draw_table(axes: Any, results: dict[str, Any]) -> None:
    """Draw a row for each model, the best at the top: a dot for its error, words for its time."""
    rows = sorted(results["table"], key=lambda row: -row["error"])
    highest = max(row["error"] + row["standard_error"] for row in rows)
    for place, row in enumerate(rows):
        color = BLUE if row["model"] in OURS else GREY
        bar = {"color": color, "capsize": 3, "ms": 9, "fmt": "o"}
        axes.errorbar(row["error"], place, xerr=row["standard_error"], **bar)
        text = f"{row['error']:.3f}, {row['fit_seconds']:.1f} s"
        look = {"textcoords": "offset points", "va": "center", "size": 11, "color": color}
        axes.annotate(text, (row["error"] + row["standard_error"], place), (8, 0), **look)
    axes.set_yticks(range(len(rows)), [row["model"] for row in rows])
    axes.set(
        title="Nothing set, least error" if rows[-1]["model"] in OURS else "Nothing set",
        xlabel="error (1 − R²) of new rows, and seconds of fit",
        xlim=(0, 1.45 * highest),
        ylim=(-0.6, len(rows) - 0.4),
    )
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
