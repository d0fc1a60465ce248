"""What the tables of all pages share."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
#: What all results depend on, whose versions are stored with them.
OWN = "trickless", "numpy", "scipy"


def results(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def where(result):
    """Date, commit, versions of rivals and machine in a line."""
    c = result["circumstances"]
    rivals = [f"{name} {version}" for name, version in c["packages"].items() if name not in OWN]
    machine = f"{c['machine']['cores']} cores of {c['machine']['processor']}"
    return ", ".join([c["date"], f"commit {c['commit']}", *rivals, machine])


def grid(head, rows):
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def listed(names):
    """One, two and three."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
