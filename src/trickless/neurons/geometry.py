"""What trees of any shape do: draw cuts, and find the leaves of rows that are bins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trickless._arrays.functions import looked_up
from trickless.neurons.base import Weights
from trickless.neurons.bins import Bins


@dataclass(frozen=True)
class Geometry(ABC):
    """The shape of the trees of a family, with the largest depth and the number of leaves.

    Rows are bins. A cut is a column, and a set of bins that go to the right, as 32 bytes with a bit
    for each bin. The first array of the weights has the columns of the cuts, and the last one their
    sets. :class:`Trees` has one number of a leaf for each row and tree, and knows nothing else
    about the shape.
    """

    depth: int
    width: int

    #: The most levels of a tree.
    deepest: ClassVar[int]

    @property
    @abstractmethod
    def n_levels(self) -> int:
        """Number of cuts that part a row from the root of a tree that is drawn."""

    @abstractmethod
    def check_size(self) -> None:
        """Raise a ValueError if depth and width do not agree."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int, variables: np.ndarray, bins: Bins) -> Weights:
        """Draw n trees, whose cuts are uniform on the features ``variables``."""

    @abstractmethod
    def nothing(self, n: int) -> Weights:
        """Return n trees that send all rows to leaf 0, as boosting fills them."""

    @abstractmethod
    def check(self, weights: Weights, n_features: int) -> None:
        """Raise a ValueError if stored weights are not those of such trees."""

    @abstractmethod
    def leaves(self, bins: np.ndarray, weights: Weights) -> Iterator[np.ndarray]:
        """Iterate over the leaves of rows (n_features, n_rows), in one tree after the other."""

    @abstractmethod
    def combine(self, bins: np.ndarray, weights: Weights, coef: np.ndarray) -> np.ndarray:
        """Sum the coefficients of the leaves of rows (n_features, n_rows)."""

    @abstractmethod
    def leaves_on_device(self, xp: Any, bins: Any, weights: Weights) -> Any:
        """Find the leaves of rows (n_rows, n_features) on any device, shape (n_rows, n)."""

    @abstractmethod
    def leaves_of_pairs(self, bins: np.ndarray, weights: Weights) -> np.ndarray:
        """Find the leaf of row i in tree i, for n rows (n, n_features) and n trees."""

    def cuts_by_feature(self, weights: Weights, bins: Bins) -> np.ndarray:
        """Count the cuts of each feature, except cuts that send all rows to the left."""
        features = bins.features[weights[0][weights[-1].any(axis=2)]]
        return np.bincount(features, minlength=bins.n_features)


def in_sets(xp: Any, sets: Any, which: Any, bins: Any) -> Any:
    """Return 1 where bins are in sets, whose bytes are one after the other, and 0 elsewhere."""
    b = xp.astype(bins, xp.int64)
    byte = xp.astype(looked_up(sets, which * 32 + b // 8), xp.int64)
    return xp.bitwise_right_shift(byte, 7 - b % 8) % 2


def drawn_sets(rng: np.random.Generator, columns: np.ndarray, bins: Bins) -> np.ndarray:
    """Draw cuts of columns: random thresholds of numbers, and random sets of categories."""
    counts = bins.counts[columns]
    cut = 1 + (rng.random(columns.shape) * (counts - 1)).astype(int)
    sets = rng.integers(0, 256, (*columns.shape, 32), dtype=np.uint8)
    tables = np.unpackbits(sets, axis=-1)
    above = np.arange(256) > cut[..., None]
    above[..., 0] = tables[..., 0]
    is_number = np.array([codes is None for codes in bins.of_code])[columns]
    return np.packbits(np.where(is_number[..., None], above, tables), axis=-1)
