"""Tables of docs/benchmarks/shrinking-gradient.md."""

from __future__ import annotations

import numpy as np

from pages.common import grid, results, where

#: The paper's estimator in its experiment.
INDEX = "Shrinking Gradient, index"


def stream_table():
    result = results("long_stream")
    rows = []
    most = f"{result['max_support']:,} points"
    for name, reports in (
        (f"{most}, projected", result["projection"]),
        ("every row", result["all_rows"]),
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
    head = ["kept", "rows", "support", "resident memory", "rows a second so far", "test error"]
    late = [report["error"] for report in result["projection"] if report["rows"] >= 100_000]
    text = (
        f"From 100,000 rows on, the error with projections is between {min(late):.1%} and "
        f"{max(late):.1%}, at {len(late)} looks. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


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
    head = ["predictor", *(f"D = {p['dimension']}" for p in points), "activations, D = 650"]
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
    table = livni_table("the paper's", {"best constant": "best_constant", "always 0": "zero"})
    return "\n".join([table, "", text])


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
    head = [
        "learner",
        *(f"online, {stop:,}" for stop in stops),
        *(f"test, {stop:,}" for stop in stops),
    ]
    head += [f"seconds, {stop:,}" for stop in stops[2:]]
    text = (
        f"{result['draws']} draws a round. {result['frozen']:,} frozen neurons predict the test "
        f"rows. Online errors are of the rows since the last stop. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


TABLES = {
    "livni2017-paper": livni_paper_table,
    "online-images": online_images_table,
    "stream": stream_table,
}
