"""Tables of docs/benchmarks/drift.md."""

from __future__ import annotations

from pages.common import grid, results, two_digits, where


def by_problem(cells, shown):
    """A line for each problem, and a column for each detector."""
    names = list(dict.fromkeys(cell["detector"] for cell in cells))
    found = {(cell["problem"], cell["detector"]): shown(cell) for cell in cells}
    problems = dict.fromkeys(cell["problem"] for cell in cells)
    return names, [[problem, *(found[problem, name] for name in names)] for problem in problems]


def text_below(result):
    trial = " Of a quick trial, not the full run." if result["quick"] else ""
    return f"{trial} {where(result)}."


def alarms(cell):
    error = "" if cell["error"] is None else f" ± {cell['error']:.1f}"
    return f"{cell['alarms']:.1f}{error}"


def levels_table():
    result = results("drift")
    names, rows = by_problem(result["levels"], alarms)
    bound = 10_000 / (2 * result["run_length"])
    text = (
        f"Alarms in 10,000 rows, with the standard error of several streams. The bound of "
        f"`DriftDetector` is {bound:g}.{text_below(result)}"
    )
    return "\n".join([*grid(["no change", *names], rows), "", text])


def delay(cell):
    if cell["delay"] is None:
        return f"none of {cell['runs']}"
    return f"{cell['delay']:.0f} ({cell['found']} of {cell['runs']})"


def delays_table():
    result = results("drift")
    names, rows = by_problem(result["delays"], delay)
    text = (
        f"Median rows from the change to the alarm, and how many streams had one within "
        f"{result['after']:,} rows.{text_below(result)}"
    )
    return "\n".join([*grid(["change", *names], rows), "", text])


def seconds_table():
    result = results("drift")
    seconds = result["seconds"]
    least = seconds["DriftDetector, batches of 100"]
    rows = [
        [name, f"{two_digits(1e6 * each)} µs", f"{each / least:.2g}"]
        for name, each in seconds.items()
    ]
    busy = " Other programs were running on this machine." if result["busy"] else ""
    text = f"Medians for five columns, measured in turn.{busy}{text_below(result)}"
    return "\n".join([*grid(["detector", "time of a row", "ratio"], rows), "", text])


TABLES = {
    "drift-levels": levels_table,
    "drift-delays": delays_table,
    "drift-seconds": seconds_table,
}
