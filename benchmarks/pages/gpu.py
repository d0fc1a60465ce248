"""Tables of docs/benchmarks/gpu.md."""

from __future__ import annotations

from pages.common import grid, results, where


def measured_table():
    result = results("gpu")
    sinks = result["kitchen_sinks"]
    size = f"{sinks['rows']:,} rows of {sinks['inputs']}, {sinks['columns']:,} columns"
    bare = {"activations": "bare products", "fit": "bare fit", "fit, alpha='auto'": "bare fit"}
    rows = [
        [f"`KitchenSinksRegressor`, {what}", size, *_seconds(sinks["seconds"], what, against)]
        for what, against in bare.items()
    ]
    for step in result["steps"]:
        size = (
            f"{step['rows']:,} rows of {step['inputs']}, {step['neurons before']:,} neurons "
            f"before, {step['neurons drawn']:,} drawn"
        )
        name = f"`DoublyStochasticRegressor`, a step, preconditioner={step['preconditioner']!r}"
        rows.append([name, size, *_seconds(step["seconds"], "step", "bare step")])
    c = result["circumstances"]
    text = f"Medians of seconds. {c['device']}, torch {c['torch']}. {where(result)}."
    head = ["", "size", "ours", "bare torch", "ratio"]
    return "\n".join([*grid(head, rows), "", text])


def _seconds(seconds, ours, bare):
    ratio = seconds[ours] / seconds[bare]
    return f"{seconds[ours]:.3g} s", f"{seconds[bare]:.3g} s", f"{ratio:.1f}"


TABLES = {"measured on a card": measured_table}
