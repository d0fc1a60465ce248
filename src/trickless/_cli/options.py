"""The options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

#: The data that a command reads.
Data = Annotated[
    Path, typer.Argument(help="CSV, Parquet or Arrow file, or a folder of them.", exists=True)
]
#: The model that a command reads.
Model = Annotated[
    Path,
    typer.Argument(
        help="Model file from trickless fit, or from trickless.save.", exists=True, dir_okay=False
    ),
]
#: How CSV files are written.
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates the columns of a CSV file. Default: the first line decides."),
]
Decimal = Annotated[str, typer.Option(help="Decimal sign of the numbers in a CSV file.")]
Thousands = Annotated[
    str | None,
    typer.Option(help="What separates thousands in a CSV file, in columns known to hold numbers."),
]
#: The option that every command with a result has.
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
