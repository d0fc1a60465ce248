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


def seconds_table():
    part, names = part_of("seconds")
    rows = []
    sets = list(part["methods"][names[0]])
    for name in sets:
        cells = [part["methods"][method][name] for method in names]
        rows.append([name, *(f"{cell['seconds']:.2f}" for cell in cells)])
    if "MiniRocket" in names:
        seconds = {m: np.array([part["methods"][m][s]["seconds"] for s in sets]) for m in names}
        ratios = [np.exp(np.log(seconds[m] / seconds["MiniRocket"]).mean()) for m in names]
        rows.append(["geometric mean, MiniRocket: 1", *(f"{ratio:.2f}" for ratio in ratios)])
    text = f"Seconds on one thread to fit and predict. {where(part)}."
    return "\n".join([*grid(["series", *map(shown, names)], rows), "", text])


def growth_table():
    part, names = part_of("growth")
    rows = []
    for line in ("series", "length"):
        lines = {method: part["methods"][method][line] for method in names}
        sizes = [(cell["series"], cell["length"]) for cell in max(lines.values(), key=len)]
        for i, (n, length) in enumerate(sizes):
            cells = [lines[method][i] if i < len(lines[method]) else None for method in names]
            rows.append([f"{n:,} series of {length:,}", *map(time_and_memory, cells)])
        exponents = [slope(lines[method], line) for method in names]
        rows.append([f"exponents of the {'number' if line == 'series' else line}", *exponents])
    text = (
        "Seconds on one thread to fit and to predict as many series, and what both add to the peak "
        "of memory. Methods stop after the size that takes too long. Exponents say how seconds to "
        "fit and to predict grow over the largest half of the sizes; 1 is linear. "
        f"{where(part)}."
    )
    return "\n".join([*grid(["synthetic series", *map(shown, names)], rows), "", text])


def time_and_memory(cell):
    if cell is None:
        return ""
    seconds = f"{cell['fit_seconds']:.2f} + {cell['predict_seconds']:.2f} s"
    return f"{seconds}, {cell['mib']:,.0f} MiB"


def slope(cells, line):
    """Exponents with which seconds grow over the largest half of the sizes."""
    first, last = cells[len(cells) // 2 - 1], cells[-1]
    far = np.log(last[line] / first[line])
    fit, predict = (np.log(last[s] / first[s]) / far for s in ("fit_seconds", "predict_seconds"))
    return f"{fit:.2f}, {predict:.2f}"


def poolings_table():
    result = results("poolings")
    sets = list(result["sets"])
    base = {name: np.array(result["sets"][name][BASE]) for name in sets}
    variants = dict.fromkeys(v for name in sets for v in result["sets"][name])
    rows = []
    for variant in variants:
        gains = []
        for name in sets:
            found = result["sets"][name].get(variant)
            gains.append(None if found is None else np.array(found) - base[name])
        there = [gain for gain in gains if gain is not None]
        mean = np.mean([gain.mean() for gain in there])
        error = np.sqrt(sum(gain.var(ddof=1) / len(gain) for gain in there)) / len(there)
        cells = ["" if gain is None else f"{100 * gain.mean():+.1f}" for gain in gains]
        if variant == BASE:
            cells = [f"{100 * base[name].mean():.1f}" for name in sets]
            rows.insert(0, [variant, "", *cells])
        else:
            rows.append([variant, f"{100 * mean:+.2f} ± {100 * error:.2f}", *cells])
    draws = f"{result['draws']} {'draw' if result['draws'] == 1 else 'draws'} of neurons"
    text = (
        f"Accuracy in per cent of the poolings in use, and what other poolings gain with as many "
        f"columns ({result['columns']:,}): means of {result['splits']} splits and {draws}, ± the "
        f"standard error over splits. {where(result)}."
    )
    return "\n".join([*grid(["poolings", "gain, all sets", *sets], rows), "", text])


BASE = "most, least, positive"


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
        f"intervals of 90 % held the values. {where(result)}."
    )
    return "\n".join([*grid(heads, rows), "", text])


def if_measured(part, make):
    """The table of a part, or what measures it."""
    missing = f"Not measured yet: `make bench-series PARTS={part}` does this."
    return lambda: make() if part in results("series") else missing


TABLES = {
    "series": if_measured("accuracy", accuracy_table),
    "series-numbers": if_measured("numbers", numbers_table),
    "series-seconds": if_measured("seconds", seconds_table),
    "series-growth": if_measured("growth", growth_table),
    "poolings": poolings_table,
    "forecasting": forecasts_table,
}
