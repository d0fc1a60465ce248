"""Gram matrices of activations: products of a few rows, summed in double precision.

A product of many rows in single precision takes half the time of one in double, or less, but its
rounding grows with the sums. So products are made of a few rows at a time, in the precision that
the rows have, and only their sum is in double precision. Rows that are centred nearly leave small
sums, and so little rounding: about 1e-10 of the mean square of a row.

The matrix is cut into tiles that stay in the processor's cache, one thread a tile, so the number of
threads does not show in these sums at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._blocks import linear_algebra, map_blocks, on_host, row_blocks, worth_products
from trickless._devices import beside, times

#: Rows of a product, and columns of a tile.
_ROWS, _COLUMNS = 512, 256


def add_products(gram: Any, cross: np.ndarray, Z: Any, Y: np.ndarray, n_jobs: int | None) -> None:
    """Add ZᵀZ to ``gram`` and ZᵀY to ``cross``, which are in double precision.

    Parameters
    ----------
    gram : array of shape (n_columns, n_columns)
    cross : array of shape (n_columns, n_outputs)
    Z : array of shape (n_rows, n_columns)
        In double precision or on a device, it is multiplied as a whole, there.
    Y : float64 array of shape (n_rows, n_outputs)
    n_jobs : int or None
        Threads.
    """
    n_products = Z.shape[0] * Z.shape[1] ** 2
    if not on_host(Z) or Z.dtype == np.float64:
        with linear_algebra(n_jobs, n_products):
            gram += beside(gram, Z.T @ Z)
            cross += times(Y.T, Z).T
        return
    parts, blocks = row_blocks(Z.shape[1], _COLUMNS), row_blocks(Z.shape[0], _ROWS)

    def add(tile: tuple[slice, slice]) -> None:
        left, right = tile
        product = np.empty((left.stop - left.start, right.stop - right.start), Z.dtype)
        total = np.zeros(product.shape)
        with np.errstate(over="ignore"):  # which the caller finds in the sums
            for rows in blocks:
                total += np.matmul(Z[rows, left].T, Z[rows, right], out=product)
        gram[left, right] += total
        if left != right:
            gram[right, left] += total.T
            return
        cross[left] += sum(
            Z[rows, left].T.astype(np.float64, copy=False) @ Y[rows] for rows in blocks
        )

    tiles = [(left, right) for i, left in enumerate(parts) for right in parts[i:]]
    map_blocks(add, tiles, worth_products(n_jobs, n_products))
