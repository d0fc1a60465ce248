"""What curves of error along seconds say: who has the least error at equal seconds, and when."""

from __future__ import annotations

from typing import Any

import numpy as np

OURS, BOOSTED, OTHER = "ours", "boosted trees", "others"
#: Names of our trees, with a number of trees, and with nothing set.
TREES, DEFAULTS = "ours", "ours, nothing set"
#: Our trees that are cut node by node.
BINARY = "ours, binary trees"
#: Names of ChimeraBoost with nothing set, and with its preset for speed.
CHIMERA, FAST_CHIMERA = "ChimeraBoost", "ChimeraBoost, fast"
#: How many of the last points of ours are compared.
LAST = 3

#: Method, size, seconds, error and, for numbers, absolute error, of all seeds together.
Point = dict[str, Any]


def points(method: dict[str, Any]) -> list[Point]:
    """Mean errors and median seconds at each size that most seeds reached, by seconds.

    Not all of them have to, since a fit that was disturbed ends with fewer trees.
    """
    result = []
    for curve in method["curves"]:
        runs = curve["runs"]
        for size in dict.fromkeys(size for run in runs for size in run["size"]):
            there = [(run, run["size"].index(size)) for run in runs if size in run["size"]]
            if len(there) <= len(runs) / 2:
                continue
            point: Point = {"method": method["name"], "size": size}
            point["seconds"] = float(np.median([run["seconds"][i] for run, i in there]))
            for key in ("error", "absolute_error"):
                values = [run[key][i] for run, i in there if run[key]]
                point[key] = float(np.mean(values)) if values else None
            result.append(point)
    return sorted(result, key=lambda point: point["seconds"])


def all_points(one: dict[str, Any], *groups: str) -> list[Point]:
    """Points of all methods of some groups."""
    chosen = [m for m in one["methods"] if m["group"] in groups]
    return [point for method in chosen for point in points(method)]


def lowest(some: list[Point], seconds: float) -> Point | None:
    """The point of least error that takes no more seconds."""
    within = [point for point in some if point["seconds"] <= seconds]
    return min(within, key=lambda point: point["error"], default=None)


def named(one: dict[str, Any], name: str) -> list[Point]:
    return [
        point for method in one["methods"] if method["name"] == name for point in points(method)
    ]


def at_equal_seconds(one: dict[str, Any]) -> list[dict[str, Any]]:
    """Least errors at the seconds of the last points of our trees, and of those with nothing set.

    Returns
    -------
    list of dict with
        ``at``: the point of ours whose seconds they are; ``ours``: the point of least error of our
        trees, nothing set or not; ``boosted``: that of boosted trees; ``all``: that of all methods,
        Kitchen Sinks among them; ``ratio``: the error of ours over that of boosted trees.
    """
    trees, defaults = named(one, TREES), named(one, DEFAULTS)
    boosted, everyone = all_points(one, BOOSTED), all_points(one, OURS, BOOSTED, OTHER)
    result = []
    for at in sorted(trees[-LAST:] + defaults, key=lambda point: point["seconds"]):
        best = lowest(trees + defaults + named(one, BINARY), at["seconds"])
        peer = lowest(boosted, at["seconds"])
        ratio = best["error"] / peer["error"] if best and peer and peer["error"] else None
        result.append(
            {"at": at, "ours": best, "boosted": peer, "ratio": ratio}
            | {"all": lowest(everyone, at["seconds"])}
        )
    return result


def against(one: dict[str, Any], peer: str) -> dict[str, Any] | None:
    """The least error of our trees in the seconds that a peer takes, which has one fit a seed.

    Returns
    -------
    dict or None
        ``peer`` and ``ours`` are points, and ``ratio`` is the error of ours over that of the peer.
        ``ours`` and ``ratio`` are None if no fit of ours is as quick. None if the peer has no fit.
    """
    points_of_peer = named(one, peer)
    if not points_of_peer:
        return None
    point = points_of_peer[-1]
    ours = [each for name in (TREES, DEFAULTS, BINARY) for each in named(one, name)]
    best = lowest(ours, point["seconds"])
    ratio = best["error"] / point["error"] if best and point["error"] else None
    return {"peer": point, "ours": best, "ratio": ratio}


def leads(one: dict[str, Any]) -> list[Point]:
    """Points at which another method than before has the least error so far, by seconds."""
    result: list[Point] = []
    least = np.inf
    everyone = all_points(one, OURS, BOOSTED, OTHER)
    for point in sorted(everyone, key=lambda point: (point["seconds"], point["error"])):
        if point["error"] >= least:
            continue
        least = point["error"]
        who = TREES if point["method"] == DEFAULTS else point["method"]
        if result and result[-1]["method"] == who:
            result[-1]["until"] = least
        else:
            result.append({**point, "method": who, "until": least})
    return result


def summarise(one: dict[str, Any]) -> dict[str, Any]:
    """All that is said of a table beyond its curves."""
    return {"equal": at_equal_seconds(one), "leads": leads(one)}
