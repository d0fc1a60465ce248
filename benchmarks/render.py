"""Write the tables of README.md and docs/ from ``benchmarks/results/*.json``.

Run as ``make tables``. A test checks that the pages say what the results say.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from trickless._demo import Row, table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def results(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def where(result):
    """Versions, machine, date and commit in a line."""
    c = result["circumstances"]
    versions = ", ".join(f"{name} {version}" for name, version in c["packages"].items())
    machine = f"{c['machine']['cores']} cores of {c['machine']['processor']}"
    return f"{c['date']}, commit {c['commit']}, Python {c['python']}, {versions}, {machine}"


def demo_table():
    result = results("trickless-demo")
    text = table([Row(**row) for row in result["table"]]).strip()
    return f"```\n{text}\n```\n\nMedians of {result['repeats']} runs in turn. {where(result)}."


def exact_table():
    result = results("exact_kernel")
    lines = [
        "| neurons | Shrinking Gradient | exact kernel | largest difference of a seed |",
        "|---|---|---|---|",
    ]
    for family in dict.fromkeys(run["family"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["family"] == family]
        error, exact = (np.array([run[key] for run in runs]) for key in ("error", "exact_error"))
        lines.append(
            f"| {family} | {error.mean():.2%} | {exact.mean():.2%} | "
            f"{100 * (error - exact).max():+.2f} points |"
        )
    seeds = len({run["seed"] for run in result["runs"]})
    return "\n".join([*lines, "", f"Means of {seeds} orders of the rows. {where(result)}."])


def grid(head, rows):
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def estimators_table():
    result = results("estimators")
    cells = result["cells"]
    rows = []
    for t in sorted({c["support"] for c in cells}):
        for n in sorted({c["rows"] for c in cells}):
            some = [c for c in cells if (c["support"], c["rows"]) == (t, n)]
            full = sum(c["choice"] == "full" for c in some)
            times = [
                np.median([c["seconds"][method] / c["seconds"]["full"] for c in some])
                for method in ("index", "stratified")
            ]
            worst = [max(c[key] for c in some) for key in ("auto_ratio", "measured_ratio")]
            rows.append(
                [f"{t:,}", f"{n:,}"]
                + [f"{ratio:.3g}" for ratio in times]
                + [f"{full} of {len(some)}"]
                + [f"{ratio:.2f}" for ratio in worst]
            )
    head = [
        "support",
        "rows",
        "index / full",
        "stratified / full",
        "auto takes full",
        "worst auto / best",
        "worst with variances at hand",
    ]
    within = {
        key: np.mean([c[key] <= 1.3 for c in cells])
        for key in ("auto_ratio", "measured_ratio", "activation_ratio")
    }
    text = (
        f"Of {len(cells)} cells, auto is within 1.3 of the best time in "
        f"{within['auto_ratio']:.0%} with a pilot each time and in {within['measured_ratio']:.0%} "
        f"with variances at hand, and within 1.3 of the fewest activations in "
        f"{within['activation_ratio']:.0%}. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


def regret_table():
    result = results("regret")
    rows = []
    for p in result["points"]:
        root = p["norm_bound"] * np.sqrt(p["rounds"])
        rows.append(
            [
                {"noise": "coins", "signal": "smooth", "theorem": "smooth"}[p["mode"]],
                p["family"],
                f"{p['norm_bound']:g}",
                f"{p['rounds']:,}",
                f"{p['draws']:,}",
                f"{p['regret'] / root:.3f} ± {p['standard_error'] / root:.3f}",
                f"{p['bound'] / root:.3f}",
            ]
        )
    head = ["targets", "neurons", "B", "T", "draws a round", "regret / (B √T)", "bound / (B √T)"]
    text = f"Means of {result['seeds']} seeds ± standard error. {where(result)}."
    return "\n".join([*grid(head, rows), "", text])


def prediction_table():
    result = results("prediction")
    rows = []
    for run in result["runs"]:
        full, paper = run["full"], run["algorithm_2"]
        rows.append(
            [
                run["family"],
                "frozen network",
                f"{full['neurons']:,}",
                f"{full['standard_error']:.4f}",
                f"{full['rms_error']:.4f}",
                f"{full['activations']:.2g}",
                "1",
            ]
        )
        rows.append(
            [
                run["family"],
                "Algorithm 2",
                f"{paper['draws']:,} a row",
                f"{result['wanted_error']:g}",
                "–",
                f"{paper['activations']:.2g}",
                f"{run['ratio']:,.0f}",
            ]
        )
        within = run["certified"]
        rows.append(
            [
                run["family"],
                f"certified to ±{result['tolerance']:g}",
                "–",
                "–",
                f"{within['largest_error']:.4f} at most",
                f"{within['activations']:.2g}",
                f"{within['activations'] / run['full']['activations']:.2g}",
            ]
        )
    head = [
        "neurons",
        "method",
        "draws",
        "standard error",
        "measured error",
        "activations",
        "ratio",
    ]
    return "\n".join([*grid(head, rows), "", where(result) + "."])


def stream_table():
    result = results("long_stream")
    rows = []
    for name, reports in (
        (f"max_support={result['max_support']:,}", result["bounded"]),
        ("every row kept", result["all_rows"]),
    ):
        wanted = (25_000, 50_000, 100_000, 500_000, 1_000_000)
        for report in (r for r in reports if r["rows"] in wanted):
            rows.append(
                [
                    name,
                    f"{report['rows']:,}",
                    f"{report['support']:,}",
                    f"{report['resident_mib']:.0f} MiB",
                    f"{report['rows'] / report['seconds']:,.0f}",
                    f"{report['error']:.1%}",
                ]
            )
    head = ["", "rows", "support", "resident memory", "rows a second so far", "test error"]
    return "\n".join([*grid(head, rows), "", where(result) + "."])


def round_table():
    result = results("shrinking_gradient_round")
    rows = [
        [
            f"{run['support']:,}",
            f"{run['rows']:,}",
            f"{run['neurons']:,}",
            f"{1e3 * run['seconds']['round']:.1f} ms",
            f"{1e3 * min(run['seconds']['bare'], run['seconds']['bare in blocks']):.1f} ms",
            f"{run['ratio']:.2f}",
        ]
        for run in result["runs"]
    ]
    head = ["support", "rows", "neurons", "round", "bare arithmetic", "ratio"]
    return "\n".join([*grid(head, rows), "", where(result) + "."])


def livni_table():
    result = results("livni2017")
    points = [p for p in result["points"] if p["inputs"] == "[0, 1]" and p["budget"] == 100]
    rows = [
        [name]
        + [
            f"{p['learners'][name]['error']:.2f} ± {p['learners'][name]['standard_error']:.2f}"
            for p in points
        ]
        + [f"{points[2]['learners'][name]['activations']:,.0f}"]
        for name in points[0]["learners"]
    ]
    constant = [f"{p['best_constant'][0]:.2f} ± {p['best_constant'][1]:.2f}" for p in points]
    rows.append(["best constant", *constant, "–"])
    rows.append(["0", *(f"{p['zero'][0]:.1f} ± {p['zero'][1]:.1f}" for p in points), "–"])
    head = ["", *(f"D = {p['dimension']}" for p in points), "activations, D = 650"]
    repetitions = result["repetitions"]["reported"]
    text = f"Means of {repetitions} repetitions ± standard error. {where(result)}."
    return "\n".join([*grid(head, rows), "", text])


def dai_table():
    result = results("dai2014")
    rows, aims = [], []
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
        if aim := data.get("aim"):
            limit = f" within {aim['seconds']} s" if aim["seconds"] else ""
            met = "met" if aim["met"] else "not met"
            aims.append(f"{data['name']} at most {aim['error']:.1%}{limit}, {met}")
    head = ["data", "method", "test error", "seconds", "passes", "size"]
    text = (
        f"The last snapshot of each. Aims for Doubly Stochastic, block: {'; '.join(aims)}. "
        f"{where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


def points_of(method, one):
    return [point for point in one["points"] if point["method"] == method]


def best_error_table():
    result = results("rahimi2008")
    rows, aims = [], []
    for one in result["data"]:
        for method in (*one["neurons"], "AdaBoost"):
            best = min(points_of(method, one), key=lambda point: point["error"])
            times = f"{best['seconds']:.3g}", f"{best['predict_seconds']:.2g}"
            rows.append([one["name"], method, f"{best['size']:,}", f"{best['error']:.2%}", *times])
    for aim in result["aims"]:
        met = "met" if aim["met"] else "not met"
        best = aim["best"] and f" with {aim['best']['error']:.2%} in {aim['best']['seconds']:.3g} s"
        aims.append(f"{aim['what']}, at most {aim['error']:.1%} {aim['when']}: {met}{best or ''}")
    head = ["data", "method", "neurons or rounds", "test error", "seconds", "seconds to predict"]
    runs = f"{where(result)}; MNIST up to commit {result['mnist']['circumstances']['commit']}"
    return "\n".join([*grid(head, rows), "", f"Aims: {'; '.join(aims)}. {runs}."])


def time_to_error_table():
    result = results("rahimi2008")
    rows, said = [], []
    for one in result["data"]:
        ratios = []
        for point in one["time_to_error"]:
            row = [one["name"], f"{point['rounds']:,}", f"{point['error']:.2%}"]
            row.append(f"{point['seconds']:.3g}")
            for reached in map(point["reached"].get, one["neurons"]):
                how = reached and f"{reached['neurons']:,} in {reached['seconds']:.2g} s"
                row.append(f"{how}, ×{reached['ratio']:.2g}" if reached else "not reached")
            rows.append(row)
            ratios.append(max((r["ratio"] for r in point["reached"].values()), default=0))
        tenfold = sum(ratio >= 10 for ratio in ratios)
        least = f"less time than AdaBoost for {sum(ratio > 1 for ratio in ratios)}"
        said.append(f"{one['name']}: {least} of {len(ratios)} errors, ten times less for {tenfold}")
    head = ["data", "rounds", "error", "seconds", *result["data"][0]["neurons"]]
    return "\n".join([*grid(head, rows), "", f"By the best neurons, on {'; on '.join(said)}."])


def largest_weight_table():
    lines = results("rahimi2008")["largest_weight"]
    rows = [
        [f"{line['alpha']}", f"{line['rows']:,}"]
        + [f"{point['mean']:.3f}" for point in line["points"]]
        + [f"{line[key]:+.2f}" for key in ("exponent", "last_exponent")]
        for line in lines
    ]
    sizes = [f"K = {point['neurons']:,}" for point in lines[0]["points"]]
    return "\n".join(grid(["alpha", "rows", *sizes, "exponent", "of the last two"], rows))


def solvers_table():
    result = results("solvers")
    rows = []
    for one in result["solvers"]:
        seconds, memory = f"{one['seconds']:.1f}", f"{one['peak_mib'] / 1024:.1f} GiB"
        found = f"{one['test_error']:.2%}", f"{one['mean_alpha']:.1e}", f"{one['iterations']}"
        rows.append([f"{one['columns']:,}", one["solver"], seconds, memory, *found])
    last = {one["solver"]: one for one in result["solvers"][-2:]}
    ratio = last["direct"]["seconds"] / last["iterative"]["seconds"]
    text = (
        f"At the most columns the iterative solver takes {ratio:.1f} times less. {where(result)}."
    )
    head = ["columns", "solver", "seconds", "peak memory", "test error", "mean alpha", "passes"]
    return "\n".join([*grid(head, rows), "", text])


def selection_text():
    result = results("solvers")["selection"]
    ratio = {name: f"{100 * (value - 1):+.0f} %" for name, value in result["ratio"].items()}
    where_ = f"{result['rows']:,} rows of MNIST and {result['columns']:,} columns"
    return (
        f'Next to a fit with alpha given, on {where_}: `alpha="auto"` {ratio["auto"]} of the time, '
        f"`search` among {result['candidates']} length scales {ratio['search']}, "
        f'`alpha="loo"` {ratio["loo"]}.'
    )


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


def tables_table():
    result = results("tables")
    rows = []
    for m in result["methods"]:
        size = f"{m['neurons']:,}" if m["neurons"] else ""
        error = f"{m['error']:.2%} ± {m['deviation']:.2%}"
        seconds = f"{m['fit_seconds']:.1f}", f"{m['predict_seconds']:.2f}"
        rows.append([m["method"], size, error, *seconds])
    met = "met" if result["aim"]["met"] else "not met"
    text = (
        f"Means of {len(result['seeds'])} seeds ± the deviation between them; medians of seconds. "
        f"Aim: at most {result['aim']['error']:.1%} with 4,000 neurons, {met}. {where(result)}."
    )
    head = ["method", "neurons", "test error", "seconds to fit", "to predict"]
    return "\n".join([*grid(head, rows), "", text])


def images_table():
    result = results("images")
    rows = []
    for name, one in result["settings"].items():
        runs = one["runs"]
        columns = f"{runs[0]['columns']:,}"
        errors = ", ".join(f"{run['error']:.2%}" for run in runs)
        seconds = np.median([run["fit_seconds"] + run["predict_seconds"] for run in runs])
        peak = f"{max(run['peak_mib'] for run in runs):,.0f} MiB"
        rows.append([name, f"`{one['neurons']}`", columns, errors, f"{seconds:.0f}", peak])
    aim = result["settings"]["patches"]["aim"]
    text = (
        f"An error for each seed. Aim for `Patches()`: at most {aim['wanted']['error']:.1%} within "
        f"{aim['wanted']['seconds']} s, {'met' if aim['met'] else 'not met'}. "
        f"{where(result['settings']['patches'])}."
    )
    head = ["name", "neurons", "columns", "test error", "seconds to fit and predict", "peak of fit"]
    return "\n".join([*grid(head, rows), "", text])


def kitchen_sinks_stream_table():
    result = results("kitchen_sinks_stream")
    rows = [
        [f"{r['rows']:,}", f"{r['resident_mib']:.0f} MiB", f"{r['rows'] / r['seconds']:,.0f}"]
        for r in result["reports"]
        if r["rows"] in (500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000)
    ]
    solved = result["solved"]
    text = (
        f"The solve took {solved['solve_seconds']:.2f} s; the mean squared error without noise is "
        f"{solved['mean_squared_error']:.3f} of a variance of {solved['variance']:.3f}."
    )
    head = ["rows", "resident memory", "rows a second so far"]
    return "\n".join([*grid(head, rows), "", f"{text} {where(result)}."])


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
                run["preconditioner"] or "–",
                f"{1e3 * run['seconds']['step']:.1f} ms",
                f"{1e3 * bare:.1f} ms",
                f"{run['ratio']:.2f}",
            ]
        )
    head = [
        "rows",
        "new",
        "earlier",
        "inputs",
        "outputs",
        "preconditioner",
        "step",
        "bare",
        "ratio",
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
        f"{one['rows']:,} rows of 50 inputs, {one['batch']:,} rows and {one['new']} neurons a "
        f"step. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


#: What grows, in the words of the table.
SIZES = {"n_rows": "rows", "n_inputs": "inputs", "n_neurons": "neurons"}


def quick(result):
    return " Of a quick trial, not the full run." if result["quick"] else ""


def growth_table():
    result = results("growth")
    rows = []
    for line in result["growth"]:
        sizes = [int(size) for size in line["seconds"]]
        seconds = list(line["seconds"].values())
        slopes = [
            f"{line[part]['exponent']:.2f} ± {line[part]['standard_error']:.2f}"
            for part in ("all", "largest decade")
        ]
        rows.append(
            [
                line["learner"].replace("_", " ").title(),
                SIZES[line["size"]],
                f"{sizes[0]:,} to {sizes[-1]:,}",
                f"{seconds[0]:.2g} to {seconds[-1]:.2g} s",
                *slopes,
                line["theory"],
            ]
        )
    head = ["learner", "grows", "from", "time", "exponent", "of the largest decade", "theory"]
    text = f"Exponents ± standard errors.{quick(result)} {where(result)}."
    return "\n".join([*grid(head, rows), "", text])


def boundaries_table():
    result = results("growth")
    rows = []
    for one in result["boundaries"]:
        below, above = (f"{1e3 * seconds:.1f} ms" for seconds in one["seconds"])
        low, high = one["quartiles"]
        rows.append([one["boundary"], below, above, f"{one['ratio']:.2f} ({low:.2f}–{high:.2f})"])
    head = ["what ends", "below", "above", "ratio, per row or neuron"]
    pairs = max(one["pairs"] for one in result["boundaries"])
    text = f"Medians, and quartiles, of up to {pairs} pairs in turn.{quick(result)}"
    return "\n".join([*grid(head, rows), "", f"{text} {where(result)}."])


def engine_text():
    result = results("engine_alternatives")
    blocks, gram, cosines = (result[key] for key in ("activations", "gram", "cosines"))
    ours, panel = blocks["blocks of 512 rows"], gram["one product"]
    sizes = "; ".join(
        f"{name.removeprefix('blocks of ')} {100 * (seconds / ours - 1):+.0f} %"
        for name, seconds in sorted(blocks.items(), key=lambda item: len(item[0]))
        if name.startswith("blocks") and name != "blocks of 512 rows"
    )
    others = ", ".join(
        f"{name} {result['versions'][name]} {seconds / cosines['numpy']:.1f} times"
        for name, seconds in cosines.items()
        if name != "numpy"
    )
    lines = [
        f"- Cosines and sines written into their place: "
        f"{100 * (blocks['in place'] / ours - 1):+.0f} % of the time of activations.",
        f"- Weights drawn while the block before is multiplied: at most "
        f"{100 * blocks['draw'] / ours:.0f} % on 4,194 rows, once, since they are kept.",
        f"- Blocks of other sizes than 512 rows: {sizes}.",
        f"- The Gram matrix by tiles of 500 columns, for our threads to share: "
        f"{100 * (gram['tiles'] / panel - 1):+.0f} % of the time of one product.",
    ]
    if others:
        lines.append(
            f"- Cosines of another library, next to NumPy's in single precision: {others}."
        )
    return "\n".join([*lines, "", f"{where(result)}."])


def import_time_table():
    result = results("import_time")
    rows = []
    for name in result["runs"][0]["seconds"]:
        spent = [f"{1e3 * run['seconds'][name]:.0f} ms" for run in result["runs"]]
        rows.append([f"`{name}`", *spent])
    rows.append(["the last to the one before", *(f"{run['ratio']:.2f}" for run in result["runs"])])
    heads = [
        "with pandas installed" if run["pandas"] else "without pandas" for run in result["runs"]
    ]
    met = "met" if all(run["ratio"] <= result["aim"] for run in result["runs"]) else "not met"
    text = f"Aim: at most {result['aim']} times, {met}.{quick(result)} {where(result)}."
    return "\n".join([*grid(["", *heads], rows), "", text])


#: What groups of methods are called in the tables of the peers.
KINDS = {"ours": "ours", "kernel": "kernel or random-feature peer", "trees": "trees"}


def where_peers(result):
    """Circumstances of all parts of the comparison, which may be measured apart."""
    return "; ".join(dict.fromkeys(where(one) for one in result["data"]))


def peers_winners_table():
    """The fastest of each group to each error, and which group is first."""
    result, rows, said = results("peers"), [], []
    for one in result["data"]:
        first = dict.fromkeys(KINDS, 0)
        for line in one["summary"]["winners"]:
            cells = []
            for kind in KINDS:
                point = line[kind]
                cells.append(
                    f"{point['seconds']:.2g} s, {point['peak_mib']:,.0f} MiB, {point['method']}"
                    if point
                    else "not reached"
                )
            reached = {kind: line[kind]["seconds"] for kind in KINDS if line[kind]}
            winner = min(reached, key=reached.get, default=None)
            if winner:
                first[winner] += 1
            rows.append([one["name"], f"{line['error']:g}", *cells, KINDS.get(winner, "–")])
        n = len(one["summary"]["winners"])
        counts = ", ".join(f"{KINDS[kind]} {count}" for kind, count in first.items())
        said.append(f"{one['name']}, of {n} errors: {counts}")
    head = ["data", "error", *KINDS.values(), "first"]
    text = f"First to an error: {'; '.join(said)}. {where_peers(result)}."
    return "\n".join([*grid(head, rows), "", text])


def peers_best_table():
    """The least error of each group, at any of its sizes."""
    rows = []
    for one in results("peers")["data"]:
        for kind, point in one["summary"]["best"].items():
            if point:
                seconds, memory = f"{point['seconds']:.2g} s", f"{point['peak_mib']:,.0f} MiB"
                method = f"{point['method']}, {point['size']:,}"
                rows.append(
                    [one["name"], KINDS[kind], method, f"{point['error']:.4f}", seconds, memory]
                )
    return "\n".join(grid(["data", "", "method", "least error", "fit", "peak memory"], rows))


def peers_reached_tables():
    """A table for each data set: seconds and least peak memory of each method to each error."""
    parts = []
    for one in results("peers")["data"]:
        lines = one["summary"]["reached"]
        rows = []
        for method in one["methods"]:
            name = method["name"]
            if method["missing"]:
                rows.append([name, method["missing"], *([""] * len(lines))])
                continue
            cells = [
                f"{cell['seconds']:.2g} s, {cell['least_peak_mib']:,.0f} MiB" if cell else "–"
                for cell in (line["methods"][name] for line in lines)
            ]
            rows.append([name, method["threads"], *cells])
        head = [one["name"], "threads", *(f"{line['error']:g}" for line in lines)]
        parts.append("\n".join(grid(head, rows)))
    return "\n\n".join(parts)


def peers_ratio_table():
    """What the same least squares on the same features take in scikit-learn, over ours."""
    result, rows, said = results("peers"), [], []
    aims = {"time": 3, "memory": 5}
    for rival in result["data"][0]["summary"]["ratios"]:
        found = {key: [] for key in aims}
        for one in result["data"]:
            for line in one["summary"]["ratios"][rival]:
                at = [f"{line['size']:,}", f"{line['error']:.4f}", f"{line['seconds']:.2g} s"]
                ours, ratios = "not reached", ["–", "–"]
                if line["ours"]:
                    ours = f"{line['ours']['method']}, {line['ours']['size']:,}"
                    ratios = [f"{line[key]:.2g}" for key in aims]
                    for key in aims:
                        found[key].append(line[key])
                rows.append([one["name"], rival, *at, ours, *ratios])
        n = sum(len(one["summary"]["ratios"][rival]) for one in result["data"])
        for key, aim in aims.items():
            values = found[key]
            if values:
                mean = np.exp(np.mean(np.log(np.maximum(values, 1e-3))))
                met = sum(value >= aim for value in values)
                said.append(
                    f"{rival}, {key}: at least {aim} times more for {met} of {n} points, "
                    f"{min(values):.2g} to {max(values):.2g} times, geometric mean {mean:.2g}"
                )
    head = ["data", "peer", "columns", "error", "fit", "fastest of ours", "time", "memory"]
    return "\n".join([*grid(head, rows), "", f"{'; '.join(said)}. {where_peers(result)}."])


def peers_front_table():
    """How many points of ours a peer beats in both seconds and error, and which."""
    rows = []
    for one in results("peers")["data"]:
        ours = one["summary"]["dominated"]
        beaten = [point for point in ours if point["by"]]
        by_trees = sum(bool(point["by_trees"]) for point in ours)
        which = "; ".join(
            f"{point['method']}, {point['size']:,} (by {point['by'][0]}"
            + (f" and {len(point['by']) - 1} more)" if len(point["by"]) > 1 else ")")
            for point in beaten
        )
        counts = [f"{len(ours)}", f"{len(beaten)}", f"{by_trees}"]
        rows.append([one["name"], *counts, which or "none"])
    head = [
        "data",
        "points of ours",
        "beaten by kernel peers",
        "by trees",
        "which, by kernel peers",
    ]
    return "\n".join(grid(head, rows))


def kilobytes(n):
    return f"{n / 1e6:,.1f} MB" if n >= 1e6 else f"{n / 1e3:,.1f} kB"


def clusters_table():
    """Two Dask workers against one, and the bytes between them."""
    result = results("dask_scaling")
    sinks, descent = result["sinks"], result["descent"]
    rows = []
    for name, job, size in (
        ("Kitchen Sinks", sinks, f"{sinks['rows']:,} rows, {sinks['columns']:,} columns"),
        (
            "Doubly Stochastic",
            descent,
            f"{descent['rows']:,} rows, {descent['steps']} steps of {descent['batch']:,} rows and "
            f"{descent['neurons_a_step']} neurons",
        ),
    ):
        one, two = (job["medians"][n]["seconds"] for n in "12")
        rows.append([name, size, f"{one:.1f} s", f"{two:.1f} s", f"{job['speed_up']:.2f}"])
    lines = grid(["learner", "fit", "one worker", "two", "speed-up"], rows)
    small = "**Sizes too small to say much (`--small`).** " if result["small"] else ""
    said = (
        f"{small}Medians of {result['repeats']} fits in turn. Between two workers and the client, "
        f"Kitchen Sinks sent {kilobytes(sinks['medians']['2']['others_sent'])}: statistics of "
        f"{kilobytes(sinks['statistics_bytes'])} from one worker to the other, and to the client. "
        f"A step of Doubly Stochastic sent {kilobytes(descent['sent_a_step'])} by the workers' "
        f"logs, for a gradient of {kilobytes(descent['gradient_bytes'])}, and "
        f"{kilobytes(descent['wire_a_step'])} went through the network interface in all, orders "
        "and reports included. The weights of its neurons are "
        f"{kilobytes(descent['weights_bytes'])}, for each worker. {where(result)}."
    )
    return "\n".join([*lines, "", said])


#: Bytes a second between machines that the table of machines assumes: 10 Gbit/s.
BANDWIDTH = 1.25e9


def evaluated(rows, batch, k, steps):
    """Activations of a Doubly Stochastic fit: at each step, of the neurons that its rows missed."""
    missed = np.minimum(np.arange(steps), np.ceil(rows / batch))
    return batch * k * float((missed + 1).sum())


def machines_table():
    """What many workers would do, from constants measured on one of them and checked on two."""
    result = results("dask_scaling")
    sinks, descent = result["sinks"], result["descent"]

    whole, half = (sinks[job]["1"]["seconds"] for job in ("medians", "half"))
    a_row = (whole - half) / (sinks["rows"] / 2)
    rest = max(whole - a_row * sinks["rows"], sinks["solve_seconds"])
    hop = sinks["statistics_bytes"] / BANDWIDTH + sinks["merge_seconds"]

    def fit_sinks(w, rows=1e8):
        return rows * a_row / w + rest + 3 * np.ceil(np.log(w) / np.log(4) - 1e-9) * hop

    size = descent["rows"], descent["batch"], descent["neurons_a_step"]
    short, jobs = descent["short"], {}
    for name, steps, times in (
        ("short", short["steps"], short["medians"]),
        ("long", descent["steps"], descent["medians"]),
    ):
        jobs[name] = evaluated(*size, steps), steps, times["1"]["seconds"]
    workers, idle = zip(*((int(n), t) for n, t in result["idle_step_seconds"].items()), strict=True)
    slope, start = np.polyfit(workers, idle, 1)
    (few, few_steps, brief), (many, many_steps, lasting) = jobs["short"], jobs["long"]
    a_step = start + slope
    a_pair = (lasting - brief - (many_steps - few_steps) * a_step) / (many - few)
    begin = max(lasting - many_steps * a_step - many * a_pair, 0.0)

    def fit_descent(w, rows=1e8, batch=2**20, k=512, steps=128):
        return begin + evaluated(rows, batch, k, steps) * a_pair / w + steps * (start + slope * w)

    rows = []
    for w in (1, 2, 10, 100):
        fits = [(fit(w), fit(1) / fit(w)) for fit in (fit_sinks, fit_descent)]
        rows.append([f"{w}", *(f"{t / 60:,.1f} min ({gain:.1f}×)" for t, gain in fits)])
    checks = (
        (fit_sinks(2, sinks["rows"]), sinks["medians"]["2"]["seconds"]),
        (fit_descent(2, *size, descent["steps"]), descent["medians"]["2"]["seconds"]),
    )
    said = ", ".join(f"{told:.1f} s where {took:.1f} s were measured" for told, took in checks)
    text = (
        f"Kitchen Sinks take {1e6 * a_row:.1f} µs a row of {sinks['columns']:,} columns, "
        f"{rest:.1f} s that are not shared, and up to three sums of statistics on each level of a "
        f"tree of fours, {hop:.3f} s each at 10 Gbit/s. Doubly Stochastic, here in 128 steps of "
        f"2²⁰ rows, take {1e9 * a_pair:.1f} ns a row and neuron, {begin:.1f} s to begin, and "
        f"{1e3 * start:.1f} + {1e3 * slope:.1f} w ms a step on w workers, whatever it does (w "
        "workers in one process, which is rather too much). By the model the fits above take two "
        f"workers {said}."
    )
    head = ["workers", "Kitchen Sinks, 10⁸ rows", "Doubly Stochastic, 10⁸ rows, 65,536 neurons"]
    return "\n".join([*grid(head, rows), "", text])


PAGES = {
    "README.md": {"table": demo_table},
    "docs/clusters.md": {"clusters": clusters_table, "machines": machines_table},
    "docs/design.md": {"exact": exact_table, "engine": engine_text},
    "docs/doubly-stochastic.md": {
        "kept": kept_table,
        "convergence": convergence_table,
        "step": step_table,
        "dai2014": dai_table,
    },
    "docs/kitchen-sinks.md": {
        "best-error": best_error_table,
        "time-to-error": time_to_error_table,
        "largest-weight": largest_weight_table,
        "kitchen-sinks-stream": kitchen_sinks_stream_table,
        "solvers": solvers_table,
        "selection": selection_text,
    },
    "docs/neurons.md": {
        "frequencies": frequencies_table,
        "tables": tables_table,
        "images": images_table,
    },
    "docs/peers.md": {
        "peers-winners": peers_winners_table,
        "peers-best": peers_best_table,
        "peers-ratio": peers_ratio_table,
        "peers-front": peers_front_table,
        "peers-reached": peers_reached_tables,
    },
    "docs/shrinking-gradient.md": {
        "estimators": estimators_table,
        "regret": regret_table,
        "livni2017": livni_table,
        "prediction": prediction_table,
        "stream": stream_table,
        "round": round_table,
    },
    "docs/speed.md": {
        "growth": growth_table,
        "boundaries": boundaries_table,
        "import": import_time_table,
    },
}


def rendered(page):
    """A page with its tables written anew."""
    text = (ROOT / page).read_text()
    for name, make in PAGES[page].items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        head, rest = text.split(start)
        text = f"{head}{start}{make()}\n{end}{rest.split(end)[1]}"
    return text


def main():
    for page in PAGES:
        (ROOT / page).write_text(rendered(page))


if __name__ == "__main__":
    main()
