"""Bins: each value of a table as one byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.places import namespace
from trickless.arrays.stated import Stated, check_array, check_count, check_list, check_same
from trickless.arrays.threads import map_blocks
from trickless.arrays.weighted import ROUNDING, cap

#: The most bins of a column that hold values. Bin 0 is for missing values, and a byte has 256.
MOST_BINS = 255
#: The bin of missing values.
MISSING = 0


class Bins(Stated):
    """Bins of the columns of a table.

    Bin 0 holds missing values. The values of a column of numbers are in the bins 1, 2, ..., at most
    255: a value is in bin 1 + the number of thresholds below it. Bins are about equally full,
    except those with a value that is more frequent than that. Each category has a bin. If there are
    more than 255 categories, the rarest share the last bin, along with new categories. With fewer
    than 255 categories, new ones have the next bin.

    Training ``rows`` hold numbers, codes of categories, and NaN for missing values. ``Inputs``
    explains ``n_categories``. A row of ``weight`` 2 counts as two rows.

    Attributes
    ----------
    thresholds : list of arrays
        Thresholds of each column of numbers. An empty array for categories.
    of_code : list of (array or None)
        Bin of each code of a column of categories. None for numbers.
    counts : int array of shape (n_features,)
        Number of bins of each column, without the bin of missing values. The bin of new categories
        counts if training rows have some.
    """

    def __init__(
        self, rows: np.ndarray, n_categories: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        weight = np.ones(len(rows)) if weight is None else weight
        columns = list(zip(np.asarray(rows).T, n_categories.tolist(), strict=True))
        self.thresholds = [
            np.empty(0) if n else _thresholds(values, weight) for values, n in columns
        ]
        self.of_code = [_bins_of_codes(values, n, weight) if n else None for values, n in columns]
        self.counts = np.array(
            [
                len(cuts) + 1 if codes is None else _used(codes, values)
                for cuts, codes, (values, _) in zip(
                    self.thresholds, self.of_code, columns, strict=True
                )
            ],
            dtype=int,
        )

    def check_state(self) -> None:
        check_array("counts", self.counts, "i8", (None,), 1, MOST_BINS + 1)
        check_list("thresholds", self.thresholds, np.ndarray, len(self.counts))
        check_list("of_code", self.of_code, np.ndarray | None, len(self.counts))
        parts = zip(self.thresholds, self.of_code, self.counts.tolist(), strict=True)
        for cuts, codes, count in parts:
            check_array("thresholds", cuts, "f8", (None if codes is None else 0,))
            if codes is None:
                check_same("counts", count, len(cuts) + 1)
                continue
            check_array("of_code", codes, "i8", (None,), MISSING, MOST_BINS + 1)
            check_count("codes of of_code", len(codes), 2)
            known = int(codes[:-1].max(initial=1))  # new categories may have a bin of their own
            check_count("counts", count, known, max(known, int(codes[-1])))

    def __call__(self, X: Any, n_jobs: int | None = 1) -> Any:
        """Map rows to bins: bytes of shape (n_rows, n_features), with contiguous columns."""
        if not isinstance(X, np.ndarray):
            xp = namespace(X)
            columns = [self._column(X[:, j], j, xp) for j in range(X.shape[1])]
            return xp.stack(columns, axis=1)
        bins = np.empty(X.shape[::-1], dtype=np.uint8)

        def fill(some: slice) -> None:
            for j in range(some.start, some.stop):
                bins[j] = self._column(np.ascontiguousarray(X[:, j]), j, np)

        columns_at_once = max(1, 2**16 // max(1, X.shape[0]))
        starts = range(0, X.shape[1], columns_at_once)
        some = [slice(j, min(j + columns_at_once, X.shape[1])) for j in starts]
        map_blocks(fill, some, n_jobs if X.size >= 2**18 else 1)
        return bins.T

    def of_new(self, j: int) -> int:
        """Return the bin of a column's new categories, or of missing values if it has none."""
        codes = self.of_code[j]
        return MISSING if codes is None else int(codes[-1])

    def _column(self, x: Any, j: int, xp: Any) -> Any:
        missing = xp.isnan(x)
        codes = self.of_code[j]
        if codes is not None:
            code = xp.astype(xp.where(missing, xp.zeros_like(x), x), xp.int64)
            found = xp.take(xp.asarray(codes, device=x.device), code)
        else:
            cuts = xp.asarray(self.thresholds[j], dtype=x.dtype, device=x.device)
            column = x if xp is np else xp.asarray(x, copy=True)  # contiguous, for torch
            found = xp.searchsorted(cuts, column) + 1
        found = xp.where(missing, xp.full_like(found, MISSING), found)
        return xp.astype(found, xp.uint8)


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


def _bins_of_codes(column: np.ndarray, n_codes: int, weight: np.ndarray) -> np.ndarray:
    """Return the bin of each code of a category."""
    known = n_codes - 2
    bins = np.zeros(n_codes, dtype=np.int64)
    counted = column < known
    often = np.bincount(column[counted].astype(int), weight[counted] / weight.sum(), known)
    by_share = np.argsort(-np.round(often / ROUNDING), kind="stable")
    order = by_share if known >= MOST_BINS else np.arange(known)
    bins[order] = np.minimum(1 + np.arange(known), MOST_BINS)
    bins[-1] = 1 + known if known < MOST_BINS else MOST_BINS
    return bins
