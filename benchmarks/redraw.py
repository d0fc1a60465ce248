"""Draw the pictures of the benchmarks anew from their stored results, without measuring anything.

Run as ``make pictures``. With names of pictures, it draws only these.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from pictures import RESULTS, redraw

HERE = Path(__file__).parent
#: The module that draws each picture, of which the result has the same name.
PICTURES = {
    "boosted": "boosted_figure",
    "candidates": "candidates",
    "few_rows": "few_rows",
    "convergence": "convergence",
    "dai2014": "dai2014",
    "livni2017": "livni2017",
    "livni2017_online": "livni2017_online",
    "online_images": "online_images",
    "peers": "figure",
    "rahimi2008": "rahimi2008",
    "rahimi2008_joint": "rahimi2008_joint",
    "rahimi2008_weights": "rahimi2008_weights",
    "regret": "regret",
    "trickless-demo": "trickless._cli.demo.picture",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the pictures")
    args = parser.parse_args()
    sys.path += [str(HERE / "peers"), str(HERE / "papers")]  # modules there import each other
    for name in args.names or PICTURES:
        redraw(import_module(PICTURES[name]).draw, RESULTS / f"{name}.json", args.out)


if __name__ == "__main__":
    main()
