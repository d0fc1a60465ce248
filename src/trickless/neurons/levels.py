"""Levels: the bins of a column of categories, in as many byte columns as it takes.

A byte tells 255 categories apart. A column with more of them has several byte columns, each a pure
function of the category. Let r be the rank of a category by its frequency, from 0 on.

- *Blocks.* Column b has a bin for each category from rank 253 b to 253 b + 252, and one for all
  others. Sums of functions of such columns are all functions of the category.
- *Lines*, if there would be more than 16 blocks. With the digits u, v, w of r in base 251, column b
  has the bin w + v b + u b² modulo 251. Because 251 is a prime number, two categories share a bin
  in at most two of the 16 columns, and in one if there are at most 251² categories [1]_. Cuts of
  several columns therefore tell all categories apart.

New categories have a bin of their own, along with those that no row has.

References
----------
.. [1] I. S. Reed and G. Solomon, "Polynomial codes over certain finite fields", Journal of the SIAM
   8(2), 1960.
"""

from __future__ import annotations

import numpy as np

from trickless._arrays.weighted import ROUNDING

#: The most bins of a column that hold values. Bin 0 is for missing values, and a byte has 256.
MOST_BINS = 255
#: The bin of missing values.
MISSING = 0
#: The most byte columns of a column of categories.
MOST_COLUMNS = 16
#: Categories with a bin of their own in a block. One bin is for others, and one for new ones.
_OWN = MOST_BINS - 2
#: Bins of categories in a column of lines: a prime number.
_PRIME = 251


def bins_of_codes(column: np.ndarray, n_codes: int, weight: np.ndarray) -> list[np.ndarray]:
    """Return the bin of each code of a column of categories, for each of its byte columns.

    The last two codes mean missing values and new categories.
    """
    known = n_codes - 2
    counted = column < known
    often = np.bincount(column[counted].astype(int), weight[counted] / weight.sum(), known)
    if known < MOST_BINS:
        return [_whole(1 + np.arange(known), 1 + known)]
    rank = np.empty(known, dtype=np.int64)
    rank[np.argsort(-np.round(often / ROUNDING), kind="stable")] = np.arange(known)
    if known == MOST_BINS:
        return [_whole(1 + rank, MOST_BINS)]
    n_columns = max(-(-int(np.count_nonzero(often)) // _OWN), 1)
    columns = _lines(rank) if n_columns > MOST_COLUMNS else _blocks(rank, n_columns)
    return [_whole(np.where(often > 0, bins, MOST_BINS), MOST_BINS) for bins in columns]


def _blocks(rank: np.ndarray, n_columns: int) -> list[np.ndarray]:
    places = (rank - _OWN * b for b in range(n_columns))
    return [1 + np.where((place < 0) | (place > _OWN), _OWN, place) for place in places]


def _lines(rank: np.ndarray) -> list[np.ndarray]:
    high, low = np.divmod(rank, _PRIME)
    high, middle = np.divmod(high, _PRIME)
    return [1 + (low + middle * b + high * b * b) % _PRIME for b in range(MOST_COLUMNS)]


def _whole(of_known: np.ndarray, of_new: int) -> np.ndarray:
    """Append the bins of missing values and new categories."""
    return np.append(of_known, [MISSING, of_new]).astype(np.int64)
