"""Blocks of rows, and the threads that work on them.

Work on many rows is cut into blocks of rows, small enough for the activations of a block to stay in
the processor's cache, and large enough for the overhead of Python not to matter. Each block runs on
one thread, with BLAS limited to one thread inside it. Results are collected in row order, so the
number of threads, and which of them finishes first, change a result at most by rounding. Helper
threads are kept for the next caller, since starting a thread takes as long as a small task, and its
memory has to be allocated again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import count
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from trickless._arrays.interrupts import uninterrupted

ROWS_PER_BLOCK = 512
#: With fewer columns than this, a block has more rows, for the same number of activations.
_COLUMNS_PER_BLOCK = 256
#: The number of rows, and of activations in all, below which a thread is not worth starting.
_WORTH_A_THREAD, _WORTH_SHARING = 128, 3 * 2**18
#: The number of multiplications below which linear algebra runs on one thread: 645 columns, cubed.
_WORTH_PRODUCTS = 2**28

# glibc keeps freed memory for the next array, up to twice the largest size that was freed so far
# (at most 32 MiB). A block of rows beyond that size would get its memory from the system each time,
# page by page. That takes up to five times as long as its activations. So a large array is freed.
np.empty(2**24, dtype=np.uint8)

#: The most helper threads at a time, or the number of cores if that is larger.
_MOST_HELPERS = 64

Block = TypeVar("Block")
Result = TypeVar("Result")


def row_blocks(n_rows: int, size: int | None = None, threads: int = 1) -> list[slice]:
    """Cut ``range(n_rows)`` into consecutive slices of ``size`` rows, or of ``ROWS_PER_BLOCK``.

    Slices are shorter if some of the ``threads`` would otherwise get none, but long enough to be
    worth a thread.
    """
    size = min(size or ROWS_PER_BLOCK, max(_WORTH_A_THREAD, -(-n_rows // threads)))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


class _Held:
    """A number that a caller holds, as an entry of the dictionary ``held`` until ``release``.

    If Ctrl-C keeps a caller from releasing it, that happens when nothing refers to it any more.
    """

    __slots__ = ("_held",)

    def __init__(self, held: dict[int, int], number: int) -> None:
        self._held = held  # a forked child has another dictionary
        held[id(self)] = number

    def release(self) -> None:
        self._held.pop(id(self), None)

    __del__ = release


class _Blas:
    """The thread count of BLAS, which nested and concurrent callers lower without a race.

    OpenBLAS and MKL have one count for the whole process. The lowest of all present limits applies,
    and the original count is restored at the end of the last limit.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._limits: dict[int, int] = {}
        self._original: list[int] = []
        self._in_force: list[int] = []

    @cached_property
    def _libraries(self) -> list[Any]:
        return ThreadpoolController().select(user_api="blas").lib_controllers

    def threads(self) -> int:
        """Get the number of threads that BLAS would use without the limits of this module."""
        with self._lock:
            if self._in_force != self._original:
                return max(self._original, default=1)
            return max((library.num_threads for library in self._libraries), default=1)

    @contextmanager
    def at_most(self, threads: int) -> Iterator[None]:
        limit = None
        try:
            with self._lock:
                if self._in_force == self._original:  # no limit is in force
                    self._original = [library.num_threads for library in self._libraries]
                    self._in_force = list(self._original)
                limit = _Held(self._limits, threads)
                self._apply()
            yield
        finally:
            with self._lock:
                if limit is not None:
                    limit.release()
                self._apply()

    def _apply(self) -> None:
        wanted = [min([original, *self._limits.values()]) for original in self._original]
        if wanted != self._in_force:
            self._in_force = []  # until all are set, in case of Ctrl-C
            for library, threads in zip(self._libraries, wanted, strict=True):
                _set_threads(library, threads)
            self._in_force = wanted

    def after_fork(self) -> None:
        """Reset in a forked child, where no thread holds a limit or will release the lock."""
        self._lock = threading.RLock()
        if self._limits:
            self._limits, self._in_force = {}, []  # another thread may have been setting counts
            self._apply()


def _set_threads(library: Any, threads: int) -> None:
    """Set a library's thread count from any thread.

    In newer threadpoolctl, only the thread that was first to set the count of OpenBLAS may set it
    again, and all others are silently ignored. Control is therefore released before and after each
    call.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(threads)
    release(force=True)


class _Cores:
    """The cores, shared by callers that work at the same time."""

    def __init__(self) -> None:
        self.after_fork()

    @contextmanager
    def at_most(self, threads: int) -> Iterator[int]:
        """Reserve ``threads`` threads, or as many as there are free cores, but at least one."""
        share = None
        try:
            with self._lock:
                if taken := sum(self._shares.values()):
                    threads = max(1, min(threads, (os.cpu_count() or 1) - taken))
                share = _Held(self._shares, threads)
            yield threads
        finally:
            if share is not None:
                share.release()

    def after_fork(self) -> None:
        self._lock = threading.Lock()
        self._shares: dict[int, int] = {}


class _Helpers:
    """Threads that help callers with their blocks, started when they are first needed."""

    def __init__(self) -> None:
        self.after_fork()

    def begin(self, work: Callable[[], None], n: int) -> list[Future[None]]:
        """Ask n threads to run ``work``. A thread may start late, when no work is left."""
        return [self._pool.submit(work) for _ in range(n)]

    def after_fork(self) -> None:
        self._pool = ThreadPoolExecutor(max(_MOST_HELPERS, os.cpu_count() or 1), "trickless")


class _Shared(Generic[Block, Result]):
    """Blocks that several threads work on, until all are done or one fails."""

    def __init__(
        self, function: Callable[[Block], Result], blocks: list[Block], n_helpers: int
    ) -> None:
        self._function, self._blocks, self._n_helpers = function, blocks, n_helpers
        self._helpers: list[Future[None]] = []
        self._done: SimpleQueue[None] = SimpleQueue()
        self._numbers, self._stopped = count(), False
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}

    def start(self) -> None:
        with uninterrupted():  # the locks of the pool would stay shut
            self._helpers = _helpers.begin(self._help, self._n_helpers)

    def wait(self) -> None:
        """Start no more blocks, and wait for the helpers that are working."""
        self._stopped = True
        with uninterrupted():
            helpers = [helper for helper in self._helpers if not helper.cancel()]
        for _ in helpers:
            self._done.get()

    def _help(self) -> None:
        try:
            self.work()
        finally:
            self._done.put(None)

    def _next(self) -> int | None:
        if self._stopped:  # before a number is taken, since nobody else works on that block
            return None
        index = next(self._numbers)  # one operation, so without a lock that Ctrl-C could leave shut
        return index if index < len(self._blocks) else None

    def work(self) -> None:
        while (index := self._next()) is not None:
            try:
                self._results[index] = self._function(self._blocks[index])
            except BaseException as error:
                self._errors[index] = error
                self._stopped = True

    def results(self) -> list[Result]:
        """Get results in the order of the blocks, or raise the error of the first failed block."""
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._results[index] for index in range(len(self._blocks))]


_blas, _cores, _helpers = _Blas(), _Cores(), _Helpers()
if hasattr(os, "register_at_fork"):
    for _each in (_blas, _cores, _helpers):
        os.register_at_fork(after_in_child=_each.after_fork)


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``.

    ``None`` means as many as BLAS would use at this moment, which is usually all cores, and one
    inside a joblib worker that is limited to one, so that nested parallelism never oversubscribes
    the machine. -1 means all cores, -2 all except one, and so on. Inside a joblib worker, it is at
    most the number for ``None``.
    """
    if n_jobs == 1:
        return 1
    if n_jobs is None:
        return _blas.threads()
    threads = n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    nested = get_active_backend()[0].nesting_level
    return min(threads, _blas.threads()) if nested else threads


def worthwhile(n_jobs: int | None, n_activations: int) -> int | None:
    """Return ``n_jobs``, or 1 if there are too few activations for several threads."""
    return n_jobs if n_activations >= _WORTH_SHARING else 1


def worth_products(n_jobs: int | None, n_products: float) -> int | None:
    """Return ``n_jobs``, or 1 if there are too few multiplications for several threads."""
    return n_jobs if n_products >= _WORTH_PRODUCTS else 1


def linear_algebra(n_jobs: int | None, n_products: float = np.inf) -> AbstractContextManager[None]:
    """Run dense linear algebra (factorisations, large products) on at most ``n_jobs`` threads.

    It runs on one thread if it takes few multiplications, for two reasons. BLAS threads wait for
    each other at every step of a small factorisation, which can take a hundred times as long on a
    busy machine. They also wait in a busy loop for about 100 ms after their work, on cores that
    blocks of rows need.
    """
    return _blas.at_most(n_threads(worth_products(n_jobs, n_products)))


def map_rows(
    function: Callable[[slice], Result], n_rows: int, n_columns: int, n_jobs: int | None = None
) -> list[Result]:
    """Apply ``function``, which computes ``n_columns`` columns, to blocks of rows.

    Blocks run on several threads if there is enough work.
    """
    n_jobs = worthwhile(n_jobs, n_rows * n_columns)
    size = ROWS_PER_BLOCK * max(1, _COLUMNS_PER_BLOCK // max(1, n_columns))
    return map_blocks(function, row_blocks(n_rows, size, n_threads(n_jobs)), n_jobs)


def map_blocks(
    function: Callable[[Block], Result], blocks: list[Block], n_jobs: int | None = None
) -> list[Result]:
    """Apply ``function`` to each block on some thread, and return results in order of blocks.

    The caller's own thread works as well, and does not wait for another to start. Callers at the
    same time share the cores. A result does not depend on the number of cores that a caller gets.
    """
    wanted = min(n_threads(n_jobs), len(blocks))
    if wanted <= 1:
        with linear_algebra(n_jobs):
            return [function(block) for block in blocks]
    with _blas.at_most(1), _cores.at_most(wanted) as threads:
        shared = _Shared(function, blocks, threads - 1)
        try:
            shared.start()
            shared.work()
        finally:
            shared.wait()
        return shared.results()
