"""Tables of docs/benchmarks/doubly-stochastic.md."""

from __future__ import annotations

from pages.common import grid, results, where


def dai_table():
    result = results("dai2014")
    rows, aims, sides = [], [], []
    for data in result["data"]:
        for method in data["methods"]:
            last = method["snapshots"][-1]
            if data["outputs"] == ["error"]:
                error = f"{last['errors'][0]:.2%}"
            else:
                error = " / ".join(f"{value:.3f}" for value in last["errors"]) + " eV"
            of_kernel = method["name"] in result["settings"]["grids"]
            rows.append(
                [
                    data["name"],
                    method["name"],
                    error,
                    f"{last['seconds']:.1f}",
                    f"{last['passes']:.2f}",
                    f"{last['size']:,} {'support points' if of_kernel else 'neurons'}",
                ]
            )
        for output, side in zip(data["outputs"], data.get("comparison", []), strict=False):
            unit = "{:.2%}" if output == "error" else "{:.3f} eV"
            what = data["name"] if output == "error" else f"{data['name']}, {output.split(',')[0]}"
            ours, best = unit.format(side["error"]), unit.format(side["best"])
            sides.append(f"{what}: {ours} in {side['seconds']:.0f} s, {best} ({side['by']})")
        if aim := data.get("aim"):
            limit = f" within {aim['seconds']} s" if aim["seconds"] else ""
            met = "met" if aim["met"] else "not met"
            aims.append(f"{data['name']} at most {aim['error']:.1%}{limit}, {met}")
    every = [method for data in result["data"] for method in data["methods"]]
    later = {method["name"]: where(method) for method in every if "circumstances" in method}
    anew = [
        f"{', '.join(name for name, made in later.items() if made == when)}: {when}."
        for when in dict.fromkeys(later.values())
    ]
    head = ["data", "method", "test error", "seconds", "passes", "size"]
    text = (
        "The last snapshot of each. With nothing set, and the best method of others with a "
        f"snapshot in as many seconds: {'; '.join(sides)}. Aims for nothing set or large blocks: "
        f"{'; '.join(aims)}. {where(result)}. Measured later: {' '.join(anew)}"
    )
    return "\n".join([*grid(head, rows), "", text])


def convergence_table():
    result = results("convergence")
    rows = [
        [
            line["family"],
            f"{line['slope']:.2f} ± {line['slope_standard_error']:.2f}",
            f"{line['distance'][0]:.2g}",
            f"{line['distance'][-1]:.2g}",
        ]
        for line in result["lines"]
    ]
    first, last = result["steps"][0], result["steps"][-1]
    head = ["neurons", "slope", f"after {first:,} steps", f"after {last:,}"]
    text = f"Means of {result['runs']} runs; the slope ± standard error. {where(result)}."
    return "\n".join([*grid(head, rows), "", text])


def step_table():
    result = results("doubly_stochastic_step")
    rows = []
    for run in result["steps"]:
        bare = min(run["seconds"]["bare"], run["seconds"]["bare in blocks"])
        rows.append(
            [
                f"{run['rows']:,}",
                f"{run['new']:,}",
                f"{run['neurons']:,}",
                f"{run['columns']:,}",
                f"{run['outputs']:,}",
                run["schedule"],
                f"{1e3 * run['seconds']['step']:.1f} ms",
                f"{1e3 * bare:.1f} ms",
                f"{run['ratio']:.2f}",
                f"{run['ratio of partial_fit']:.2f}",
            ]
        )
    head = [
        "rows",
        "new",
        "earlier",
        "features",
        "outputs",
        "schedule",
        "step",
        "bare",
        "ratio",
        "of `partial_fit`",
    ]
    return "\n".join([*grid(head, rows), "", f"{where(result)}."])


def kept_table():
    result = results("doubly_stochastic_step")
    rows = [
        [
            f"{run['passes']:,}",
            f"{run['seconds']['kept']:.2f} s",
            f"{run['seconds']['scratch']:.2f} s",
            f"{run['speed_up']:.1f}",
        ]
        for run in result["fits"]
    ]
    one = result["fits"][0]
    head = ["passes", "`fit`", "from scratch", "ratio"]
    text = (
        f"{one['rows']:,} rows of 50 features, {one['batch']:,} rows and {one['new']} neurons a "
        f"step. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


TABLES = {
    "kept": kept_table,
    "convergence": convergence_table,
    "step": step_table,
    "dai2014": dai_table,
}
