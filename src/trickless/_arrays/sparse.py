"""Sparse rows: checks before compiled code trusts them, and their canonical form.

SciPy uses the column numbers and ends of a CSR matrix as positions in memory, without checks. Its
own ``check_format`` omits some checks, for instance if the last end is 0 or less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.stated import Scope, check_array, check_count, check_same

#: Types of column numbers and ends.
INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
#: The most numbers of sparse rows that are small enough to be dense.
_SMALL = 2**21


def check_csr(data: Any, columns: Any, ends: Any, shape: Any) -> None:
    """Check the parts of a CSR matrix: numbers, their columns, and the end of each row.

    Row i has the numbers from ``ends[i]`` to ``ends[i + 1]``. A part of another type or shape, or
    with a number out of range, raises a ValueError.
    """
    for name, part in (("data", data), ("columns", columns), ("ends", ends)):
        if not isinstance(part, np.ndarray) or part.ndim != 1:
            raise ValueError(f"the {name} of sparse rows are not a 1d array")
    if data.dtype.kind not in "biufc":
        raise ValueError(f"the data of sparse rows have type {data.dtype}, not numbers")
    for name, part in (("columns", columns), ("ends", ends)):
        if part.dtype not in INDEX_TYPES:
            raise ValueError(f"the {name} of sparse rows are {part.dtype}, not int32 or int64")
    if len(shape) != 2 or any(type(n) is not int or not 0 <= n < 2**63 for n in shape):
        raise ValueError("the shape of sparse rows is not two numbers")
    n_rows, n_columns = shape
    if len(ends) != n_rows + 1:
        raise ValueError(f"sparse rows have {len(ends)} ends, not {n_rows + 1}")
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any() or ends[-1] != len(data):
        raise ValueError(f"the ends of sparse rows do not go up from 0 to {len(data)}")
    if len(columns) != len(data):
        raise ValueError(f"sparse rows have {len(columns)} columns for {len(data)} numbers")
    if len(columns) and not 0 <= columns.min() <= columns.max() < n_columns:
        raise ValueError(f"a column of sparse rows is not in the range from 0 to {n_columns - 1}")


def check_rows(name: str, X: Any, n_rows: int | None, n_columns: int | None) -> None:
    """Check that rows of a state are an array or a CSR matrix of floating-point numbers."""
    if not isinstance(X, scipy.sparse.csr_matrix | scipy.sparse.csr_array):
        check_array(name, X, "f4 f8", (n_rows, n_columns))
        return
    shape = [int(n) for n in X.shape]
    for n, wanted in zip(shape, (n_rows, n_columns), strict=True):
        check_same(f"shape of {name}", n, n if wanted is None else wanted)
    check_array(f"data of {name}", X.data, "f4 f8", (None,))
    check_csr(*parts_of(X), shape)


class Matrix:
    """What rows of floating-point numbers must be, in an array or a CSR matrix (``Array``)."""

    def __init__(
        self, n_rows: int | str | None, n_columns: int | str | None, some: bool = False
    ) -> None:
        self.shape, self.some = (n_rows, n_columns), some

    def __call__(self, name: str, value: Any, scope: Scope) -> None:
        n_rows, n_columns = map(scope.length, self.shape)
        check_rows(name, value, n_rows, n_columns)
        if self.some:
            check_count(f"number of {name}", value.shape[0], 1)
        for size, length in zip(self.shape, value.shape, strict=True):
            scope.name(size, int(length), name)


def parts_of(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, columns and ends of a CSR matrix, without spare room at their end."""
    n = int(matrix.indptr[-1]) if len(matrix.indptr) else 0
    return matrix.data[:n], matrix.indices[:n], matrix.indptr


def checked_csr(cls: Any, data: Any, columns: Any, ends: Any, shape: Any) -> Any:
    """Make a ``csr_matrix`` or ``csr_array`` from parts, after ``check_csr``."""
    check_csr(data, columns, ends, shape)
    return cls((data, columns, ends), shape=tuple(shape), copy=False)


def canonical(X: Any) -> Any:
    """Convert sparse rows of any format to canonical form, and return others unchanged.

    The columns of each row are sorted and distinct, and no number is 0. SciPy and scikit-learn
    would otherwise sort and sum the numbers of rows in place. ``X`` never changes, and rows that
    are canonical share its memory. A column number or an end that points outside of memory raises a
    ValueError.
    """
    if not scipy.sparse.issparse(X) or X.ndim != 2:
        return X
    if X.format == "coo":  # anew, since only the constructor checks its coordinates
        X = type(X)((X.data, (X.row, X.col)), shape=X.shape)
    elif X.format == "csc":
        check_csr(*parts_of(X), X.shape[::-1])
    elif X.format == "bsr":
        blocks, columns, ends = parts_of(X)
        n_blocks = [n // size for n, size in zip(X.shape, X.blocksize, strict=True)]
        check_csr(blocks[:, 0, 0], columns, ends, n_blocks)
    X = X.tocsr()
    parts = parts_of(X)
    check_csr(*parts, X.shape)
    # A new object, because an old one remembers its form from before its arrays were changed.
    cls = scipy.sparse.csr_array if isinstance(X, scipy.sparse.sparray) else scipy.sparse.csr_matrix
    rows = cls(parts, shape=X.shape, copy=False)
    if rows.has_canonical_format and rows.data.all():
        return rows
    single = rows.dtype == np.float16  # in which SciPy has no sums
    rows = rows.astype(np.float32) if single else rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def dense_if_small(X: Any) -> Any:
    """Make sparse rows dense if they are small, and return others unchanged.

    Products of sparse rows are rounded in another way than products of dense rows. Code whose
    choices depend on rounding uses this, so that it makes the same choices for both.
    """
    return X.toarray() if scipy.sparse.issparse(X) and np.prod(X.shape) <= _SMALL else X
