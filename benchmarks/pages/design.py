"""Tables of docs/benchmarks/speed.md that support decisions of the design."""

from __future__ import annotations

import numpy as np

from pages.common import results, where


def exact_table():
    result = results("exact_kernel")
    lines = [
        "| neurons | Shrinking Gradient | exact kernel | largest difference of a seed |",
        "|---|---|---|---|",
    ]
    for family in dict.fromkeys(run["family"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["family"] == family]
        error, exact = (np.array([run[key] for run in runs]) for key in ("error", "exact_error"))
        lines.append(
            f"| {family} | {error.mean():.2%} | {exact.mean():.2%} | "
            f"{100 * (error - exact).max():+.2f} points |"
        )
    seeds = len({run["seed"] for run in result["runs"]})
    return "\n".join([*lines, "", f"Means of {seeds} orders of the rows. {where(result)}."])


def engine_text():
    result = results("engine_alternatives")
    blocks, gram, cosines = (result[key] for key in ("activations", "gram", "cosines"))
    ours, tiles = blocks["blocks of 512 rows"], gram["512 rows, 500 columns"]
    sizes = "; ".join(
        f"{name.removeprefix('blocks of ')} {100 * (seconds / ours - 1):+.0f} %"
        for name, seconds in sorted(blocks.items(), key=lambda item: len(item[0]))
        if name.startswith("blocks") and name != "blocks of 512 rows"
    )
    of_tiles = "; ".join(
        f"{name} {100 * (seconds / tiles - 1):+.0f} %"
        for name, seconds in gram.items()
        if "columns" in name and seconds != tiles
    )
    others = ", ".join(
        f"{name} {result['versions'][name]} {seconds / cosines['numpy']:.1f} times"
        for name, seconds in cosines.items()
        if name != "numpy"
    )
    lines = [
        f"- Cosines and sines written straight into the panel: "
        f"{100 * (blocks['in place'] / ours - 1):+.0f} % of the time of activations.",
        f"- Weights drawn while the block before is multiplied: at most "
        f"{100 * blocks['draw'] / ours:.0f} % on 4,096 rows, once, since they are kept.",
        f"- Blocks of other sizes than 512 rows: {sizes}.",
        f"- The Gram matrix in other tiles than of 512 rows and 500 columns: {of_tiles}; in one "
        f"product of 4,096 rows in double precision {100 * (gram['double'] / tiles - 1):+.0f} %; "
        f"in single, whose rounding shows, {100 * (gram['single'] / tiles - 1):+.0f} %.",
    ]
    if others:
        lines.append(
            f"- Cosines of another library, next to NumPy's in single precision: {others}."
        )
    return "\n".join([*lines, "", f"{where(result)}."])


TABLES = {
    "exact": exact_table,
    "engine": engine_text,
}
