"""Checkpoints, from which a fit resumes after its process ended.

A checkpoint is a file with the state of a fit, and with checksums of everything that the fit
depends on: class, parameters, data and versions. Neurons are drawn again from the seed, so the
state has only what learning has changed. A fit that resumes makes the same steps as a fit without
an interruption, so the model does not depend on when states are written.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import scipy.sparse

from trickless.arrays.places import take, to_host
from trickless.arrays.stated import Stated, check_count, check_is, check_list
from trickless.arrays.threads import row_blocks
from trickless.errors import InvalidTypeError, InvalidValueError, cause_in, remedy_in
from trickless.files.format import DEFECTS, digest, library_version, load, write
from trickless.files.whole import check_replaceable, check_writable, written_whole
from trickless.rules import warn

#: The least seconds between two states, and the largest share of the time for writing them.
SECONDS, SHARE = 60.0, 0.05
#: Parameters that may change before a fit continues.
_FREE = ("random_state", "n_jobs", "verbose")
_KIND, _WEIGHT = "type or shape of X", "sample_weight"
_DATA = (_KIND, "values of X", "y", _WEIGHT)

Path_ = str | os.PathLike[str]
State = dict[str, Any]


class Progress(Stated):
    """How far a fit has come. ``of`` has a checksum and a string for each thing it depends on."""

    of: dict[str, tuple[str, str]]
    seed: int
    n_batches: int
    state: State | None

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def check_state(self) -> None:
        check_is("of", self.of, dict)
        for fact in self.of.values():
            check_is("of", fact, tuple)
            check_list("of", list(fact), str, 2)
        check_count("seed", self.seed, 0)
        check_count("n_batches", self.n_batches, 0)
        check_is("state", self.state, dict)
        check_list("state", list(self.state or {}), str)


class Checkpoint:
    """The file in which a call of ``fit`` keeps its state. A path of None keeps nothing.

    The previous state is kept under the same name, with ``.previous`` added. A new state is written
    to a hidden file beside them until it is complete. The fit is the block of a ``with`` statement,
    and the files are removed if it ends without an error.

    ``call`` names the method. It ``goes_on`` if the model keeps what it has learned before.
    """

    def __init__(
        self, path: Path_ | None = None, model: Any = None, call: str = "fit", goes_on: bool = False
    ) -> None:
        self._path: Path | None = None
        self._saved: Progress | None = None
        self._resumed = False
        self._trouble = ""  # why the last state could not be written
        self.n_batches = 0  # received by this fit
        if path is None:
            return
        self._call = f"{type(model).__name__}.{call}: checkpoint={str(path)!r}"
        self._path = self._usable(path)
        self._fresh_seed = model.random_state is None
        self._seed = -1
        self._of = dict(self._facts(model, call, goes_on))
        self._sums = {name: hashlib.sha256() for name in _DATA}
        self._shown = dict.fromkeys(_DATA, "")
        self._saved = self._read()
        self._next = time.monotonic() + SECONDS
        if self._saved is not None:
            self._check(self._of)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None:
            self._remove()
            if self._trouble:
                warn(f"{self._call}: the fit is complete. {self._lost()}")
            return
        if self._trouble:
            error.add_note(f"{self._call}: {self._lost()}")
        if self._resumed and isinstance(error, DEFECTS):
            if not remedy_in(error):
                self._refuse_state(error)
            error.add_note(f"{self._call}: the fit had continued from the state in the file.")

    def _lost(self) -> str:
        return f"Its last states could not be kept in the file: {self._trouble}"

    @property
    def seed(self) -> int | None:
        """Seed of the saved fit if ``random_state`` is None, and None otherwise."""
        return self._saved.seed if self._saved is not None and self._fresh_seed else None

    @property
    def behind(self) -> bool:
        """Whether the saved fit had received more batches than this one has."""
        return self._saved is not None and self.n_batches < self._saved.n_batches

    def received(self, seed: int, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Add a batch to the checksums. Compare them once the saved fit had as many batches."""
        if self._path is None:
            return
        self._seed = seed
        self.n_batches += 1
        kind = f"{X.dtype} {type(X).__name__} of {X.shape[0]} x {X.shape[1]}"
        self._shown[_KIND] = kind
        self._sums[_KIND].update(kind.encode())
        weights = [] if weight is None else [weight]
        for name, arrays in (("values of X", _arrays(X)), ("y", [targets]), (_WEIGHT, weights)):
            for array in arrays:
                self._sums[name].update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        saved = self._saved
        if saved is None or self.n_batches > saved.n_batches:
            return
        if seed != saved.seed:
            self._refuse_other(["random_state"])
        if self.n_batches == saved.n_batches:
            self._check(self._data())

    def also_of(self, name: str, *arrays: Any) -> None:
        """Add what else the fit depends on, and compare it with that of the saved fit."""
        if self._path is None:
            return
        sha = hashlib.sha256()
        for array in arrays:
            kind = "none" if array is None else f"{array.dtype} {array.shape}"
            sha.update(kind.encode())
            for part in () if array is None else _arrays(array):
                sha.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        fact = {name: (sha.hexdigest() if any(a is not None for a in arrays) else "", "")}
        self._of |= fact
        if self._saved is not None:
            self._check(fact)

    def resume(self) -> State | None:
        """Return the saved state, once, when this fit has received as many batches, or None."""
        saved = self._saved
        if saved is None or self.n_batches != saved.n_batches:
            return None
        state, saved.state = saved.state, None
        self._resumed = state is not None
        return state

    def ended(self) -> None:
        """Raise an error if the data have fewer batches than the saved fit had received."""
        if self.behind:
            assert self._saved is not None
            self._refuse_other(
                [f"batches (at least {self._saved.n_batches} then, {self.n_batches} now)"]
            )

    def keep(self, state: Callable[[], State], now: bool = False) -> None:
        """Write the state, if it is time or ``now``. If that fails, warn, and let the fit continue.

        It warns again only if it fails for another reason, and once at the end of the fit.
        """
        if self._path is None or not (now or time.monotonic() >= self._next):
            return
        began = time.monotonic()
        of = self._of | self._data()
        progress = Progress(of=of, seed=self._seed, n_batches=self.n_batches, state=state())
        try:
            self._write(progress)
            self._trouble = ""
        except (OSError, ValueError) as error:  # the fit is worth more than its checkpoint
            cause = f"{cause_in(error).removeprefix(f'{self._call}: ')}."
            if cause != self._trouble:
                warn(
                    f"{self._call}: the state was not kept: {cause} The fit continues, and tries "
                    f"again later. Remedy: {remedy_in(error) or 'use another path'}."
                )
            self._trouble = cause
        end = time.monotonic()
        self._next = end + max(SECONDS, (end - began) / SHARE)

    def _remove(self) -> None:
        """Remove the files of a complete fit, unless something else is there now."""
        if self._path is not None:
            for file in (self._previous, self._path):
                with suppress(OSError, ValueError):
                    check_replaceable(self._call, file)
                    file.unlink()

    def _usable(self, path: Path_) -> Path:
        if not isinstance(path, str | os.PathLike):
            raise InvalidTypeError(
                f"{self._call}, but it must be the path of a file",
                "checkpoint='fit.checkpoint', or None for no checkpoint",
            )
        check_writable(self._call, path)
        whole = Path(os.path.realpath(path))
        self._previous = whole.with_name(whole.name + ".previous")
        return whole

    def _facts(self, model: Any, call: str, goes_on: bool) -> Iterator[tuple[str, tuple[str, str]]]:
        """Collect what a fit depends on, apart from its data: names, with checksums and strings."""
        cls = type(model)
        versions = {"trickless": library_version(), "NumPy": np.__version__}
        facts = {"class": f"{cls.__module__}.{cls.__qualname__}", "method": call}
        for name, text in (facts | {f"version of {k}": v for k, v in versions.items()}).items():
            yield name, (text, text)
        for name, value in model.get_params(deep=False).items():
            if name not in _FREE:
                yield name, (self._digest(name, value), repr(value)[:100])
        if goes_on:
            yield "model to go on from", (self._digest("model", model), "")

    def _digest(self, name: str, value: Any) -> str:
        try:
            return digest(Progress(**{name: value}))
        except TypeError as error:
            cause = f"{cause_in(error)}."
            raise InvalidTypeError(
                f"{self._call} must compare the parameters later, but {name} cannot be saved "
                f"({cause})",
                "fit without a checkpoint",
            ) from error

    def _data(self) -> dict[str, tuple[str, str]]:
        return {name: (sha.hexdigest(), self._shown[name]) for name, sha in self._sums.items()}

    def _check(self, facts: dict[str, tuple[str, str]]) -> None:
        assert self._saved is not None
        then = self._saved.of
        differing = [
            f"{name} ({then.get(name, ('', 'none'))[1]} then, {shown} now)" if shown else name
            for name, (checksum, shown) in facts.items()
            if then.get(name, ("",))[0] != checksum
        ]
        if differing:
            self._refuse_other(differing)

    def _refuse_other(self, differing: list[str]) -> NoReturn:
        raise InvalidValueError(
            f"{self._call}: the file is of another fit, with other {'; other '.join(differing)}",
            "to continue that fit, call it as before; to start again, use another path, or "
            f"delete {self._files()}",
        )

    def _refuse_state(self, error: BaseException) -> NoReturn:
        raise InvalidValueError(
            f"{self._call}: the fit cannot continue from the state in the file, which is not "
            f"consistent ({type(error).__name__}: {str(error)[:200]})",
            f"to start again, use another path, or delete {self._files()}; if you did not make the "
            "file, do not trust it",
        ) from error

    def _files(self) -> str:
        """Return the files of this checkpoint that exist. A fit can resume from either."""
        return " and ".join(repr(str(f)) for f in (self._path, self._previous) if f and f.exists())

    def _read(self) -> Progress | None:
        """Read the last state that can be read, or return None if there is no file."""
        assert self._path is not None
        self._path_is_whole, trouble = False, ""
        for file in (self._path, self._previous):
            try:
                saved = load(file)
                if not isinstance(saved, Progress):
                    raise ValueError(
                        f"load: it holds a {type(saved).__name__}, not a state of a fit"
                    )
            except FileNotFoundError:  # also if another process has just moved it
                continue
            except ValueError as error:
                trouble = trouble or f"{cause_in(error)}."
                continue
            if trouble:
                warn(
                    f"{self._call}: the file cannot be used. The fit continues from the state "
                    f"before it, in {str(file)!r}. ({trouble})"
                )
            self._path_is_whole = file == self._path
            return saved
        if trouble:
            raise InvalidValueError(
                f"{self._call}: the file cannot be used. ({trouble})",
                f"to start again, use another path, or delete {self._files()}",
            )
        return None

    def _write(self, progress: Progress) -> None:
        """Replace the file by a new state. A whole old file becomes the previous one."""
        assert self._path is not None
        previous = self._previous if self._path_is_whole else None
        with written_whole(self._call, self._path, previous) as file:
            write(progress, file)
        self._path_is_whole = True


#: The checkpoint of a fit that keeps no state.
NOWHERE = Checkpoint()


def _arrays(X: Any) -> Iterator[Any]:
    """Iterate over the arrays with the numbers of X on the host, one after the other."""
    if scipy.sparse.issparse(X):
        yield from (X.indptr, X.indices, X.data)
    else:
        for rows in row_blocks(X.shape[0]):
            yield to_host(take(X, rows))
