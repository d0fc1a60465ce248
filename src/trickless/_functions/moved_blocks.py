"""Blocks of a stream on a device: drawn on the host, moved together, and kept there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from trickless._arrays.memory import size_of
from trickless._arrays.places import Place
from trickless.neurons.base import Weights

#: The most blocks and bytes that are moved together.
_BLOCKS, _BYTES = 8, 2**25


class MovedBlocks:
    """Blocks of a stream at a ``place``, a device.

    ``draw`` returns a block on the host, with ``size`` neurons. Blocks that are missing are moved
    in one transfer. The first ones that fit in ``most`` bytes are kept, and of the others those
    that were moved last, since steps of a stream use a block in parts.
    """

    def __init__(self, draw: Callable[[int], Weights], size: int, place: Place, most: int) -> None:
        self._draw, self._size, self._place, self._most = draw, size, place, most
        self._kept: dict[int, Weights] = {}
        self._latest: dict[int, Weights] = {}
        self._joined: dict[tuple[int, int], Weights] = {}
        self._n_bytes = 0

    def pieces(self, start: int, stop: int, n_together: int) -> Iterator[tuple[slice, Weights]]:
        """Yield neurons ``start`` to ``stop`` in pieces of up to so many blocks."""
        size, end = self._size, -(-stop // self._size)
        n_together = min(n_together, self._n_moved)
        while start < stop:
            b = start // size
            last = min(end, (b // n_together + 1) * n_together)
            where = slice(start, min(stop, last * size))
            weights = self._blocks(b, last, end)
            inside = slice(start - b * size, where.stop - b * size)
            yield where, tuple(array[inside, ...] for array in weights)
            start = where.stop

    def between(self, start: int, stop: int) -> Weights:
        """Return neurons ``start`` to ``stop`` together."""
        parts = [weights for _, weights in self.pieces(start, stop, _BLOCKS)]
        return self._concatenated(parts)

    def _blocks(self, first: int, last: int, end: int) -> Weights:
        """Return blocks ``first`` to ``last`` together. Up to ``end`` are needed soon.

        Several that begin at a multiple of their number are kept in one piece, if blocks are kept.
        """
        if last == first + 1:
            return self._found(first, last, end)[0]
        weights = self._joined.get((first, last))
        if weights is None:
            weights = self._concatenated(self._found(first, last, end))
            if first % (last - first) == 0 and last * self._size_of_block <= self._most:
                self._joined[first, last] = weights
                self._kept |= self._parts(range(first, last), weights)  # views
        return weights

    def _found(self, first: int, last: int, end: int) -> list[Weights]:
        found = {b: w for b in range(first, last) if (w := self._there(b)) is not None}
        missing = [b for b in range(first, last) if b not in found]
        if missing:
            soon = range(last, max(last, min(end, missing[0] + self._n_moved)))
            missing += [b for b in soon if self._there(b) is None]
            drawn = [self._draw(b) for b in missing]
            together = tuple(map(np.concatenate, zip(*drawn, strict=True)))
            new = self._parts(missing, tuple(map(self._place.put, together)))
            self._latest = new
            fit = {b: w for b, w in new.items() if (b + 1) * self._size_of_block <= self._most}
            self._kept |= fit
            found |= new
        return [found[b] for b in range(first, last)]

    def _there(self, b: int) -> Weights | None:
        weights = self._kept.get(b)
        return self._latest.get(b) if weights is None else weights

    def _parts(self, blocks: list[int] | range, together: Weights) -> dict[int, Weights]:
        places = (slice(i * self._size, (i + 1) * self._size) for i in range(len(blocks)))
        parts = (tuple(array[where, ...] for array in together) for where in places)
        return dict(zip(blocks, parts, strict=True))

    def _concatenated(self, parts: list[Weights]) -> Weights:
        if len(parts) == 1:
            return parts[0]
        return tuple(self._place.xp.concat(arrays) for arrays in zip(*parts, strict=True))

    @property
    def _size_of_block(self) -> int:
        if not self._n_bytes:
            self._n_bytes = max(1, size_of(self._draw(0)))
        return self._n_bytes

    @property
    def _n_moved(self) -> int:
        """The most blocks to move together."""
        return min(max(1, _BYTES // self._size_of_block), _BLOCKS)
