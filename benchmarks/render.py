"""Write the tables of README.md and docs/ from ``benchmarks/results/*.json``.

Run as ``make tables``. A test checks that the pages say what the results say.
"""

from __future__ import annotations

from pages import (
    boosted,
    candidates,
    clusters,
    command_line,
    contributing,
    counts,
    demo,
    doubly_stochastic,
    drift,
    features,
    gaussian_process,
    gpu,
    hypotheses,
    intervals,
    kitchen_sinks,
    latency,
    neurons,
    peers,
    quantiles,
    readme,
    seeds,
    series,
    shrinking_gradient,
    small_tables,
    speed,
    streams,
)
from pages.common import ROOT

BENCHMARKS = {
    "boosted": boosted.TABLES,
    "command-line": command_line.TABLES,
    "counts": counts.TABLES,
    "dask": clusters.TABLES,
    "index": demo.TABLES,
    "doubly-stochastic": doubly_stochastic.TABLES,
    "drift": drift.TABLES,
    "features": features.TABLES,
    "gaussian-processes": gaussian_process.TABLES,
    "gpu": gpu.TABLES,
    "hypotheses": hypotheses.TABLES,
    "intervals": intervals.TABLES,
    "kitchen-sinks": kitchen_sinks.TABLES,
    "latency": latency.TABLES,
    "neurons": neurons.TABLES,
    "peers": peers.TABLES,
    "quantiles": quantiles.TABLES,
    "series": series.TABLES,
    "shrinking-gradient": shrinking_gradient.TABLES,
    "small-tables": small_tables.TABLES,
    "speed": speed.TABLES,
    "streams": streams.TABLES,
    "trees": candidates.TABLES | seeds.TABLES,
}
PAGES = {"README.md": readme.TABLES, "CONTRIBUTING.md": contributing.TABLES}
PAGES |= {f"docs/benchmarks/{page}.md": tables for page, tables in BENCHMARKS.items()}


def rendered(page):
    """A page with its tables written anew."""
    text = (ROOT / page).read_text()
    for name, make in PAGES[page].items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        head, rest = text.split(start)
        text = f"{head}{start}{make()}\n{end}{rest.split(end)[1]}"
    return text


def main():
    for page in PAGES:
        (ROOT / page).write_text(rendered(page))


if __name__ == "__main__":
    main()
