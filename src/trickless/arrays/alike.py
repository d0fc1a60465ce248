"""How few rows BLAS rounds like the rows of a block, so that few rows need no whole block.

BLAS multiplies matrices of different sizes by different loops, which add up in different orders.
Which sizes agree depends on the library and the processor, and not on the numbers, so it is tried
once for each size. Some loops in single precision even round the rows of one block in two ways.
Then no number of rows is like it, and a few are used.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from trickless.arrays.threads import linear_algebra

#: Numbers of rows that are tried, and the largest of them.
_FEW = 4, 8, 16, 32
MOST_FEW = _FEW[-1]
#: Larger products than this are not tried, since they take longer than copies of a row.
_MOST = 2**21


@lru_cache(maxsize=256)
def least_rows(block: int, n_inner: int, n_columns: int, dtype: str, transposed: bool) -> int:
    """Return how many rows, times a matrix, are rounded like the rows of a block.

    Parameters
    ----------
    block : int
        Number of rows of a block.
    n_inner, n_columns : int
        Shape of the matrix.
    dtype : str
        Precision of the product.
    transposed : bool
        Whether the columns of the matrix are contiguous in memory, and not its rows.
    """
    if n_inner * max(block, n_columns) > _MOST:
        return block
    rng = np.random.default_rng(0)
    row = rng.standard_normal((1, n_inner)).astype(dtype)
    matrix = rng.standard_normal((n_columns, n_inner)).astype(dtype).T
    matrix = matrix if transposed else np.ascontiguousarray(matrix)
    with linear_algebra(1):
        whole = np.repeat(row, block, axis=0) @ matrix
        if not (whole == whole[0]).all():
            return _FEW[0]
        for few in _FEW:
            if (np.repeat(row, few, axis=0) @ matrix == whole[0]).all():
                return few
    return block
