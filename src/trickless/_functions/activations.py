"""Activations Z = ψ(X; W) of drawn neurons on rows, and the one loop that evaluates them.

Neurons come in pieces, usually blocks of a stream. The activations of a piece of n neurons have
``width * n`` columns, of which column ``k * n + j`` holds value k of neuron j. The columns of
several pieces lie side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from trickless._arrays.places import HOST, Place, namespace, place_of
from trickless._arrays.threads import map_blocks, row_blocks
from trickless._functions.stream import BLOCK, NeuronStream, pick
from trickless.neurons.base import Neurons, Weights

#: The largest number of bytes of a panel's activations, in double precision, and of its rows. More
#: rows do not make sums over a panel faster.
PANEL_BYTES, PANEL_ROWS = 2**26, 8192
#: The most bytes of a panel on a device. With few rows, sums wait for the device's memory.
PANEL_BYTES_ON_DEVICE = 2**30

#: A function that iterates over neurons. A piece is the slice of its neurons, and their weights.
Pieces = Callable[[], Iterable[tuple[slice, Weights]]]


def together(weights: Weights) -> Pieces:
    """Yield all neurons as one piece."""
    return lambda: [(slice(0, weights[0].shape[0]), weights)]


def in_blocks(weights: Weights) -> Pieces:
    """Yield neurons in pieces of at most a block."""
    return lambda: [(some, pick(weights, some)) for some in row_blocks(len(weights[0]), BLOCK)]


def evaluate(
    neurons: Neurons,
    pieces: Pieces,
    X: Any,
    n_columns: int,
    use: Callable[[slice, slice, Any], None],
    n_jobs: int | None = None,
    blocks: list[slice] | None = None,
    place: Place | None = None,
) -> None:
    """Evaluate neurons on rows. A thread works on a block of rows, one piece after the other.

    ``use(rows, where, Z)`` gets the activations of a piece of neurons on a block of rows. Several
    threads call it at the same time, for different rows. The pieces have ``n_columns`` columns in
    all, which set the size of a block unless ``blocks`` are given. The place of X is found unless
    it is given.
    """

    def block(rows: slice) -> None:
        last, some = neurons._last_layer(X[rows, ...])
        for where, weights in pieces():
            use(rows, where, last(some, weights))

    if blocks is None:
        (place or place_of(X)).map_rows(block, X.shape[0], n_columns, n_jobs)
    else:
        map_blocks(block, blocks, n_jobs)


def activations(
    neurons: Neurons,
    pieces: Pieces,
    X: Any,
    n_neurons: int,
    n_jobs: int | None = None,
    out: Any = None,
    place: Place | None = None,
) -> Any:
    """Compute activations of all neurons: an array (n_rows, n_neurons * width), or ``out``."""
    width, place = neurons.width, place or place_of(X)
    Z = place.empty((X.shape[0], n_neurons * width), X.dtype) if out is None else out
    if place is not HOST and Z.dtype == X.dtype:

        def write(rows: slice) -> None:
            for where, weights in pieces():
                out = Z[rows, where.start * width : where.stop * width]
                neurons._write(X[rows, ...], weights, out)

        place.map_rows(write, X.shape[0], Z.shape[1])
        return Z

    def fill(rows: slice, where: slice, part: Any) -> None:
        Z[rows, where.start * width : where.stop * width] = part

    evaluate(neurons, pieces, X, Z.shape[1], fill, n_jobs, place=place)
    return Z


def in_row_blocks(
    use: Callable[[slice, Any], None],
    stream: NeuronStream,
    n_neurons: int,
    X: Any,
    n_columns: int,
    n_jobs: int | None,
) -> None:
    """Call ``use(rows, Z)`` with the activations of all neurons on blocks of rows.

    ``n_columns`` columns are computed in all, which set the size of a block.
    """
    place = place_of(X)
    pieces = partial(stream.pieces, 0, n_neurons, place)

    def of_rows(rows: slice) -> None:
        some = X[rows, ...]
        use(rows, activations(stream.neurons, pieces, some, n_neurons, 1, None, place))

    place.map_rows(of_rows, X.shape[0], n_columns, n_jobs)


def panels(
    stream: NeuronStream,
    n_neurons: int,
    X: Any,
    start: int = 0,
    kept: bool = False,
    n_together: int = 0,
    n_jobs: int | None = None,
    place: Place | None = None,
) -> Iterator[tuple[slice, Any]]:
    """Yield the activations of the first neurons of a stream, a panel of rows at a time.

    If the panels are not ``kept``, each overwrites the previous one, which saves the time to
    allocate memory. A panel may have ``n_together`` rows even if they take more than
    ``PANEL_BYTES``.
    """
    place = place or place_of(X)
    n_rows, n_columns = X.shape[0], n_neurons * stream.neurons.width
    most = place.sized(
        min(PANEL_ROWS, max(PANEL_BYTES // (8 * n_columns), n_together)),
        PANEL_BYTES_ON_DEVICE // (8 * n_columns),
    )
    size = BLOCK * max(1, most // BLOCK)
    memory = place.empty((n_rows if kept else min(n_rows, size), n_columns), X.dtype)

    def pieces() -> Iterator[tuple[slice, Weights]]:
        return stream.pieces(0, n_neurons, place)

    for first in range(start, n_rows, size):
        panel = slice(first, min(first + size, n_rows))
        Z = memory[panel if kept else slice(0, panel.stop - first), ...]
        rows = X[panel, ...]
        yield panel, activations(stream.neurons, pieces, rows, n_neurons, n_jobs, Z, place)


def by_neuron(columns: Any, width: int) -> Any:
    """Reorder values of a piece's columns, (width * n, ...), by neuron: a view (n, width, ...)."""
    if not isinstance(columns, np.ndarray):
        xp, (n, n_outputs) = namespace(columns), columns.shape
        return xp.permute_dims(xp.reshape(columns, (width, n // width, n_outputs)), (1, 0, 2))
    return columns.reshape(width, -1, *columns.shape[1:]).swapaxes(0, 1)


def by_neuron_in_blocks(columns: np.ndarray, width: int) -> np.ndarray:
    """Reorder values of the columns of all blocks by neuron: shape (n_neurons, width, ...)."""
    blocks = row_blocks(len(columns) // width, BLOCK)
    return np.concatenate(
        [by_neuron(columns[b.start * width : b.stop * width], width) for b in blocks]
    )


def by_column(neurons: np.ndarray) -> np.ndarray:
    """Reorder values of a piece's neurons, (n, width, ...), by column: (width * n, ...)."""
    return neurons.swapaxes(0, 1).reshape(-1, *neurons.shape[2:])
