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
    data = peers()["data"]
    which = BESIDE["the same kernel"]
    alike, any_ = (ratios(data, rival, which) for which in BESIDE.values())
    mean = {key: [times(mean_ratio(found[key])) for found in (alike, any_)] for key in alike}
    each = "; ".join(
        f"{title(one['name'])}: {times(mean_ratio(ratios([one], rival, which)['time']))}"
        for one in data
    )
    n = sum(len(one["summary"][which][rival]) for one in data)
    said = (
        f"Errors of regression are 1 − R². At equal error, {rival} takes {mean['time'][0]} times "
        f"the seconds and {mean['memory'][0]} times the memory of Kitchen Sinks with the same "
        f"kernel (seconds by data: {each}; {n - len(alike['time'])} of {n} errors not reached), "
        f"and {mean['time'][1]} and {mean['memory'][1]} times those of the fastest of ours, its "
        "neurons chosen by the test error: geometric means over its sizes."
    )
    return "\n".join([*grid(["data", *KINDS.values()], rows), "", said])


TABLES = {
    "table": demo_table,
    "peers": peers_table,
}
