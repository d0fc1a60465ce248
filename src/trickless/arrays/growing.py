"""Rows that are appended to, in amortised constant time a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.sparse import check_csr


class Growing:
    """A dense array that grows along its first axis."""

    def __init__(self) -> None:
        self._buffer: np.ndarray | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @staticmethod
    def like(rows: Any) -> np.ndarray:
        """Rows, sparse or dense, as this buffer keeps them."""
        return rows.toarray() if scipy.sparse.issparse(rows) else rows

    def append(self, rows: np.ndarray) -> None:
        """Append rows; the buffer doubles when it is full."""
        need = self._length + len(rows)
        if self._buffer is None:
            self._buffer = np.array(rows)
        elif need > len(self._buffer):
            larger = np.empty((max(need, 2 * len(self._buffer)), *rows.shape[1:]), rows.dtype)
            larger[: self._length] = self.rows
            self._buffer = larger
        self._buffer[self._length : need] = rows
        self._length = need

    def keep(self, index: np.ndarray) -> None:
        """Keep some of the rows; earlier views of the rows are not changed."""
        self._buffer = self.rows[index]
        self._length = len(self._buffer)

    @property
    def rows(self) -> np.ndarray:
        """All rows so far: a view, which may be written to."""
        if self._buffer is None:
            raise ValueError("nothing has been appended yet")
        return self._buffer[: self._length]

    def __getstate__(self) -> dict[str, Any]:
        buffer = None if self._buffer is None else self.rows.copy()
        return {"_buffer": buffer, "_length": self._length}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a state, such as one from a file: it has all rows and no room for more."""
        buffer, length = state.get("_buffer"), state.get("_length")
        whole = isinstance(buffer, np.ndarray) and buffer.ndim > 0
        if type(length) is not int or length != (len(buffer) if whole else 0):  # type: ignore[arg-type]
            raise ValueError("the rows of a buffer are not as many as its length")
        if buffer is not None and not whole:
            raise ValueError("the rows of a buffer are not an array")
        self._buffer, self._length = buffer, length


class GrowingSparse:
    """A CSR matrix that grows by rows."""

    def __init__(self) -> None:
        self._data, self._indices, self._ends = Growing(), Growing(), Growing()
        self._n_columns = 0

    def __len__(self) -> int:
        return max(len(self._ends) - 1, 0)

    @staticmethod
    def like(rows: Any) -> Any:
        """Rows, sparse or dense, as this buffer keeps them."""
        return scipy.sparse.csr_matrix(rows)

    def append(self, rows: Any) -> None:
        """Append the rows of a CSR matrix."""
        if len(self._ends) == 0:
            self._ends.append(np.zeros(1, dtype=np.int64))
        self._n_columns = max(self._n_columns, rows.shape[1])
        self._ends.append(rows.indptr[1:].astype(np.int64) + len(self._data))
        self._data.append(rows.data)
        self._indices.append(rows.indices.astype(np.int64))

    def keep(self, index: np.ndarray) -> None:
        """Keep some of the rows."""
        kept = self.rows[index]
        self._data, self._indices, self._ends = Growing(), Growing(), Growing()
        self.append(kept)

    @property
    def rows(self) -> Any:
        """All rows so far as a CSR matrix that shares their memory."""
        arrays = self._data.rows, self._indices.rows, self._ends.rows
        return scipy.sparse.csr_matrix(arrays, shape=(len(self), self._n_columns), copy=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a state, such as one from a file, whose parts SciPy would trust."""
        self.__dict__.update(state)
        buffers = [state.get(name) for name in ("_data", "_indices", "_ends")]
        if not all(isinstance(buffer, Growing) for buffer in buffers):
            raise ValueError("the parts of sparse rows are not buffers")
        if len(self._data) == len(self._indices) == len(self._ends) == self._n_columns == 0:
            return  # nothing has been appended yet
        data, columns, ends = self._data.rows, self._indices.rows, self._ends.rows
        if not columns.dtype == ends.dtype == np.int64:
            raise ValueError("the columns and ends of sparse rows are not int64")
        check_csr(data, columns, ends, (len(self), self._n_columns))


def growing_like(X: Any) -> Growing | GrowingSparse:
    """An empty buffer for rows of this kind."""
    return GrowingSparse() if scipy.sparse.issparse(X) else Growing()
