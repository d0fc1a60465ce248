"""Names of folders such as ``year=2026``, which become a column of the files in them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from trickless.readers.errors import CommandError, place

#: The name that Hive and Spark give to a folder of rows with a missing value.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def columns_of_folders(base: Path, file: str) -> dict[str, str | None]:
    """The text of each column that the folders of a file name; None if it is missing.

    Names and texts are decoded, since Hive and Spark write ``%2F`` for a slash.
    """
    found: dict[str, str | None] = {}
    for part in Path(file).relative_to(base).parts[:-1]:
        if not part.partition("=")[0] or "=" not in part:
            continue
        try:
            name, _, text = (unquote(piece, errors="strict") for piece in part.partition("="))
        except UnicodeDecodeError as error:
            raise CommandError(
                f"{file}: the name of the folder {part!r} has bytes that are not valid "
                "UTF-8. Remedy: rename it."
            ) from error
        if name in found:
            raise CommandError(
                f"{place(file, name)}: two of its folders name this column. Remedy: give each "
                "its own name."
            )
        found[name] = None if text in ("", _MISSING) else text
    return found
