"""Tables of README.md."""

from __future__ import annotations

from pages.common import grid, results, where
from pages.peers import BESIDE, KINDS, mean_ratio, peers, ratios, times, worthwhile
from trickless.cli.demo.comparison import Row, table

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


def means(data, rival, which):
    """A rival's seconds and memory over ours, in words."""
    found = ratios(data, rival, which)
    return (
        f"{times(mean_ratio(found['time']))} times the seconds and "
        f"{times(mean_ratio(found['memory']))} times the memory"
    )


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
    data = peers()["data"]
    given, chosen = "RBFSampler + Ridge", "RBFSampler + RidgeCV"
    alike, any_ = BESIDE.values()
    each = "; ".join(
        f"{title(one['name'])} {times(mean_ratio(ratios([one], given, alike)['time']))}"
        for one in data
    )
    n = len(worthwhile(data, given, alike))
    missed = n - len(ratios(data, given, alike)["time"])
    said = (
        "Errors of regression are 1 − R². At equal error and with the same kernel, RBFSampler and "
        f"RidgeCV, which chooses alpha as Kitchen Sinks do, take {means(data, chosen, alike)} of "
        f"ours; RBFSampler and Ridge, where alpha is given to both, {means(data, given, alike)} "
        f"(seconds by data: {each}; {missed} of {n} errors not reached). Next to the fastest of "
        "ours, with neurons chosen by the test error, RBFSampler and Ridge take "
        f"{means(data, given, any_)}. All are geometric means over its sizes, but for those that "
        "another of its own beats in seconds and error."
    )
    return "\n".join([*grid(["data", *KINDS.values()], rows), "", said])


TABLES = {
    "table": demo_table,
    "peers": peers_table,
}
