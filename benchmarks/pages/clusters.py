"""Tables of docs/benchmarks/dask.md."""

from __future__ import annotations

import numpy as np

from pages.common import grid, listed, results, where


def kilobytes(n):
    return f"{n / 1e6:,.1f} MB" if n >= 1e6 else f"{n / 1e3:,.1f} kB"


def clusters_table():
    """Two Dask workers against one, and the bytes between them."""
    result = results("dask_scaling")
    sinks = result["sinks"]
    one, two = (sinks["medians"][n]["seconds"] for n in "12")
    size = f"{sinks['rows']:,} rows, {sinks['columns']:,} columns"
    rows = [["Kitchen Sinks", size, f"{one:.1f} s", f"{two:.1f} s", f"{sinks['speed_up']:.2f}"]]
    bare = listed(f"{factor:.2f} ({what})" for what, factor in result["possible"].items())
    lines = grid(["learner", "fit", "one worker", "two", "speed-up"], rows)
    small = "**Sizes too small to say much (`--small`).** " if result["small"] else ""
    said = (
        f"{small}Medians of {result['repeats']} interleaved fits. Without Dask, two processes "
        f"together do the bare arithmetic {bare} times as fast as one. This machine allows no "
        "more. Between two workers and the client, "
        f"Kitchen Sinks sent {kilobytes(sinks['medians']['2']['others_sent'])}: statistics of "
        f"{kilobytes(sinks['statistics_bytes'])} from one worker to the other, and to the client. "
        f"{where(result)}."
    )
    return "\n".join([*lines, "", said])


#: Bytes a second between machines that the table of machines assumes: 10 Gbit/s.
BANDWIDTH = 1.25e9


def machines_table():
    """What many workers would do, from constants measured on one of them and checked on two."""
    result = results("dask_scaling")
    sinks = result["sinks"]
    whole, half = (sinks[job]["1"]["seconds"] for job in ("medians", "half"))
    a_row = (whole - half) / (sinks["rows"] / 2)
    rest = max(whole - a_row * sinks["rows"], sinks["solve_seconds"])
    hop = sinks["statistics_bytes"] / BANDWIDTH + sinks["merge_seconds"]

    def fit(w, rows=1e8):
        return rows * a_row / w + rest + 3 * np.ceil(np.log(w) / np.log(4) - 1e-9) * hop

    rows = [[f"{w}", f"{fit(w) / 60:,.1f} min ({fit(1) / fit(w):.1f}×)"] for w in (1, 2, 10, 100)]
    text = (
        f"Kitchen Sinks takes {1e6 * a_row:.1f} µs a row of {sinks['columns']:,} columns, "
        f"{rest:.1f} s that are not shared, and up to three sums of statistics on each level of a "
        f"tree of fours, {hop:.3f} s each at 10 Gbit/s. By the model the fit above takes two "
        f"workers {fit(2, sinks['rows']):.1f} s where {sinks['medians']['2']['seconds']:.1f} s "
        "were measured."
    )
    return "\n".join([*grid(["workers", "Kitchen Sinks, 10⁸ rows"], rows), "", text])


TABLES = {
    "clusters": clusters_table,
    "machines": machines_table,
}
