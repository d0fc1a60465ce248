"""Tables of docs/benchmarks/neurons.md."""

from __future__ import annotations

import numpy as np

from pages.common import grid, results, where


def frequencies_table():
    result = results("frequencies")
    cells = [c for c in result["cells"] if c["neurons"] == 256 and c["sampling"] != "iid"]
    sets = list(dict.fromkeys(c["data"] for c in cells))
    rows = []
    for family, sampling in dict.fromkeys((c["family"], c["sampling"]) for c in cells):
        some = {
            c["data"]: f"{c['ratio']:.2f} ± {c['ratio_error']:.2f}"
            for c in cells
            if (c["family"], c["sampling"]) == (family, sampling)
        }
        rows.append([family, sampling, *(some.get(name, "") for name in sets)])
    heads = [name.replace("normal, ", "normal, d = ") for name in sets]
    return "\n".join([*grid(["kernel", "sampling", *heads], rows), "", f"{where(result)}."])


def images_table():
    settings = results("images")["settings"]
    rows = []
    for name, one in settings.items():
        runs = one["runs"]
        filters = " + ".join(map(str, one["filters"]))
        errors = ", ".join(f"{run['error']:.2%}" for run in runs)
        seconds = np.median([run["fit_seconds"] + run["predict_seconds"] for run in runs])
        peak = f"{max(run['peak_mib'] for run in runs):,.0f} MiB"
        size = [str(one["layers"]), filters, f"{runs[0]['columns']:,}"]
        rows.append([name, f"`{one['neurons']}`", *size, errors, f"{seconds:.0f}", peak])
    aims = [
        f"{name}, at most {aim['wanted']['error']:.1%} within {aim['wanted']['seconds']} s, "
        f"{'met' if aim['met'] else 'not met'}"
        for name in ("patches", "two layers")
        if name in settings and (aim := settings[name]["aim"])
    ]
    text = (
        "Filters of each layer of patches. An error for each seed; seconds to fit and predict. "
        f"Aims: {'; '.join(aims)}. {where(*settings.values())}."
    )
    sizes = "layers", "filters", "columns"
    head = ["name", "neurons", *sizes, "test error", "seconds", "peak of fit"]
    return "\n".join([*grid(head, rows), "", text])


def networks_table():
    result = results("networks")
    rows = []
    for family, runs in result["families"].items():
        for learner, run in runs.items():
            seconds = f"{run['fit_seconds']:.1f}", f"{run['predict_seconds']:.1f}"
            rows.append([family, learner, f"{run['error']:.2%}", *seconds])
    head = ["neurons", "learner", "test error", "seconds to fit", "to predict"]
    text = f"{result['neurons']:,} neurons and {result['rows']:,} training images. {where(result)}."
    return "\n".join([*grid(head, rows), "", text])


def relevance_table():
    result = results("relevance")
    cells = {(run["data"], run["family"], run["by"]): run for run in result["runs"]}
    data = list(dict.fromkeys(run["data"] for run in result["runs"]))
    rows = []
    for family, by in dict.fromkeys((run["family"], run["by"]) for run in result["runs"]):
        runs = [cells[name, family, by] for name in data]
        shown = [f"{r['error']:.4f} ± {r['deviation']:.4f}, {r['seconds']:.2g} s" for r in runs]
        rows.append([f"`{family}`", by if by == "None" else f'"{by}"', *shown])
    head = ["neurons", "`length_scale` or `feature_weights`", *data]
    text = (
        "Test error (1 − R² of numbers, a share of labels): mean of "
        f"{result['seeds']} seeds ± the deviation between them; medians of seconds. "
    )
    return "\n".join([*grid(head, rows), "", f"{text}{where(result)}."])


TABLES = {
    "relevance": relevance_table,
    "frequencies": frequencies_table,
    "images": images_table,
    "networks": networks_table,
}
