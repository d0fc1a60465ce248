"""Files that are written whole or not at all.

A file is written beside its place under a temporary name, and moved there once it is complete and
flushed to the disk, so any interruption leaves the file that was there before. If a process was
killed, its temporary file is removed when the same place is next written to. Processes may share a
place: each writes a temporary file of its own, and the last one that moves it wins.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trickless._arrays.interrupts import uninterrupted
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._files.causes import cause_of, explaining, remedy_of
from trickless._rules import shown

try:
    import fcntl
except ImportError:  # Windows, which does not remove a file that is open
    fcntl = None  # type: ignore[assignment]

#: Errors of opening a file that exists but must not be written.
_FORBIDDEN = errno.EACCES, errno.EPERM, errno.EROFS


@contextmanager
def written_whole(owner: str, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that moves to its place at the end of the block. An error leaves nothing.

    If the new file replaces another, it gets the owner and mode of that file. Otherwise it has the
    usual mode of new files. ``owner`` begins error messages. An OSError of the block names a cause
    and a remedy, unless it concerns another file.
    """
    target = Path(os.path.realpath(as_path(owner, path)))
    new = _Temporary(target)
    with explaining(f"{owner}: {str(path)!r} cannot be written", new.names):
        check_replaceable(owner, target)
        _remove_stale(target)
        with new.opened() as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            new.is_whole = True


def as_path(owner: str, path: str | os.PathLike[str]) -> Path:
    """Return a path. ``owner`` begins the error for what is none."""
    try:
        text = os.fsdecode(path)
    except TypeError as error:
        raise InvalidTypeError(
            f"{owner}: path={shown(path)}, but it must be a path", "a name of a file, as text"
        ) from error
    if "\0" in text:
        raise InvalidValueError(
            f"{owner}: path={shown(text)} holds a null character, but names of files have none",
            "a path without it",
        )
    return Path(text)


def check_writable(owner: str, path: str | os.PathLike[str]) -> None:
    """Raise an error for a place that cannot be written, before any work. A file there stays."""
    target = Path(os.path.realpath(path))
    try:
        check_replaceable(owner, target)
        _remove_stale(target)
        with _Temporary(target).opened():
            pass
    except OSError as error:
        raise InvalidValueError(
            f"{owner}: {str(path)!r} cannot be written ({cause_of(error)})", remedy_of(error)
        ) from error


def check_replaceable(owner: str, path: Path) -> None:
    """Raise an error for the path of something that is not a file, or must not be written.

    Whether it can be written is tried, since its mode does not tell. Another process may move or
    remove it at any moment, so only opening it shows that it is there.
    """
    check_is_file(owner, path)
    try:
        with path.open("r+b") as file:
            writable = bool(os.fstat(file.fileno()).st_mode & 0o222)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in _FORBIDDEN or _status(path) is None:
            raise
        writable = False
    if not writable:
        raise InvalidValueError(
            f"{owner}: {str(path)!r} exists and is read-only, so it is not replaced",
            "use another path; or delete the file, or allow writing to it, first",
        )


def check_is_file(owner: str, path: Path) -> None:
    """Raise an error for the path of something that is not a file, such as a folder or a device."""
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        is_folder = stat.S_ISDIR(status.st_mode)
        what = "a folder" if is_folder else "not a file but a device, pipe or socket"
        raise InvalidValueError(f"{owner}: {str(path)!r} is {what}", "use the path of a file")


def _status(path: Path) -> os.stat_result | None:
    """Return the status of what is at a path, or None if nothing is there or nobody may look."""
    try:
        return path.stat()
    except (OSError, ValueError):  # a name may hold a null character
        return None


class _Temporary:
    """A new temporary file beside a target. At the end, it moves there or is removed.

    A Ctrl-C waits until it is made, moved or removed, so that none is left behind.
    """

    def __init__(self, target: Path) -> None:
        self.is_whole = False
        #: The files that an error of the system can name. It names none if the disk is full.
        self.names: list[str | None] = [None, str(target)]
        self._target = target

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Make the file, and move it to its place at the end if it is whole."""
        try:
            with uninterrupted():
                file = self._make()
            yield file
            with uninterrupted():
                if self.is_whole:
                    self._move(file)
        finally:
            with uninterrupted():
                self._remove()

    def _make(self) -> BinaryIO:
        """Make the file. It is locked while it is open."""
        target, there = self._target, _status(self._target)
        mode = 0o666 if there is None else stat.S_IMODE(there.st_mode) & 0o666
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        while True:
            self._path = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.tmp")
            self.names.append(str(self._path))
            self._file = os.fdopen(os.open(self._path, flags, mode), "w+b")
            if _locked(self._file) and self._path.exists():
                return self._file
            self._file.close()  # another process removed it as stale before it was locked

    def _move(self, file: BinaryIO) -> None:
        there = _status(self._target)
        if there is not None:
            _take_rights(self._path, there)
        if fcntl is None:
            file.close()  # Windows moves no file that is open
        self._path.replace(self._target)

    def _remove(self) -> None:
        if not hasattr(self, "_file"):
            return
        if fcntl is None:
            _close(self._file)  # Windows removes no file that is open
        with suppress(OSError):
            self._path.unlink()
        _close(self._file)


def _close(file: BinaryIO) -> None:
    """Close a file. What could not be written to it is lost, and its error was raised before."""
    with suppress(OSError):
        file.close()


def _locked(file: BinaryIO) -> bool:
    """Lock a file. Return False if another process has locked it."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def _remove_stale(target: Path) -> None:
    """Remove temporary files for a place whose process has ended."""
    name = re.compile(re.escape(f".{target.name[:50]}.") + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError):
        for beside in target.parent.iterdir():
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


def _take_rights(beside: Path, there: os.stat_result) -> None:
    """Give a file the owner and the mode of the file that it will replace."""
    here = beside.stat()
    if (there.st_uid, there.st_gid) != (here.st_uid, here.st_gid):
        with suppress(OSError):
            os.chown(beside, there.st_uid, there.st_gid)
    beside.chmod(stat.S_IMODE(there.st_mode))
