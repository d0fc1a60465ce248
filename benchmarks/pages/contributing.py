"""Tables of CONTRIBUTING.md."""

from __future__ import annotations

import math

from pages.common import grid, results, where


def mutants_table():
    result = results("mutants")
    rows = []
    for one in result["files"]:
        killed = f"{one['killed']} of {one['drawn']}"
        rows.append([f"`{one['file']}`", f"{one['places']:,}", killed])
    drawn, killed = (sum(one[key] for one in result["files"]) for key in ("drawn", "killed"))
    share = killed / drawn
    error = math.sqrt(share * (1 - share) / drawn)
    text = f"In all {share:.0%} ± {error:.0%} (standard error). {where(result)}."
    return "\n".join([*grid(["file", "places", "killed"], rows), "", text])


TABLES = {"mutants": mutants_table}
