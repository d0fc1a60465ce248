"""Tables of docs/benchmarks/command-line.md."""

from __future__ import annotations

from pages.common import grid, results, where


def command_line_table():
    """Seconds and peak memory of each command on files of each format."""
    result = results("command_line")
    rows = []
    for run in result["measured"]:
        for command in ("fit", "evaluate", "predict"):
            one = run[command]
            n_rows = run["rows"] if command == "fit" else run["test_rows"]
            rows.append(
                [
                    run["format"],
                    command,
                    f"{n_rows:,}",
                    f"{one['seconds']:.0f} s",
                    f"{one['rows_per_second']:,.0f}",
                    f"{one['peak_mib']:,.0f} MiB",
                ]
            )
    head = ["file", "command", "rows", "time", "rows a second", "peak memory"]
    return "\n".join([*grid(head, rows), "", f"{where(result)}."])


TABLES = {
    "command-line": command_line_table,
}
