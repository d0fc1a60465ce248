"""The demo with a picture, and the error of Kitchen Sinks along its neurons.

Run as ``make demo``, which writes ``trickless-demo.png`` and ``trickless-demo.json`` to the current
folder, or as ``make bench-demo``, which fits each model three times, for ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from circumstances import circumstances
from demo_picture import draw
from trickless import KitchenSinksClassifier
from trickless.cli.demo.comparison import Data, compare, described, load, table
from trickless.cli.screen import progress

RESULTS = Path(__file__).parent / "results"
SEEDS = (0, 1, 2)
SIZES = {"stumps": (25, 50, 100, 200, 500, 1000, 2000), "gaussian": (25, 50, 100, 200, 500, 1000)}


def sweep_sizes(data: Data) -> dict[str, Any]:
    """Return the test error of Kitchen Sinks for several numbers of neurons and seeds."""

    def error(family: str, size: int, seed: int) -> float:
        model = KitchenSinksClassifier(family, size, random_state=seed).fit(data.X, data.y)
        advance(1)
        return float((model.predict(data.X_test) != data.y_test).mean())

    with progress("Sizes", len(SEEDS) * sum(map(len, SIZES.values()))) as advance:
        return {
            family: {
                "neurons": list(sizes),
                "error": [[error(family, size, seed) for seed in SEEDS] for size in sizes],
            }
            for family, sizes in SIZES.items()
        }


def run(folder: Path, repeats: int) -> None:
    data = load()
    print(described(data))
    rows = compare(data, repeats)
    print(table(rows), flush=True)
    results = {
        "data": {"name": data.name, "train": data.X.shape, "test": data.X_test.shape},
        "repeats": repeats,
        "table": [row._asdict() for row in rows],
        "sizes": sweep_sizes(data),
        "circumstances": circumstances(),
    }
    (folder / "trickless-demo.json").write_text(json.dumps(results, indent=1) + "\n")
    picture = folder / "trickless-demo.png"
    draw(results).savefig(picture, dpi=150)
    print(f"wrote {picture} and {picture.with_suffix('.json').name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the picture")
    parser.add_argument("--repeats", type=int, default=3, help="how often to fit every model")
    args = parser.parse_args()
    run(args.out, args.repeats)


if __name__ == "__main__":
    main()
