"""A random sample of the rows, for quantities that sums over all rows do not give.

The sample does not depend on the order of the rows, nor on the batches or machines that they come
from. Each row has a random number from its content, and the rows with the least numbers are
kept. Rows of equal content are one row with a count (Bar-Yossef et al., "Counting distinct elements
in a data stream", RANDOM 2002).

In a stream that forgets, recent rows must be in the sample more often. Then a row of weight w has
the rank E / w, with E from the exponential distribution, and the least ranks are kept (Cohen and
Kaplan, "Summarizing data using bottom-k sketches", PODC 2007). When all weights fade by the same
factor, the order of the ranks stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse

from trickless._arrays.places import HOST, Place, matching, to_host
from trickless._arrays.sparse import Matrix, parts_of
from trickless._arrays.stated import Array, Stated, check_is
from trickless._solvers.outputs import NewOutputs

#: The most rows; the most numbers in rows that are dense; and how many rows are kept in any case.
ROWS, _NUMBERS, _LEAST = 2048, 2**23, 256
#: Weights are equal up to this share.
_SAME = 1e-9


class Arrival(NamedTuple):
    """When some rows came that fade, which tells rows of equal content apart.

    Attributes
    ----------
    first : int
        The number of rows before them.
    fresh : array of shape (n_rows,)
        How much of each is left after fading: the factor of its weight.
    """

    first: int
    fresh: np.ndarray

    def part(self, rows: slice) -> Arrival:
        """Return when some of the rows came."""
        return Arrival(self.first + rows.start, self.fresh[rows])


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
    fresh : array of shape (n_rows,)
        The sum of what is left of them after fading, 1 each for rows that do not fade.
    fades : bool
        Whether the weights of rows fade.
    beyond : float
        The least rank of the rows that were left out, or infinity. Without fading, ranks are keys.
    regrown : bool
        Whether some rows have keys by other targets, before a new class appeared.
    """

    keys: Annotated[np.ndarray, Array("u8", "n_kept")]
    X: Annotated[Any, Matrix("n_kept", None)]
    targets: Annotated[np.ndarray, Array("f4 f8", "n_kept", None)]
    copies: Annotated[np.ndarray, Array("f8", "n_kept", least=0)]
    weight: Annotated[np.ndarray, Array("f8", "n_kept", least=0)]
    fresh: Annotated[np.ndarray, Array("f8", "n_kept", least=0)]
    fades: bool = False
    beyond: float = np.inf
    regrown: bool = False

    def check_state(self) -> None:
        check_is("beyond", self.beyond, float)
        if not self.beyond > 0:
            raise ValueError(f"beyond: {self.beyond} is not above 0")

    @classmethod
    def of(
        cls,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        seed: int,
        place: Place = HOST,
        arrival: Arrival | None = None,
        keys: np.ndarray | None = None,
    ) -> RowSample:
        """Return the sample of some rows at a place, validated and in the learner's precision.

        Rows fade if they have an ``arrival``. Their ``keys`` are computed unless they are given.
        """
        keys = keys_of(X, targets, seed, place) if keys is None else keys
        ones, fades = np.ones(len(keys)), arrival is not None
        weight, fresh = ones if weight is None else weight, ones
        if arrival is not None:
            numbers = arrival.first + np.arange(len(keys))
            keys, fresh = _mixed(keys + _mixed(numbers.astype(np.uint64))), arrival.fresh
        return cls._least(keys, X, targets, (ones, weight, fresh), fades, place=place)

    def faded(self, factor: float) -> RowSample:
        """Return the sample with all weights multiplied by a factor."""
        beyond = self.beyond
        if self.fades:
            beyond = beyond / factor if factor else np.inf
        weight, fresh = self.weight * factor, self.fresh * factor
        return replace(self, weight=weight, fresh=fresh, beyond=beyond)

    def counted(self) -> RowSample:
        """Return the rows with estimates of how many rows each of them stands for.

        A row that fades counts 1 / p times, where p = 1 − exp(−w r) is the probability that its
        rank is below that of the first row that was left out, r.
        """
        if not self.fades or np.isinf(self.beyond):
            return self
        with np.errstate(divide="ignore"):
            copies = -1 / np.expm1(-self.weight * self.beyond)
        counted = np.isfinite(copies)
        copies = np.where(counted, copies, 0.0)
        weight, fresh = copies * self.weight, copies * self.fresh
        return replace(self, copies=copies, weight=weight, fresh=fresh)

    def of_one(self, sums: np.ndarray) -> np.ndarray:
        """Return sums over the copies of each row as means of them."""
        return np.divide(sums, self.copies, out=np.zeros_like(sums), where=self.copies > 0)

    def __add__(self, other: RowSample) -> RowSample:
        """Return the sample of the rows of both, which stay unchanged."""
        both, sparse = [self.X, other.X], scipy.sparse.issparse(self.X)
        sample = self._least(
            np.concatenate([self.keys, other.keys]),
            scipy.sparse.vstack(both, format="csr") if sparse else np.concatenate(both),
            np.concatenate([self.targets, other.targets]),
            tuple(np.concatenate(pair) for pair in zip(self._sums, other._sums, strict=True)),
            self.fades or other.fades,
            min(self.beyond, other.beyond) if self.fades == other.fades else np.inf,
        )
        regrown = self.regrown or other.regrown
        return replace(sample, regrown=True) if regrown else sample

    def with_outputs(self, new: NewOutputs, seed: int) -> RowSample:
        """Return the sample of the same rows with other targets.

        If it has all rows, it is the sample that they would have had with these targets from the
        beginning, unless they fade.
        """
        targets = new.of_targets(self.targets)
        if np.isfinite(self.beyond) or self.regrown or self.fades:
            return replace(self, targets=targets, regrown=True)
        if not np.array_equal(keys_of(self.X, self.targets, seed), self.keys):  # of a device
            return replace(self, targets=targets, regrown=True)
        keys = keys_of(self.X, targets, seed)
        return self._least(keys, self.X, targets, self._sums, False)

    def without(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, seed: int, place: Place
    ) -> RowSample:
        """Return the sample without some rows, or raise a LookupError if one is not of the stream.

        While no row has been left out, each must be in the sample. After that, those must be whose
        rank is low enough.
        """
        keys = keys_of(X, targets, seed, place)
        looked_up = self.fades or self.regrown
        mine = keys_of(self.X, self.targets, seed) if looked_up else self.keys
        weight = np.ones(len(keys)) if weight is None else weight
        copies, left, order = self.copies.copy(), self.weight.copy(), np.argsort(mine)
        fresh = self.of_one(self.fresh)
        for row, key in enumerate(keys):
            found = order[np.searchsorted(mine, key, "left", order) :]
            found = found[: np.searchsorted(mine[found], key, "right")]
            found = found[copies[found] > 0]
            if not len(found):
                if np.isinf(self.beyond) or (not looked_up and float(key) < self.beyond):
                    raise LookupError(row)
                continue
            nearest = found[np.abs(left[found] / copies[found] - weight[row]).argmin()]
            copies[nearest] -= 1
            left[nearest] -= weight[row]
            if left[nearest] < -_SAME * weight[row]:
                raise LookupError(row)
        kept = np.flatnonzero(copies > 0)
        left = np.maximum(left, 0.0)
        return replace(
            self,
            keys=self.keys[kept],
            X=self.X[kept],
            targets=self.targets[kept],
            copies=copies[kept],
            weight=left[kept],
            fresh=(copies * fresh)[kept],
        )

    @property
    def _sums(self) -> tuple[np.ndarray, ...]:
        """Numbers that add up over rows of equal content."""
        return self.copies, self.weight, self.fresh

    @classmethod
    def _least(
        cls,
        keys: np.ndarray,
        X: Any,
        targets: np.ndarray,
        sums: tuple[np.ndarray, ...],
        fades: bool,
        beyond: float = np.inf,
        place: Place = HOST,
    ) -> RowSample:
        """Return the rows with the least ranks, all below ``beyond``, and each content once.

        ``sums`` are copies, weights and what is left after fading.
        """
        most = ROWS
        if not scipy.sparse.issparse(X):
            most = min(most, max(_LEAST, _NUMBERS // max(1, X.shape[1])))
        keys, first, where = np.unique(keys, return_index=True, return_inverse=True)
        copies, weight, fresh = (np.bincount(where, each) for each in sums)
        order, ranks = np.arange(len(keys)), keys.astype(np.float64)
        if fades:
            with np.errstate(divide="ignore"):
                ranks = -np.log((ranks + 0.5) / 2.0**64) / weight
            order = np.argsort(ranks, kind="stable")
            order = order[weight[order] > 0]
        order = order[ranks[order] < beyond]
        beyond = min([beyond, *ranks[order[most : most + 1]].tolist()])
        order = order[:most]
        rows = first[order]
        X = to_host(place.take(X, rows))
        sums = copies[order], weight[order], fresh[order]
        return cls(keys[order], X, targets[rows], *sums, fades, beyond)


def keys_of(X: Any, targets: np.ndarray, seed: int, place: Place = HOST) -> np.ndarray:
    """Return random numbers that depend on the content of rows, and on a seed."""
    content = _content(X if place is HOST else _projected(X))
    seeded = np.uint64(seed % 2**64)
    return _mixed(_mixed(content ^ seeded) + _content(np.ascontiguousarray(targets)))


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
