"""Tables of docs/benchmarks/kitchen-sinks.md."""

from __future__ import annotations

from pages.common import grid, results, where


def times(ratio):
    """How many times as much, in two digits."""
    return f"{float(f'{ratio:.2g}'):,g}"


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
            met += f" with {aim['best']['error']:.2%} in {total(aim['best']):.3g} s"
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


def time_to_error_table():
    result = results("rahimi2008")
    rows, said = [], []
    names = list(result["data"][0]["neurons"])
    for one in result["data"]:
        ratios = []
        for point in one["time_to_error"]:
            row = [one["name"], f"{point['rounds']:,}", f"{point['error']:.2%}"]
            row.append(f"{point['seconds']:.3g}")
            for reached in map(point["reached"].get, names):
                how = reached and f"{reached['neurons']:,} in {reached['seconds']:.2g} s"
                row.append(f"{how}, ×{times(reached['ratio'])}" if reached else "not reached")
            rows.append(row)
            ratios.append(max((r["ratio"] for r in point["reached"].values()), default=0))
        tenfold = sum(ratio >= 10 for ratio in ratios)
        less = f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)} errors"
        less = f"less time than AdaBoost for {less}, at most a tenth for {tenfold}"
        said.append(f"{one['name']}: {less}")
    head = ["data", "rounds", "error", "seconds", *names]
    return "\n".join([*grid(head, rows), "", f"With the best neurons, on {'; on '.join(said)}."])


def equal_size_table():
    result, rows, said = results("rahimi2008"), [], []
    names = list(result["data"][0]["neurons"])
    for one in result["data"]:
        at = {(point["method"], point["size"]): point for point in one["points"]}
        ratios = {name: [] for name in names}
        for boosted in points_of("AdaBoost", one):
            size, seconds = boosted["size"], total(boosted)
            if not all((name, size) in at for name in names):
                continue
            row = [one["name"], f"{size:,}", f"{boosted['error']:.2%}", f"{seconds:.2g}"]
            for name in names:
                same = at[name, size]
                ratios[name].append(seconds / total(same))
                row.append(f"{same['error']:.2%}, ×{times(ratios[name][-1])}")
            rows.append(row)
        some = [ratio for of_name in ratios.values() for ratio in of_name]
        least, most = times(min(some)), times(max(some))
        said.append(f"{least} to {most} times as long on {one['name']}")
    head = ["data", "K", "AdaBoost's error", "its seconds", *names]
    text = f"At equal K, AdaBoost takes {', and '.join(said)}."
    return "\n".join([*grid(head, rows), "", text])


def hinge_table():
    result = results("rahimi2008")
    pairs = {}
    for point in result["hinge"]:
        pairs.setdefault((point["data"], point["neurons"]), {})[point["loss"]] = point
    rows = []
    for (name, size), pair in pairs.items():
        squared, hinge = pair["squared_error"], pair["hinge"]
        row = [name, f"{size:,}", f"{squared['error']:.2%}", f"{hinge['error']:.2%}"]
        row += [f"{squared['seconds']:.2g}", f"{hinge['seconds']:.2g}"]
        rows.append([*row, f"×{times(hinge['seconds'] / squared['seconds'])}"])
    head = ["data", "K", "error, squared", "error, hinge", "seconds, squared", "seconds, hinge"]
    made = where({"circumstances": result["made"]["hinge"]})
    return "\n".join([*grid([*head, "hinge / squared"], rows), "", f"{made}."])


def largest_weight_table():
    result = results("rahimi2008_weights")
    rows = [
        [f"{line['alpha']}"]
        + [f"{point['mean']:.3f}" for point in line["points"]]
        + [f"{line[key]:+.2f}" for key in ("exponent", "last_exponent")]
        for line in result["lines"]
    ]
    sizes = [f"K = {point['neurons']:,}" for point in result["lines"][0]["points"]]
    runs = f"Means of {result['settings']['runs']} runs for each K."
    table = grid(["alpha", *sizes, "exponent", "of the last two"], rows)
    return "\n".join([*table, "", f"{runs} {where(result)}."])


def joint_table():
    result, rows = results("rahimi2008_joint"), []
    for one in result["data"]:
        for fit in one["joint"]:
            first, *_, last = fit["points"]
            as_good = (drawn for drawn in one["drawn"] if drawn["error"] <= last["error"])
            drawn = min(as_good, key=lambda drawn: drawn["seconds"], default=None)
            row = [one["name"], f"{fit['neurons']:,}", f"{first['error']:.2%}"]
            took = f"{last['seconds']:,.0f}" if last["seconds"] > 100 else f"{last['seconds']:.2g}"
            row += [f"{first['seconds']:.2g}", f"{last['error']:.2%}", took]
            row.append(
                f"{drawn['neurons']:,} in {drawn['seconds']:.2g} s, "
                f"×{times(last['seconds'] / drawn['seconds'])}"
                if drawn
                else "not reached"
            )
            rows.append(row)
    head = ["data", "K", "error, drawn", "seconds, drawn", "error, joint", "seconds, joint"]
    head += ["drawn neurons that are no worse"]
    return "\n".join([*grid(head, rows), "", f"{where(result)}."])


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


def selection_table():
    result = results("solvers")["selection"]
    more = {name: f"{100 * (value - 1):+.0f} %" for name, value in result["ratio"].items()}
    rows = [
        ['`alpha="auto"`', more["auto"]],
        [f"`search` among {result['candidates']} length scales", more["search"]],
    ]
    text = f"On {result['rows']:,} rows of MNIST, with {result['columns']:,} columns."
    text = f"{text} {where(result)}."
    head = ["choice", "time of the fit, beside a given alpha"]
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


def alpha_classes_table():
    result = results("alpha")
    rows = []
    for one in result["classes"]:
        if "table" in one:
            setting = [one["table"], "600", ""]
        else:
            setting = [f"{one['n']:,} rows", f"{one['columns']:,}", f"{one['rate']}"]
        ratios = mean_and_worst(one["ratios"])
        rows.append([*setting, *ratios, f"{max(one['to_constant']):.2f}"])
    head = ["data", "columns", "rate of the rarer class", "mean ratio", "worst ratio"]
    table = grid([*head, "worst ratio to a constant"], rows)
    return "\n".join([*table, "", f"{where({'circumstances': result})}."])


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


def kitchen_sinks_bound_table():
    result = results("kitchen_sinks_bound")
    rows = [
        [
            line["case"],
            f"{line['rows']:,}",
            f"{line['neurons']}",
            f"{line['mean']:.4f} ± {line['standard_error']:.4f}",
            f"{line['quantile']:.3f}",
            f"{line['largest']:.3f}",
            f"{line['bound']:.2f}",
            f"{line['bound'] / line['largest']:.1f}",
            f"{line['violations']}",
        ]
        for line in result["lines"]
    ]
    head = ["case", "n", "K", "mean excess", "1 − 2δ quantile", "largest", "bound"]
    head += ["bound / largest", f"runs above it, of {result['seeds']}"]
    return "\n".join([*grid(head, rows), "", f"{where(result)}."])


TABLES = {
    "kitchen-sinks-bound": kitchen_sinks_bound_table,
    "best-error": best_error_table,
    "mnist": mnist_table,
    "time-to-error": time_to_error_table,
    "equal-size": equal_size_table,
    "hinge": hinge_table,
    "largest-weight": largest_weight_table,
    "joint": joint_table,
    "kitchen-sinks-stream": kitchen_sinks_stream_table,
    "solvers": solvers_table,
    "selection": selection_table,
    "alpha-numbers": alpha_numbers_table,
    "alpha-classes": alpha_classes_table,
}
