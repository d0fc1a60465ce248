"""Layers: neurons that see the values of drawn neurons."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from trickless._arrays.places import place_of
from trickless._arrays.stated import check_same
from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidValueError
from trickless._rules import anything, is_count
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_fit_takes_weights, check_fitted_family, draw_neurons
from trickless.neurons.composed import FAMILY_LIST, Composed
from trickless.neurons.layouts import Layout
from trickless.neurons.samples import sample_rows

#: The most training rows, and values of hidden neurons, to which a later layer is fitted.
_ROWS, _VALUES = 4096, 2**23


def _is_hidden(value: Any) -> bool:
    return is_count(value) or (isinstance(value, tuple | list) and all(map(is_count, value)))


class Layers(Composed):
    r"""Layers of neurons: those of the last family see the values of drawn neurons of the others.

    .. math:: \psi(x; w) = \psi_L(h_{L-1}(x); w), \qquad
        h_l(x) = \big(\psi_l(h_{l-1}(x); v_{l1}), \dots, \psi_l(h_{l-1}(x); v_{lm})\big),
        \qquad h_0(x) = x

    The hidden neurons v are drawn once, in the fit, and all neurons w share them. The whole has the
    kernel of the last family between hidden values. It is a composition of kernels, as in deep
    kernel machines [1]_, where m neurons stand for each inner kernel.

    The values of :class:`Patches` are an image again, with a pixel for each cell and a channel for
    each neuron. Another layer of patches therefore sees larger patterns, which consist of smaller
    ones [2]_, and its ``shape`` may be left out.

    Parameters
    ----------
    neurons : list of Neurons
        Families, one for each layer. The first one sees the rows, and the neurons of the last one
        are the neurons of the whole. The parameters of the first family are ``0__length_scale`` and
        so on.
    hidden : int or tuple of int, default=64
        Number of neurons that are drawn of each family but the last one. A tuple has one number for
        each of them. A hidden neuron costs time for each row once, whatever the number of neurons.

    Attributes
    ----------
    hidden_ : list of tuples of arrays
        Weights of the hidden neurons of each layer.

    Notes
    -----
    Whatever a later family takes from the data, such as a length scale or filters, it takes from
    the hidden values of at most 4,096 training rows, and 8,388,608 values in all.

    Neurons are independent of each other given the hidden neurons. Standard errors and certificates
    are therefore those of a kernel with these hidden neurons.

    References
    ----------
    .. [1] Y. Cho and L. K. Saul, "Kernel methods for deep learning", NIPS 2009.
    .. [2] A. Coates and A. Y. Ng, "Selecting receptive fields in deep networks", NIPS 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import Gaussian, Layers, Patches
    >>> X, y = load_digits(return_X_y=True)  # images of 8 × 8
    >>> neurons = Layers([Patches((8, 8), patch=3, pool=3), Gaussian()], hidden=50)
    >>> model = KitchenSinksClassifier(neurons, n_neurons=200, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95)
    True
    """

    _rules = {
        "neurons": FAMILY_LIST,
        "hidden": anything(
            "an integer of at least 1, or a tuple of such integers",
            "hidden=64, or one number for each family but the last",
            _is_hidden,
        ),
    }
    hidden_: list[tuple[np.ndarray, ...]]
    _places: list[slice] = []

    def __init__(self, neurons: list[Neurons], hidden: int | tuple[int, ...] = 64) -> None:
        self.neurons = neurons
        self.hidden = hidden

    @property
    def _layout(self) -> Layout:
        """That of the first family."""
        return self.neurons[0]._layout if isinstance(self.neurons[0], Neurons) else Layout()

    def _check_length(self, X: Any) -> None:
        self.parts_[0]._check_length(X)

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """Whether the first family accepts CSR matrices."""
        return self.neurons[0].accepts_sparse

    @property
    def accepts_tables(self) -> bool:  # type: ignore[override]
        """Whether the first family accepts missing values and categories."""
        return self.neurons[0].accepts_tables

    @property
    def _skips_missing(self) -> bool:  # type: ignore[override]
        """Whether the first family leaves out missing values."""
        return self.neurons[0]._skips_missing

    @property
    def independent(self) -> bool:
        """Whether the neurons of the last family are independent of each other."""
        return self.neurons[-1].independent

    @property
    def _wants_relevance(self) -> bool:
        """False, because hidden values are not features whose relevance a learner knows."""
        return False

    @property
    def _n_given(self) -> int | None:  # type: ignore[override]
        """Number of neurons of the last family, if it has a list of them."""
        return self.parts_[-1]._n_given if hasattr(self, "parts_") else None

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        Neurons.fit(self, X, rng, sample_weight)
        counts = self._counts()
        self._check_plain()
        rows, weight, inputs = X, sample_weight, self.inputs_
        parts: list[Neurons] = []
        hidden: list[Weights] = []
        for family, count in zip(self.neurons, [*counts, 0], strict=True):
            part = clone(family)
            part.inputs_ = inputs
            check_fit_takes_weights(part)
            part.fit(rows, rng, weight)
            check_fitted_family(part)
            parts.append(part)
            if count:
                part._set_depth(X.shape[0])
                most = max(1, min(_ROWS, _VALUES // (count * part.width)))
                rows, weight = sample_rows(rows, rng, most, weight)
                hidden.append(draw_neurons(part, rng, count))
                with linear_algebra(1):  # the same bits for any number of threads
                    rows = part(rows, _like(rows, hidden[-1]))
                inputs = part._inputs_of_values(count)
        self.parts_, self.hidden_ = parts, hidden
        self._measure()
        return self

    def check_state(self) -> None:
        Neurons.check_state(self)
        counts = self._counts()
        check_same("length of parts_", len(self.parts_), len(self.neurons))
        check_same("length of hidden_", len(self.hidden_), len(counts))
        check_same("features of parts_", self.parts_[0].n_features_in_, self.n_features_in_)
        for (part, after), weights, count in zip(
            pairwise(self.parts_), self.hidden_, counts, strict=True
        ):
            check_same("number of hidden_", {len(array) for array in weights}, {count})
            part._check_weights(weights)
            check_same("features of parts_", after.n_features_in_, count * part.width)
        check_same("width", self.width, self.parts_[-1].width)

    def _check_weights(self, weights: Weights) -> None:
        self.parts_[-1]._check_weights(weights)

    def _set_depth(self, n_rows: int, deepest: int | None = None) -> None:
        self.parts_[-1]._set_depth(n_rows, deepest)
        self._measure()

    @property
    def _shared(self) -> list[Weights]:
        """The hidden neurons."""
        return self.hidden_

    def _candidates(self) -> list[Neurons]:
        """Vary the last family. The hidden neurons are drawn already."""
        return [self._with_last(last) for last in self.parts_[-1]._candidates()]

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return draw_neurons(self.parts_[-1], rng, n)

    def _draw_from(self, start: int, rng: np.random.Generator, n: int) -> Weights:
        return draw_neurons(self.parts_[-1], rng, n, start)

    def _last_layer(self, X: Any) -> tuple[Neurons, Any]:
        for part, weights in zip(self.parts_, self.hidden_, strict=False):
            X = part(X, _like(X, weights))
        return self.parts_[-1]._last_layer(X)

    def activate(self, X: Any, weights: Weights) -> Any:
        last, rows = self._last_layer(X)
        return last(rows, weights)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        last, rows = self._last_layer(X)
        return last.activate_pairs(rows, last._as_drawn(weights))

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        last, rows = self._last_layer(X)
        return last.closed_form(rows, self._last_layer(Y)[1])

    def _measure(self) -> None:
        self.width, self.bound = self.parts_[-1].width, self.parts_[-1].bound

    def _with_last(self, last: Neurons) -> Layers:
        """Make a fitted family with the same hidden neurons and another last family."""
        other = copy(self)
        other.parts_ = [*self.parts_[:-1], last]
        other._measure()
        return other

    def _counts(self) -> list[int]:
        """Return the number of hidden neurons of each layer."""
        n, hidden = len(self.neurons) - 1, self.hidden
        counts = list(hidden) if isinstance(hidden, tuple | list) else [hidden] * n
        if len(counts) != n:
            raise InvalidValueError(
                f"{type(self).__name__}: hidden={self.hidden!r} has {len(counts)} numbers, but "
                f"{n} of the {n + 1} families are hidden",
                "one number for each family but the last, or one number for all of them",
            )
        return counts

    def _check_plain(self) -> None:
        """Check that no family needs what only a learner knows of the original columns."""
        for i, family in enumerate(self.neurons):
            if family._wants_relevance:
                raise InvalidValueError(
                    f"{type(self).__name__}: {i}={family!r} uses relevance, which is learned for "
                    "the columns of X and not for a layer",
                    "length_scale='auto' or feature_weights=None",
                )


def _like(X: Any, weights: Weights) -> Weights:
    """Move weights to the place of rows, and real ones to their precision."""
    place = place_of(X)
    return tuple(place.put(w, X.dtype) if w.dtype.kind == "f" else place.put(w) for w in weights)
