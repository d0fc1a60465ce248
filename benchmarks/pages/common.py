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


def where(*measured):
    """Date, commit, versions of rivals and machine of results in a line; equal ones once."""
    said = {}
    for one in measured:
        c = one["circumstances"]
        rivals = [f"{name} {version}" for name, version in c["packages"].items() if name not in OWN]
        machine = f"{c['machine']['cores']} cores of {c['machine']['processor']}"
        days = said.setdefault(", ".join([*rivals, machine]), {})
        days.setdefault(c["date"], {})[c["commit"]] = None
    return "; ".join(f"{listed(map(dated, days.items()))}, {rest}" for rest, days in said.items())


def dated(day):
    """A date and its commits."""
    date, commits = day
    return f"{date}, commit{'s' if len(commits) > 1 else ''} {listed(commits)}"


def two_digits(value):
    """A number in two digits, without an exponent below a million."""
    return f"{float(f'{value:.2g}'):,g}"


def grid(head, rows):
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def listed(names):
    """One, two and three."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
