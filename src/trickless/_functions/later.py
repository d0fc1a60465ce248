"""Neurons of a stream from some number on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trickless._functions.stream import NeuronStream, StoredNeurons
from trickless.neurons.base import Weights


class Later:
    """The neurons of a stream from number ``first`` on."""

    def __init__(self, stream: NeuronStream | StoredNeurons, first: int) -> None:
        self._stream = stream
        self._first = first

    def pieces(
        self, start: int, stop: int, like: Any = None, n_together: int = 1
    ) -> Iterator[tuple[slice, Weights]]:
        """Yield neurons ``start`` to ``stop``, counted from ``first``."""
        first = self._first
        for where, weights in self._stream.pieces(first + start, first + stop, like, n_together):
            yield slice(where.start - first, where.stop - first), weights
