"""Tables of docs/benchmarks/boosted.md."""

from __future__ import annotations

from functools import cache

from pages.common import RESULTS, grid, results
from peers.equal_seconds import (
    CHIMERA,
    FAST_CHIMERA,
    against,
    summarise,
)


@cache
def boosted():
    """The tables that were measured, with what is said of each."""
    if not (RESULTS / "boosted.json").exists():
        return []
    data = results("boosted")["data"]
    for one in data:
        one |= summarise(one)
    return data


def boosted_picture():
    """The picture, if there is one."""
    text = "Test error along seconds of fit, a panel for each table"
    return f"![{text}](../../benchmarks/results/boosted.png)" if boosted() else "Not measured yet."


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
            said.append(f'Ours is below "{peer}" on {ahead} of {len(lines)} tables.')
    if not rows:
        return "Not measured yet."
    head = ["table", "ChimeraBoost", "takes", "its error", "ours within", "ratio"]
    return "\n".join([*grid(head, sorted(rows)), "", " ".join(said)])


TABLES = {
    "boosted-picture": boosted_picture,
    "boosted-chimera": boosted_chimera_table,
}
