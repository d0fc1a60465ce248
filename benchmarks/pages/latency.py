"""Tables of docs/benchmarks/latency.md, and the one of docs/guides/production.md."""

from __future__ import annotations

from pages.common import grid, results, two_digits, where


def text_below(result):
    trial = " Of a quick trial, not the full run." if result["quick"] else ""
    busy = " Other programs were running on this machine." if result["busy"] else ""
    others = ", ".join(
        f"{name} {version}" if version else f"without {name}"
        for name, version in result["others"].items()
    )
    return f"{busy}{trial} {where(result)}; {others}."


def micro(seconds):
    return f"{two_digits(1e6 * seconds)} µs"


def rows_table():
    result = results("latency")
    bare = result["rows"]["Kitchen Sinks, 1,000 Gaussian, bare NumPy"]["p50"]
    rows = [
        [name, micro(each["p50"]), micro(each["p99"]), two_digits(each["p50"] / bare)]
        for name, each in result["rows"].items()
    ]
    text = f"Of {result['calls']:,} calls of each, ten in a turn.{text_below(result)}"
    head = ["one row of 20 columns", "median", "99th percentile", "to bare NumPy"]
    return "\n".join([*grid(head, rows), "", text])


def streams_table():
    result = results("latency")
    rows = []
    for name, each in result["streams"].items():
        rows.append([name, two_digits(1 / each["p50"]), micro(each["p50"]), micro(each["p99"])])
    head = ["learner", "rows a second", "median of a row", "99th percentile"]
    text = f"Percentiles of means over 50 rows of processor time, in turn.{text_below(result)}"
    return "\n".join([*grid(head, rows), "", text])


TABLES = {"latency-rows": rows_table, "latency-streams": streams_table}
