"""Tables of docs/benchmarks/kitchen-sinks.md."""

from __future__ import annotations

from pages.common import grid, results, where


def points_of(method, one):
    return [point for point in one["points"] if point["method"] == method]


def total(point):
    """Seconds of training and testing, as the paper counts them."""
    return point["seconds"] + point["predict_seconds"]


def best_error_table():
    result = results("rahimi2008")
    rows, aims = [], []
    for one in result["data"]:
        for method in (*one["neurons"], "AdaBoost"):
            best = min(points_of(method, one), key=lambda point: point["error"])
            took = f"{best['seconds']:.3g}", f"{best['predict_seconds']:.2g}"
            rows.append([one["name"], method, f"{best['size']:,}", f"{best['error']:.2%}", *took])
    for aim in result["aims"]:
        met = "met" if aim["met"] else "not met"
        if aim["best"]:
            met += (
                f" with {aim['best']['error']:.2%} in {total(aim['best']):.3g} s with predictions"
            )
            components = aim["best"].get("components")
            met += f", on {components} principal components of the pixels" if components else ""
        aims.append(f"- {aim['what']}, at most {aim['error']:.1%} {aim['when']}: {met}.")
    head = ["data", "method", "neurons or rounds", "test error", "seconds", "seconds to predict"]
    runs = f"{where(result)}; MNIST up to commit {result['mnist']['circumstances']['commit']}"
    return "\n".join([*grid(head, rows), "", "Aims set beforehand:", "", *aims, "", f"{runs}."])


def mnist_table():
    rows = []
    for point in results("rahimi2008")["mnist"]["points"]:
        inputs = point["components"] and f"{point['components']} principal components"
        row = [inputs or "pixels", f"`{point['family']}`", f"{point['neurons']:,}"]
        row += [f"{point['error']:.2%}", f"{point['seconds']:.3g}"]
        rows.append([*row, f"{point['predict_seconds']:.2g}", point["commit"]])
    head = ["inputs", "neurons", "K", "test error", "seconds", "seconds to predict", "commit"]
    return "\n".join(grid(head, rows))


def solvers_table():
    result = results("solvers")
    rows = []
    for one in result["solvers"]:
        seconds, memory = f"{one['seconds']:.1f}", f"{one['peak_mib'] / 1024:.1f} GiB"
        found = f"{one['test_error']:.2%}", f"{one['mean_alpha']:.1e}", f"{one['iterations']}"
        rows.append([f"{one['columns']:,}", one["solver"], seconds, memory, *found])
    last = {one["solver"]: one for one in result["solvers"][-2:]}
    ratio = last["direct"]["seconds"] / last["iterative"]["seconds"]
    most = f"With {last['direct']['columns']:,} columns, the direct solver takes {ratio:.1f} times"
    text = f"{most} as long. {where(result)}."
    head = ["columns", "solver", "seconds", "peak memory", "test error", "mean alpha", "passes"]
    return "\n".join([*grid(head, rows), "", text])


def mean_and_worst(ratios):
    return [f"{sum(ratios) / len(ratios):.2f}", f"{max(ratios):.2f}"]


def alpha_numbers_table():
    result = results("alpha")
    rows, all_ratios = [], []
    for one in result["numbers"]:
        setting = [f"{one['n']:,}", f"{one['columns']:,}", one["X"], one["noise"]]
        row = [*setting, "yes" if one["streams"] else "no", *mean_and_worst(one["ratios"])]
        rows.append(row)
        all_ratios += one["ratios"]
    rows.append(["all", "", "", "", "", *mean_and_worst(all_ratios)])
    head = ["rows", "columns", "X", "noise", "stream", "mean ratio", "worst ratio"]
    return "\n".join([*grid(head, rows), "", f"{where({'circumstances': result})}."])


def kitchen_sinks_stream_table():
    result = results("kitchen_sinks_stream")
    rows = [
        [f"{r['rows']:,}", f"{r['resident_mib']:.0f} MiB", f"{r['rows'] / r['seconds']:,.0f}"]
        for r in result["reports"]
        if r["rows"] in (500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000)
    ]
    solved = result["solved"]
    text = (
        f"The solve took {solved['solve_seconds']:.2f} s. On new rows without noise, the mean "
        f"squared error is {solved['mean_squared_error']:.3f}, of a variance of "
        f"{solved['variance']:.3f}."
    )
    head = ["rows", "resident memory", "rows a second so far"]
    return "\n".join([*grid(head, rows), "", f"{text} {where(result)}."])


TABLES = {
    "best-error": best_error_table,
    "mnist": mnist_table,
    "kitchen-sinks-stream": kitchen_sinks_stream_table,
    "solvers": solvers_table,
    "alpha-numbers": alpha_numbers_table,
}
