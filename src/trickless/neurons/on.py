"""A family that sees some of the columns only."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device
from scipy.sparse import issparse

from trickless.arrays.namespaces import namespace
from trickless.neurons.base import Inputs, Neurons, Weights
from trickless.neurons.composed import FAMILY, Composed


class On(Composed):
    r"""A family on some of the columns.

    .. math:: \psi(x; w) = \psi_1(x_S; w), \qquad k(x, x') = k_1(x_S, x'_S)

    Parameters
    ----------
    columns : str, int, or a list or array of str, int or bool
        The columns S: names of columns of a data frame, indices (negative ones count from the end),
        or a mask of booleans, one for each column.
    neurons : Neurons
        The family. A length scale that it takes from the data is that of these columns.

    Attributes
    ----------
    indices_ : int array
        Indices of the columns.
    parts_ : list of Neurons
        The fitted family.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import Gaussian, On, Stumps
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> neurons = On(["hue", "proline"], Stumps()) + On(["alcohol", "flavanoids"], Gaussian())
    >>> model = KitchenSinksClassifier(neurons, n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _rules = {"neurons": FAMILY}

    def __init__(self, columns: Any, neurons: Neurons) -> None:
        self.columns = columns
        self.neurons = neurons

    @property
    def accepts_tables(self) -> bool:  # type: ignore[override]
        """True: the other columns may hold anything, and the chosen columns are checked."""
        return True

    def _view(self, X: Any) -> tuple[Any, Inputs]:
        inputs = self.known_inputs(X)
        self.indices_ = self._resolve(X.shape[1], inputs.names)
        chosen = inputs.take(self.indices_)
        if self.neurons.wants_relevance:
            raise self._refused(
                f"and {self.neurons!r} goes by what matters, which is looked for in all columns",
                "length_scale='auto', feature_weights=None, or only those columns for the learner",
            )
        if chosen.n_categories.any() and not self.neurons.accepts_tables:
            raise self._refused(
                f"which {type(self.neurons).__name__} cannot take: they hold categories",
                "choose columns of numbers, or use Tabular() on them",
            )
        return self._pick(X), chosen

    def _resolve(self, d: int, names: tuple[str, ...] | None) -> np.ndarray:
        """Indices of the chosen columns, out of d columns that may have names."""
        columns = np.atleast_1d(np.asarray(self.columns))
        kind = columns.dtype.kind if columns.ndim == 1 and columns.size else None
        if kind == "b" and columns.any():
            if len(columns) != d:
                raise self._refused(
                    f"{len(columns)} booleans for {d} columns", "one for each column, or indices"
                )
            return np.flatnonzero(columns)
        if kind in ("i", "u"):
            for index in columns[(columns < -d) | (columns >= d)].tolist():
                raise self._refused(f"but {d} columns have no index {index}", f"indices below {d}")
            return columns.astype(int) % d
        if kind in ("U", "O", "T") and all(isinstance(name, str) for name in columns):
            if names is None:
                raise self._refused(
                    "but the inputs have no names", "fit on a data frame, or use indices"
                )
            for name in columns.tolist():
                if name not in names:
                    raise self._refused(f"but there is no column {name!r}", f"one of {list(names)}")
            return np.array([names.index(name) for name in columns.tolist()])
        raise self._refused(
            "but it must be a list of indices, of names or of truth values, and choose at least "
            "one column",
            "indices such as [0, 2], names of columns of a data frame, or a mask of booleans",
        )

    def _refused(self, cause: str, remedy: str) -> ValueError:
        return ValueError(f"On: columns={self.columns!r}, {cause}. Remedy: {remedy}.")

    def _pick(self, X: Any) -> Any:
        """The chosen columns; without missing values, where the family does not take them."""
        if issparse(X):
            return X[:, self.indices_]
        xp = namespace(X)
        X = xp.take(X, xp.asarray(self.indices_, device=device(X)), axis=1)
        if not self.neurons.accepts_tables and xp.any(xp.isnan(X)):
            raise self._refused(
                f"which {type(self.neurons).__name__} cannot take: they have missing values",
                "fill them in (SimpleImputer), or use Tabular() on them",
            )
        return X

    def activate(self, X: Any, weights: Weights) -> Any:
        return self.parts_[0](self._pick(X), weights)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        return self.parts_[0].activate_pairs(self._pick(X), weights)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.parts_[0].closed_form(self._pick(X), self._pick(Y))
