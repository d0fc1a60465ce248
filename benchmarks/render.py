"""Write the tables of README.md and docs/ from ``benchmarks/results/*.json``.

Run as ``make tables``. A test checks that the pages say what the results say.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from trickless._demo import Row, table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def results(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def where(result):
    """Versions, machine, date and commit in a line."""
    c = result["circumstances"]
    versions = ", ".join(f"{name} {version}" for name, version in c["packages"].items())
    machine = f"{c['machine']['cores']} cores of {c['machine']['processor']}"
    return f"{c['date']}, commit {c['commit']}, Python {c['python']}, {versions}, {machine}"


def demo_table():
    result = results("trickless-demo")
    text = table([Row(**row) for row in result["table"]]).strip()
    return f"```\n{text}\n```\n\nMedians of {result['repeats']} runs in turn. {where(result)}."


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


PAGES = {
    "README.md": {"table": demo_table},
    "docs/design.md": {"exact": exact_table},
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
