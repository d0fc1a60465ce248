"""Categories that appear only after the first batch of a stream."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trickless.arrays.stated import Stated, check_array, check_number
from trickless.rules import warn

#: New values that are enough to warn of, the share of all values from which on they matter, and
#: the rows over which it is taken.
_ENOUGH, _SHARE, _ROWS = 20, 0.05, 1000


@dataclass(frozen=True)
class NewCategories(Stated):
    """How often later rows have categories that the first batch did not have.

    Attributes
    ----------
    usual : array of shape (n_columns,)
        The share of such values in the first batch. They belong to rare categories.
    n_rows : float
        Later rows that have been counted. Those of long ago count less.
    n_new : array of shape (n_columns,)
        How many of them have a new category.
    told : bool array of shape (n_columns,)
        Columns of which there was a warning.
    """

    usual: np.ndarray
    n_rows: float
    n_new: np.ndarray
    told: np.ndarray

    def check_state(self) -> None:
        n = len(self.usual)
        check_number("n_rows", self.n_rows, 0)
        for name, types in (("usual", "f8"), ("n_new", "f8"), ("told", "b1")):
            check_array(name, getattr(self, name), types, (n,), 0)

    @classmethod
    def of_first(cls, X: np.ndarray, n_categories: np.ndarray) -> NewCategories:
        """Return what is known after the first batch, rows of codes."""
        n = X.shape[1]
        usual = _are_new(X, n_categories).mean(axis=0)
        return cls(usual, 0.0, np.zeros(n), np.zeros(n, dtype=bool))

    def after(
        self, owner: str, X: np.ndarray, n_categories: np.ndarray, names: Any
    ) -> NewCategories:
        """Return what is known after a later batch, and warn once of each column where it matters.

        Values of new categories have one code. A model learns what rows with this code are like,
        but cannot tell a new category from others that are new.
        """
        kept = 0.5 if self.n_rows >= _ROWS else 1.0
        n_rows = kept * self.n_rows + len(X)
        here = np.count_nonzero(_are_new(X, n_categories), axis=0)
        n_new = kept * self.n_new + here
        many = (n_new >= _ENOUGH) & (n_new > (self.usual + _SHARE) * n_rows) & ~self.told
        most = (2 * here > len(X)) & (self.usual == 0)  # of which the encoder warns
        for j in np.flatnonzero(many & ~most).tolist():
            name = names[j] if names else j
            warn(
                f"{owner}: {n_new[j] / n_rows:.0%} of the latest values in column {name!r} of X "
                "are of categories that the first batch did not have. They are learned as one "
                "category, which later new ones share. Remedy: declare all categories in the "
                f"first batch, X[{name!r}] = X[{name!r}].astype(pandas.CategoricalDtype([...])); "
                "or start over with recent rows."
            )
        return replace(self, n_rows=n_rows, n_new=n_new, told=self.told | many)


def _are_new(X: np.ndarray, n_categories: np.ndarray) -> np.ndarray:
    """Return which values are of a new category: the last code of their column."""
    return (n_categories - 1 == X) & (n_categories > 0)
