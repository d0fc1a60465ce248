"""The command line: ``trickless demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trickless import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="trickless", description="Kernel-quality learning without the kernel trick."
    )
    parser.add_argument("--version", action="version", version=f"trickless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="train the three learners and two references on real data; table and picture"
    )
    demo.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where trickless-demo.png and trickless-demo.json go (default: here)",
    )
    demo.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="N",
        help="fit every model N times, the models in turn, and report medians (default: 1)",
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats}: must be at least 1")
    if not options.out.is_dir():
        parser.error(f"--out {options.out}: there is no such folder; make it first")
    try:
        from trickless._demo import run
    except ModuleNotFoundError as error:
        print(
            f"trickless demo: {error.name} is missing. Remedy: pip install 'trickless[plot]'",
            file=sys.stderr,
        )
        return 2
    run(options.out, options.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
