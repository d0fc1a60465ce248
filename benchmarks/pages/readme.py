"""Tables of README.md."""

from __future__ import annotations

from pages.common import grid, results, where
from pages.peers import BESIDE, KINDS, mean_ratio, peers, ratios, times
from trickless._demo import Row, table

#: Names of data sets in peers.json, and in the README.
DATA = {
    "adult": "Adult",
    "covertype": "Covertype, 100,000 rows",
    "mnist": "MNIST",
    "flights": "flights",
    "puma32h": "puma32h",
}


def title(name):
    """What a data set is called."""
    return DATA.get(name, name[:1].upper() + name[1:])


def demo_table():
    result = results("trickless-demo")
    text = table([Row(**row) for row in result["table"]]).strip()
    return f"```\n{text}\n```\n\nMedians of {result['repeats']} runs in turn. {where(result)}."


def peers_table():
    """The least error of each group on each data set, and what it takes."""
    rows = []
    for one in peers()["data"]:
        if one["name"] not in DATA:
            continue
        cells = []
        for kind in KINDS:
            point = one["summary"]["best"][kind]
            error = f"{point['error']:.1%}" if one["classes"] else f"{point['error']:.3f}"
            cells.append(
                f"**{error}** {point['method']}, {point['size']:,} {point['unit']}, "
                f"{point['seconds']:.2g} s, {point['peak_mib']:,.0f} MiB"
            )
        rows.append([DATA[one["name"]], *cells])
    rival = "RBFSampler + Ridge"
    alike, any_ = (
        {key: times(mean_ratio(values)) for key, values in ratios(rival, which).items()}
        for which in BESIDE.values()
    )
    said = (
        f"Errors of regression are 1 − R². At equal error, {rival} "
        f"takes {alike['time']} times the seconds and {alike['memory']} times the memory of "
        f"Kitchen Sinks with the same kernel, and {any_['time']} and {any_['memory']} times those "
        "of the fastest of ours, its neurons chosen by the test error: geometric means over its "
        "sizes."
    )
    return "\n".join([*grid(["data", *KINDS.values()], rows), "", said])


TABLES = {
    "table": demo_table,
    "peers": peers_table,
}
