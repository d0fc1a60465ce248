"""Arrays to which rows are appended, in amortised constant time for each row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.places import HOST, Place
from trickless._arrays.sparse import canonical, check_csr
from trickless._arrays.stated import Count, Stated, check_same


class Growing(Stated):
    """A dense array that grows along its first axis.

    Several buffers may share the memory of their rows, but only one of them may use the spare room
    behind the rows.
    """

    #: Has an item if this buffer may use the spare room.
    _room: list[bool] | None = None

    _buffer: np.ndarray | None
    _length: Count

    def __init__(self) -> None:
        self._buffer = None
        self._length = 0

    @classmethod
    def of(cls, rows: np.ndarray) -> Growing:
        """Return a buffer that starts with some rows."""
        buffer = Growing()
        buffer.append(rows)
        return buffer

    def __len__(self) -> int:
        return self._length

    def at(self, place: Place, start: int = 0) -> Any:
        """Return the rows from ``start`` on at a place, to read."""
        return self.rows[start:] if place is HOST else place.put(self.rows[start:])

    def scale(self, factor: np.ndarray) -> None:
        """Multiply all rows by a factor for each number in the last axis, in their precision."""
        self.rows[:] *= factor.astype(self.rows.dtype)

    def is_at(self, place: Place) -> bool:
        """Return whether the rows are at a place."""
        return place is HOST

    def on_host(self) -> Growing:
        """Return a buffer on the host, by default this one."""
        return self

    def mapped(self, function: Callable[[np.ndarray], np.ndarray]) -> Growing:
        """Return a buffer with a function of the rows, if there are any."""
        other = Growing()
        if self._buffer is not None:
            other.append(function(self.rows))
        return other

    @staticmethod
    def like(rows: Any) -> np.ndarray:
        """Convert rows, sparse or dense, to the form of this buffer."""
        return rows.toarray() if scipy.sparse.issparse(rows) else rows

    def append(self, rows: np.ndarray) -> None:
        """Append rows. The buffer doubles when it is full."""
        need = self._length + len(rows)
        if self._buffer is None:
            self._buffer = np.array(rows)
            self._room = [True]
        elif need > len(self._buffer) or not self._room:
            larger = np.empty((max(need, 2 * self._length), *rows.shape[1:]), rows.dtype)
            larger[: self._length] = self.rows
            self._buffer = larger
            self._room = [True]
        self._buffer[self._length : need] = rows
        self._length = need

    def keep(self, index: np.ndarray) -> None:
        """Keep only some of the rows. Earlier views of the rows do not change."""
        self._buffer = self.rows[index]
        self._length = len(self._buffer)
        self._room = [True]

    def fork(self) -> Growing:
        """Make a buffer that starts with these rows, and does not change them when it grows.

        It shares their memory, so nothing may write to the rows of either buffer. The new buffer
        gets the spare room.
        """
        other = Growing()
        other._buffer, other._length = self._buffer, self._length
        if self._room is not None:
            with suppress(IndexError):
                other._room = [self._room.pop()]
        return other

    def copy(self) -> Growing:
        """Copy the buffer, with its spare room."""
        other = Growing()
        if self._buffer is not None:
            other._buffer, other._length = np.empty_like(self._buffer), self._length
            other._buffer[: self._length] = self.rows
            other._room = [True]
        return other

    @property
    def rows(self) -> np.ndarray:
        """All rows so far, as a view to which you may write."""
        if self._buffer is None:
            raise ValueError("nothing has been appended yet")
        return self._buffer[: self._length]

    def __getstate__(self) -> dict[str, Any]:
        buffer = None if self._buffer is None else self.rows.copy()
        return {"_buffer": buffer, "_length": self._length}

    def check_state(self) -> None:
        self._room = None
        check_same("_length", self._length, 0 if self._buffer is None else len(self._buffer))


class GrowingSparse(Stated):
    """A CSR matrix in canonical form that grows by rows.

    Rows in another form are copied, because SciPy would sort ``data`` in place, but 32-bit indices
    in a copy.
    """

    _data: Growing
    _indices: Growing
    _ends: Growing
    _n_columns: Count

    def __init__(self) -> None:
        self._data, self._indices, self._ends = Growing(), Growing(), Growing()
        self._n_columns = 0

    def __len__(self) -> int:
        return max(len(self._ends) - 1, 0)

    @staticmethod
    def like(rows: Any) -> Any:
        return scipy.sparse.csr_matrix(rows)

    def append(self, rows: Any) -> None:
        rows = canonical(rows)
        if len(self._ends) == 0:
            self._ends.append(np.zeros(1, dtype=np.int64))
        self._n_columns = max(self._n_columns, rows.shape[1])
        self._ends.append(rows.indptr[1:].astype(np.int64) + len(self._data))
        self._data.append(rows.data)
        self._indices.append(rows.indices.astype(np.int64))

    def keep(self, index: np.ndarray) -> None:
        kept = self.rows[index]
        self._data, self._indices, self._ends = Growing(), Growing(), Growing()
        self.append(kept)

    def fork(self) -> GrowingSparse:
        other = GrowingSparse()
        other._n_columns = self._n_columns
        other._data, other._indices = self._data.fork(), self._indices.fork()
        other._ends = self._ends.fork()
        return other

    @property
    def rows(self) -> Any:
        """All rows so far, as a CSR matrix that shares the memory of their numbers."""
        arrays = self._data.rows, self._indices.rows, self._ends.rows
        return scipy.sparse.csr_matrix(arrays, shape=(len(self), self._n_columns), copy=False)

    def check_state(self) -> None:
        if len(self._data) == len(self._indices) == len(self._ends) == self._n_columns == 0:
            return  # nothing has been appended yet
        data, columns, ends = self._data.rows, self._indices.rows, self._ends.rows
        if not columns.dtype == ends.dtype == np.int64:
            raise ValueError("the columns and ends of sparse rows are not int64")
        check_csr(data, columns, ends, (len(self), self._n_columns))
        if not self.rows.has_canonical_format:
            raise ValueError("the columns of sparse rows are not sorted and distinct")


def growing_like(X: Any) -> Growing | GrowingSparse:
    """Make an empty buffer for rows of this kind."""
    return GrowingSparse() if scipy.sparse.issparse(X) else Growing()
