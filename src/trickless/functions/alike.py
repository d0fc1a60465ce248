"""Blocks of rows of one shape, so that the answer for a row does not depend on the other rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trickless.arrays.devices import take
from trickless.arrays.threads import map_blocks, map_rows, worthwhile

#: Rows, and values that are computed, in blocks of rows of one shape: at least the former, and as
#: many as the latter allow.
_ROWS_ALIKE, _VALUES_ALIKE = 128, 2**15


def map_rows_alike(
    function: Callable[[slice, Any], None], X: Any, n_columns: int, n_jobs: int | None = None
) -> None:
    """Call ``function(rows, some)`` for blocks of the rows of X that all have the same shape.

    So what it computes for a row of a dense array on the host does not depend on how many others
    there are, nor on the number of threads: BLAS rounds products of other shapes in other ways. The
    last block is filled up with copies of its last row, whose results are to be left out. The shape
    depends on ``n_columns``, the columns that are computed in all.
    """
    if not isinstance(X, np.ndarray):
        map_rows(lambda rows: function(rows, take(X, rows)), X, n_columns, n_jobs)
        return
    size = _ROWS_ALIKE * max(1, _VALUES_ALIKE // (_ROWS_ALIKE * max(1, n_columns)))

    def block(rows: slice) -> None:
        some = np.ascontiguousarray(X[rows])
        if len(some) < size:
            copies = np.broadcast_to(some[-1:], (size - len(some), X.shape[1]))
            some = np.concatenate([some, copies])
        function(rows, some)

    jobs = worthwhile(n_jobs, X.shape[0] * n_columns)
    map_blocks(block, [slice(i, min(i + size, len(X))) for i in range(0, len(X), size)], jobs)
