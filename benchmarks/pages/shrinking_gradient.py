"""Tables of docs/benchmarks/shrinking-gradient.md."""

from __future__ import annotations

import numpy as np

from pages.common import grid, listed, results, where

#: The paper's estimator in its experiment.
INDEX = "Shrinking Gradient, index"
#: The rows at the end of a pass whose mean loss is shown.
LAST_ROWS = 50
#: Times of "auto" next to the best: of estimates after the first, of rounds, of the first.
RATIOS = ("auto_ratio", "rounds_ratio", "first_ratio")


def estimators_table():
    result = results("estimators")
    cells = result["cells"]
    rows = []
    for t in sorted({c["support"] for c in cells}):
        for n in sorted({c["rows"] for c in cells}):
            some = [c for c in cells if (c["support"], c["rows"]) == (t, n)]
            full = np.mean([c["full"]["auto"] for c in some])
            times = [
                np.median([c["seconds"][method] / c["seconds"]["full"] for c in some])
                for method in ("index", "stratified")
            ]
            worst = [max(c[key] for c in some) for key in RATIOS]
            rows.append(
                [f"{t:,}", f"{n:,}"]
                + [f"{ratio:.3g}" for ratio in times]
                + [f"{full:.0%}"]
                + [f"{ratio:.2f}" for ratio in worst]
            )
    head = [
        "support",
        "rows",
        "index / full",
        "stratified / full",
        "auto takes full",
        "worst auto / best",
        "of a learner's rounds",
        "of a first estimate",
    ]
    within = {key: np.mean([c[key] <= 1.3 for c in cells]) for key in (*RATIOS, "activation_ratio")}
    text = (
        f"`auto` takes at most 1.3 times the best time in {within['auto_ratio']:.0%} of "
        f"{len(cells)} cells, and in {within['rounds_ratio']:.0%} for the rounds of a learner. For "
        f"a first estimate, which pays for the pilot, it does in {within['first_ratio']:.0%}. It "
        f"takes at most 1.3 times the fewest activations in {within['activation_ratio']:.0%}. "
        f"{where(result)}."
    )
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
                "Algorithm 2, extrapolated",
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
    paper = [run["algorithm_2"]["counted"] for run in result["runs"]]
    errors = listed(f"{one['standard_error']:.2f}" for one in paper)
    text = (
        f"Algorithm 2 was run at {paper[0]['rows']} of the rows with {paper[0]['draws']:,} draws "
        f"each. This gave standard errors of {errors}. Its draws for 0.01 follow from the law "
        "1/√draws, and its activations for all rows from the counted ones. Errors were measured at "
        f"these {paper[0]['rows']} rows. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


def stream_table():
    result = results("long_stream")
    rows = []
    most = f"{result['max_support']:,} points"
    for name, reports in (
        (f"{most}, projected", result["projection"]),
        (f"{most}, unbiased", result["unbiased"]),
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
    late = [report["error"] for report in result["projection"] if report["rows"] >= 100_000]
    text = (
        f"From 100,000 rows on, the error with projections is between {min(late):.1%} and "
        f"{max(late):.1%}, at {len(late)} looks. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


def round_table():
    result, rows = results("shrinking_gradient_round"), []
    for run in result["runs"]:
        seconds = run["seconds"]
        bare = min(seconds["bare"], seconds["bare in blocks"])
        in_ms = (f"{1e3 * value:.1f} ms" for value in (seconds["round"], seconds["draw"], bare))
        sizes = (f"{run[key]:,}" for key in ("support", "rows", "neurons"))
        drawn = seconds["round"] / (bare + seconds["draw"])
        rows.append([*sizes, *in_ms, f"{run['ratio']:.2f}", f"{drawn:.2f}"])
    head = ["support", "rows", "neurons", "round", "drawing alone", "bare arithmetic", "ratio"]
    head.append("ratio, both draw")
    return "\n".join([*grid(head, rows), "", where(result) + "."])


def livni_table(inputs, spread):
    """Errors along D of one recipe; ``spread`` is a row of what a constant achieves, by name."""
    result = results("livni2017")
    points = [p for p in result["points"] if p["inputs"] == inputs and p["budget"] == 100]
    rows = [
        [name]
        + [
            with_error(p["learners"][name][key] for key in ("error", "standard_error"))
            for p in points
        ]
        + [f"{points[2]['learners'][name]['activations']:,.0f}"]
        for name in points[0]["learners"]
    ]
    for name, key in spread.items():
        rows.append([name, *(with_error(p[key]) for p in points), "–"])
    head = ["", *(f"D = {p['dimension']}" for p in points), "activations, D = 650"]
    return "\n".join(grid(head, rows))


def with_error(pair):
    """A mean and its standard error, of as many digits as say something."""
    mean, error = pair
    digits = 1 if mean >= 10 else 2
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def livni_paper_table():
    result = results("livni2017")
    points = [p for p in result["points"] if p["inputs"] == "the paper's" and p["budget"] == 100]
    more = [p for p in result["points"] if p["inputs"] == "the paper's" and p["budget"] > 100]
    paired = {
        name: [np.divide(*p["learners"][name]["above_index"]) for p in points]
        for name in ("exact kernel", "Fixed-Random", "Doubly Stochastic")
    }
    far = (
        f"the exact kernel is better by at least {min(-x for x in paired['exact kernel']):.1f} "
        "standard errors at every D. Fixed-Random is worse by at least "
        f"{min(paired['Fixed-Random']):.1f}, and Doubly Stochastic by at least "
        f"{min(paired['Doubly Stochastic']):.1f}"
    )
    budgets = "; ".join(
        f"K = {p['budget']} at D = {p['dimension']}: index "
        f"{with_error(p['learners'][INDEX][key] for key in ('error', 'standard_error'))}, "
        f"Fixed-Random "
        f"{with_error(p['learners']['Fixed-Random'][key] for key in ('error', 'standard_error'))}"
        for p in more
    )
    text = (
        f"Means of {result['repetitions']['reported']} repetitions ± standard error. Compared with "
        f"index sampling in the same repetition, {far}. With larger budgets: {budgets}. "
        f"{where(result)}."
    )
    table = livni_table("the paper's", {"best constant": "best_constant", "0": "zero"})
    return "\n".join([table, "", text])


def livni_sums_table():
    result = results("livni2017")
    repetitions = result["repetitions"]["reported"]
    text = f"Means of {repetitions} repetitions ± standard error. {where(result)}."
    table = livni_table("[0, 1]", {"best constant": "best_constant", "0": "zero"})
    return "\n".join([table, "", text])


def livni_online_table():
    """Mean losses of the pass along D, and of its last rows."""
    result = results("livni2017_online")
    points, settings = result["points"], result["settings"]
    (shown,) = [point for point in points if point["dimension"] == 650]
    windows = LAST_ROWS // settings["window"]
    rows = [
        [name]
        + [with_error(point["learners"][name]["loss"]) for point in points]
        + [f"{np.mean(line['mean'][-windows:]):.2f}"]
        for name, line in shown["learners"].items()
    ]
    rows.append(["best constant", *(with_error(p["best_constant"]) for p in points), "–"])
    head = ["", *(f"D = {p['dimension']}" for p in points), f"last {LAST_ROWS} rows, D = 650"]
    text = f"Means of {result['repetitions']['reported']} repetitions ± standard error."
    return "\n".join([*grid(head, rows), "", f"{text} {where(result)}."])


def online_images_table():
    result, rows = results("online_images"), []
    stops = (1000, 5000, 20_000, 60_000)
    for name, reports in result["runs"].items():
        by_rows = {report["rows"]: report for report in reports}
        some = [by_rows.get(stop) for stop in stops]
        row = [name]
        row += [f"{r['online_error']:.1%}" if r else "–" for r in some]
        row += [f"{r['test_error']:.1%}" if r else "–" for r in some]
        rows.append([*row, *(f"{r['seconds']:,.0f}" if r else "–" for r in some[2:])])
    head = ["", *(f"online, {stop:,}" for stop in stops), *(f"test, {stop:,}" for stop in stops)]
    head += [f"seconds, {stop:,}" for stop in stops[2:]]
    text = (
        f"{result['draws']} draws a round. {result['frozen']:,} frozen neurons predict the test "
        f"rows. Online errors are of the rows since the last stop. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


TABLES = {
    "estimators": estimators_table,
    "livni2017-paper": livni_paper_table,
    "livni2017-online": livni_online_table,
    "livni2017": livni_sums_table,
    "online-images": online_images_table,
    "prediction": prediction_table,
    "stream": stream_table,
    "round": round_table,
}
