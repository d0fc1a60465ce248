"""Row blocks, threads and array namespaces: the only file that knows about them.

Work over many rows is cut into blocks of a fixed number of rows, small enough for a block's
activations to stay in the processor's cache. Each block runs on one thread with BLAS held to one
thread inside it, and results are gathered in row order, so neither the number of threads nor the
order in which they finish shows in an answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse
from array_api_compat import array_namespace as _array_namespace
from threadpoolctl import ThreadpoolController

ROWS_PER_BLOCK = 512

Result = TypeVar("Result")


def namespace(X: Any) -> Any:
    """Array API namespace of ``X``; NumPy for a SciPy sparse matrix, whose products are NumPy's."""
    return np if scipy.sparse.issparse(X) else _array_namespace(X)


def row_blocks(n_rows: int, size: int = ROWS_PER_BLOCK) -> list[slice]:
    """Cut ``range(n_rows)`` into consecutive slices of ``size`` rows."""
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


class _Blas:
    """The process's BLAS thread count, set by nested and concurrent callers without a race.

    OpenBLAS and MKL keep one count for the whole process, so of several threads that limit it at
    once only the first may save the original count and only the last may put it back.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holders = 0
        self._limit: Any = None
        self._original = 1

    @cached_property
    def _controller(self) -> ThreadpoolController:
        return ThreadpoolController().select(user_api="blas")

    def threads(self) -> int:
        """How many threads BLAS would use if nobody in this module held it down."""
        with self._lock:
            if self._holders:
                return self._original
            return max((lib.num_threads for lib in self._controller.lib_controllers), default=1)

    @contextmanager
    def single(self) -> Iterator[None]:
        """Hold BLAS to one thread."""
        with self._lock:
            if self._holders == 0:
                self._original = self.threads()
                self._limit = self._controller.limit(limits=1)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._limit.restore_original_limits()


_blas = _Blas()


def n_threads(n_jobs: int | None) -> int:
    """Threads to use for ``n_jobs``.

    ``None`` means as many as BLAS would use at this moment: all cores on their own, one inside a
    joblib worker that has been given one, so nested parallelism never oversubscribes the machine.
    -1 means all cores, -2 all but one, and so on.
    """
    if n_jobs is None:
        return _blas.threads()
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


@contextmanager
def linear_algebra(n_jobs: int | None) -> Iterator[None]:
    """Run dense linear algebra (factorisations, large products) on at most ``n_jobs`` threads."""
    if n_threads(n_jobs) == 1:
        with _blas.single():
            yield
    else:
        yield


def map_blocks(
    function: Callable[[slice], Result], blocks: list[slice], n_jobs: int | None = None
) -> list[Result]:
    """Apply ``function`` to each block, one thread a block; the results in the order of blocks."""
    threads = min(n_threads(n_jobs), len(blocks))
    if threads <= 1:
        with linear_algebra(n_jobs):
            return [function(block) for block in blocks]
    with _blas.single(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, blocks))
