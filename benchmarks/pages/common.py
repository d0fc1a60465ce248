"""What the tables of all pages share."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


RESULTS = ROOT / "benchmarks" / "results"


def results(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def where(result):
    """Versions, machine, date and commit in a line."""
    c = result["circumstances"]
    versions = ", ".join(f"{name} {version}" for name, version in c["packages"].items())
    machine = f"{c['machine']['cores']} cores of {c['machine']['processor']}"
    return f"{c['date']}, commit {c['commit']}, Python {c['python']}, {versions}, {machine}"


def grid(head, rows):
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def listed(names):
    """One, two and three."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
