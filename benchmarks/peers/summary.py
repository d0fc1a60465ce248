"""What the points of a comparison say: times to errors, ratios to peers, and who is dominated."""

from __future__ import annotations

from typing import Any

#: Errors to reach: misclassified share, or 1 - R².
ERRORS: dict[str, tuple[float, ...]] = {
    "adult": (0.16, 0.155, 0.15, 0.145, 0.14, 0.13),
    "covertype": (0.22, 0.20, 0.18, 0.16, 0.14, 0.12, 0.10),
    "mnist": (0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.015),
    "flights": (0.94, 0.92, 0.90, 0.88, 0.86, 0.82, 0.78),
    "puma32h": (0.9, 0.84, 0.8, 0.5, 0.2, 0.1, 0.07, 0.05),
}
#: The same least squares on the same features: they choose alpha as ``RidgeCV`` does, or are given
#: it as ``Ridge`` is (in older results not).
ALIKE, ALIKE_GIVEN = "Kitchen Sinks, gaussian", "Kitchen Sinks, gaussian, alpha given"
#: Peers that ratios are asked for, and their like.
RIVALS = {"RBFSampler + Ridge": ALIKE_GIVEN, "RBFSampler + RidgeCV": ALIKE}
#: Ends the names of data sets of which all rows are learned from where others have fewer.
ALL_ROWS = ", all rows"
#: Ends the names of methods that are fitted to some of the rows where others get all.
SOME_ROWS = ", some rows"
Point = dict[str, Any]


def points(one: dict[str, Any], kind: str) -> list[Point]:
    """Points of all methods of a kind on a data set, with the names of their methods."""
    return [
        {"method": method["name"], "unit": method["unit"], **point}
        for method in one["methods"]
        if method["kind"] == kind
        for point in method["points"]
    ]


def fastest(some: list[Point], error: float) -> Point | None:
    """The point of least seconds with at most this error."""
    reached = [point for point in some if point["error"] <= error]
    return min(reached, key=lambda point: point["seconds"], default=None)


def smallest(some: list[Point], error: float) -> Point | None:
    """The point of least peak memory with at most this error."""
    reached = [point for point in some if point["error"] <= error]
    return min(reached, key=lambda point: point["peak_mib"], default=None)


def summarise(one: dict[str, Any]) -> dict[str, Any]:
    """All that is said of a data set beyond its points; there is no interpolation anywhere.

    Returns
    -------
    dict with
        ``reached``: for each error and method the fastest point that is no worse, and the least
        peak memory of any that is no worse; ``winners``: the fastest point of each kind;
        ``best``: the point of least error of each kind; ``ratios``: for each point of a rival the
        seconds, and the peak memory, that it takes in units of those of the fastest of ours, of all
        rows as well, that is no worse; ``ratios_alike``: of the fastest of its like in ``RIVALS``;
        ``dominated``: which points of ours have a kernel or random-feature peer, or trees, both
        faster and more accurate; ``front``: the points of all kinds that no point beats in both.
    """
    errors = ERRORS[one["name"].removesuffix(ALL_ROWS)]
    ours, kernel, trees = (points(one, kind) for kind in ("ours", "kernel", "trees"))
    of_all_rows = [point for point in ours if not point["method"].endswith(SOME_ROWS)]
    return {
        "reached": [
            {"error": error, "methods": reached(one["methods"], error)} for error in errors
        ],
        "winners": [
            {"error": error, "ours": fastest(ours, error)}
            | {"kernel": fastest(kernel, error), "trees": fastest(trees, error)}
            for error in errors
        ],
        "best": {
            kind: min(some, key=lambda point: point["error"], default=None)
            for kind, some in (("ours", ours), ("kernel", kernel), ("trees", trees))
        },
        "ratios": {rival: ratios(of_all_rows, points_of(kernel, rival)) for rival in RIVALS},
        "ratios_alike": {
            rival: ratios(
                points_of(ours, alike) or points_of(ours, ALIKE), points_of(kernel, rival)
            )
            for rival, alike in RIVALS.items()
        },
        "dominated": [
            brief(point) | {"by": by, "by_trees": by_trees}
            for point in ours
            for by in [beating(point, kernel)]
            for by_trees in [beating(point, trees)]
        ],
        "front": [
            brief(point)
            for point in ours + kernel + trees
            if not beating(point, ours + kernel + trees)
        ],
    }


def points_of(some: list[Point], method: str) -> list[Point]:
    return [point for point in some if point["method"] == method]


def brief(point: Point) -> Point:
    return {key: point[key] for key in ("method", "size", "seconds", "error")}


def beating(point: Point, others: list[Point]) -> list[str]:
    """Others that are both faster and more accurate."""
    return [
        f"{other['method']}, {other['size']:,}"
        for other in others
        if other["seconds"] < point["seconds"] and other["error"] < point["error"]
    ]


def reached(methods: list[dict[str, Any]], error: float) -> dict[str, Point | None]:
    result = {}
    for method in methods:
        first = fastest(method["points"], error)
        result[method["name"]] = first and {
            **{key: first[key] for key in ("size", "seconds", "peak_mib")},
            "least_peak_mib": smallest(method["points"], error)["peak_mib"],
        }
    return result


def ratios(ours: list[Point], rival: list[Point]) -> list[dict[str, Any]]:
    """How many times more a rival's points take than ours of at most their error."""
    result = []
    for point in rival:
        best = fastest(ours, point["error"])
        result.append(
            {
                **{key: point[key] for key in ("size", "error", "seconds", "peak_mib")},
                "ours": best and {"method": best["method"], "size": best["size"]},
                "time": best and point["seconds"] / best["seconds"],
                "memory": best and point["peak_mib"] / max(best["peak_mib"], 1.0),
            }
        )
    return result
