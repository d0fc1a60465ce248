"""Gram matrices of activations: products of a few rows, summed in double precision.

Products in single precision take half the time of those in double, or less, but their rounding
errors matter if rows are many. Rows therefore come in blocks, and the mean of each block is
subtracted, which makes rounding errors small and different from block to block. With the mean m of
n rows, s = Σ (z − m) and u = s + n m / 2,

    Σ z zᵀ = Σ (z − m)(z − m)ᵀ + m uᵀ + u mᵀ,

where only the first term is in single precision. A block for which that is not accurate enough is
multiplied in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.places import place_of
from trickless._arrays.threads import linear_algebra, map_blocks, row_blocks, worth_products

#: Ridges of at least this times the mean square of a row of activations are above rounding errors.
FLOOR = float(np.finfo(np.float32).eps)

#: Rows of a block, and columns taken together: they stay in the processor's cache.
_ROWS, _COLUMNS = 512, 256
#: Threads share out tiles of the matrix. Up to this many parts of ``_COLUMNS`` columns make tiles;
#: matrices with more columns have tiles of this width at most. (Not 512: rows whose length is a
#: power of two compete for the same lines of the cache.)
_PARTS, _TILE = 4, 500
#: The most rows, and the least products and columns, for which ``inner_products`` takes threads.
_FEW_ROWS, _WORTH_PRODUCTS, _WORTH_COLUMNS = 512, 2**24, 512
#: Limits within which a block may be multiplied in single precision: of roots of weights and of
#: squares of its centred rows; and of the latter relative to the mean square of the original rows,
#: to which ridges are proportional.
_LEAST, _MOST, _MOST_OF_MEAN = 1e-10, 1e10, 8.0


class _Block(NamedTuple):
    """Rows that have been centred, and the sums that centring removed."""

    rows: slice
    mean: np.ndarray
    sums: np.ndarray  # Σ y zᵀ of the original rows, shape (n_outputs + 1, n_columns)
    beside_mean: np.ndarray  # u
    rounded: float  # Σ |z|² if the rows may be multiplied in single precision, else 0


def add_products(
    gram: Any, cross: Any, Z: Any, Y: np.ndarray, least_ridge: float, n_jobs: int | None
) -> float:
    """Add ZᵀZ to ``gram`` and ZᵀY to ``cross``, which are in one place and in double precision.

    Y holds targets and a last column of ones, times the roots of weights. The activations Z are
    overwritten, by their products with that column. The matrix will be used with ridges of at least
    ``least_ridge``; 0 asks for double precision throughout. Returns Σ |z|² over the rows that were
    multiplied in single precision.
    """
    roots = Y[:, -1]
    weighted = bool((roots != 1).any())
    moderate = _LEAST < roots.max() < _MOST
    n_products = Z.shape[0] * Z.shape[1] ** 2
    single = isinstance(Z, np.ndarray) and Z.dtype == np.float32
    if not (single and least_ridge > 0 and moderate):
        place = place_of(gram)
        Z, Y = place.double(Z), place.put(Y)
        if weighted:
            Z *= Y[:, -1:]
        with linear_algebra(n_jobs, n_products):
            gram += Z.T @ Z
            cross += (Y.T @ Z).T
        return 0.0
    n_jobs = worth_products(n_jobs, n_products)
    with linear_algebra(1):  # our own threads, not those of BLAS
        groups = map_blocks(
            lambda rows: _centred(rows, Z[rows], Y[rows], weighted, least_ridge),
            _groups(*Z.shape),
            n_jobs,
        )
        blocks = [block for group in groups for block in group]
        cross += np.sum([block.sums for block in blocks], axis=0).T
        M = np.stack([block.mean for block in blocks])
        U = np.stack([block.beside_mean for block in blocks])

        @np.errstate(all="ignore")  # values that are not finite are found in the sums
        def add(tile: tuple[slice, slice]) -> None:
            left, right = tile
            total = M[:, left].T @ U[:, right] + U[:, left].T @ M[:, right]
            product = np.empty(total.shape, Z.dtype)
            for block in blocks:
                a, b = Z[block.rows, left].T, Z[block.rows, right]
                if block.rounded:
                    total += np.matmul(a, b, out=product)
                else:
                    total += a.astype(np.float64) @ b.astype(np.float64)
            gram[left, right] += total
            if left != right:
                gram[right, left] += total.T

        map_blocks(add, _tiles(Z.shape[1]), n_jobs)
    return sum(block.rounded for block in blocks)


def inner_products(Z: np.ndarray, n_jobs: int | None = 1) -> np.ndarray:
    """Z Zᵀ for at most as many rows as columns, in double precision.

    For few rows, BLAS is slower on two threads than on one, so our own threads share out the
    columns.
    """
    if len(Z) > _FEW_ROWS or len(Z) * Z.size < _WORTH_PRODUCTS:
        return Z @ Z.T
    parts = row_blocks(Z.shape[1], _WORTH_COLUMNS)
    products = map_blocks(lambda some: Z[:, some] @ Z[:, some].T, parts, n_jobs)
    return np.sum(products, axis=0)


def _groups(n_rows: int, n_columns: int) -> list[slice]:
    """Groups of whole blocks of rows, several if columns are few; and the remaining rows."""
    whole = n_rows - n_rows % _ROWS
    groups = row_blocks(whole, _ROWS * max(1, _COLUMNS // n_columns))
    return [*groups, slice(whole, n_rows)] if whole < n_rows else groups


def _tiles(n_columns: int) -> list[tuple[slice, slice]]:
    """Tiles of the upper triangle. Tiles on the diagonal come last, since they are the least work.

    An even number of parts gives each of two threads the same number of tiles.
    """
    n_parts = -(-n_columns // _COLUMNS)
    if n_parts > _PARTS:
        n_parts = 2 * -(-n_columns // (2 * _TILE))
    parts = row_blocks(n_columns, -(-n_columns // n_parts))
    above = [(a, b) for i, a in enumerate(parts) for b in parts[i + 1 :]]
    return above + [(part, part) for part in parts]


@np.errstate(all="ignore")
def _centred(
    rows: slice, Z: np.ndarray, Y: np.ndarray, weighted: bool, least_ridge: float
) -> list[_Block]:
    """Centre each block of rows in place, and decide in which precision it is multiplied."""
    n = min(_ROWS, len(Z))  # splitting the first axis copies nothing
    Z, Y = Z.reshape(-1, n, Z.shape[1]), Y.reshape(-1, n, Y.shape[1])
    mean = Z.mean(axis=1)
    mean[~np.isfinite(mean)] = 0
    Z -= mean[:, None]
    if weighted:
        Z *= Y[:, :, -1:].astype(Z.dtype)
    squares = np.einsum("bij,bij->bi", Z, Z)
    m, columns = mean.astype(np.float64), row_blocks(Z.shape[2], _COLUMNS)
    parts = [Z[:, :, some].astype(np.float64).transpose(0, 2, 1) @ Y for some in columns]
    sums = np.concatenate(parts, axis=1).transpose(0, 2, 1)
    s, weight = sums[:, -1].copy(), (Y.transpose(0, 2, 1) @ Y[:, :, -1:])[:, :, 0]  # last: Σ w
    sums += weight[:, :, None] * m[:, None]
    square = squares.sum(axis=1, dtype=np.float64)
    square += (m * (2 * s + weight[:, -1:] * m)).sum(axis=1)
    largest, of_mean = squares.max(axis=1), _MOST_OF_MEAN * square / n
    even = (largest > _LEAST) & (largest < np.minimum(_MOST, of_mean))
    good = even & (least_ridge * weight[:, -1] >= FLOOR * square)
    rounded, beside_mean = np.where(good, square, 0.0), s + weight[:, -1:] / 2 * m
    starts = range(rows.start, rows.stop, n)
    blocks = [slice(start, start + n) for start in starts]
    return [_Block(*each) for each in zip(blocks, m, sums, beside_mean, rounded, strict=True)]
