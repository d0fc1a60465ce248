"""Tables of docs/benchmarks/boosted.md."""

from __future__ import annotations

from functools import cache

from pages.common import RESULTS, grid, listed, results, where
from peers.equal_seconds import (
    CHIMERA,
    DEFAULTS,
    FAST_CHIMERA,
    TREES,
    against,
    summarise,
)

#: The most that ours should be above the best boosted trees.
TOLERATED = 1.03


@cache
def boosted():
    """The tables that were measured, with what is said of each."""
    if not (RESULTS / "boosted.json").exists():
        return []
    data = results("boosted")["data"]
    for one in data:
        one |= summarise(one)
    return data


def where_boosted():
    """Circumstances of all methods of all tables, which may be measured apart."""
    every = [where(method) for one in boosted() for method in one["methods"]]
    return "; ".join(dict.fromkeys(every)) or "Not measured yet"


def boosted_picture():
    """The picture, if there is one."""
    text = "Test error along seconds of fit, a panel for each table"
    return f"![{text}](../../benchmarks/results/boosted.png)" if boosted() else "Not measured yet."


def boosted_equal_table():
    """The least errors at the seconds that ours took."""
    rows = []
    for one in boosted():
        for line in one["equal"]:
            at, best, ratio = line["at"], line["boosted"], line["ratio"]
            size = f"{at['size']:,} trees" if at["size"] else "nothing set"
            cells = [one["name"], f"{at['seconds']:.2g} s", size, f"{line['ours']['error']:.4f}"]
            cells.append(f"{best['error']:.4f}, {best['method']}" if best else "none yet")
            rows.append([*cells, f"{ratio:.3f}" if ratio else "–", who(line["all"])])
    head = ["table", "within", "of ours", "ours", "best boosted trees", "ratio", "least of all"]
    return "\n".join([*grid(head, rows), "", f"{verdict()} {where_boosted()}."])


def who(point):
    """The method of a point, without what was set."""
    return TREES if point["method"] == DEFAULTS else point["method"]


def verdict():
    """How often ours are lowest, and how far above the best boosted trees at most."""
    last = {one["name"]: one["equal"][-1] for one in boosted() if one["equal"]}
    if not last:
        return ""
    wins = [name for name, line in last.items() if who(line["all"]) == TREES]
    ratios = {name: line["ratio"] for name, line in last.items() if line["ratio"]}
    above = [f"{name} ({ratio:.3f})" for name, ratio in ratios.items() if ratio > TOLERATED]
    said = f"At the last seconds of ours, their error is the least of all on {len(wins)} of "
    said += f"{len(last)} tables{': ' if wins else ''}{listed(wins) if wins else ''}. "
    share = f"{TOLERATED - 1:.0%}"
    if above:
        return said + f"It is more than {share} above the best boosted trees on {listed(above)}."
    return said + f"It is nowhere more than {share} above the best boosted trees."


def boosted_chimera_table():
    """Ours in the seconds of ChimeraBoost, with nothing set and at its preset for speed."""
    rows, said = [], []
    for peer in (CHIMERA, FAST_CHIMERA):
        lines = [(one["name"], against(one, peer)) for one in boosted()]
        lines = [(name, line) for name, line in lines if line]
        for name, line in lines:
            at, best, ratio = line["peer"], line["ours"], line["ratio"]
            cells = [name, peer, f"{at['seconds']:.2g} s", f"{at['error']:.4f}"]
            cells.append(f"{best['error']:.4f}" if best else "none yet")
            rows.append([*cells, f"{ratio:.3f}" if ratio is not None else "–"])
        ahead = sum(
            bool(line["ours"]) and line["ratio"] is not None and line["ratio"] < 1
            for _, line in lines
        )
        if lines:
            said.append(f"Ours is below {peer} on {ahead} of {len(lines)} tables.")
    if not rows:
        return "Not measured yet."
    head = ["table", "ChimeraBoost", "takes", "its error", "ours within", "ratio"]
    return "\n".join([*grid(head, sorted(rows)), "", " ".join(said)])


def boosted_leads_table():
    """Which method has the least error so far as seconds pass."""
    rows = []
    for one in boosted():
        parts = [
            f"{point['method']} from {point['seconds']:.2g} s ({span(point)})"
            for point in one["leads"]
        ]
        rows.append([one["name"], "; ".join(parts)])
    return "\n".join(grid(["table", "the least error so far"], rows))


def span(point):
    """From which error to which a method leads."""
    first, last = f"{point['error']:.3g}", f"{point['until']:.3g}"
    return first if first == last else f"{first} to {last}"


def boosted_settings_table():
    """What was chosen for each method."""
    rows = []
    for one in boosted():
        for method in one["methods"]:
            if method["missing"]:
                rows.append([one["name"], method["name"], method["missing"], ""])
            elif method["compared"]:
                chosen = [setting_of(curve) for curve in method["curves"]]
                rows.append([one["name"], method["name"], chosen[0], *(chosen[1:] or [""])])
    return "\n".join(grid(["table", "method", "setting", "of the first seconds"], rows))


def setting_of(curve):
    values = [f"{name} {value}" for name, value in curve["setting"].items()]
    return ", ".join(values).removeprefix("neurons ")


TABLES = {
    "boosted-picture": boosted_picture,
    "boosted-equal": boosted_equal_table,
    "boosted-chimera": boosted_chimera_table,
    "boosted-leads": boosted_leads_table,
    "boosted-settings": boosted_settings_table,
}
