"""The demo, with three draws of its folds, and where it was made: for the README.

Run as ``make bench-demo``; writes ``trickless-demo.png`` and ``trickless-demo.json`` to
``benchmarks/results``.
"""

from __future__ import annotations

import json
from pathlib import Path

from circumstances import circumstances
from trickless._cli.demo.comparison import run

RESULTS = Path(__file__).parent / "results"


def main():
    run(RESULTS, repeats=3)
    path = RESULTS / "trickless-demo.json"
    results = json.loads(path.read_text()) | {"circumstances": circumstances()}
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
