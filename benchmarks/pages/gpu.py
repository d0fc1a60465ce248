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
        name = f"`DoublyStochasticRegressor`, a step, schedule={step['schedule']!r}"
        rows.append([name, size, *_seconds(step["seconds"], "step", "bare step")])
    c = result["circumstances"]
    text = f"Medians of seconds. {c['device']}, torch {c['torch']}. {where(result)}."
    head = ["work", "size", "ours", "bare torch", "ratio"]
    return "\n".join([*grid(head, rows), "", text])


def _seconds(seconds, ours, bare):
    ratio = seconds[ours] / seconds[bare]
    return f"{seconds[ours]:.3g} s", f"{seconds[bare]:.3g} s", f"{ratio:.1f}"


def counted_table():
    parts = results("gpu_counts")
    rows = []
    for i, step in enumerate(parts["now"]["steps"]):
        name = (
            f"{step['neurons drawn']:,} neurons, schedule={step['schedule']!r}, "
            f"{step['neurons before']:,} before"
        )
        for what in ("a step of a stream", "a step of a fit"):
            size = name if what == "a step of a stream" else name.rpartition(", ")[0]
            pairs = (parts[label]["steps"][i][what] for label in ("before", "now"))
            rows.append([f"{what}: {size}", *_counts(*pairs)])
    for what in ("a panel", "the rest of a fit, alpha=1e-06", "the rest of a fit, alpha='auto'"):
        pairs = (parts[label]["kitchen_sinks"][what] for label in ("before", "now"))
        rows.append([f"Kitchen Sinks: {what}", *_counts(*pairs)])
    head = [
        "work",
        "operations",
        "waits",
        "copies to the device",
        "bytes to the host",
        "factorisations",
    ]
    c, before = parts["now"]["circumstances"], parts["before"]["circumstances"]["commit"]
    text = f"Before (commit {before}) → now. torch {c['torch']}. {where(parts['now'])}."
    return "\n".join([*grid(head, rows), "", text])


def _counts(before, now):
    names = "launched", "waits", "to_device", "host_bytes", "factorised"
    return [f"{before[name]:,.0f} → {now[name]:,.0f}" for name in names]


TABLES = {
    "measured on a card": measured_table,
    "counted without a card": counted_table,
}
