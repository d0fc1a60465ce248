"""Your own functions as neurons, on arrays of rows and weights or on one row and one w."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from trickless._errors import InvalidTypeError
from trickless._rules import anything, count, positive
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import called, check_activations, check_drawn, check_repeatable

_SIZES = {
    "width": count("width is how many numbers psi returns for one row and one neuron"),
    "bound": positive("bound=1.0 suits a psi whose values have norm 1 at most"),
}


class FromFunction(Neurons):
    r"""Two functions of your own on arrays: one draws weights, the other evaluates neurons.

    .. math:: k(x, x') = E_{w \sim \text{sample}}[\psi(x; w) \cdot \psi(x'; w)]

    :class:`FromPoint` accepts functions of one row and one w, and is slower. Write a subclass of
    :class:`Neurons` instead if your family has parameters or depends on the data.

    Parameters
    ----------
    sample : callable
        Function ``sample(rng, n, n_features)`` that draws the weights of n neurons. It returns an
        array with n entries along the first axis, or a tuple of such arrays. All randomness must
        come from the generator ``rng``.
    psi : callable
        Function ``psi(X, w)`` that evaluates n neurons on rows X of shape (n_rows, n_features), or
        ``psi(X, a, b, ...)`` if ``sample`` returns a tuple. It returns an array of shape (n_rows,
        width * n), whose column ``k * n + j`` is value k of neuron j. It must treat each row
        independently of the others. X and floating-point weights have the precision of the learner.
        Several threads call it at a time.
    width : int, default=1
        Number of values of one neuron.
    bound : float, default=1.0
        Largest Euclidean norm of a neuron's values. Doubly Stochastic Gradients and Shrinking
        Gradient rely on it. Kitchen Sinks needs no bound.

    See Also
    --------
    FromPoint : Functions of one row and one w.

    Notes
    -----
    You can pickle a learner if you can pickle both functions. Named functions in a module can be
    pickled, but lambdas cannot.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import FromFunction
    >>> def sample(rng, n, n_features):
    ...     return rng.standard_normal((n, n_features)), rng.uniform(0, 2 * np.pi, n)
    >>> def psi(X, frequencies, phases):
    ...     return np.cos(X @ frequencies.T / 5 + phases)
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = KitchenSinksClassifier(FromFunction(sample, psi), n_neurons=200, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    _rules = _SIZES | {
        "sample": anything(
            "a function sample(rng, n, n_features)",
            "return an array with n entries along the first axis, or a tuple of such arrays",
            callable,
        ),
        "psi": anything(
            "a function psi(X, w)",
            "return an array of shape (n_rows, width * n); FromPoint takes one row and one w",
            callable,
        ),
    }

    def __init__(
        self,
        sample: Callable[..., Any],
        psi: Callable[..., Any],
        width: int = 1,
        bound: float = 1.0,
    ) -> None:
        self.sample = sample
        self.psi = psi
        self.width = width
        self.bound = bound

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        check_repeatable(
            f"{type(self).__name__}: sample",
            lambda rng: self.draw(rng, 2),
            "take all randomness from the generator that is passed to sample",
        )
        return self

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        call = f"FromFunction: sample(rng, n={n}, n_features={self.n_features_in_})"
        weights = _arrays(called(call, self.sample, rng, n, self.n_features_in_))
        check_drawn(call, weights, n)
        return weights

    def activate(self, X: Any, weights: Weights) -> Any:
        Z = self.psi(X, *weights)
        call = "FromFunction: psi(X, *weights)"
        check_activations(call, Z, X.shape[0], weights[0].shape[0], self.width)
        return Z


class FromPoint(FromFunction):
    r"""Two functions of your own: one draws a single w, the other evaluates a single row and w.

    This is the definition of a neuron, word for word. Use it to try out an idea, and for small
    data. Every activation is a call of a Python function, and threads do not help. A call takes 0.3
    µs for a single comparison, and 1 to 4 µs for a few NumPy calls, so 1,000 neurons on 10,000 rows
    take 3 to 40 s. :class:`FromFunction` is about a hundred times faster. :class:`FromJax`
    vectorises a psi of one row that is written in JAX.

    Parameters
    ----------
    sample : callable
        Function ``sample(rng, n_features)`` that draws one w: a number, an array, or a tuple of
        these, with the same shapes at each call. All randomness must come from the generator
        ``rng``.
    psi : callable
        Function ``psi(x, w)`` of one row x of shape (n_features,) and one w, or
        ``psi(x, a, b, ...)`` if ``sample`` returns a tuple. It returns a number, or ``width``
        numbers.

    See Also
    --------
    FromFunction : Functions on arrays.

    Examples
    --------
    Which of two random points is nearer in the maximum norm:

    >>> import numpy as np
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import FromPoint
    >>> def sample(rng, n_features):
    ...     return rng.standard_normal((2, n_features))
    >>> def psi(x, w):
    ...     here, there = w
    ...     return 1.0 if np.abs(x - here).max() < np.abs(x - there).max() else -1.0
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = KitchenSinksClassifier(FromPoint(sample, psi), n_neurons=100, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _rules = _SIZES | {
        "sample": anything(
            "a function sample(rng, n_features)",
            "return one w: a number, an array, or a tuple of these",
            callable,
        ),
        "psi": anything(
            "a function psi(x, w)", "return a number, or width numbers, for one row", callable
        ),
    }

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        call = f"FromPoint: sample(rng, n_features={self.n_features_in_})"
        drawn = [_arrays(called(call, self.sample, rng, self.n_features_in_)) for _ in range(n)]
        _check_stackable("FromPoint: sample(rng, n_features)", drawn)
        return tuple(np.stack(arrays) for arrays in zip(*drawn, strict=True))

    def activate(self, X: Any, weights: Weights) -> np.ndarray:
        neurons = list(zip(*weights, strict=True))
        values = self._values([(x, w) for x in X for w in neurons], X.dtype)
        values = values.reshape(len(X), len(neurons), self.width)
        return values.transpose(0, 2, 1).reshape(len(X), self.width * len(neurons))

    def activate_pairs(self, X: Any, weights: Weights) -> np.ndarray:
        return self._values(list(zip(X, zip(*weights, strict=True), strict=True)), X.dtype)

    def _values(self, pairs: list[tuple[Any, tuple[Any, ...]]], dtype: Any) -> np.ndarray:
        """Compute psi for each row and its w, shape (len(pairs), width)."""
        values = [self.psi(x, *w) for x, w in pairs]
        return _check_numbers("FromPoint: psi(x, *w)", values, self.width).astype(dtype)


def _arrays(weights: Any) -> Weights:
    several = weights if isinstance(weights, tuple) else (weights,)
    try:
        return tuple(np.asarray(array) for array in several)
    except ValueError as error:
        raise InvalidTypeError(
            f"sample returned a {type(weights).__name__} that is not an array ({error})",
            "return an array, or a tuple of arrays such as (W, b)",
        ) from error


def _check_stackable(call: str, drawn: list[tuple[np.ndarray, ...]]) -> None:
    shapes = {tuple(array.shape for array in weights) for weights in drawn}
    if len(shapes) > 1:
        one, other = sorted(shapes)[:2]
        raise InvalidTypeError(
            f"{call} returned arrays of shapes {list(one)} in one call and {list(other)} in "
            "another, but the shapes must not change",
            "pad shorter arrays",
        )


def _check_numbers(call: str, values: list[Any], width: int) -> np.ndarray:
    try:
        array = np.array(values)
    except ValueError:  # of different shapes
        array = np.empty(0, dtype=object)
    shapes = [(len(values), width), (len(values),)][: 2 if width == 1 else 1]
    if values and (array.dtype.kind not in "biuf" or array.shape not in shapes):
        right: set[tuple[int, ...]] = {(width,), ()} if width == 1 else {(width,)}
        odd = next((v for v in values if not _is_numbers(v, right)), values[0])
        raise InvalidTypeError(
            f"{call} returned {odd!r} for a row and a neuron, but it must return width = {width} "
            "real number(s) for each",
            "always return the same number of numbers, and set width to it",
        )
    return array.reshape(len(values), width)


def _is_numbers(value: Any, shapes: set[tuple[int, ...]]) -> bool:
    try:
        array = np.asarray(value)
    except ValueError:  # of parts of different shapes
        return False
    return array.dtype.kind in "biuf" and array.shape in shapes
