"""The command line: ``trickless fit``, ``predict``, ``evaluate``, ``describe`` and ``demo``.

================  ===========================================================
a command a file  _fit, _predict, _evaluate, _describe, _demo
_app              the application of them, and what bad input ends in
_dataset          tables in files, batch by batch
_csv              how text is parsed
_reading          what went wrong when a file was read
_profile          the first pass: types, scales, categories, a sample
_moments          means and standard deviations over batches
_order            in which order a model meets rows
_learn            from a table to a model
_models           models that commands read
_output           files that are written whole or not at all
_screen           talk, tables and progress
_errors           what the user can mend
================  ===========================================================
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

_EXTRA = ("typer", "rich", "pyarrow", "pandas")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        import pandas  # noqa: F401  needed as soon as a table is read

        from trickless.cli.app import app
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA:
            raise
        print(
            f"trickless: {package} is missing, which the command line needs. "
            "Remedy: pip install 'trickless[cli]'",
            file=sys.stderr,
        )
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal has no sign for
    try:
        app(arguments, prog_name="trickless")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
