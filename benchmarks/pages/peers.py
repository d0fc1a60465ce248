"""Tables of docs/benchmarks/peers.md."""

from __future__ import annotations

from functools import cache

import numpy as np

from pages.common import grid, results
from peers.summary import summarise

#: What groups of methods are called in the tables of the peers.
KINDS = {"ours": "ours", "kernel": "kernel or random-feature peer", "trees": "trees"}


@cache
def peers():
    """The comparison, with what is said of each data set."""
    result = results("peers")
    for one in result["data"]:
        one["summary"] = summarise(one)
    return result


def peers_table():
    """The least error of each group on each data set, and what it takes."""
    rows = []
    for one in peers()["data"]:
        cells = []
        for kind in KINDS:
            point = one["summary"]["best"][kind]
            error = f"{point['error']:.1%}" if one["classes"] else f"{point['error']:.3f}"
            cells.append(
                f"**{error}** {point['method']}, {point['size']:,} {point['unit']}, "
                f"{point['seconds']:.2g} s, {point['peak_mib']:,.0f} MiB"
            )
        rows.append([one["name"], *cells])
    return "\n".join(grid(["data", *KINDS.values()], rows))


def first_of(line):
    """The group that is first to an error; None if none reaches it."""
    reached = {kind: line[kind]["seconds"] for kind in KINDS if line[kind]}
    return min(reached, key=reached.get, default=None)


def peers_first_table():
    """To how many errors each group is first."""
    rows = []
    for one in peers()["data"]:
        lines = one["summary"]["winners"]
        firsts = [first_of(line) for line in lines]
        rows.append([one["name"], f"{len(lines)}", *(f"{firsts.count(kind)}" for kind in KINDS)])
    return "\n".join(grid(["data", "errors to reach", *KINDS.values()], rows))


def times(value):
    """A ratio to two digits, or whole."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


#: How many times our seconds and memory the same least squares on the same features should take.
AIMS = {"time": 3, "memory": 5}
#: What a rival is set beside: what it is called, and where it is in the summary.
BESIDE = {"the same kernel": "ratios_alike", "any of ours": "ratios"}


def worthwhile(data, rival, which):
    """Lines of a rival's fits on data sets, except those that another of its own beats in both."""
    of_all = [one["summary"][which][rival] for one in data]
    return [
        line
        for lines in of_all
        for line in lines
        if not any(o["seconds"] < line["seconds"] and o["error"] <= line["error"] for o in lines)
    ]


def ratios(data, rival, which):
    """A rival's seconds and memory over ours at its errors on data sets, where ours reach them."""
    lines = [line for line in worthwhile(data, rival, which) if line["ours"]]
    return {key: np.array([line[key] for line in lines]) for key in AIMS}


def mean_ratio(values):
    """Their geometric mean."""
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-3)))))


def peers_means_table():
    """Geometric means and ranges of a rival's seconds and memory over ours, on all data sets."""
    data, rows = peers()["data"], []
    for rival in data[0]["summary"]["ratios"]:
        for name, which in BESIDE.items():
            n = len(worthwhile(data, rival, which))
            for key, values in ratios(data, rival, which).items():
                if len(values):
                    mean, least, most = map(times, (mean_ratio(values), min(values), max(values)))
                    row = [rival, name, key, mean, f"{least} to {most}"]
                    row += [f"{AIMS[key]} for {np.sum(values >= AIMS[key])} of {n}"]
                    rows.append([*row, f"{n - len(values)}"])
    head = ["peer", "beside", "ratio of", "geometric mean", "range", "at least", "not reached"]
    return "\n".join(grid(head, rows))


def peers_edges_table():
    """Parameters whose best value is the least or the largest of the grid."""
    rows = []
    for one in peers()["data"]:
        edges = [
            f"{method['name']} ({', '.join(method['at_edge'])})"
            for method in one["methods"]
            if method.get("at_edge")
        ]
        rows.append([one["name"], "; ".join(edges) or "none"])
    return "\n".join(grid(["data", "at the edge of its grid"], rows))


TABLES = {
    "peers": peers_table,
    "peers-edges": peers_edges_table,
    "peers-first": peers_first_table,
    "peers-means": peers_means_table,
}
