"""The history of a descent: a record of each step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.places import place_of
from trickless._arrays.stated import stated


@stated
class Seen(NamedTuple):
    """Number of rows of a step, and their mean error and loss before it was taken.

    ``weighted`` is the sum of their losses times their shares of the step, and ``start`` the same
    sum if nothing had been learned.
    """

    n_rows: int
    error: float
    loss: float
    weighted: float
    start: float


class Awaited(NamedTuple):
    """A step on a device whose record has not been read: its number of rows, and its size.

    ``numbers`` come from ``GrowingNetwork.outcome``, with the largest change of f at the end.
    """

    n_rows: int
    gamma: np.ndarray
    numbers: Any

    def with_most(self, most: Any) -> Awaited:
        """Return the step with the largest change of f, which follows later."""
        xp = place_of(most).xp
        most = xp.reshape(xp.astype(most, self.numbers.dtype, copy=False), (1,))
        return self._replace(numbers=xp.concat([self.numbers, most]))


def together(history: list[Seen]) -> list[Seen]:
    """Merge neighbours of a history of even length, by their rows."""
    merged = []
    for a, b in zip(history[::2], history[1::2], strict=True):
        n = a.n_rows + b.n_rows
        error, loss = (
            (a.n_rows * x + b.n_rows * y) / n for x, y in zip(a[1:3], b[1:3], strict=True)
        )
        merged.append(Seen(n, error, loss, a.weighted + b.weighted, a.start + b.start))
    return merged
