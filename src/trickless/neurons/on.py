"""A family that sees only some of the columns."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from array_api_compat import device
from scipy.sparse import issparse

from trickless._arrays.places import namespace
from trickless._arrays.stated import Array
from trickless._errors import InvalidValueError
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import draw_neurons
from trickless.neurons.composed import FAMILY, Composed
from trickless.neurons.forms import spelled_as
from trickless.neurons.inputs import Inputs
from trickless.neurons.layouts import Layout


class On(Composed):
    r"""A family that sees only some of the columns.

    .. math:: \psi(x; w) = \psi_1(x_S; w), \qquad k(x, x') = k_1(x_S, x'_S)

    Parameters
    ----------
    columns : str, int, or a list or array of str, int or bool
        Columns S: names of columns of a data frame, indices, or a mask with a Boolean for each
        column. Negative indices count from the end.
    neurons : Neurons
        Family. If it derives a length scale from the data, it uses these columns only.

    Attributes
    ----------
    indices_ : int array
        Indices of the columns.

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

    indices_: Annotated[np.ndarray, Array("i8", None, least=0, below="n_features_in_")]

    def __init__(self, columns: Any, neurons: Neurons) -> None:
        self.columns = columns
        self.neurons = neurons

    @property
    def accepts_tables(self) -> bool:  # type: ignore[override]
        """True, because the other columns may hold anything. The chosen columns are checked."""
        return True

    @property
    def _any_code(self) -> bool:  # type: ignore[override]
        """Whether the chosen columns are of numbers, or may hold any code."""
        part = self.neurons
        return not isinstance(part, Neurons) or part._any_code or not part.accepts_tables

    @property
    def _n_seen(self) -> int:
        return len(self.indices_)

    def _view(self, X: Any) -> tuple[Any, Inputs]:
        inputs = self._known_inputs(X)
        self.indices_ = self._resolve(X.shape[1], inputs.names)
        chosen = inputs.take(self.indices_)
        if self.neurons._wants_relevance:
            raise self._refused(
                f"and {self.neurons!r} uses relevance, which is learned for all columns together",
                "length_scale='auto', feature_weights=None, or fit the learner to these columns",
            )
        if chosen.n_categories.any() and not self.neurons.accepts_tables:
            raise self._refused(
                f"but they hold categories, which {type(self.neurons).__name__} does not accept",
                "choose columns of numbers, or use Tabular() on them",
            )
        return self._pick(X), chosen

    @property
    def _layout(self) -> Layout:
        return Layout()

    def _check_length(self, X: Any) -> None:
        Neurons._check_length(self, X)

    def _resolve(self, d: int, names: tuple[str, ...] | None) -> np.ndarray:
        """Return the indices of the chosen columns, out of d columns that may have names."""
        columns = np.atleast_1d(np.asarray(self.columns))
        kind = columns.dtype.kind if columns.ndim == 1 and columns.size else None
        if kind == "b" and columns.any():
            if len(columns) != d:
                raise self._refused(
                    f"but a mask of {len(columns)} booleans does not match {d} columns",
                    "one boolean for each column, or indices",
                )
            return np.flatnonzero(columns)
        if kind in ("i", "u"):
            for index in columns[(columns < -d) | (columns >= d)].tolist():
                raise self._refused(
                    f"but there is no index {index} in {d} columns", f"indices below {d}"
                )
            return columns.astype(int) % d
        if kind in ("U", "O", "T") and all(isinstance(name, str) for name in columns):
            if names is None:
                raise self._refused(
                    "but the columns of X have no names", "fit on a data frame, or use indices"
                )
            chosen = spelled_as(columns.tolist(), names)
            for name in chosen:
                if name not in names:
                    raise self._refused(f"but there is no column {name!r}", f"one of {list(names)}")
            return np.array([names.index(name) for name in chosen])
        raise self._refused(
            "but it must be a list of indices, names or booleans that chooses at least one column",
            "indices such as [0, 2], names of columns of a data frame, or a mask of booleans",
        )

    def _refused(self, cause: str, remedy: str) -> InvalidValueError:
        return InvalidValueError(f"On: columns={self.columns!r}, {cause}", remedy)

    def _pick(self, X: Any) -> Any:
        """Pick the chosen columns. They have no missing values unless the family accepts them."""
        if issparse(X):
            return X[:, self.indices_]
        xp = namespace(X)
        X = xp.take(X, xp.asarray(self.indices_, device=device(X)), axis=1)
        if not self.neurons.accepts_tables and xp.any(xp.isnan(X)):
            raise self._refused(
                f"but they have missing values, which {type(self.neurons).__name__} does not "
                "accept",
                "fill them in (SimpleImputer), or use Tabular() on them",
            )
        return X

    def _draw_from(self, start: int, rng: np.random.Generator, n: int) -> Weights:
        return draw_neurons(self.parts_[0], rng, n, start)

    def activate(self, X: Any, weights: Weights) -> Any:
        return self.parts_[0](self._pick(X), weights)

    def gradient(self, X: Any, weights: Weights, coef: Any) -> Any:
        found = np.zeros((*X.shape, coef.shape[2]), X.dtype)
        part = self.parts_[0]
        each = part.gradient(self._pick(X), part._as_drawn(weights), coef)
        for k, column in enumerate(self.indices_):  # which may be named twice
            found[:, column] += each[:, k]
        return found

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        part = self.parts_[0]
        return part.activate_pairs(self._pick(X), part._as_drawn(weights))

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.parts_[0].closed_form(self._pick(X), self._pick(Y))
