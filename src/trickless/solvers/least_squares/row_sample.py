"""A random sample of the rows, for quantities that sums over all rows do not give.

The sample does not depend on the order of the rows, nor on the batches or machines that they come
from. Each row has a random number from its content, and the rows with the least numbers are
kept. Rows of equal content are one row with a count (Bar-Yossef et al., "Counting distinct elements
in a data stream", RANDOM 2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.places import HOST, Place, matching, to_host
from trickless.arrays.sparse import check_rows, parts_of
from trickless.arrays.stated import Stated, check_array

#: The most rows; the most numbers in rows that are dense; and how many rows are kept in any case.
_ROWS, _NUMBERS, _LEAST = 2048, 2**23, 256


@dataclass(frozen=True)
class RowSample(Stated):
    """Some rows with their targets. The samples of parts of the rows add up.

    Attributes
    ----------
    keys : uint64 array of shape (n_rows,)
        The random numbers, in increasing order.
    X : array or CSR matrix of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_outputs)
    copies : array of shape (n_rows,)
        How many rows have this content.
    weight : array of shape (n_rows,)
        The sum of their weights.
    """

    keys: np.ndarray
    X: Any
    targets: np.ndarray
    copies: np.ndarray
    weight: np.ndarray

    def check_state(self) -> None:
        check_array("keys", self.keys, "u8", (None,))
        n = len(self.keys)
        check_rows("X", self.X, n, None)
        check_array("targets", self.targets, "f4 f8", (n, None))
        check_array("copies", self.copies, "f8", (n,), 0)
        check_array("weight", self.weight, "f8", (n,), 0)

    @classmethod
    def of(
        cls,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        seed: int,
        place: Place = HOST,
    ) -> RowSample:
        """Return the sample of some rows at a place, validated and in the learner's precision."""
        content = _content(X if place is HOST else _projected(X))
        seeded = np.uint64(seed % 2**64)
        keys = _mixed(_mixed(content ^ seeded) + _content(np.ascontiguousarray(targets)))
        weight = np.ones(len(keys)) if weight is None else weight
        return cls._least(keys, X, targets, np.ones(len(keys)), weight, place)

    def __add__(self, other: RowSample) -> RowSample:
        """Return the sample of the rows of both, which stay unchanged."""
        both, sparse = [self.X, other.X], scipy.sparse.issparse(self.X)
        return self._least(
            np.concatenate([self.keys, other.keys]),
            scipy.sparse.vstack(both, format="csr") if sparse else np.concatenate(both),
            np.concatenate([self.targets, other.targets]),
            np.concatenate([self.copies, other.copies]),
            np.concatenate([self.weight, other.weight]),
        )

    @classmethod
    def _least(
        cls,
        keys: np.ndarray,
        X: Any,
        targets: np.ndarray,
        copies: np.ndarray,
        weight: np.ndarray,
        place: Place = HOST,
    ) -> RowSample:
        """Return the rows with the least keys, each content once."""
        most = _ROWS
        if not scipy.sparse.issparse(X):
            most = min(most, max(_LEAST, _NUMBERS // max(1, X.shape[1])))
        keys, first, where = np.unique(keys, return_index=True, return_inverse=True)
        rows = first[:most]
        copies, weight = (np.bincount(where, each)[:most] for each in (copies, weight))
        return cls(keys[:most], to_host(place.take(X, rows)), targets[rows], copies, weight)


def _projected(X: Any) -> np.ndarray:
    """Two random projections of rows on a device, which represent their content."""
    directions = np.random.default_rng(0).standard_normal((X.shape[1], 2))
    return np.ascontiguousarray(to_host(X @ matching(X, directions)))


def _content(rows: Any) -> np.ndarray:
    """Hash the content of each row: the bits of its numbers times random odd numbers."""
    columns = np.arange(rows.shape[1], dtype=np.uint64)
    factors = _mixed(columns + np.uint64(1)) | np.uint64(1)
    if not scipy.sparse.issparse(rows):
        return np.einsum("ij,j->i", _bits(rows + 0.0), factors)  # −0.0 as 0.0
    data, indices, ends = parts_of(rows)
    sums = np.cumsum(np.append(np.uint64(0), _bits(data + 0.0) * factors[indices]), dtype=np.uint64)
    return sums[ends[1:]] - sums[ends[:-1]]


def _bits(numbers: np.ndarray) -> np.ndarray:
    """Return the bits of floating-point numbers, as integers."""
    return numbers.view(np.dtype(f"u{numbers.dtype.itemsize}")).astype(np.uint64, copy=False)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Bits that all depend on all bits of the numbers (SplitMix64; Steele et al., OOPSLA 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
