"""Tables of docs/benchmarks/doubly-stochastic.md."""

from __future__ import annotations

from pages.common import grid, results, where


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
}
