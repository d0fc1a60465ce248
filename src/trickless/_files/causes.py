"""What the system says when a file cannot be read or written, as a cause and a remedy."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from trickless._errors import remedy_in

#: Remedies by the names of their errors.
_REMEDIES = {
    "ENOSPC": "free some space there, or use a path on another disk",
    "EDQUOT": "delete some files there, ask for a larger quota, or use a path on another disk",
    "EFBIG": "use a path on a file system, or with a limit (ulimit -f), for larger files",
    "EROFS": "use a path on a file system that is not mounted read-only",
    "EACCES EPERM": "use another path, or allow your user to use this one (chmod, chown)",
    "ENAMETOOLONG": "use a shorter name, of at most 200 bytes, or a shorter path",
    "ENOENT": "check the spelling of the path, and that its folder exists",
    "ENOTDIR": "check the path: a part of it that should be a folder is a file",
    "EISDIR": "use the path of a file",
    "ELOOP": "use another path: symbolic links in this one lead in a circle",
    "EILSEQ EINVAL": "use a name of plain letters and digits, which every file system has",
    "EMFILE": "close some files, or raise the limit (ulimit -n)",
    "ENFILE": "close some programs: the system has no more open files",
    "ENOMEM": "free some memory",
    "EBUSY ETXTBSY": "close the program that uses the file, or use another path",
    "EIO": "check the disk, or use a path on another one",
    "ESTALE ENOTCONN ETIMEDOUT": "connect the network drive again, or use a path on a disk",
}
_BY_NUMBER = {
    getattr(errno, name, 0): text for names, text in _REMEDIES.items() for name in names.split()
}


def cause_of(error: OSError) -> str:
    """Return what the system says, without a number and a path."""
    return str(error.strerror or error).rstrip(". ")


def remedy_of(error: OSError) -> str:
    """Return what helps against an error of the system, as a part of a sentence."""
    default = "check that the path is right and that you may use it"
    return _BY_NUMBER.get(error.errno or -1, default)


@contextmanager
def explaining(what: str, files: Collection[str | None] | None = None) -> Iterator[None]:
    """Add ``what`` failed and a remedy to an error of the system in the block, once.

    ``files`` are the names of files that an error may concern. Other errors are left unchanged.
    """
    try:
        yield
    except OSError as error:
        of_others = files is not None and error.filename not in files
        if of_others or error.errno is None or remedy_in(error):
            raise
        cause, remedy = f"{what} ({cause_of(error)})", remedy_of(error)
        explained = OSError(error.errno, f"{cause}. Remedy: {remedy}.")
        explained.cause, explained.remedy = cause, remedy  # type: ignore[attr-defined]
        raise explained from error
