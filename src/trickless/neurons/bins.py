"""Bins: each value of a table as one byte, or a few bytes for one of many categories."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from array_api_compat import device

from trickless._arrays.functions import count_below, looked_up
from trickless._arrays.places import namespace
from trickless._arrays.stated import (
    Array,
    Length,
    Stated,
    check_count,
    check_same,
)
from trickless._arrays.threads import map_blocks, row_blocks
from trickless._arrays.weighted import ROUNDING, cap
from trickless.neurons.levels import MISSING, MOST_BINS, bins_of_codes

#: Rows that are mapped with all columns at once, because each column takes longer than its values.
_FEW_ROWS = 8
#: Values that a device maps together.
_VALUES_ON_DEVICE = 2**24

#: The bin of each code of a categorical column.
_Codes = Annotated[np.ndarray, Array("i8", None, least=MISSING, below=MOST_BINS + 1)]


class Bins(Stated):
    """Bins of the columns of a table.

    Bin 0 holds missing values. The values of a column of numbers are in the bins 1, 2, ..., at most
    255: a value is in bin 1 + the number of thresholds below it. Bins are about equally full,
    except those with a value that is more frequent than that. Each category has a bin, and new
    categories have the next one. If there are more than 255 categories, a feature has several
    columns of bins (``levels``).

    Training ``rows`` hold numbers, codes of categories, and NaN for missing values. ``Inputs``
    explains ``n_categories``. A row of ``weight`` 2 counts as two rows.

    Attributes
    ----------
    thresholds : list of arrays
        Thresholds of each column of numbers. An empty array for categories.
    of_code : list of (array or None)
        Bin of each code of a column of categories. None for numbers.
    counts : int array of shape (n_columns,)
        Number of bins of each column, without the bin of missing values. The bin of new categories
        counts if training rows have some.
    more : int array of shape (n_columns - n_features,)
        The first columns belong to the features, in order. The others belong to these features,
        which have many categories.
    """

    counts: Annotated[np.ndarray, Array("i8", None, least=1, below=MOST_BINS + 1)]
    thresholds: Annotated[list[Annotated[np.ndarray, Array("f8", None)]], Length("counts")]
    of_code: Annotated[list[_Codes | None], Length("counts")]
    more: Annotated[np.ndarray, Array("i8", None, least=0, below="n_features")]

    def __init__(
        self, rows: np.ndarray, n_categories: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        weight = np.ones(len(rows)) if weight is None else weight
        features = list(zip(np.asarray(rows).T, n_categories.tolist(), strict=True))
        self.thresholds = [
            np.empty(0) if n else _thresholds(values, weight) for values, n in features
        ]
        of_code = [bins_of_codes(values, n, weight) if n else [None] for values, n in features]
        others = [(j, codes) for j, (_, *more) in enumerate(of_code) for codes in more]
        self.more = np.array([j for j, _ in others], dtype=np.int64)
        self.thresholds += [np.empty(0) for _ in others]
        self.of_code = [first for first, *_ in of_code] + [codes for _, codes in others]
        self.counts = np.array(
            [
                len(cuts) + 1 if codes is None else _used(codes, features[j][0])
                for j, cuts, codes in zip(self.features, self.thresholds, self.of_code, strict=True)
            ],
            dtype=int,
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.of_code) - len(self.more)

    @property
    def features(self) -> np.ndarray:
        """The feature of each column, (n_columns,)."""
        return np.append(np.arange(self.n_features), self.more)

    def spread(self, of_features: np.ndarray) -> np.ndarray:
        """Share what each feature has equally among its columns: (n_columns,)."""
        return (of_features / np.bincount(self.features, minlength=self.n_features))[self.features]

    def columns(self, features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one of the columns of each of some features."""
        if not len(self.more):
            return features
        order = np.argsort(self.features, kind="stable")
        n = np.bincount(self.features)
        first = np.cumsum(n) - n
        return order[first[features] + (rng.random(features.shape) * n[features]).astype(int)]

    def check_state(self) -> None:
        for j, codes in zip(self.more.tolist(), self.of_code[self.n_features :], strict=True):
            first = self.of_code[j]
            if codes is None or first is None or len(codes) != len(first):
                raise ValueError(f"more: column {j} has no such categories")
        parts = zip(self.thresholds, self.of_code, self.counts.tolist(), strict=True)
        for cuts, codes, count in parts:
            if codes is None:
                check_same("counts", count, len(cuts) + 1)
                continue
            check_same("thresholds of codes", len(cuts), 0)
            check_count("codes of of_code", len(codes), 2)
            known = int(codes[:-1].max(initial=1))  # new categories may have a bin of their own
            check_count("counts", count, known, max(known, int(codes[-1])))

    def __call__(self, X: Any, n_jobs: int | None = 1) -> Any:
        """Map rows to bins: bytes of shape (n_rows, n_columns), with contiguous columns."""
        if not isinstance(X, np.ndarray):
            return self._on_device(X)
        features = self.features.tolist()
        if X.shape[0] <= _FEW_ROWS:
            return self._of_few(X)
        bins = np.empty((len(features), X.shape[0]), dtype=np.uint8)

        def fill(some: slice) -> None:
            for j in range(some.start, some.stop):
                bins[j] = self._column(np.ascontiguousarray(X[:, features[j]]), j)

        columns_at_once = max(1, 2**16 // max(1, X.shape[0]))
        starts = range(0, len(features), columns_at_once)
        some = [slice(j, min(j + columns_at_once, len(features))) for j in starts]
        map_blocks(fill, some, n_jobs if X.size >= 2**18 else 1)
        return bins.T

    def _of_few(self, X: np.ndarray) -> np.ndarray:
        """Map a few rows to bins, all columns of numbers at once."""
        cuts, of_cut, starts, numbers, codes = self._together(X.dtype)
        bins = np.empty((len(self.counts), len(X)), dtype=np.uint8)
        if len(numbers):
            x = X[:, self.features[numbers]]
            found = 1 + np.add.reduceat(cuts < x[:, of_cut], starts, axis=1, dtype=np.int64)
            bins[numbers] = np.where(np.isnan(x), MISSING, found).T
        for j in codes:
            bins[j] = self._column(np.ascontiguousarray(X[:, self.features[j]]), j)
        return bins.T

    def _together(self, dtype: np.dtype) -> tuple[Any, ...]:
        """Return all thresholds side by side, each column's with an infinite one at the end.

        Also the column of each, where columns start, and which columns are of numbers or not.
        """
        kept: dict[str, tuple[Any, ...]] = self.__dict__.setdefault("_kept", {})
        if dtype.str not in kept:
            is_number = np.array([codes is None for codes in self.of_code], dtype=bool)
            numbers = np.flatnonzero(is_number)
            each = [np.append(self.thresholds[j], np.inf).astype(dtype) for j in numbers]
            lengths = np.array([len(cuts) for cuts in each], dtype=int)
            cuts = np.concatenate(each) if each else np.empty(0, dtype)
            of_cut, starts = np.repeat(np.arange(len(each)), lengths), np.cumsum(lengths) - lengths
            kept[dtype.str] = cuts, of_cut, starts, numbers, np.flatnonzero(~is_number).tolist()
        return kept[dtype.str]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    def of_new(self, j: int) -> int:
        """Return the bin of a column's new categories, or of missing values if it has none."""
        codes = self.of_code[j]
        return MISSING if codes is None else int(codes[-1])

    def _column(self, x: np.ndarray, j: int) -> np.ndarray:
        missing, codes = np.isnan(x), self.of_code[j]
        if codes is not None:
            found = codes[np.where(missing, 0, x).astype(np.int64)]
        else:
            found = np.searchsorted(self.thresholds[j].astype(x.dtype), x) + 1
        return np.where(missing, MISSING, found).astype(np.uint8)

    def _on_device(self, X: Any) -> Any:
        """Map rows of any library to bins, some columns together."""
        xp, columns, most = namespace(X), [], max(1, _VALUES_ON_DEVICE // max(1, X.shape[0]))
        for some in row_blocks(len(self.counts), most):
            x = xp.take(X, xp.asarray(self.features[some], device=device(X)), axis=1)
            tables = self.of_code[some]
            found = count_below(x, self.thresholds[some]) + 1
            if any(codes is not None for codes in tables):
                none = np.zeros(1, dtype=np.int64)
                each = [none if codes is None else codes for codes in tables]
                first = np.cumsum([0, *map(len, each[:-1])])
                is_code = xp.asarray([c is not None for c in tables], device=device(X))
                code = xp.astype(xp.where(xp.isnan(x) | ~is_code, xp.zeros_like(x), x), xp.int64)
                table, first = (
                    xp.asarray(v, device=device(X)) for v in (np.concatenate(each), first)
                )
                found = xp.where(is_code, looked_up(table, code + first), found)
            columns.append(xp.where(xp.isnan(x), xp.full_like(found, MISSING), found))
        return xp.astype(xp.concat(columns, axis=1), xp.uint8)


def _thresholds(column: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Find thresholds between the bins of a column of numbers.

    They are the midpoints of consecutive distinct values. If there are too many midpoints, only
    those that split the weight of the rows into about equal shares are kept. A value with more
    weight than a share counts as one share, so that heavy rows do not hide the others.
    """
    known = ~np.isnan(column)
    values, where = np.unique(column[known], return_inverse=True)
    cuts = midpoints(values)
    if len(cuts) >= MOST_BINS:
        totals = np.bincount(where, weight[known])
        share = cap(totals, MOST_BINS)
        below = np.cumsum(np.minimum(totals, share))  # the weight below each midpoint
        wanted = share * (np.arange(1, MOST_BINS) - MOST_BINS * ROUNDING)
        cuts = cuts[np.unique(np.minimum(np.searchsorted(below, wanted), len(cuts) - 1))]
    return cuts.astype(np.float64)


def midpoints(values: np.ndarray) -> np.ndarray:
    """Find the midpoints between consecutive values, which must be sorted and distinct.

    If a midpoint rounds to the upper value, the lower value is used instead.
    """
    lower, upper = values[:-1], values[1:]
    middle = lower / 2 + upper / 2  # a difference could overflow
    return np.where(middle < upper, middle, lower)


def _used(bins: np.ndarray, column: np.ndarray) -> int:
    """Count the bins of categories. ``bins`` has the bin of each code."""
    known = int(bins[:-2].max(initial=1))
    return max(known, int(bins[-1])) if (column == len(bins) - 1).any() else known
