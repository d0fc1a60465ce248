"""Families made of other families: what they share, products, and multiples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import reduce
from itertools import accumulate, pairwise
from math import prod
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone

from trickless._arrays.places import namespace
from trickless._arrays.stated import Length, check_same
from trickless._errors import InvalidValueError
from trickless._rules import anything, scale
from trickless.neurons.base import OPERATORS, Neurons, Weights
from trickless.neurons.checks import check_fit_takes_weights, check_fitted_family, draw_neurons
from trickless.neurons.inputs import Inputs, Relevance
from trickless.neurons.layouts import Layout

FAMILY = anything(
    "an instance of a subclass of trickless.neurons.Neurons",
    "an instance such as Gaussian(), not its name and not the class itself",
    lambda v: isinstance(v, Neurons),
)
FAMILY_LIST = anything(
    "a list of at least one family of neurons",
    "instances such as [Gaussian(), Stumps()], not names and not the classes themselves",
    lambda v: isinstance(v, list | tuple) and len(v) > 0 and all(map(FAMILY.accepts, v)),
)


def _of_parts(
    rule: Callable[[Iterable[bool]], bool], name: str, doc: str = "", default: bool = False
) -> property:
    """Make a property that is true if all parts, or any of them, have a property."""
    return property(
        lambda self: rule(getattr(part, name, default) for part in _as_list(self.neurons)), doc=doc
    )


class Composed(Neurons):
    """A family made of other families, its parts, given as the parameter ``neurons``.

    ``neurons`` is one family or a list of families. The weights of a neuron are the weights of its
    parts, one after the other. The parameters of a part are also parameters of the whole:
    ``neurons__length_scale``, or ``1__length_scale`` for the second of a list.

    Attributes
    ----------
    parts_ : list of Neurons
        The fitted families, one for each of ``neurons``.
    """

    neurons: Any
    parts_: list[Neurons]
    _places: Annotated[list[slice], Length("parts_")]

    accepts_sparse: Any = _of_parts(all, "accepts_sparse", "Whether all parts accept CSR matrices.")
    accepts_tables: Any = _of_parts(
        all, "accepts_tables", "Whether all parts accept missing values and categories."
    )
    _any_code: Any = _of_parts(all, "_any_code")
    _skips_missing: Any = _of_parts(all, "_skips_missing")
    _by_order: Any = _of_parts(any, "_by_order")
    independent: Any = _of_parts(
        all, "independent", "Whether the neurons of all parts are drawn independently.", True
    )
    _wants_relevance: Any = _of_parts(any, "_wants_relevance")
    _may_know_targets: Any = _of_parts(any, "_may_know_targets")

    def _view(self, X: Any) -> tuple[Any, Inputs | None]:
        """Return the columns that the parts see, with their names and kinds."""
        return X, self.inputs_

    @property
    def _layout(self) -> Layout:
        layouts = [part._layout for part in _as_list(self.neurons) if isinstance(part, Neurons)]
        reading = (each for each in layouts if each.reads_arrays)
        return next(reading, Layout()).within(layouts)

    def _check_length(self, X: Any) -> None:
        for part in self.parts_:
            part._check_length(X)

    def _wide(self) -> int:
        """Return the width that follows from the parts. By default, there is one part."""
        (part,) = self.parts_
        return part.width

    def _measure(self) -> None:
        self.width, self.bound = self._wide(), self.parts_[0].bound

    @property
    def _n_seen(self) -> int:
        return self.n_features_in_

    def check_state(self) -> None:
        super().check_state()
        check_same("length of parts_", len(self.parts_), len(_as_list(self.neurons)))
        for part in self.parts_:
            check_same("features of parts_", part.n_features_in_, self._n_seen)
        check_same("width", self.width, self._wide())
        ends = [0, *(place.stop for place in self._places)]
        check_same("_places", self._places, [slice(*pair) for pair in pairwise(ends)])

    def _check_weights(self, weights: Weights) -> None:
        for part, some in zip(self.parts_, self.weights_of_parts(weights), strict=True):
            part._check_weights(some)

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Composed:
        super().fit(X, rng, sample_weight)
        seen, inputs = self._view(X)
        parts = [clone(part) for part in _as_list(self.neurons)]
        for part in parts:
            part.inputs_ = inputs
            if inputs is not None and not part._layout.of_same_kind(self._layout):
                part.inputs_ = inputs._replace(shape=None)
            check_fit_takes_weights(part)
            part.fit(seen, rng, sample_weight)
            check_fitted_family(part)
        return self._with_parts(parts)

    def _with_parts(self, parts: list[Neurons]) -> Composed:
        self.parts_ = parts
        self._measure()
        lengths = [len(draw_neurons(part, np.random.default_rng(0), 1)) for part in parts]
        self._places = [slice(*ends) for ends in pairwise(accumulate(lengths, initial=0))]
        return self

    def _set_depth(self, n_rows: int, deepest: int | None = None) -> None:
        for part in self.parts_:
            part._set_depth(n_rows, deepest)
        self._measure()

    def _candidates(self) -> list[Neurons]:
        """Combine the first candidates of all parts, then the second candidates, and so on.

        A part with fewer candidates starts over with its first.
        """
        each = [part._candidates() for part in self.parts_]
        counts = sorted({len(some) for some in each} - {1})
        if any(counts[-1] % count for count in counts):
            raise InvalidValueError(
                f"{type(self).__name__}: its parts have {counts} candidates, but parts are varied "
                "together, so each number must divide the largest",
                "set the parameters of "
                "all parts except one, or compare combinations by search= or GridSearchCV",
            )
        return [
            copy(self)._with_parts([some[i % len(some)] for some in each])
            for i in range(max(counts, default=1))
        ]

    def _by_relevance(self, relevance: Relevance) -> Composed:
        parts = [p._by_relevance(relevance) if p._wants_relevance else p for p in self.parts_]
        return copy(self)._with_parts(parts)

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return tuple(array for part in self.parts_ for array in draw_neurons(part, rng, n))

    def weights_of_parts(self, weights: Weights) -> list[Weights]:
        """Split the weights into the weights of each part."""
        return [tuple(weights[place]) for place in self._places]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this family and of its parts.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the parts.

        Returns
        -------
        dict
            Values by the names of the parameters.
        """
        if not isinstance(self.neurons, list | tuple):
            return super().get_params(deep)
        params = super().get_params(deep=False)
        for i, part in enumerate(self.neurons if deep else ()):
            if isinstance(part, Neurons):
                params[f"{i}"] = part
                params |= {f"{i}__{name}": value for name, value in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Composed:
        """Set parameters of this family and its parts. In a list, ``0`` is the first part."""
        neurons = params.pop("neurons", self.neurons)
        if isinstance(neurons, list | tuple):
            neurons = list(neurons)
            for i in range(len(neurons)):
                neurons[i] = params.pop(f"{i}", neurons[i])
        self.neurons = neurons
        return super().set_params(**params)


def _in_product(family: Any) -> str:
    """Show a family that is multiplied by something."""
    return f"({family!r})" if isinstance(family, Product | Scaled) else repr(family)


class Product(Composed):
    r"""Products of neurons: a family whose kernel is the product of kernels.

    .. math:: \psi(x; w) = \psi_1(x; w_1) \otimes \dots \otimes \psi_m(x; w_m), \qquad
        k(x, x') = \prod_i k_i(x, x')

    A neuron holds all products of one value of each part, so its width and its bound are products
    of the widths and bounds of the parts. If the parts are :class:`On` different columns, the
    kernel compares each group of columns in its own way, and is large only for rows that are alike
    in all groups.

    Parameters
    ----------
    neurons : list of Neurons
        Families: ``a * b`` gives ``[a, b]``. The parameters of the first family are
        ``0__length_scale`` and so on.

    Examples
    --------
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.neurons import Gaussian, On, Stumps
    >>> neurons = On([0, 1], Gaussian(2.0)) * On([2], Stumps())
    >>> neurons
    On(columns=[0, 1], neurons=Gaussian(length_scale=2.0)) * On(columns=[2], neurons=Stumps())
    >>> KitchenSinksRegressor(neurons).get_params()["neurons__0__neurons__length_scale"]
    2.0
    """

    _doc_link_module = ""  # it has no page
    _rules = {"neurons": FAMILY_LIST}

    def __init__(self, neurons: list[Neurons]) -> None:
        self.neurons = neurons

    def __repr__(self) -> str:
        return " * ".join(map(_in_product, _as_list(self.neurons)))

    def _wide(self) -> int:
        return prod(part.width for part in self.parts_)

    def _measure(self) -> None:
        super()._measure()
        self.bound = float(np.prod([part.bound for part in self.parts_]))

    def activate(self, X: Any, weights: Weights) -> Any:
        xp, n = namespace(X), weights[0].shape[0]
        drawn = zip(self.parts_, self.weights_of_parts(weights), strict=True)
        factors = (xp.reshape(part(X, some), (X.shape[0], part.width, n)) for part, some in drawn)
        return xp.reshape(reduce(_outer, factors), (X.shape[0], self.width * n))

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        drawn = zip(self.parts_, self.weights_of_parts(weights), strict=True)
        factors = (part.activate_pairs(X, part._as_drawn(some))[:, :, None] for part, some in drawn)
        return reduce(_outer, factors)[:, :, 0]

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.prod([part.closed_form(X, Y) for part in self.parts_], axis=0)


class Scaled(Composed):
    r"""Neurons times a number: a family whose kernel is a multiple of another kernel.

    .. math:: \psi(x; w) = \sqrt{c} \cdot \psi_1(x; w), \qquad k(x, x') = c \cdot k_1(x, x')

    Parameters
    ----------
    neurons : Neurons
        Family: ``2 * a`` gives ``a``, and 2 as ``factor``.
    factor : float, default=1.0
        Factor c of the kernel. Its square root multiplies the neurons and their bound.

    Examples
    --------
    >>> from trickless.neurons import Gaussian
    >>> 3 * Gaussian(length_scale=2.0)
    3 * Gaussian(length_scale=2.0)
    """

    _doc_link_module = ""  # it has no page
    _rules = {"neurons": FAMILY, "factor": scale("factor=1.0 leaves the kernel unchanged")}

    def __init__(self, neurons: Neurons, factor: float = 1.0) -> None:
        self.neurons = neurons
        self.factor = factor

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_product(self.neurons)}"

    def _measure(self) -> None:
        super()._measure()
        self.bound = float(np.sqrt(self.factor) * self.bound)

    def _draw_from(self, start: int, rng: np.random.Generator, n: int) -> Weights:
        return draw_neurons(self.parts_[0], rng, n, start)

    def activate(self, X: Any, weights: Weights) -> Any:
        return self.parts_[0](X, weights) * float(np.sqrt(self.factor))

    def gradient(self, X: Any, weights: Weights, coef: Any) -> Any:
        part = self.parts_[0]
        return part.gradient(X, part._as_drawn(weights), coef) * float(np.sqrt(self.factor))

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        part = self.parts_[0]
        return part.activate_pairs(X, part._as_drawn(weights)) * float(np.sqrt(self.factor))

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.factor * self.parts_[0].closed_form(X, Y)


OPERATORS["product"] = lambda a, b: Product([a, b])
OPERATORS["multiple"] = Scaled


def coef_of_draws(coef: Any, width: int, r: int) -> Any:
    """Reorder coefficients of n neurons of r draws each by draw: (r n, width, n_outputs).

    The first draws of all neurons come before the second draws.
    """
    xp, (n, _, n_outputs) = namespace(coef), coef.shape
    each = xp.permute_dims(xp.reshape(coef, (n, width, r, n_outputs)), (2, 0, 1, 3))
    return xp.reshape(each, (r * n, width, n_outputs))


def _as_list(neurons: Any) -> list[Any]:
    return list(neurons) if isinstance(neurons, list | tuple) else [neurons]


def _outer(A: Any, B: Any) -> Any:
    """Multiply all pairs of values: shapes (rows, a, n) and (rows, b, n) give (rows, a b, n)."""
    products = A[:, :, None, :] * B[:, None, :, :]
    shape = (A.shape[0], A.shape[1] * B.shape[1], A.shape[2])
    return namespace(products).reshape(products, shape)
