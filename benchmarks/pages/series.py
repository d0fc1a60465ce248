"""Tables of docs/benchmarks/series.md."""

from __future__ import annotations

import numpy as np

from pages.common import grid, results, where

METHODS = "Convolutions 340", "Convolutions 170", "MiniRocket", "MultiRocket", "Hydra"
#: Published means of accuracy of the archive's resamples.
PUBLISHED = {
    "ArrowHead": (0.881, 0.870, 0.897),
    "ItalyPowerDemand": (0.960, 0.962, 0.964),
    "GunPoint": (0.992, 0.998, 0.999),
    "ACSF1": (0.822, 0.807, 0.833),
    "PigCVP": (0.919, 0.911, 0.854),
}


def shown(method):
    return method.replace("Convolutions", "`Convolutions`, neurons:")


def part_of(name):
    """A part of the results, and its methods in the order of the script."""
    part = results("series")[name]
    return part, [method for method in METHODS if method in part["methods"]]


def accuracy_table():
    part, names = part_of("accuracy")
    found = [part["methods"][method] for method in names]
    rows = [[name, *(with_error(one.get(name)) for one in found)] for name in found[0]]
    common = [name for name in found[0] if all(name in one for one in found)]
    lines = {"mean of sets of all methods": common, "mean of the five published": PUBLISHED}
    for title, some in lines.items():
        means = [np.mean([one[name]["accuracy"] for name in some]) for one in found]
        rows.append([title, *(f"{mean:.4f}" for mean in means)])
    losses = [np.mean([one[name]["log_loss"] for name in common]) for one in found]
    rows.append(["log loss, mean of the same", *(f"{loss:.2f}" for loss in losses)])
    published = np.mean(list(PUBLISHED.values()), axis=0)
    text = (
        f"Means of {part['resamples']} resamples ± standard errors. Published means of the five "
        f"sets {', '.join(PUBLISHED)}: MiniRocket {published[0]:.4f}, Hydra {published[1]:.4f}, "
        f"Hydra and MultiRocket together {published[2]:.4f}. {where(part)}."
    )
    return "\n".join([*grid(["series", *map(shown, names)], rows), "", text])


def with_error(cell):
    return f"{cell['accuracy']:.4f} ± {cell['standard_error']:.4f}" if cell else ""


def numbers_table():
    part, names = part_of("numbers")
    rows = []
    for name in part["methods"][names[0]]:
        cells = [part["methods"][method][name] for method in names]
        rows.append([name, *(f"{c['rmse']:.4f} ± {c['standard_error']:.4f}" for c in cells)])
    text = (
        f"Root mean squared errors of {part['resamples']} resamples ± standard errors. "
        f"{where(part)}."
    )
    return "\n".join([*grid(["series", *map(shown, names)], rows), "", text])


def forecasts_table():
    result = results("forecasting")
    rows = []
    for name, methods in result["sets"].items():
        naive = methods["seasonal naive"]["mae"]
        for method, one in methods.items():
            left_out, earlier = one.get("left_out"), one["earlier"]
            rows.append(
                [
                    name,
                    method,
                    f"{one['mae'] / naive:.2f}",
                    f"{left_out['held']:.0%}" if left_out else "",
                    f"{earlier['held']:.0%}",
                ]
            )
    heads = [
        "series",
        "forecast",
        "error, seasonal naive: 1",
        "held, rows left out",
        "held, earlier errors",
    ]
    text = (
        "Mean absolute errors of all steps ahead, relative to the season before; and how often "
        f"intervals of 90% held the values. {where(result)}."
    )
    return "\n".join([*grid(heads, rows), "", text])


def if_measured(part, make):
    """The table of a part, or what measures it."""
    missing = f"Not measured yet: `make bench-series PARTS={part}` does this."
    return lambda: make() if part in results("series") else missing


TABLES = {
    "series": if_measured("accuracy", accuracy_table),
    "series-numbers": if_measured("numbers", numbers_table),
    "forecasting": forecasts_table,
}
