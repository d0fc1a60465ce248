"""What a part of a stack reads of rows: rows as given, a matrix, or standardised numbers."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np

from trickless._arrays.places import namespace
from trickless._arrays.stated import Array, Stated
from trickless._stack.training import Training

#: The most categories of a column that have an indicator, the most frequent ones.
_MOST_CODES = 50


class Given(Stated):
    """Rows as the user passes them, for learners that read data frames, images and series."""

    @classmethod
    def of(cls, rows: Training) -> Self:
        """Return what reads such rows."""
        return cls()

    def __call__(self, given: Any, matrix: Any) -> Any:
        """Return rows as they are read, from rows as given and as a matrix."""
        return given


class Matrix(Given):
    """Rows as a matrix of numbers."""

    def __call__(self, given: Any, matrix: Any) -> Any:
        return matrix


class Numbers(Given):
    """Standardised numbers of a table, for neurons that compare rows by their distance.

    Numbers come first, whose gaps are filled by the median. Then there is a column for each column
    with gaps, which is 1 in a gap, and a column for each category. All of them are standardised.

    Attributes
    ----------
    numbers : int array of shape (n_numbers,)
        The columns that hold numbers.
    fill : array of shape (n_numbers,)
        Their medians.
    gapped : int array of shape (n_gapped,)
        The columns with gaps.
    coded, codes : arrays of shape (n_codes,)
        The column of each category, and its code there.
    mean, scale : arrays of shape (n_columns,)
        What is subtracted from columns, and what they are divided by.
    """

    numbers: Annotated[np.ndarray, Array("i8", "n_numbers", least=0)]
    fill: Annotated[np.ndarray, Array("f8", "n_numbers")]
    gapped: Annotated[np.ndarray, Array("i8", None, least=0)]
    coded: Annotated[np.ndarray, Array("i8", "n_codes", least=0)]
    codes: Annotated[np.ndarray, Array("f8", "n_codes")]
    mean: Annotated[np.ndarray, Array("f8", "n_columns")]
    scale: Annotated[np.ndarray, Array("f8", "n_columns")]

    @classmethod
    def of(cls, rows: Training) -> Self:
        new, X, n_categories = cls(), rows.matrix, rows.n_categories
        gaps = np.isnan(X)
        known = ~gaps.all(axis=0)
        new.numbers = np.flatnonzero((n_categories == 0) & known)
        new.fill = np.array([np.nanmedian(X[:, j]) for j in new.numbers], dtype=np.float64)
        new.gapped = np.flatnonzero(gaps.any(axis=0) & known)
        coded, codes = [], []
        for j in np.flatnonzero(n_categories):
            found, counts = np.unique(X[~gaps[:, j], j], return_counts=True)
            some = found[np.argsort(-counts, kind="stable")[:_MOST_CODES]]
            codes.append(some)
            coded.append(np.full(len(some), j))
        new.coded = np.concatenate([*coded, np.empty(0, int)])
        new.codes = np.concatenate([*codes, np.empty(0)])
        columns = new._columns(X)
        new.mean = rows.share @ columns
        spread = np.sqrt(rows.share @ (columns - new.mean) ** 2)
        new.scale = np.where(spread > 1e-9 * np.abs(new.mean), spread, 1.0)
        return new

    def _columns(self, X: Any) -> Any:
        xp, found = namespace(X), []
        if len(self.numbers):
            numbers = xp.take(X, self.numbers, axis=1)
            found.append(xp.where(xp.isnan(numbers), self.fill, numbers))
        if len(self.gapped):
            found.append(xp.astype(xp.isnan(xp.take(X, self.gapped, axis=1)), X.dtype))
        if len(self.coded):
            found.append(xp.astype(xp.take(X, self.coded, axis=1) == self.codes, X.dtype))
        return xp.concat(found, axis=1)

    def __call__(self, given: Any, matrix: Any) -> Any:
        return (self._columns(matrix) - self.mean) / self.scale
