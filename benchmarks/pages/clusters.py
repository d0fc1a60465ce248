"""Tables of docs/benchmarks/dask.md."""

from __future__ import annotations

import numpy as np

from pages.common import grid, listed, results, where


def kilobytes(n):
    return f"{n / 1e6:,.1f} MB" if n >= 1e6 else f"{n / 1e3:,.1f} kB"


def clusters_table():
    """Two Dask workers against one, and the bytes between them."""
    result = results("dask_scaling")
    sinks, descent = result["sinks"], result["descent"]
    rows = []
    for name, job, size in (
        ("Kitchen Sinks", sinks, f"{sinks['rows']:,} rows, {sinks['columns']:,} columns"),
        (
            "Doubly Stochastic",
            descent,
            f"{descent['rows']:,} rows, {descent['steps']} steps of {descent['batch']:,} rows and "
            f"{descent['neurons_a_step']} neurons",
        ),
    ):
        one, two = (job["medians"][n]["seconds"] for n in "12")
        rows.append([name, size, f"{one:.1f} s", f"{two:.1f} s", f"{job['speed_up']:.2f}"])
    bare = listed(f"{factor:.2f} ({what})" for what, factor in result["possible"].items())
    lines = grid(["learner", "fit", "one worker", "two", "speed-up"], rows)
    small = "**Sizes too small to say much (`--small`).** " if result["small"] else ""
    said = (
        f"{small}Medians of {result['repeats']} interleaved fits. Without Dask, two processes "
        f"together do the bare arithmetic {bare} times as fast as one. This machine allows no "
        "more. Between two workers and the client, "
        f"Kitchen Sinks sent {kilobytes(sinks['medians']['2']['others_sent'])}: statistics of "
        f"{kilobytes(sinks['statistics_bytes'])} from one worker to the other, and to the client. "
        f"A step of Doubly Stochastic sent {kilobytes(descent['sent_a_step'])} by the workers' "
        f"logs, for a gradient of {kilobytes(descent['gradient_bytes'])}, and "
        f"{kilobytes(descent['wire_a_step'])} went through the network interface in all, orders "
        "and reports included. The weights of its neurons are "
        f"{kilobytes(descent['weights_bytes'])}, for each worker. {where(result)}."
    )
    return "\n".join([*lines, "", said])


#: Bytes a second between machines that the table of machines assumes: 10 Gbit/s.
BANDWIDTH = 1.25e9


def evaluated(rows, batch, k, steps):
    """Activations of a Doubly Stochastic fit: at each step, of the neurons that its rows missed."""
    missed = np.minimum(np.arange(steps), np.ceil(rows / batch))
    return batch * k * float((missed + 1).sum())


def machines_table():
    """What many workers would do, from constants measured on one of them and checked on two."""
    result = results("dask_scaling")
    sinks, descent = result["sinks"], result["descent"]

    whole, half = (sinks[job]["1"]["seconds"] for job in ("medians", "half"))
    a_row = (whole - half) / (sinks["rows"] / 2)
    rest = max(whole - a_row * sinks["rows"], sinks["solve_seconds"])
    hop = sinks["statistics_bytes"] / BANDWIDTH + sinks["merge_seconds"]

    def fit_sinks(w, rows=1e8):
        return rows * a_row / w + rest + 3 * np.ceil(np.log(w) / np.log(4) - 1e-9) * hop

    size = descent["rows"], descent["batch"], descent["neurons_a_step"]
    short, jobs = descent["short"], {}
    for name, steps, times in (
        ("short", short["steps"], short["medians"]),
        ("long", descent["steps"], descent["medians"]),
    ):
        jobs[name] = evaluated(*size, steps), steps, times["1"]["seconds"]
    workers, idle = zip(*((int(n), t) for n, t in result["idle_step_seconds"].items()), strict=True)
    slope, start = np.polyfit(workers, idle, 1)
    (few, few_steps, brief), (many, many_steps, lasting) = jobs["short"], jobs["long"]
    a_step = start + slope
    a_pair = (lasting - brief - (many_steps - few_steps) * a_step) / (many - few)
    begin = max(lasting - many_steps * a_step - many * a_pair, 0.0)

    def fit_descent(w, rows=1e8, batch=2**20, k=512, steps=128):
        return begin + evaluated(rows, batch, k, steps) * a_pair / w + steps * (start + slope * w)

    rows = []
    for w in (1, 2, 10, 100):
        fits = [(fit(w), fit(1) / fit(w)) for fit in (fit_sinks, fit_descent)]
        rows.append([f"{w}", *(f"{t / 60:,.1f} min ({gain:.1f}×)" for t, gain in fits)])
    checks = (
        (fit_sinks(2, sinks["rows"]), sinks["medians"]["2"]["seconds"]),
        (fit_descent(2, *size, descent["steps"]), descent["medians"]["2"]["seconds"]),
    )
    said = ", ".join(f"{told:.1f} s where {took:.1f} s were measured" for told, took in checks)
    text = (
        f"Kitchen Sinks takes {1e6 * a_row:.1f} µs a row of {sinks['columns']:,} columns, "
        f"{rest:.1f} s that are not shared, and up to three sums of statistics on each level of a "
        f"tree of fours, {hop:.3f} s each at 10 Gbit/s. Doubly Stochastic, here in 128 steps of "
        f"2²⁰ rows, takes {1e9 * a_pair:.1f} ns a row and neuron, {begin:.1f} s to begin, and "
        f"{1e3 * start:.1f} + {1e3 * slope:.1f} w ms a step on w workers, whatever it does (w "
        "workers in one process, which is rather too much). By the model the fits above take two "
        f"workers {said}."
    )
    head = ["workers", "Kitchen Sinks, 10⁸ rows", "Doubly Stochastic, 10⁸ rows, 65,536 neurons"]
    return "\n".join([*grid(head, rows), "", text])


TABLES = {
    "clusters": clusters_table,
    "machines": machines_table,
}
