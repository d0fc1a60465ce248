"""Arrays on a device to which rows are appended, and which the host reads only when asked."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from trickless._arrays.growing import Growing
from trickless._arrays.places import HOST, Place, to_host


class GrowingThere(Growing):
    """A buffer whose rows are at a ``place``, a device. ``rows`` is a copy on the host.

    Files and pickles hold a buffer on the host instead.
    """

    _place: Place
    _there: Any
    _copied: np.ndarray | None

    def __init__(self, place: Place, rows: np.ndarray) -> None:
        super().__init__()
        self._length, self._place = len(rows), place
        self._there = place.put(rows)
        self._copied = rows

    def append(self, rows: Any) -> None:
        need = self._length + rows.shape[0]
        if need > self._there.shape[0]:
            shape = (max(need, 2 * self._length), *self._there.shape[1:])
            larger = self._place.empty(shape, self._there.dtype)
            larger[: self._length, ...] = self._there[: self._length, ...]
            self._there = larger
        self._there[self._length : need, ...] = rows
        self._length, self._copied = need, None

    def at(self, place: Place, start: int = 0) -> Any:
        return place.put(self._there[start : self._length, ...])

    def scale(self, factor: np.ndarray) -> None:
        rows = self._there[: self._length, ...]
        rows[...] = self._place.scaled(rows, factor)
        self._copied = None

    def keep(self, index: np.ndarray) -> None:
        self._copied = self.rows[index]
        self._there, self._length = self._place.put(self._copied), len(self._copied)

    @property
    def rows(self) -> np.ndarray:
        """All rows so far, to read."""
        if self._copied is None:
            self._copied = to_host(self._there[: self._length, ...])
        return self._copied

    def is_at(self, place: Place) -> bool:
        return place is self._place

    def on_host(self) -> Growing:
        return Growing.of(self.rows)

    def mapped(self, function: Callable[[np.ndarray], np.ndarray]) -> Growing:
        return self.on_host().mapped(function)

    def fork(self) -> Growing:
        return self.copy()

    def copy(self) -> Growing:
        other = GrowingThere.__new__(GrowingThere)
        vars(other).update(vars(self))
        other._there = self._place.copy(self._there[: self._length, ...])
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Growing:
        return deepcopy(self.on_host(), memo)

    def __reduce__(self) -> Any:
        return Growing.of, (self.rows,)


def growing_at(buffer: Growing, place: Place) -> Growing:
    """Return a buffer with its rows at a place: the same one, if they are there already."""
    if place is HOST:
        return buffer.on_host()
    return buffer if buffer.is_at(place) else GrowingThere(place, buffer.rows)
