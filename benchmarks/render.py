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
    design,
    doubly_stochastic,
    gpu,
    hypotheses,
    kitchen_sinks,
    neurons,
    peers,
    readme,
    shrinking_gradient,
    speed,
)
from pages.common import ROOT

PAGES = {
    "README.md": readme.TABLES,
    "CONTRIBUTING.md": contributing.TABLES,
    "docs/design.md": design.TABLES,
    "docs/doubly-stochastic.md": doubly_stochastic.TABLES,
    "docs/trees.md": candidates.TABLES,
    "docs/gpu.md": gpu.TABLES,
    "docs/hypotheses.md": hypotheses.TABLES,
    "docs/kitchen-sinks.md": kitchen_sinks.TABLES,
    "docs/neurons.md": neurons.TABLES,
    "docs/shrinking-gradient.md": shrinking_gradient.TABLES,
    "docs/speed.md": speed.TABLES,
    "docs/peers.md": peers.TABLES | boosted.TABLES,
    "docs/clusters.md": clusters.TABLES,
    "docs/command-line.md": command_line.TABLES,
}


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
