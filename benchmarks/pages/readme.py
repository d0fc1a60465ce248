"""Tables of README.md."""

from __future__ import annotations

from pages.common import grid, results, where
from pages.peers import KINDS, mean_ratio, ratios, times
from trickless._demo import Row, table

#: Names of data sets in peers.json, and in the README.
DATA = {
    "adult": "Adult",
    "covertype": "Covertype, 100,000 rows",
    "mnist": "MNIST",
    "flights": "flights",
    "puma32h": "puma32h",
}


def demo_table():
    result = results("trickless-demo")
    text = table([Row(**row) for row in result["table"]]).strip()
    return f"```\n{text}\n```\n\nMedians of {result['repeats']} runs in turn. {where(result)}."


def peers_table():
    """The least error of each group on each data set, and what it takes."""
    rows = []
    for one in results("peers")["data"]:
        if one["name"] not in DATA:
            continue
        cells = []
        for kind in KINDS:
            point = one["summary"]["best"][kind]
            error = f"{point['error']:.1%}" if one["classes"] else f"{point['error']:.3f}"
            cells.append(
                f"**{error}** {point['method']}, {point['seconds']:.2g} s, "
                f"{point['peak_mib']:,.0f} MiB"
            )
        rows.append([DATA[one["name"]], *cells])
    rival = "RBFSampler + Ridge"
    more = {key: times(mean_ratio(values)) for key, values in ratios(rival).items()}
    said = (
        f"Errors of regression are 1 − R². A fit of {rival} takes {more['time']} times the seconds "
        f"and {more['memory']} times the memory of the quickest of ours with no more error, "
        "whatever its neurons: geometric means over its sizes on all data."
    )
    return "\n".join([*grid(["data", *KINDS.values()], rows), "", said])


TABLES = {
    "table": demo_table,
    "peers": peers_table,
}
