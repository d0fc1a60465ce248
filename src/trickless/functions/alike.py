"""Blocks of one shape, so that the answer for a row does not depend on the other rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trickless.arrays.devices import take
from trickless.arrays.threads import map_blocks, map_rows, worthwhile

#: Blocks of one shape have at least this number of rows, or more if they compute fewer values than
#: this number of values.
_ROWS_ALIKE, _VALUES_ALIKE = 128, 2**15


def map_rows_alike(
    function: Callable[[slice, Any], None], X: Any, n_columns: int, n_jobs: int | None = None
) -> None:
    """Call ``function(rows, some)`` for blocks of the rows of X that all have the same shape.

    BLAS rounds products of different shapes in different ways. With blocks of one shape, the result
    for a row does not depend on the number of other rows or threads. This is for dense arrays on
    the host. The last block is filled up with copies of its last row. ``function`` must leave out
    their results. The shape depends on ``n_columns``, the number of columns that are computed in
    all.
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
