"""What a family may know of the columns of X: their kinds, and how much each matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from trickless._arrays.stated import Array, Things, stated


@stated
class Inputs(NamedTuple):
    """Names and kinds of the columns of X, as a learner knows them.

    Attributes
    ----------
    n_categories : int array of shape (n_features,)
        Number of codes 0, 1, ... of a categorical column, and 0 for a column of numbers. The last
        two codes stand for a missing category and a new one. If the family takes ``any_code``,
        categories that appear later have higher codes.
    names : tuple of str, optional
        Names of the columns, if X was a data frame.
    shape : tuple of int, optional
        Shape of a row as the family reads it, if the family has a ``layout`` of arrays.
    """

    n_categories: Annotated[np.ndarray, Array("i8", "n_features_in_", least=0)]
    names: tuple[str, ...] | None = None
    shape: tuple[Things, ...] | None = None

    def take(self, indices: np.ndarray) -> Inputs:
        names = None if self.names is None else tuple(self.names[i] for i in indices)
        return Inputs(self.n_categories[indices], names)


@dataclass
class Relevance:
    """How much each feature matters for the targets.

    Attributes
    ----------
    length_scale : array of shape (n_features,)
        Length scale of each feature, for a kernel of the Euclidean distance. All are equal if one
        length scale for all features was best.
    spread : array of shape (n_features,)
        Standard deviation of the feature.
    X : array or CSR matrix of shape (n_rows, n_features)
        Some training rows.
    sample_weight : array of shape (n_rows,), optional
        Their weights.
    importances : array of shape (n_features,), optional
        How much each feature matters to a fitted function. The numbers sum to 1.
    """

    length_scale: np.ndarray
    spread: np.ndarray
    X: Any
    sample_weight: np.ndarray | None = None
    importances: np.ndarray | None = None

    def shares(self) -> np.ndarray:
        """Divide the spread of each feature by its length scale, and scale the result to sum to 1.

        The shares are equal if no feature varies.
        """
        matters = self.spread / self.length_scale
        total = matters.sum()
        return matters / total if total else np.full(len(matters), 1 / len(matters))
