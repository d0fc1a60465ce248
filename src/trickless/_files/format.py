"""Files of models, which are written whole or not at all, and read without running code."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

import numpy as np

from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._files.causes import explaining
from trickless._files.opened import OpenFile, is_open, name_of_file
from trickless._files.records import Reader, Recorder, dtype_of, name_of, parse, unique
from trickless._files.whole import check_is_file, written_whole

#: The version of the file format. A file of a later version raises an error.
VERSION = 1
_MAGIC = b"\x89TRKLS\r\n"
#: Magic, version of the format, bytes of the header.
_PREFIX = struct.Struct("<8sIQ")
_DIGEST = hashlib.sha256().digest_size
#: The most bytes of a header. In memory its JSON may take about 30 times as many.
_LARGEST_HEADER = 2**26
_CHUNK = 2**20
#: The exceptions that reading the records of a hostile file may raise.
DEFECTS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)


def save(
    model: Any, path: str | os.PathLike[str] | BinaryIO, *, for_prediction: bool = False
) -> list[Any]:
    """Save a model, fitted or not, to a file that :func:`load` can read.

    Reading runs no code from the file. The file is written beside ``path`` under a temporary name
    and moved there once it is complete, so an interrupted save leaves the file that was there
    before. If a file is replaced, the new one gets its mode. An open file is written from its
    position on. An interruption then leaves a part there, for which :func:`load` raises an error.

    Parameters
    ----------
    model : estimator, Neurons, Network or Expansion
        An object of this package, or an object that holds such objects, plain data and arrays, such
        as a scikit-learn pipeline. For your own families and functions, and for classes of other
        libraries, the file holds only the names from which they can be imported.
    path : str, path or binary file
        Where to write the file. ``.trickless`` is a good suffix. An open file is any object whose
        method ``write`` accepts bytes, such as a BytesIO or a member of an archive.
    for_prediction : bool, default=False
        Whether to save ``model.compact()``. The file is smaller, but its model can only predict,
        not learn any further.

    Returns
    -------
    list of classes and functions
        Everything that is not from this package and must be passed to :func:`load`, as in
        ``load(path, trusted)``. Empty for most models.

    Raises
    ------
    TypeError
        If ``for_prediction`` is set but the model has no ``compact``, if the model holds something
        other than plain data, arrays, functions, and objects of Python classes with such
        attributes, or if ``path`` is a file that is open for text.
    ValueError
        If ``path`` is a folder, a device or a read-only file.
    OSError
        If the system cannot write the file, for example because the disk is full.

    See Also
    --------
    load : Read a model from a file.

    Examples
    --------
    >>> import tempfile, trickless
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = trickless.KitchenSinksRegressor(n_neurons=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trusted = trickless.save(model, Path(folder, "diabetes.trickless"))
    ...     again = trickless.load(Path(folder, "diabetes.trickless"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    >>> trusted
    []
    """
    if for_prediction:
        if not callable(getattr(model, "compact", None)):
            raise InvalidTypeError(
                f"save: for_prediction=True, but a {type(model).__name__} has no compact()",
                "for_prediction=False",
            )
        model = model.compact()
    if is_open("save", path, "write"):
        return write(model, OpenFile("save", path))
    with written_whole("save", path) as file:  # type: ignore[arg-type]
        return write(model, file)


@cache
def library_version() -> str:
    """Return the installed version of this package."""
    return version("trickless")


def write(model: Any, file: BinaryIO | OpenFile) -> list[Any]:
    """Write a model with its checksum. Return the classes and functions to trust."""
    recorder, sha = Recorder(), hashlib.sha256()
    for part in _parts(model, recorder):
        sha.update(part)
        file.write(part)
    file.write(sha.digest())
    return [thing for _, thing in sorted(recorder.foreign.items())]


def _parts(model: Any, recorder: Recorder) -> Iterator[bytes]:
    """Yield the parts of a file in order, without its checksum.

    They are copies, so another thread cannot change a part between its checksum and its writing.
    """
    recorder.add(model)
    table = [[_little(a.dtype).str, _order(a), list(a.shape)] for a in recorder.arrays]
    about = {
        "library": f"trickless {library_version()}",
        "numpy": np.__version__,
        "foreign": sorted(recorder.foreign),
        "arrays": table,
    }
    lines = [json.dumps(line, allow_nan=False) for line in (about, *recorder.records)]
    header = "\n".join(lines).encode("ascii")
    if len(header) > _LARGEST_HEADER:
        raise InvalidValueError(
            f"save: the model has {len(header)} bytes of data that are not in numeric arrays, but "
            f"a file can hold {_LARGEST_HEADER}",
            "use pickle for this model",
        )
    yield _PREFIX.pack(_MAGIC, VERSION, len(header))
    yield header
    for array in recorder.arrays:
        raw = _raw(array)
        for start in range(0, len(raw), _CHUNK):
            yield raw[start : start + _CHUNK].tobytes()


def _little(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("<")


def _raw(array: np.ndarray) -> memoryview:
    order = _order(array)
    array = array.astype(_little(array.dtype), order, copy=False)
    return array.reshape(-1, order=order).view(np.uint8).data


def load(path: str | os.PathLike[str] | BinaryIO, trusted: Sequence[Any] = ()) -> Any:
    """Read a model that :func:`save` wrote.

    Nothing in the file is run, and a wrong checksum raises an error. The file can only name classes
    of this package, and the classes and functions that you pass as ``trusted``. Arrays take as many
    bytes in memory as in the file, and the rest at most about 30 times the bytes of the header. The
    checksum detects damage, but does not prove who wrote the file.

    Parameters
    ----------
    path : str, path or binary file
        The file to read. An open file is any object with a method ``read`` that returns bytes, such
        as a BytesIO or a member of an archive. It is read from its position to the end of the
        model, so several models can follow one another.
    trusted : list of classes and functions, default=()
        The classes and functions that :func:`save` returned: your own, and those from other
        libraries. Loading may run their code. If one was defined in a script or notebook
        (``__main__``) when it was saved, it may be in any module now.

    Returns
    -------
    object
        The model that was saved. Its predictions are the same, bit for bit on the same machine, and
        it can continue learning. Neurons that are drawn again from a seed are compared with their
        fingerprint at their first use.

    Raises
    ------
    ValueError
        If the file is not from :func:`save`, has a later version, or is damaged, or if it needs a
        class or function that is not in ``trusted``.
    TypeError
        If ``path`` is a file that is open for text.
    OSError
        If the system cannot read the file, for example because there is none.

    See Also
    --------
    save : Write a model to a file.

    Examples
    --------
    >>> import tempfile, trickless
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from trickless.neurons import FromFunction
    >>> def sample(rng, n, n_features):
    ...     return rng.standard_normal((n, n_features))
    >>> def psi(X, w):
    ...     return np.sign(X @ w.T)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trusted = trickless.save(FromFunction(sample, psi), Path(folder, "signs.trickless"))
    ...     neurons = trickless.load(Path(folder, "signs.trickless"), trusted=[sample, psi])
    >>> neurons.psi is psi
    True
    >>> sorted(thing.__name__ for thing in trusted)
    ['psi', 'sample']
    """
    known = _by_name(trusted)
    with _opened(path) as file:
        return _read(path, file, known)


@contextmanager
def _opened(path: Any) -> Iterator[_Checked]:
    """Open a file for reading, unless it is open already."""
    if is_open("load", path, "read"):
        yield _Checked(OpenFile("load", path))
        return
    check_is_file("load", Path(path))
    with explaining(f"load: {os.fspath(path)!r} cannot be read"), Path(path).open("rb") as file:
        yield _Checked(file, os.fstat(file.fileno()).st_size)


def _read(path: Any, file: _Checked, known: dict[str, Any]) -> Any:
    maker, defect = None, None
    needed, arrays = [], []
    header = file.read(_size_of_header(path, file))
    try:
        first, *records = header.split(b"\n")
        about = parse(first, unique)
        maker, needed = about["library"], about["foreign"]
        found = {name: _resolved(name, known) for name in needed}
        arrays = _arrays(file, about["arrays"])
    except DEFECTS as error:
        defect = error
    if not file.is_whole():
        _refuse_damaged(path)
    if defect is not None:
        _refuse_content(path, defect, maker)
    if missing := [name for name in needed if found[name] is None]:
        _refuse(
            path,
            f"it needs {_some(missing)}, not in trusted",
            "import the names that you know and trust, and pass them as trusted=[...]",
        )
    try:
        return Reader(arrays, found).read(records)
    except DEFECTS as error:
        _refuse_content(path, error, maker)


class _Checked:
    """A file that is read once, from beginning to end, and its checksum so far.

    ``left`` is the number of bytes left, or None as long as it is not known. The size of an open
    file cannot be trusted, since it differs if the file is compressed.
    """

    def __init__(self, file: BinaryIO | OpenFile, size: int | None = None) -> None:
        self._file, self._sha = file, hashlib.sha256()
        self._has_size, self.left = size is not None, size

    def read(self, n: int) -> bytes:
        some = self._file.read(n)
        self._sha.update(some)
        if self.left is not None:
            self.left -= len(some)
        return some

    def expect(self, n: int) -> None:
        """Raise an error if a file is known to have fewer than n bytes before its checksum."""
        if self.left not in (None, n + _DIGEST):
            raise ValueError("the sizes of the arrays do not match the size of the file")
        self.left = n + _DIGEST

    def array(self, shape: tuple[int, ...], dtype: np.dtype, order: Any) -> np.ndarray:
        """Return the next array. It takes memory only for bytes that are there."""
        n = dtype.itemsize * prod(shape)
        array = np.empty(shape if self._has_size or n <= _CHUNK else 0, dtype, order)
        if array.nbytes == n:
            raw = array.reshape(-1, order=_order(array)).view(np.uint8)
            for start in range(0, n, _CHUNK):
                some = self.read(min(n - start, _CHUNK))
                raw[start : start + len(some)] = np.frombuffer(some, np.uint8)
            return array
        grown = bytearray()
        while len(grown) < n and (some := self.read(min(n - len(grown), _CHUNK))):
            grown += some
        return np.frombuffer(grown, dtype).reshape(shape, order=order)

    def is_whole(self) -> bool:
        """Return whether the checksum of everything before follows, and then the end of a file.

        An open file may have more after that.
        """
        while self.left is not None and self.left > _DIGEST:
            if not self.read(min(self.left - _DIGEST, _CHUNK)):
                break
        return self._file.read(_DIGEST + self._has_size) == self._sha.digest()


def _size_of_header(path: Any, file: _Checked) -> int:
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size or not prefix.startswith(_MAGIC):
        _refuse(
            path,
            "it is not a file of trickless.save",
            "check the path; read a pickle with pickle.load, if you trust who made it",
        )
    _, layout, size = _PREFIX.unpack(prefix)
    if not 0 < layout <= VERSION:
        _refuse(
            path,
            f"its format is version {layout}, but this version of trickless reads up to {VERSION}",
            "update trickless, or save the model again with this version",
        )
    most = _LARGEST_HEADER if file.left is None else min(_LARGEST_HEADER, file.left - _DIGEST)
    if size > most:
        _refuse_damaged(path)
    return int(size)


def _arrays(file: _Checked, table: Any) -> list[np.ndarray]:
    """Read the arrays after the header. Their sizes are checked before memory is allocated."""
    kinds = [(dtype_of(dtype), order, tuple(shape)) for dtype, order, shape in table]
    numbers = [n for _, _, shape in kinds for n in shape]
    if any(type(n) is not int or n < 0 for n in numbers) or any(len(k[2]) > 64 for k in kinds):
        raise ValueError("an array has a size that is not an integer, or too many sizes")
    file.expect(sum(dtype.itemsize * prod(shape) for dtype, _, shape in kinds))
    arrays = [file.array(shape, dtype, order) for dtype, order, shape in kinds]
    return [_usable(array) for array in arrays]


def _usable(array: np.ndarray) -> np.ndarray:
    """Return an array in the byte order of this machine, if NumPy can trust its values."""
    raw = array.reshape(-1, order=_order(array)).view(np.uint8)
    if array.dtype.kind == "b" and raw.max(initial=0) > 1:
        raise ValueError("a Boolean is neither 0 nor 1")
    if array.dtype.kind == "U" and raw.view("<u4").max(initial=0) > 0x10FFFF:
        raise ValueError("a string has a character that does not exist")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _order(array: np.ndarray) -> Literal["C", "F"]:
    """Return the order of an array in memory, on which the last digits of products depend."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _by_name(trusted: Any) -> dict[str, Any]:
    """Map names in files to the classes and functions that the caller trusts."""
    things = list(trusted) if isinstance(trusted, list | tuple) else [trusted]
    if isinstance(trusted, str) or not all(hasattr(thing, "__qualname__") for thing in things):
        raise InvalidTypeError(
            f"load: trusted={trusted!r}, but it must be a list of classes and functions",
            "trusted=[MyNeurons], with the class itself and not its name",
        )
    names = {name_of(thing): thing for thing in things}
    if len(names) != len(things):
        raise InvalidValueError(
            f"load: trusted={trusted!r} has two with the same name",
            "pass each of them once, under its own name",
        )
    return names


def _resolved(name: str, known: dict[str, Any]) -> Any:
    """Find the trusted class or function of a name, or None. Names of scripts match any module."""
    module, _, qualified = name.partition(":")
    if name in known or module != "__main__":
        return known.get(name)
    same = [thing for other, thing in known.items() if other.partition(":")[2] == qualified]
    return same[0] if len(same) == 1 else None


def _some(names: list[str]) -> str:
    """List the first few of some names, each cut short, and say how many more there are."""
    shown = ", ".join(ascii(name)[:100] for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


def _refuse(path: Any, cause: str, remedy: str) -> NoReturn:
    raise InvalidValueError(f"load: {name_of_file(path)}: {cause}", remedy)


def _refuse_damaged(path: Any) -> NoReturn:
    _refuse(
        path,
        "its checksum does not match: it is cut short or damaged",
        "copy it again, or save the model again",
    )


def _refuse_content(path: Any, error: BaseException, maker: Any) -> NoReturn:
    """Raise an error for an undamaged file without a model. ``maker`` is the library it names."""
    here = f"trickless {library_version()}"
    of_another = maker is not None and maker != here
    by = f", made by {ascii(maker)[:60]} but read by {here!r}," if of_another else ""
    remedy = "load it with that version, or save" if of_another else "save"
    raise InvalidValueError(
        f"load: {name_of_file(path)}: its checksum is right, but its content{by} is not that of a "
        f"model ({type(error).__name__}: {str(error)[:200]})",
        f"{remedy} the model again; if you did not make the file, do not trust it",
    ) from error
