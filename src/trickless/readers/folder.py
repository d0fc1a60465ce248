"""Which files of a folder are tables, and which columns the names of its folders are.

Files that may hold rows are never skipped silently.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from trickless.readers.csv_file import OPENERS
from trickless.readers.errors import CommandError, check_name, location
from trickless.readers.messages import say

#: Formats of tables by file ending.
ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".csv.bz2": "csv",
    ".tsv.bz2": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
#: Endings of compressed files and archives, most of which cannot be read.
_PACKED = ".7z", ".br", ".bz2", ".gz", ".lz4", ".xz", ".zip", ".zst"
#: The name that Hive and Spark give to a folder of rows with a missing value.
_MISSING = "__HIVE_DEFAULT_PARTITION__"
#: How many files a message names.
_SHOWN = 3
_KNOWN = f"pass a table that ends in {', '.join(ENDINGS)}"


class _Found(NamedTuple):
    """A file or link in a folder. Its name, or the name of a folder, may make it hidden."""

    path: Path
    hidden: bool


def files_at(path: Path) -> list[str]:
    """Return the table files at a path, which is a file or a folder, in the order of names."""
    if path.is_dir():
        files = _tables_in(path)
    elif not path.exists():
        raise CommandError(f"{path}: there is no such file or folder", "check the path")
    elif (why := why_no_file(path)) is not None:
        raise CommandError(
            f"{path}: it is {why}, but a table is read twice", "write the table to a file"
        )
    elif ending_of(path) not in ENDINGS:
        raise CommandError(
            f"{path}: this ending is not a format of tables", f"{_KNOWN}, or a folder"
        )
    else:
        files = [path]
    for file in files:
        check_name(file)
    return list(map(str, files))


def ending_of(file: str | Path) -> str:
    """Return the ending of a file that names its format, such as .csv.gz."""
    path = Path(file)
    compressed = path.suffix.lower() in OPENERS
    return "".join(path.suffixes[-2:] if compressed else path.suffixes[-1:]).lower()


def why_no_file(path: Path) -> str | None:
    """Return what is at a path instead of a file, or None if it is a file."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and path.is_symlink()
        return "a link to a missing file" if missing else f"not accessible: {error.strerror}"
    return None if stat.S_ISREG(mode) else "not a file but a device, pipe or socket"


def _tables_in(folder: Path) -> list[Path]:
    """Return the sorted tables below a folder. Other files give an error or a warning."""
    found = sorted(_walk(folder, (os.path.realpath(folder),), hidden=False))
    tables, hidden, others = [], [], []
    for path, is_hidden in found:
        known, packed = ending_of(path) in ENDINGS, _is_packed(path)
        if is_hidden:
            hidden += [path] if known or packed else []
        elif not known and not packed:
            others.append(path)
        elif (why := why_no_file(path)) is not None:
            raise CommandError(
                f"{path}: it is {why}, in a folder of tables",
                f"repair it, or move it out of {folder}",
            )
        elif packed:
            raise CommandError(
                f"{path}: this table is compressed in a way that trickless cannot read",
                f"unpack it, or move it out of {folder}. Tables end in {', '.join(ENDINGS)}",
            )
        else:
            tables.append(path)
    if hidden:
        _tell(folder, hidden, "names that begin with . or _ are not read")
    if not tables:
        raise CommandError(f"{folder}: there is no table in this folder", _KNOWN)
    if others:
        _tell(folder, others, "these endings are not formats of tables")
    _check_once(folder, tables)
    return tables


def _walk(folder: Path, above: tuple[str, ...], hidden: bool) -> Iterator[_Found]:
    """Yield all files in a folder and its folders. Links to folders are followed."""
    try:
        names = os.listdir(folder)  # noqa: PTH208  names suffice
    except OSError as error:
        if hidden:
            return
        raise CommandError(
            f"{folder}: this folder cannot be read: {error.strerror}",
            "allow reading it, or move it elsewhere",
        ) from error
    for name in names:
        path, is_hidden = folder / name, hidden or name[0] in "._"
        if not os.path.isdir(path):  # noqa: PTH112  it never raises
            yield _Found(path, is_hidden)
        elif (real := os.path.realpath(path)) not in above:
            yield from _walk(path, (*above, real), is_hidden)
        elif not is_hidden:
            raise CommandError(
                f"{path}: this link leads back to a folder that contains it", "remove it"
            )


def _check_once(folder: Path, tables: list[Path]) -> None:
    seen: dict[str, Path] = {}
    for path in tables:
        if (other := seen.setdefault(os.path.realpath(path), path)) is not path:
            raise CommandError(
                f"{path}: a link makes this the same file as {other}, so its rows would be read "
                "twice",
                f"move the link out of {folder}",
            )


def _tell(folder: Path, paths: list[Path], why: str) -> None:
    names = ", ".join(str(path.relative_to(folder)) for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
    say(f"Warning: {folder}: {names}{more} left out, since {why}. Remedy: rename any tables.")


def _is_packed(path: Path) -> bool:
    """Return whether a file seems to be a table in an unknown kind of archive."""
    packed = path.suffix.lower() in _PACKED and ending_of(path) not in ENDINGS
    return packed and ending_of(path.with_suffix("")) in ENDINGS


def columns_of_folders(base: Path, file: str) -> dict[str, str | None]:
    """Return the value of each column that the folders of a file name; None if it is missing.

    Names and values are decoded, since Hive and Spark write ``%2F`` for a slash.
    """
    found: dict[str, str | None] = {}
    for part in Path(file).relative_to(base).parts[:-1]:
        if not part.partition("=")[0] or "=" not in part:
            continue
        try:
            name, _, text = (unquote(piece, errors="strict") for piece in part.partition("="))
        except UnicodeDecodeError as error:
            raise CommandError(
                f"{file}: the name of the folder {part!r} has bytes that are not valid UTF-8",
                "rename it",
            ) from error
        if name in found:
            raise CommandError(
                f"{location(file, name)}: two of its folders name this column",
                "give each its own name",
            )
        found[name] = None if text in ("", _MISSING) else text
    return found
