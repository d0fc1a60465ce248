"""Files that are written whole or not at all.

A file is written beside its place under a temporary name. It is moved there once it is complete and
flushed to the disk. So any interruption leaves the file that was there before. If a process was
killed, its temporary file is removed when the same place is next written to.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, which does not remove a file that is open
    fcntl = None  # type: ignore[assignment]


@contextmanager
def written_whole(
    owner: str, path: str | os.PathLike[str], previous: Path | None = None
) -> Iterator[BinaryIO]:
    """A file to write to. It moves to its place at the end of the block. An error leaves nothing.

    If the new file replaces another, it gets the owner and mode of that file. Else it has the usual
    mode of new files. If ``previous`` is given, the replaced file is kept there. ``owner`` begins
    error messages.
    """
    place = Path(os.path.realpath(path))
    check_replaceable(owner, place)
    _remove_stale(place)
    try:
        file, beside = _opened_beside(place)
        with file:
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if place.exists():
                    _take_rights(beside, place)
                if fcntl is None:
                    file.close()  # Windows moves no file that is open
                if previous is not None and place.exists():
                    place.replace(previous)
                beside.replace(place)
            except BaseException:
                with suppress(OSError):
                    beside.unlink()
                raise
    except OSError as error:  # it names no file if the disk is full, or the temporary one
        error.filename = str(path)
        raise


def check_writable(owner: str, path: str | os.PathLike[str]) -> None:
    """Refuse a place where no file can be written, before any work. A file there stays."""
    place = Path(os.path.realpath(path))
    check_replaceable(owner, place)
    _remove_stale(place)
    try:
        file, beside = _opened_beside(place)
        file.close()
        beside.unlink()
    except OSError as error:
        raise ValueError(
            f"{owner}: {str(path)!r} cannot be written ({error.strerror or error}). Remedy: use "
            "the path of a file, in an existing folder that you may write to."
        ) from error


def check_replaceable(owner: str, path: Path) -> None:
    """Refuse the path of something that is not a file, or of a file that must not be written."""
    check_is_file(owner, path)
    if path.exists() and not (path.stat().st_mode & 0o222 and _opens(path)):
        raise ValueError(
            f"{owner}: {str(path)!r} exists and is read-only, so it is not replaced. Remedy: use "
            "another path; or delete the file, or allow writing to it, first."
        )


def _opens(path: Path) -> bool:
    """Whether a file can be opened for writing. Its mode does not tell. It stays unchanged."""
    try:
        with path.open("r+b"):
            return True
    except OSError:
        return False


def check_is_file(owner: str, path: Path) -> None:
    """Refuse the path of something that is not a file, such as a folder or a device."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "not a file but a device, pipe or socket"
        raise ValueError(f"{owner}: {str(path)!r} is {what}. Remedy: use the path of a file.")


def _opened_beside(place: Path) -> tuple[BinaryIO, Path]:
    """A new temporary file beside a place, locked while it is open, and its path."""
    mode = stat.S_IMODE(place.stat().st_mode) & 0o666 if place.exists() else 0o666
    while True:
        beside = place.with_name(f".{place.name[:50]}.{secrets.token_hex(8)}.tmp")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(beside, flags, mode), "w+b")
        if _locked(file) and beside.exists():
            return file, beside
        file.close()  # another process removed it as stale before it was locked


def _locked(file: BinaryIO) -> bool:
    """Lock a file. Returns False if another process has locked it."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def _remove_stale(place: Path) -> None:
    """Remove temporary files for a place whose process has ended."""
    name = re.compile(re.escape(f".{place.name[:50]}.") + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError):
        for beside in place.parent.iterdir():
            if name.fullmatch(beside.name):
                _remove_unlocked(beside)


def _remove_unlocked(path: Path) -> None:
    """Remove a file that no process has locked. A file system without locks keeps it."""
    with suppress(OSError):
        if fcntl is None:
            path.unlink()
            return
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _take_rights(beside: Path, place: Path) -> None:
    """Give a file the owner and the mode of the file that it will replace."""
    there, here = place.stat(), beside.stat()
    if (there.st_uid, there.st_gid) != (here.st_uid, here.st_gid):
        with suppress(OSError):
            os.chown(beside, there.st_uid, there.st_gid)
    beside.chmod(stat.S_IMODE(there.st_mode))
