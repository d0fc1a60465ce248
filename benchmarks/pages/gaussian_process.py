"""Tables of docs/benchmarks/gaussian-processes.md."""

from __future__ import annotations

from pages.common import grid, results, where


def million_table():
    result = results("gaussian_process")
    lines = {line["step"]: line for line in result["million"]}
    rows = [
        [line["step"], f"{line['seconds']:.3g}", f"{line['resident_mib']:,.0f} MiB"]
        for line in result["million"]
    ]
    bars, drawn = lines["error bars"], lines["functions"]
    text = (
        f"{result['rows']:,} rows, {result['neurons']:,} neurons. Error bars and "
        f"{result['functions']} functions are at {result['new_rows']:,} new rows. Of the new "
        f"targets, {bars['within']:.1%} are within {result['level']:.0%} intervals. The noise has "
        f"the variance {result['noise_variance']:.3g}, and the model says "
        f"{bars['noise_variance']:.3g}. Functions have a mean standard deviation of "
        f"{drawn['spread']:.3g}, and the root mean square error of the mean is "
        f"{drawn['error']:.3g}. {where(result)}."
    )
    return "\n".join([*grid(["step", "seconds", "resident memory"], rows), "", text])


def seconds(line):
    """The seconds of a line, in two digits or as an integer."""
    taken = line["seconds"]
    return f"{taken:,.0f}" if taken >= 10 else f"{taken:.2g}"


def few_rows_table():
    result = results("few_rows")
    methods = list(dict.fromkeys(line["method"] for line in result["along_rows"]))
    sizes = list(dict.fromkeys(line["rows"] for line in result["along_rows"]))
    cells = {
        (line["method"], line["rows"]): f"{seconds(line)} s, {line['error']:.2g}"
        for line in result["along_rows"]
    }
    head = ["rows", *methods]
    rows = [[f"{n:,}", *(cells.get((method, n), "") for method in methods)] for n in sizes]
    picture = "![Seconds and errors along rows](../../benchmarks/results/few_rows.png)"
    text = (
        "CPU seconds of the fit in one thread, medians, and 1 − R² against the function, means of "
        f"three seeds (one from 100,000 rows on). {where(result)}."
    )
    return "\n".join([picture, "", *grid(head, rows), "", text])


def optimisation_table():
    result, rows = results("bayesian_optimisation"), []
    for run in result["runs"]:
        low, high = run["quartiles"]
        took = f"{run['fit_seconds']:.2g}", f"{run['choice_seconds']:.2g}"
        regret = f"{run['median']:.2g}", f"{low:.2g} to {high:.2g}"
        rows.append([run["problem"], run["method"], *regret, *took])
    head = ["function", "method", "median regret", "quartiles", "seconds per fit", "per choice"]
    counts = " and ".join(
        f"{begin} and {end - begin} for {problem}"
        for problem, (begin, end) in result["rows"].items()
    )
    text = (
        f"{result['seeds']} seeds, {result['neurons']:,} neurons. Random and chosen rows: "
        f"{counts}. {where(result)}."
    )
    return "\n".join([*grid(head, rows), "", text])


TABLES = {
    "few-rows": few_rows_table,
    "bayesian-optimisation": optimisation_table,
    "gaussian-process-million": million_table,
}
