"""The command line: ``trickless fit``, ``predict``, ``evaluate``, ``describe`` and ``demo``.

================  ===========================================================
a file a command  fit, predict, evaluate, describe, demo/command
app               all commands as one application; exit codes
dataset           tables in files, batch by batch
csv               how text is parsed
reading           errors of reading a file, and where they are
profile           the first pass: types, scales, categories, a sample
moments           means and standard deviations over batches
order             the order in which a model gets the rows
learn             from a table to a model
models            models that commands read
output            files that are written whole or not at all
screen            messages, tables and progress bars
errors            errors that the user can correct
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
        sys.stdout.reconfigure(errors="backslashreplace")  # of characters that the terminal lacks
    try:
        app(arguments, prog_name="trickless")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
