"""Activations of neurons most of whose values are 0, as sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.sparse import checked_csr
from trickless._arrays.threads import row_blocks
from trickless._functions.activations import Pieces
from trickless.neurons import Neurons

#: Rows of a panel.
_ROWS = 8192


def sparse_activations(
    neurons: Neurons,
    pieces: Pieces,
    X: Any,
    n_neurons: int,
    n_jobs: int | None = None,
    dtype: Any = np.float64,
    by_neuron: bool = False,
) -> scipy.sparse.csr_matrix:
    """Compute activations of all neurons: a CSR matrix (n_rows, n_neurons * width).

    Columns are in the order of ``activations``, or those of a neuron lie side by side.
    """
    n_rows, width, most = X.shape[0], neurons.width, neurons._n_nonzero
    assert most is not None
    few = max(n_rows * n_neurons * most, n_neurons * width) < 2**31
    index: Any = np.int32 if few else np.int64
    columns = np.empty((n_rows, n_neurons, most), dtype=index)
    data, read = np.empty(columns.shape, dtype=dtype), neurons._read(X, n_jobs)
    for where, weights in pieces():
        numbers, data[:, where] = neurons._nonzeros(read, weights)
        n = where.stop - where.start
        each = np.arange(n)[:, None]
        beside = each * width + numbers if by_neuron else numbers * n + each
        columns[:, where] = where.start * width + beside
    ends = np.arange(n_rows + 1, dtype=index) * (n_neurons * most)
    shape = n_rows, n_neurons * width
    return checked_csr(scipy.sparse.csr_matrix, data.ravel(), columns.ravel(), ends, shape)


def sparse_panels(
    neurons: Neurons, pieces: Pieces, X: Any, n_neurons: int, n_jobs: int | None = None
) -> Iterator[tuple[slice, scipy.sparse.csr_matrix]]:
    """Yield the activations of all neurons, a panel of rows at a time."""
    for rows in row_blocks(X.shape[0], _ROWS):
        yield rows, sparse_activations(neurons, pieces, X[rows], n_neurons, n_jobs)


def bytes_of_row(neurons: Neurons, n_neurons: int) -> int:
    """Return about how many bytes a row of the matrix takes."""
    assert neurons._n_nonzero is not None
    return n_neurons * neurons._n_nonzero * (np.dtype(float).itemsize + np.dtype(np.int32).itemsize)
