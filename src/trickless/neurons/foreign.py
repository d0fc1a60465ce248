"""Neurons that another library initialises and evaluates: what torch and JAX share."""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import Any, Self

import numpy as np

from trickless._errors import InvalidTypeError, InvalidValueError, MissingLibraryError
from trickless._rules import anything, is_count, positive
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_repeatable
from trickless.neurons.layouts import Grids, Layout

#: The largest intermediate result, in numbers, unless one neuron on a few rows has more. It should
#: fit into the processor's cache.
NUMBERS_AT_ONCE = 2**20


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(is_count, value))


class Foreign(Neurons):
    """A random function of another library. ``_inspect`` and ``_evaluate`` call it.

    Parameters
    ----------
    input_shape : tuple of int, optional
        Shape of one row for the function, such as (1, 28, 28) for an image of one channel, or
        (28, 28, 1) if the channels come last. Default: the shape of a row of X, which may be an
        array of more than two dimensions.
    squash : bool, default=True
        Whether to pass the k outputs of the function for a row through tanh, and scale them to the
        bound. False uses the outputs directly.
    bound : float, default=1.0
        Largest Euclidean norm b of a neuron's values. With ``squash=False``, you must know it.
        Doubly Stochastic Gradients and Shrinking Gradient check it on a few rows. Kitchen Sinks
        needs no bound.

    Attributes
    ----------
    width : int
        Number k of outputs of the function for a row.
    """

    _rules = {
        "input_shape": anything(
            "None or a tuple of positive integers",
            "input_shape=(1, 28, 28) makes an image of one channel out of 784 columns",
            lambda v: v is None or _is_shape(v),
        ),
        "squash": anything(
            "True or False",
            "squash=True keeps any function within its bound",
            lambda v: isinstance(v, bool | np.bool_),
        ),
        "bound": positive("bound=1.0 is what the guarantees of the learners assume"),
    }

    input_shape: tuple[int, ...] | None
    squash: bool
    _largest: int

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        name = type(self).__name__
        if (size := int(np.prod(self._shape))) != (n_features := self.n_features_in_):
            raise InvalidValueError(
                f"{name}: input_shape={self._shape!r} holds {size} numbers, but X has "
                f"{n_features} columns",
                f"a shape whose product is {n_features}, with the axes in C order "
                "(the last axis varies fastest along the columns)",
            )
        sizes, self._largest = self._inspect()
        if len(sizes) != 1 or sizes[0] == 0:
            raise InvalidTypeError(
                f"{name}: the function returns arrays of sizes {sizes} for a row, but it must "
                "return one array with at least one number",
                "return a single array, such as the first of several",
            )
        self.width = sizes[0]
        check_repeatable(f"{name}: the initialisation", lambda rng: self.draw(rng, 1), self._source)
        _check_varied(f"{name}: the initialisation", self.draw(np.random.default_rng(0), 16))
        return self

    def activate(self, X: Any, weights: Weights) -> np.ndarray:
        Z = self._outputs(X.reshape(len(X), *self._shape), weights, pairs=False)
        return Z.transpose(1, 2, 0).reshape(len(X), self.width * len(Z))

    def activate_pairs(self, X: Any, weights: Weights) -> np.ndarray:
        return self._outputs(X.reshape(len(X), 1, *self._shape), weights, pairs=True)[:, 0]

    @property
    def _layout(self) -> Layout:
        learned = None if self.inputs_ is None else self.inputs_.shape
        return Grids(self.input_shape if _is_shape(self.input_shape) else learned)

    #: The remedy if an initialisation takes randomness from elsewhere.
    _source: str

    @abstractmethod
    def _inspect(self) -> tuple[list[int], int]:
        """Return the sizes of one neuron's outputs for one row, and of its largest inner result."""

    @abstractmethod
    def _evaluate(self, X: np.ndarray, weights: Weights, pairs: bool) -> np.ndarray:
        """Evaluate neurons on all rows: (n, n_rows, width). For pairs, each has its own rows."""

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._layout.shape or (self.n_features_in_,)

    def _outputs(self, X: np.ndarray, weights: Weights, pairs: bool) -> np.ndarray:
        """Compute activations by neuron, row and value: shape (n, n_rows, width)."""
        n, n_rows = len(weights[0]), X.shape[1 if pairs else 0]
        if n * n_rows == 0:
            return np.empty((n, n_rows, self.width), dtype=X.dtype)
        Z = self._evaluate(X, weights, pairs)
        return np.tanh(Z) * (self.bound / self.width**0.5) if self.squash else Z


def library(owner: str, module: str, extra: str) -> Any:
    """Import an optional library, or say what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibraryError(
            f"{owner} needs {module}, which cannot be imported ({error})",
            f'pip install "trickless[{extra}]"',
        ) from error


def _check_varied(call: str, weights: Any) -> None:
    if not weights:
        raise InvalidValueError(
            f"{call} draws nothing, because there are no parameters",
            "a function with random parameters",
        )
    if all((array == array[:1]).all() for array in weights):
        raise InvalidValueError(
            f"{call} gave the same weights {len(weights[0])} times, so all neurons would be the "
            "same function",
            "initialise at random in each call, and share no trained weights",
        )
