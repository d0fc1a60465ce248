"""Trickless and its peers: test error against seconds and memory, each along a size of its own.

All methods get the same rows, the same split, the same standardised columns (``tasks.py``), and, if
they know threads, all cores; ``threads`` in the result says which know but one. Peers are set as
their documentation recommends (``methods.py``, ``adapters.py``):

- scikit-learn: ``RBFSampler`` and ``Nystroem`` before ``Ridge``, ``LogisticRegression`` and
  ``SGDClassifier`` (or ``SGDRegressor``), as its user guide combines them; ``RidgeCV`` chooses
  alpha in its seconds, as Kitchen Sinks do, while ``Ridge`` is given it for nothing. ``Nystroem``
  with the Laplacian kernel too, which suits tables better than the Gaussian one. ``SVC`` or
  ``KernelRidge`` on subsets of the rows, as they take time that grows with their square or cube.
  Ridge works in single precision, like its features, since that is faster.
- rfflearn: its Gaussian process, the most accurate of its README. xRFM: the settings of its README,
  codes of categories as they are, a fifth of the rows to validate on. torchkm: ``TorchKMSVC``, the
  estimator of its README, which chooses C among 50 in its seconds; exact on subsets, and by its
  Nyström mode, which is for large data and takes no length scale but its own, on all rows. It has
  no least squares, so it is left out where targets are numbers. River: ``RBFSampler`` before a
  linear model, one pass, on parts of the rows as on a stream; tested on the first 1,000 rows, which
  it takes one by one. All of them run on processors.
- AdaBoost and HistGradientBoosting: trees. They learn something else, and are here since they are
  what one would take otherwise; where they win, the table says so.
- Ours: Kitchen Sinks with the families of ``tasks.families``, the same for all tables, which choose
  alpha in their seconds, but for "alpha given", which stands beside ``Ridge``; for images random
  convolutions, ``Patches``, which know what is next to what, as no peer does; with "relevance",
  they find which features matter too, in their seconds; and Doubly Stochastic with
  ``schedule="block"`` where there are many rows or classes.

Support vectors, xRFM and the like take some of the rows. With little time, fewer rows and more
columns are better for linear models too; so Kitchen Sinks, and Ridge after ``RBFSampler`` and
``Nystroem``, are fitted to all rows and to 16 for each column, "some rows", with the same
parameters; but ferns to all alone, since how many columns a neuron of theirs has is chosen.

Length scales, alpha and the like are chosen for each method by itself, outside its seconds and by
the same rule for all: the best of all combinations of a grid of 2 to 9 values a parameter
(``methods.py``), on 5,000 training rows, by the error on 5,000 other training rows, at a middling
size. Methods that are sized by rows learn from 4,000 of them (torchkm 1,000), or from fewer if the
first fit takes more than ``TUNING_SECONDS``; ``tuning_rows`` says so. Test rows are not looked at.
All methods with a Gaussian kernel have the same grid of length scales. Fits of the grid that take
more than ``TUNING_SECONDS`` lose; where the first of them does, it is taken as it is, and
``failed_in_tuning`` says so.

Each fit has a process of its own. Seconds and peak memory above the start are those of ``fit``; the
peak is the system's own count. Data are in memory and packages imported before, and a fit of the
smallest size on 500 rows comes before the clock starts, so that what a process does once (starting
threads, compiling) is not in the seconds, and a rest, so that threads of linear algebra no longer
wait for more work on the cores that are measured; its memory is in the peak. Where the first
fit and prediction take less than ``REPEATED`` seconds, seconds are medians of three, in turn with
those of the other methods. A size is left out, and said so, where it should take more than
``--limit`` seconds by the times of the two before; a fit is ended at twice the limit.

Run as ``make bench-peers`` or ``python benchmarks/peers/run.py``; writes
``benchmarks/results/peers.json`` after each data set, and ``peers.png``. ``--data adult`` does only
Adult and leaves the others in the file as they are; ``--full`` does only Covertype with all its
rows, beside the one with 100,000; ``--quick`` is a trial on few rows and sizes, whose figures mean
nothing; ``--keep`` takes the parameters of methods that are in the file from there, for when their
grids are as they were: choosing them takes half of the time. Packages that are not installed are
reported as such.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from compare import REPEATED, REPEATS, TUNING_SECONDS, compare, conditions
from figure import draw
from pictures import redraw
from summary import ALL_ROWS, ERRORS, summarise

PATH = Path(__file__).parents[1] / "results" / "peers.json"
LIMIT, QUICK_LIMIT = 20.0, 10.0


def report(one: dict[str, Any]) -> None:
    """The summary of a data set in a few lines."""
    summary = summarise(one)
    print(f"\n{one['name']}: {one['minutes']:.1f} minutes; seconds to error, and by what")
    for row in summary["winners"]:
        cells = []
        for kind in ("ours", "kernel", "trees"):
            p = row[kind]
            cells.append(f"{kind} {p['seconds']:.2f} ({p['method']})" if p else f"{kind} never")
        print(f"  {row['error']:<6g} {'; '.join(cells)}")
    for rival, rows in summary["ratios"].items():
        for key in ("time", "memory"):
            found = [f"{row[key]:.2g}" if row[key] else "not reached" for row in rows]
            print(f"  {rival}, {key} over ours: {', '.join(found)}")
    beaten = [point for point in summary["dominated"] if point["by"]]
    print(f"  {len(beaten)} of {len(summary['dominated'])} points of ours are beaten by a peer")


def labels() -> list[str]:
    """Names of data sets in the order of the result."""
    return [label for name in ERRORS for label in (name, name + ALL_ROWS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--data", choices=ERRORS, action="append", help="only this; may be repeated"
    )
    parser.add_argument("--full", action="store_true", help="only Covertype, with all rows")
    parser.add_argument("--quick", action="store_true", help="a trial on few rows and sizes")
    parser.add_argument("--keep", action="store_true", help="take parameters that were chosen")
    parser.add_argument("--limit", type=float, help=f"seconds of a fit; default: {LIMIT:g}")
    parser.add_argument("--out", type=Path, help="the JSON file to write, with a picture beside it")
    args = parser.parse_args()
    limit = args.limit or (QUICK_LIMIT if args.quick else LIMIT)
    trial = Path(tempfile.gettempdir()) / "trickless-peers-quick.json"
    path = args.out or (trial if args.quick else PATH)
    start = time.perf_counter()
    before = json.loads(path.read_text())["data"] if path.exists() else []
    done = {one["name"]: one for one in before}
    for name in args.data or (["covertype"] if args.full else ERRORS):
        old = done.get(name + ALL_ROWS * args.full) if args.keep else None
        known = old["methods"] if old else []
        kept = {method["name"]: method for method in known if "tuning_rows" in method}
        one = compare(name, args.quick, args.full, limit, kept)
        done[one["name"]] = one
        report(one)
        ordered = [done[key] for key in labels() if key in done]
        settings = {"tuning_seconds": TUNING_SECONDS, "repeated": REPEATED, "repeats": REPEATS}
        result = {"settings": settings, "circumstances": conditions(), "data": ordered}
        new = path.with_suffix(".new")
        new.write_text(json.dumps(result, indent=1) + "\n")
        new.replace(path)
        redraw(draw, path)
    print(f"\nwrote {path} in {(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
