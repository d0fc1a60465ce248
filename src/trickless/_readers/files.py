"""Which files a table has: one file, or the tables in a folder."""

from __future__ import annotations

from pathlib import Path

from trickless._errors import InvalidValueError
from trickless._readers.messages import say

#: Formats of tables by the ending of a file. pyarrow unpacks those that are compressed.
ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".csv.bz2": "csv",
    ".tsv.bz2": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
_KNOWN = f"pass a table that ends in {', '.join(ENDINGS)}, or a folder of tables"


def files_at(path: Path) -> tuple[list[str], str]:
    """Return the files of a table in the order of their names, and their format."""
    if path.is_dir():
        files = _in_folder(path)
    elif path.is_file():
        files = [path]
    else:
        raise InvalidValueError(
            f"{path}: it is a device, pipe or socket, but a table is read twice",
            "write the table to a file",
        )
    formats = {_format_of(file) for file in files}
    if formats == {None}:
        raise InvalidValueError(f"{path}: this ending is not a format of tables", _KNOWN)
    if len(formats) > 1:
        raise InvalidValueError(
            f"{path}: there are files of different formats, {', '.join(sorted(map(str, formats)))}",
            "keep only one format in a folder",
        )
    return list(map(str, files)), str(*formats)


def _format_of(file: Path) -> str | None:
    name = file.name.lower()
    return next((ENDINGS[ending] for ending in ENDINGS if name.endswith(ending)), None)


def _in_folder(folder: Path) -> list[Path]:
    """Return the tables below a folder. A message names other files, so none is left out unseen."""
    tables, others = list[Path](), list[Path]()
    for file in sorted(folder.rglob("*")):
        if file.is_dir():
            continue
        hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
        known = _format_of(file) is not None and not hidden and file.is_file()
        (tables if known else others).append(file)
    if not tables:
        raise InvalidValueError(f"{folder}: there is no table in this folder", _KNOWN)
    if others:
        some = ", ".join(str(file.relative_to(folder)) for file in others[:3])
        more = f" and {len(others) - 3:,} more" if len(others) > 3 else ""
        say(
            f"Warning: {folder}: {some}{more} left out. Remedy: tables end in "
            f"{', '.join(ENDINGS)}, and no name begins with . or _"
        )
    return tables
